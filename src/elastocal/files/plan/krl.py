"""A plan as a KUKA program: one PTP to axis values per stop, a halt where somebody reads or changes the load.

``NAME.src`` holds the motions, ``NAME.dat`` the points as E6AXIS in degrees and mm.  The messages need KSS 8 or newer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from elastocal.model.robot import RobotModel
from elastocal.spatial.entries import Array

AXES = (*(f"A{i}" for i in range(1, 7)), *(f"E{i}" for i in range(1, 7)))
SPEED = 20
"""Per cent of the usual moves."""
LONGEST = 24
"""Characters of a KRL name."""
DEVICES = r"con|prn|aux|nul|(com|lpt)\d"
"""Names that no file can have on Windows, whatever its ending; the controller runs on it."""


@dataclass(frozen=True, eq=False)
class Stop:
    """One stop of the program (n,) in joint values, and what is to be done there, one halt for each sentence.

    ``speed`` is that of the move to it in per cent, None: as usual; ``note`` is a comment.
    """

    q: Array
    sentences: tuple[str, ...] = ()
    speed: float | None = None
    note: str = ""


def speaks_krl(model: RobotModel) -> bool:
    """Whether the controller's axes are those of a KUKA."""
    return bool(model.controller.axes) and set(model.controller.axes) <= set(AXES)


def krl_name(name: str) -> str:
    """A name that the controller takes, for a program and for its files."""
    word = re.sub(r"\W", "_", name, flags=re.ASCII)[:LONGEST]
    plain = re.match(r"[A-Za-z]", word) and not re.fullmatch(DEVICES, word, re.IGNORECASE)
    return word if plain else f"P_{word}"[:LONGEST]


def krl_files(name: str, model: RobotModel, stops: Sequence[Stop], notes: Sequence[str], wait: float) -> dict[str, str]:
    """Texts by file name; ``wait`` seconds pass before anybody is asked to read."""
    module = krl_name(name)
    width = max(2, len(str(len(stops))))
    source = [f"DEF {module}( )", *(f"; {_plain(n)}" for n in notes), "BAS(#INITMOV, 0)", f"BAS(#VEL_PTP, {SPEED})", ""]
    points = []
    for number, stop in enumerate(stops, 1):
        point = f"XM{number:0{width}d}"
        points.append(f"DECL E6AXIS {point}={_axes(model, stop.q)}")
        source += [f"; stop {number} of {len(stops)}", *([f"; {_plain(stop.note)}"] if stop.note else ())]
        slow = stop.speed is not None
        source += [f"BAS(#VEL_PTP, {stop.speed:g})"] if slow else []
        source += [f"PTP {point}", *([f"BAS(#VEL_PTP, {SPEED})"] if slow else ()), f"WAIT SEC {wait:g}"]
        for sentence in stop.sentences:
            source += [f'MsgNotify("{_plain(sentence)}")', "HALT"]
        source.append("")
    return {
        f"{module}.src": _lines(["&ACCESS RVP", *source, "END"]),
        f"{module}.dat": _lines(["&ACCESS RVP", f"DEFDAT {module}", *points, "ENDDAT"]),
    }


def _axes(model: RobotModel, q: Array) -> str:
    shown = model.controller.to_controller(q[None])[0]
    values = {}
    for axis, value, motion in zip(model.controller.axes, shown, model.motions, strict=True):
        values[axis] = float(np.degrees(value) if motion.kind == "revolute" else 1e3 * value)
    return "{" + ",".join(f"{a} {values.get(a, 0.0) + 0.0:.4f}" for a in AXES) + "}"


def _plain(text: str) -> str:
    """ASCII without quotes, at most 80 characters."""
    return re.sub(r"[^ -!#-~]", "", text)[:80]


def _lines(lines: Sequence[str]) -> str:
    return "\r\n".join(lines) + "\r\n"
