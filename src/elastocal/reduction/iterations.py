"""The search of 002 section 4.3, step by step: linearise, solve, limit the step, and take it only if the misfit falls.

    L_k+1 = L_k + s J^+ (y - f(L_k)),     s <= 1 such that no parameter moves by more than LONGEST times its size,

the larger of its value at the start and of its scale.

Contacts read as gaps (``measure.contact_gap``) are almost linear in the parameters, so that three steps do; read as
forces they are not, because a force is zero where the model misses the object.  A step is the last where the next,
shorter at least as this one was than the one before, would be below ``small`` scales.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from elastocal.measure.campaign import Campaign
from elastocal.model.robot import Robot
from elastocal.reduction.problem import Problem, linearise, weigh
from elastocal.spatial.entries import Array

LONGEST, SMALL, MOST, HALVINGS = 20.0, 1e-4, 60, 8
WEAK = 1e-4
"""Directions that move the readings so much less than the strongest one are left alone: noise would decide them."""


@dataclass(frozen=True, eq=False)
class Iterations:
    """The model of every iteration, the first as given; ``steps`` are their sizes in scales of the parameters."""

    models: tuple[Robot, ...]
    steps: tuple[float, ...]
    converged: bool

    @property
    def model(self) -> Robot:
        return self.models[-1]

    def values(self, names: Sequence[str]) -> Array:
        table = self.model.parameters
        return np.array([table.rows[table.index(n)].value for n in names])


def iterate(model: Robot, campaign: Campaign, names: Sequence[str], small: float = SMALL) -> Iterations:
    """Parameters from contacts; the weights are those of the first model."""
    weights = weigh(campaign, model)
    models, steps = [model], list[float]()
    problem = linearise(campaign, model, names, weights)
    sizes = np.maximum(np.abs(problem.start), problem.scales)
    for _ in range(MOST):
        step = _step(problem)
        size = float(np.max(np.abs(step) / problem.scales))
        step /= max(1.0, float(np.max(np.abs(step) / sizes)) / LONGEST)
        rate = size / steps[-1] if steps else 1.0
        if size * rate < small:
            return Iterations((*models, _moved(models[-1], problem, step)), (*steps, size), True)
        for _ in range(HALVINGS):
            moved = _moved(models[-1], problem, step)
            ahead = linearise(campaign, moved, names, weights)
            if _squares(ahead, problem) < _squares(problem, problem):
                break
            step = step / 2
        else:
            break
        models.append(moved)
        steps.append(size)
        problem = ahead
    return Iterations(tuple(models), tuple(steps), False)


def _step(problem: Problem) -> Array:
    """J^+ times the misfit, columns at unit length."""
    lengths = np.linalg.norm(problem.matrix, axis=0)
    safe = np.where(lengths > 0, lengths, 1.0)
    return np.asarray(np.linalg.lstsq(problem.matrix / safe, problem.misfit, rcond=WEAK)[0] / safe)


def _moved(model: Robot, problem: Problem, step: Array) -> Robot:
    pairs = zip(problem.names, problem.start + step, strict=True)
    return model.with_parameters({n: float(v) for n, v in pairs})


def _squares(problem: Problem, like: Problem) -> float:
    """Sum of squares; inf where contacts were lost that another problem has."""
    return float("inf") if np.any(like.used & ~problem.used) else float(problem.misfit @ problem.misfit)
