"""A plan as a KUKA program: one PTP to axis values per stop, a halt where somebody reads or changes the load.

``NAME.src`` holds the motions, ``NAME.dat`` the points as E6AXIS in degrees and mm.  The messages need KSS 8 or newer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from elastocal.files.plan.stop import Stop, plain, windows_lines
from elastocal.model.robot import RobotModel
from elastocal.spatial.entries import Array

AXES = (*(f"A{i}" for i in range(1, 7)), *(f"E{i}" for i in range(1, 7)))
SPEED = 20
"""Per cent of the usual moves."""
LONGEST = 24
"""Characters of a KRL name."""
DEVICES = r"con|prn|aux|nul|(com|lpt)\d"
"""Names that no file can have on Windows, whatever its ending; the controller runs on it."""


def speaks_krl(model: RobotModel) -> bool:
    """Whether the robot's file says so, or else its controller's axes are those of a KUKA."""
    if model.controller.language:
        return model.controller.language == "krl"
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
    source = [f"DEF {module}( )", *(f"; {plain(n)}" for n in notes), "BAS(#INITMOV, 0)", f"BAS(#VEL_PTP, {SPEED})", ""]
    points = []
    for number, stop in enumerate(stops, 1):
        point = f"XM{number:0{width}d}"
        points.append(f"DECL E6AXIS {point}={_axes(model, stop.q)}")
        source += [f"; stop {number} of {len(stops)}", *([f"; {plain(stop.note)}"] if stop.note else ())]
        slow = stop.speed is not None
        source += [f"BAS(#VEL_PTP, {stop.speed:g})"] if slow else []
        source += [f"PTP {point}", *([f"BAS(#VEL_PTP, {SPEED})"] if slow else ()), f"WAIT SEC {wait:g}"]
        for sentence in stop.sentences:
            source += [f'MsgNotify("{plain(sentence)}")', "HALT"]
        source.append("")
    return {
        f"{module}.src": windows_lines(["&ACCESS RVP", *source, "END"]),
        f"{module}.dat": windows_lines(["&ACCESS RVP", f"DEFDAT {module}", *points, "ENDDAT"]),
    }


def _axes(model: RobotModel, q: Array) -> str:
    shown = model.controller.to_controller(q[None])[0]
    values = {}
    for axis, value, motion in zip(model.controller.axes, shown, model.motions, strict=True):
        values[axis] = float(np.degrees(value) if motion.kind == "revolute" else 1e3 * value)
    return "{" + ",".join(f"{a} {values.get(a, 0.0) + 0.0:.4f}" for a in AXES) + "}"
