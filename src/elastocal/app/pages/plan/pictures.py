"""Where candidates, chosen poses and test poses are, and accuracy against the number of poses, as pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elastocal.app.pages.plan.kinds import COUNTED, noun
from elastocal.report.blocks import Lines, Series

if TYPE_CHECKING:
    from elastocal.app.commands.plan import PlanResult
    from elastocal.spatial.entries import Array

MOST = 1500
"""Candidates that are drawn."""


def pictures(result: PlanResult) -> tuple[Lines, ...]:
    """The tool from above and from the side; of what is chosen, everywhere that it takes the arm to."""
    import numpy as np

    from elastocal.design.poses import Poses

    problem, model = result.planned.problem, result.task.model
    every = problem.candidates.poses
    thin = every.picked(np.arange(0, len(every), max(1, -(-len(every) // MOST))))
    sets = [
        ("feasible candidates", thin),
        ("test poses", Poses(model, problem.tests.q)),
        ("chosen", result.task.measuring.stations(result.candidates)[0].poses),
    ]
    if result.task.tests is None:
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


def curve(result: PlanResult) -> tuple[Lines, ...]:
    """Errors at the test poses, and the parameters' accuracy, against the number of poses."""
    import numpy as np

    found, counted, many = result.planned, COUNTED[result.task.measuring.counted], noun(result)
    counts = tuple(float(p.count) for p in found.curve)
    errors = [counted.factor * found.problem.errors(p.plan.known) for p in found.curve]
    rms = tuple(float(np.sqrt(np.mean(e**2))) for e in errors)
    worst = tuple(float(e.max()) for e in errors)
    names, values = found.problem.names, found.problem.values
    each = tuple(
        Series(n, counts, tuple(float(100 * p.sd[i] / abs(values[i])) for p in found.curve))
        for i, n in enumerate(names)
        if values[i]
    )
    both = (Series("root mean square", counts, rms), Series("largest", counts, worst))
    return (
        Lines("error_curve", "Expected error at the test poses", many, "", "error", counted.unit, both),
        Lines("accuracy_curve", "Expected accuracy of the parameters", many, "", "accuracy", "%", each[:12]),
    )
