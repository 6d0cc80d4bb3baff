"""The best angles of a plan by exchange: each in turn moves to its best place while the others stay.

First on a grid over the whole range, then on finer ones about the place found; from every start given, and the best of
the results, so nothing depends on chance.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from elastocal.spatial.entries import Array

GRID, LEVELS, SWEEPS, FINER = 96, 5, 10, 8
ENOUGH = 1e-10
"""Plans whose values differ by less than this part of 1 or of the value are equal, and the first one stays."""

Objective = Callable[[Array], Array]
"""Values (n,) of plans (n, m); inf where a plan is not allowed."""


def best_plan(
    starts: Sequence[Array], low: float, high: float, objective: Objective, marks: Callable[[Array], Array]
) -> tuple[Array, float]:
    """Plan (m,) and its value; ``marks`` gives places worth trying besides the grid, from the others."""
    found = [_exchanged(start, low, high, objective, marks) for start in starts]
    values = [float(objective(plan[None])[0]) for plan in found]
    best = next(i for i, v in enumerate(values) if not _better(min(values), v))
    return found[best], values[best]


def _exchanged(plan: Array, low: float, high: float, objective: Objective, marks: Callable[[Array], Array]) -> Array:
    plan, step = plan.copy(), (high - low) / GRID
    grid = np.linspace(low, high, GRID + 1)
    for level in range(LEVELS):
        value = float(objective(plan[None])[0])
        for _ in range(SWEEPS):
            for i in range(len(plan)):
                near = grid if level == 0 else plan[i] + step * np.arange(-FINER, FINER + 1)
                places = np.clip(np.concatenate([near, marks(np.delete(plan, i))]), low, high)
                trials = np.repeat(plan[None], len(places) + 1, axis=0)
                trials[1:, i] = places
                found = objective(trials)
                best = int(np.argmin(found))
                plan = trials[best] if _better(found[best], found[0]) else plan
            before, value = value, float(objective(plan[None])[0])
            if not _better(value, before):
                break
        step /= FINER
    return plan


def _better(new: float, old: float) -> bool:
    return bool(new < old if np.isinf(old) else new < old - ENOUGH * max(1.0, abs(old)))
