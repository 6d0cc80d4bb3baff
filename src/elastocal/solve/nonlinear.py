"""Least squares of problems that are not linear: Levenberg and Marquardt's way to the minimum.

A state is anything that small moves change: rows(state) gives residuals r (n,) and the derivative J (n, p) of the model
by small moves, moved(state, step) the state after them.  Steps are those of ``linear``, so that moves which the rows do
not determine stay zero.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np

from elastocal.errors import InputError
from elastocal.solve.linear import solve_linear
from elastocal.spatial.entries import Array

STEPS = 200
SETTLED, CLOSE, ROUNDING = 1e-11, 1e-6, 1e-15
HIDDEN = 1e-3
"""Share of the residuals that a step may promise while rounding hides what its smallest parts bring."""
S = TypeVar("S")


def minimise(
    state: S,
    rows: Callable[[S], tuple[Array, Array]],
    moved: Callable[[S, Array], S],
    size: float,
    refusal: str = "the fit does not converge; measure more",
) -> S:
    """The state with the least sum of squares, from a start; ``size`` of the readings tells what is rounding.

    Ends where a full step changes the model by 1e-11 of the residuals or by rounding, or by 1e-6 of the residuals and
    steps no longer shrink; refuses with ``refusal`` where neither happens, or where no part of a step leads lower that
    promises more than rounding hides: slopes are not those of the model, or it is not there beyond the start.
    """
    damping, last = 0.0, np.inf
    r, j = rows(state)
    floor = ROUNDING * np.sqrt(len(r)) * size
    for _ in range(STEPS):
        step = solve_linear(j, r).values
        gain, rest = float(np.linalg.norm(j @ step)), float(np.linalg.norm(r))
        if gain <= SETTLED * rest + floor or last / 2 < gain < CLOSE * rest:
            return state
        last = gain
        trial = moved(state, _damped(r, j, damping) if damping else step)
        trial_r, trial_j = rows(trial)
        if float(np.linalg.norm(trial_r)) <= rest + floor or (gain < CLOSE * rest and damping == 0.0):
            state, r, j = trial, trial_r, trial_j
            damping = damping / 10 if damping > 1e-6 else 0.0
        elif damping > 1e8:
            if gain < HIDDEN * rest:
                return state  # nothing lower within rounding
            break
        else:
            damping = max(10 * damping, 1e-4)
    raise InputError(refusal, code="not-converged")


def _damped(r: Array, j: Array, damping: float) -> Array:
    """The step that also keeps its parts small, each in units of what its column does to the residuals."""
    small = np.diag(np.sqrt(damping) * np.linalg.norm(j, axis=0))
    return solve_linear(np.concatenate([j, small]), np.concatenate([r, np.zeros(len(small))])).values
