"""Compliance and backlash from loops of force against displacement, by direction and for joints."""

from __future__ import annotations

from dataclasses import dataclass
from math import degrees, isfinite
from pathlib import Path
from typing import TYPE_CHECKING

from elastocal.app.commands.arcs import noise_of
from elastocal.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from elastocal.procedures.loops import Loops
    from elastocal.procedures.loops.elements import LoopElement

_KEYS = {"k": "k_rad_per_Nm", "gap": "gap_rad", "isotropic": "isotropic_m_per_N"}


@dataclass(frozen=True)
class LoopsRequest:
    """``levers`` are texts such as J1=330 (mm); ``at_gripper`` takes the gripper's own values off the joints'."""

    data: Path
    levers: tuple[str, ...] = ()
    at_gripper: bool = False
    frame: str = "gripper"
    noise_um: float | None = None
    threshold: float = 0.0


@dataclass(frozen=True, eq=False)
class LoopsResult:
    """``yaml`` are the elements for a robot file."""

    request: LoopsRequest
    loops: Loops
    yaml: str

    @property
    def notes(self) -> tuple[str, ...]:
        return tuple(w.text for w in self.loops.warnings)


def run(request: LoopsRequest) -> LoopsResult:
    from elastocal.app.workers import one_thread
    from elastocal.files.tables.loops import read_loops
    from elastocal.procedures.loops import identify

    noise = noise_of(request.noise_um)
    if not (isfinite(request.threshold) and request.threshold >= 0):
        raise InputError(f"--threshold {request.threshold:g}: must be a force in N, zero or more")
    levers = _levers(request.levers)
    records = read_loops(request.data, request.threshold)
    with one_thread():
        loops = identify(records, levers=levers, at_gripper=request.at_gripper, noise=noise)
    return LoopsResult(request, loops, elements_text(loops.elements(request.frame), records[0].source))


def _levers(texts: tuple[str, ...]) -> dict[str, float]:
    """JOINT=MM texts as lengths in m."""
    out: dict[str, float] = {}
    for text in texts:
        joint, equals, length = (part.strip() for part in text.partition("="))
        try:
            value = 1e-3 * float(length.replace(",", "."))
        except ValueError:
            value = 0.0
        if not (joint and equals and isfinite(value) and value > 0):
            raise InputError(f"--lever {text!r}: write the joint and its lever in mm, such as J1=330")
        if joint in out:
            raise InputError(f"--lever {text!r}: joint {joint} has a lever already; keep one")
        out[joint] = value
    return out


def elements_text(elements: Sequence[LoopElement], file: str) -> str:
    """YAML for a robot file; what is not known stands as a comment with its reason."""
    if not elements:
        return ""
    frames = [line for e in elements for line in _frame(e)]
    head = "joints:\n" + "".join(f"  {line}\n" for line in frames) if frames else ""
    body = "".join(f"  {line}\n" for e in elements for line in _lines(e))
    return f"# From the loops in {file}; gaps are half of the backlash.\n{head}elements:\n{body}"


def _frame(element: LoopElement) -> Iterator[str]:
    if element.turn is not None:
        rpy = ", ".join(_six(degrees(v) + 0.0) for v in element.turn)
        name = element.place
        yield (
            f"- {{name: {name}, type: fixed, parent: {element.parent}, rpy_deg: [{rpy}]}}  # the tool stands on it: "
            f"tool: {name}"
        )


def _lines(element: LoopElement) -> Iterator[str]:
    kind, place = element.kind, element.place
    if element.mean:
        what = "half gaps" if kind == "gripper_backlash" else "compliances"
        yield f"# the {what} of the directions reject this description; use it as a mean only"
    if element.reason:
        yield f"# {kind} of {place}: not known, {element.reason}"
        return
    word = "joint" if kind.startswith("joint") else "frame"
    sd = ", ".join(f"{v:.2g}" for v in element.sd)
    source = f", source: '+- {sd} (one sd)'" if all(isfinite(v) for v in element.sd) else ""
    yield f"- {{kind: {kind}, {word}: {place}, {_numbers(element)}{source}}}"


def _numbers(element: LoopElement) -> str:
    values = [_six(v) for v in element.numbers.values()]
    if element.form == "entries":
        return f"entries_SI: {{{', '.join(f'{n}: {v}' for n, v in zip(element.numbers, values, strict=True))}}}"
    if element.kind == "gripper_backlash":
        return f"gap_m: {values[0]}" if len(values) == 1 else f"gap_m: [{', '.join(values)}]"
    (key,) = element.numbers
    form = f"form: {element.form}, " if element.form else ""
    return f"{form}{_KEYS[key]}: {values[0]}"


def _six(value: float) -> str:
    from elastocal.files.text import digits

    return digits(float(f"{value:.6g}"))
