"""A plan as a KUKA program: one PTP to axis values per stop, a halt where somebody reads or changes the load.

``NAME.src`` holds the motions, ``NAME.dat`` the points as E6AXIS in degrees and mm.  The messages need KSS 8 or newer.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from elastocal.files.plan.stop import Stop, plain_lines, program_name, windows_lines
from elastocal.model.robot import RobotModel
from elastocal.spatial.entries import Array

AXES = (*(f"A{i}" for i in range(1, 7)), *(f"E{i}" for i in range(1, 7)))
SPEED = 20
"""Per cent of the usual moves."""


def krl_files(name: str, model: RobotModel, stops: Sequence[Stop], notes: Sequence[str], wait: float) -> dict[str, str]:
    """Texts by file name; ``wait`` seconds pass before anybody is asked to read."""
    module = program_name(name)
    width = max(2, len(str(len(stops))))
    head = [f"; {line}" for note in notes for line in plain_lines(note)]
    source = [f"DEF {module}( )", *head, "BAS(#INITMOV, 0)", f"BAS(#VEL_PTP, {SPEED})", ""]
    points = []
    for number, stop in enumerate(stops, 1):
        point = f"XM{number:0{width}d}"
        points.append(f"DECL E6AXIS {point}={_axes(model, stop.q)}")
        source.append(f"; stop {number} of {len(stops)}")
        source += [f"; {line}" for line in plain_lines(stop.note)] if stop.note else []
        slow = stop.speed is not None
        source += [f"BAS(#VEL_PTP, {stop.speed:g})"] if slow else []
        source += [f"PTP {point}", *([f"BAS(#VEL_PTP, {SPEED})"] if slow else ()), f"WAIT SEC {wait:g}"]
        for sentence in stop.sentences:
            source += [*(f'MsgNotify("{line}")' for line in plain_lines(sentence)), "HALT"]
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
