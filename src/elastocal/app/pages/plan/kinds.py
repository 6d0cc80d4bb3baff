"""Plans of contacts and of sweeps as tables, and how each kind of measurement counts and calls things."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from elastocal.app.configurations import axes_of
from elastocal.report.blocks import Cell, Column, Table

if TYPE_CHECKING:
    from elastocal.app.commands.plan import PlanResult


@dataclass(frozen=True)
class Counted:
    """What counts at the task: the factor from SI, its unit, and words."""

    factor: float
    unit: str
    key: str
    what: str
    sentence: str


COUNTED = {
    "m": Counted(1e3, "mm", "mm", "length", "Expected position error after compensation"),
    "N m": Counted(1.0, "N m", "Nm", "torque of all joints", "Expected error of the torques that hold the arm"),
}


def noun(result: PlanResult) -> str:
    return {"contact": "contacts", "joint_torque": "sweeps"}.get(result.task.measuring.kind, "poses")


def contact_table(result: PlanResult) -> Table:
    """Object, force and place, the way to press, and the joint values in contact."""
    from elastocal.design.touching import Touching

    candidates, axes, method = result.candidates, axes_of(result.task.model), result.task.measuring
    assert isinstance(method, Touching)
    kind = method.readings(candidates)
    state = kind.touched(candidates.model)
    shown = candidates.model.controller.to_controller(candidates.q) / axes.factors
    columns = (
        Column("pose", "contact"),
        Column("object", "object"),
        Column("force_N", "force", "N", 3),
        *(Column(f"{c}_mm", c, "mm", 2) for c in "xyz"),
        *(Column(f"press_{c}", f"press {c}", "", 3) for c in "xyz"),
        *(Column(f"{a}_{u}", a, u, 4, part=1) for a, u in zip(axes.names, axes.units, strict=True)),
    )
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (f"P{i + 1}", method.surfaces[kind.touches.which[i]].name, float(state.size[i]),
         *(float(v) for v in 1e3 * state.point[i]), *(float(v) + 0.0 for v in -state.normal[i]),
         *(float(v) + 0.0 for v in shown[i]))
        for i in range(len(candidates))
    )  # fmt: skip
    notes = [
        f"In the order of the program; the arm starts {1e3 * method.standoff:g} mm in front of each place. Joint "
        "values are those of the robot as described: the force decides where it stops.",
    ]
    if result.task.repeats > 1:
        notes.append(f"Every contact is read {result.task.repeats} times.")
    return Table("plan", "", columns, rows, tuple(notes))


def sweep_table(result: PlanResult) -> Table:
    """Which joint, from where to where, how fast, and where all axes are at the start."""
    import numpy as np

    from elastocal.app.planning.program import stroke_of
    from elastocal.design.sweeping import Sweeping

    candidates, axes, method = result.candidates, axes_of(result.task.model), result.task.measuring
    assert isinstance(method, Sweeping)
    start = candidates.model.controller.to_controller(candidates.q) / axes.factors
    end = candidates.model.controller.to_controller(method.ends(candidates)) / axes.factors
    columns = (
        Column("pose", "sweep"),
        Column("joint", "joint"),
        Column("speed_deg_s", "speed", "deg/s", 3),
        *(Column(f"{a}_{u}", a, u, 2) for a, u in zip(axes.names, axes.units, strict=True)),
        Column("to", "and back from"),
    )
    rows: list[tuple[Cell, ...]] = []
    for i in range(len(candidates)):
        stroke = stroke_of(candidates, i)
        moved = np.flatnonzero(np.abs(end[i] - start[i]) > 1e-9)
        far = ", ".join(f"{axes.names[j]} {end[i, j] + 0.0:.2f} {axes.units[j]}" for j in moved)
        rows.append((f"S{i + 1}", candidates.model.joints[stroke.joint], float(np.degrees(stroke.speed)),
                     *(float(v) + 0.0 for v in start[i]), far))  # fmt: skip
    notes = (
        "In the order of the program: axes at the start, and those that move at the other end.",
        f"Each way counts as {method.samples} independent readings of the moving joint"
        + (f", {result.task.repeats} times." if result.task.repeats > 1 else "."),
    )
    return Table("plan", "", columns, tuple(rows), notes)
