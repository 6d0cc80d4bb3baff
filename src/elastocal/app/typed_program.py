"""What the user types about a program: --base, --tool, --orientation, --load-lines, --milling."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elastocal.app.configurations import numbers
from elastocal.errors import ConflictError, FormatError, MissingError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from elastocal.compensation.loads import Milling
    from elastocal.model.robot import Robot
    from elastocal.spatial.entries import Array
    from elastocal.spatial.pose import Pose

_POSE = "X, Y, Z in mm, A, B, C in deg about z, y, x in turn"
NEEDED = {
    "kc_MPa": ("specific_force", 1e6),
    "ap_mm": ("axial_depth", 1e-3),
    "ae_mm": ("radial_engagement", 1e-3),
    "D_mm": ("diameter", 1e-3),
    "teeth": ("teeth", 1.0),
    "spindle_rpm": ("spindle", 1 / 60),
}
OPTIONAL = {"m": ("exponent", 1.0), "radial": ("radial", 1.0), "axial": ("axial", 1.0)}
FEED = "feed_mm_min"


def typed_frames(option: str, texts: Sequence[str], flange: str, model: Robot | None = None) -> dict[str, Pose]:
    """Poses by name from ``2=1750,-80,800,0,0,0``; of a tool also a frame of the robot: ``1=tool``."""
    return dict(_named(option, text, model, flange) for text in texts)


def typed_orientation(text: str | None) -> Array | None:
    return None if text is None else _turn(numbers(text, 3, f"--orientation {text!r}", "A, B, C"))


def typed_lines(texts: Sequence[str], parameter: str) -> tuple[tuple[int, int], ...]:
    """First and last lines from ``40-60`` or ``40``."""
    out = []
    for text in texts:
        first, dash, last = (part.strip() for part in text.partition("-"))
        ends = (first, last) if dash else (first,)
        if not all(p.isascii() and p.isdigit() and len(p) < 10 for p in ends) or int(ends[-1]) < int(first):
            raise FormatError.of(parameter, text, "give a line or a range of lines of the program, such as 40-60")
        out.append((int(first), int(last or first)))
    return tuple(out)


def typed_milling(text: str) -> tuple[Milling, float | None]:
    """The process, and the feed in m/s where it is stated."""
    from elastocal.compensation.loads import Milling

    words: dict[str, float] = {}
    for part in text.split(","):
        key, equals, value = (p.strip() for p in part.partition("="))
        if key not in (*NEEDED, *OPTIONAL, FEED) or not equals:
            known = ", ".join((*NEEDED, *OPTIONAL, FEED))
            raise FormatError.of("milling", part.strip(), f"is not understood; give WORD=NUMBER with words {known}")
        words[key] = numbers(value, 1, f"--milling {part.strip()!r}", key)[0]
    lacking = [k for k in NEEDED if k not in words]
    if lacking:
        example = "kc_MPa=700,ap_mm=5,ae_mm=10,D_mm=20,teeth=2,spindle_rpm=9000"
        raise MissingError.of("milling", text, f"{lacking[0]} is missing; an example: {example}")
    named = {name: words[k] * factor for k, (name, factor) in {**NEEDED, **OPTIONAL}.items() if k in words}
    teeth = round(named.pop("teeth"))
    return Milling(teeth=teeth, **named), words[FEED] * 1e-3 / 60 if FEED in words else None


def _named(option: str, text: str, model: Robot | None, flange: str) -> tuple[str, Pose]:
    import numpy as np

    from elastocal.spatial.pose import Pose

    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise FormatError(
            f"{option} {text!r}: give the name that the program uses and its pose, {option} NAME=X,Y,Z,A,B,C"
        )
    if model is not None and value.strip() in model.tree.names:
        return name.strip(), _fixed(model, flange, value.strip())
    x, y, z, a, b, c = numbers(value, 6, f"{option} {text!r}", _POSE)
    return name.strip(), Pose(_turn((a, b, c)), np.array([1e-3 * v for v in (x, y, z)]))


def _fixed(model: Robot, flange: str, frame: str) -> Pose:
    """Pose of a frame, seen from the flange, where one link carries both."""
    (carrier, hand), (carried, pose) = _on_link(model, flange), _on_link(model, frame)
    if carrier != carried:
        raise ConflictError.of("tool", frame, f"is no frame that hangs on {flange}; give X,Y,Z,A,B,C")
    return hand.inverse() @ pose


def _on_link(model: Robot, frame: str) -> tuple[str, Pose]:
    """The last frame before it that moves, and its pose there."""
    from elastocal.spatial.pose import Pose

    out = Pose()
    for f in reversed(model.tree.path(frame)):
        if f.joint is not None:
            return f.name, out
        out = f.pose @ out
    return "", out


def _turn(abc: tuple[float, ...]) -> Array:
    from math import radians

    from elastocal.spatial.rotation import rpy_matrix

    a, b, c = (radians(v) for v in abc)
    return rpy_matrix(c, b, a)
