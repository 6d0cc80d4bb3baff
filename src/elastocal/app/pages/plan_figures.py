"""Where candidates, chosen poses and test poses are, and accuracy against the number of poses, as pictures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from elastocal.app.drawing import MOST_ARMS, spread_out
from elastocal.app.pages.cell_parts import beams, cell_parts
from elastocal.app.pages.robot_scene import UNIT, arm_parts, dots, drawn_words, force_arrows, force_scale, load_forces
from elastocal.report.blocks import Lines, Scene, Series
from elastocal.report.parts import Part

if TYPE_CHECKING:
    from elastocal.design.result import Plan
    from elastocal.spatial.entries import Array


ALL = "all poses"
MOST = 1500
"""Candidates that are drawn."""


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


def pictures(plan: Plan) -> tuple[Lines, ...]:
    """The tool from above and from the side; of what is chosen, everywhere that it takes the arm to."""
    import numpy as np

    from elastocal.design.poses import Poses

    problem, model = plan.problem, plan.task.model
    every = problem.candidates.poses
    thin = every.picked(np.arange(0, len(every), max(1, -(-len(every) // MOST))))
    sets = [
        ("feasible candidates", thin),
        ("test poses", Poses(model, problem.tests.q)),
        ("chosen", plan.task.measuring.stations(plan.chosen)[0].poses),
    ]
    if plan.task.tests is None:
        sets.pop(1)
    places = [(name, poses.origin(model.tool)) for name, poses in sets]
    return (
        Lines("from_above", "Tool seen from above", "x", "m", "y", "m",
              tuple(_marks(n, p[:, 0], p[:, 1]) for n, p in places)),
        Lines("from_the_side", "Tool seen from the side", "distance from the base axis", "m", "height", "m",
              tuple(_marks(n, np.hypot(p[:, 0], p[:, 1]), p[:, 2]) for n, p in places)),
    )  # fmt: skip


def _marks(name: str, x: Array, y: Array) -> Series:
    return Series(name, tuple(map(float, x)), tuple(map(float, y)), points=True)


def curve(plan: Plan) -> tuple[Lines, ...]:
    """Errors at the test poses, and the parameters' accuracy, against the number of poses."""
    import numpy as np

    counted, many = COUNTED[plan.task.measuring.counted], plan.task.measuring.noun
    counts = tuple(float(p.count) for p in plan.curve)
    errors = [counted.factor * plan.problem.errors(p.plan.known) for p in plan.curve]
    rms = tuple(float(np.sqrt(np.mean(e**2))) for e in errors)
    worst = tuple(float(e.max()) for e in errors)
    names, values = plan.problem.names, plan.problem.values
    each = tuple(
        Series(n, counts, tuple(float(100 * p.sd[i] / abs(values[i])) for p in plan.curve))
        for i, n in enumerate(names)
        if values[i]
    )
    both = (Series("root mean square", counts, rms), Series("largest", counts, worst))
    return (
        Lines("error_curve", "Expected error at the test poses", many, "", "error", counted.unit, both),
        Lines("accuracy_curve", "Expected accuracy of the parameters", many, "", "accuracy", "%", each[:12]),
    )


def scenes(plan: Plan) -> tuple[Scene, ...]:
    """All chosen places of the tool with their loads, then some of the arms one by one."""
    import numpy as np

    from elastocal.model.skeleton import skeleton

    candidates, cell, model = plan.task.measuring.stations(plan.chosen)[0], plan.task.cell, plan.task.model
    arms = skeleton(model, candidates.q)
    rows = spread_out(arms.tip, MOST_ARMS)
    names = [f"P{i + 1}" for i in range(len(candidates))]
    starts, forces = load_forces(model, candidates.q, candidates.load)
    scale, said = force_scale(forces, arms.extent)
    parts: list[Part] = [
        *cell_parts(cell),
        *arm_parts(arms.picked(rows), "some of the arms", ALL, "faint"),
        dots("chosen poses", arms.tip, names, ALL),
        force_arrows(starts, forces, scale, ALL),
    ]
    for i in rows:
        seen = np.array([candidates.poses.origin(m)[candidates.at[i]] for m in cell.markers]).reshape(-1, 3)
        parts += [*arm_parts(arms.picked(np.array([i])), "arm", names[i]), *beams(cell, seen, names[i])]
        parts.append(force_arrows(starts[[i]], forces[[i]], scale, names[i]))
    notes = (said, *drawn_words(len(rows), len(candidates), "arms"))
    return (Scene("scene", "Chosen poses and loads", UNIT, tuple(parts), notes),)
