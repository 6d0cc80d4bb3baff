"""Least squares of arcs: a state with residuals and slopes, and the way to its minimum."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Self, TypeVar

import numpy as np

from elastocal.errors import InputError
from elastocal.identifiability.rank import RELATIVE
from elastocal.spatial.entries import Array

STEPS = 200
SETTLED, CLOSE, ROUNDING = 1e-11, 1e-6, 1e-15


class ArcProblem(ABC):
    """A model with values for its parameters.  Residuals are measured minus model, in metres.

    Each point has one row per name in ``components``; ``labels`` gives its marker and pose, both from 0.
    """

    @property
    @abstractmethod
    def components(self) -> tuple[str, ...]: ...

    @property
    @abstractmethod
    def labels(self) -> tuple[tuple[int, int], ...]: ...

    @property
    @abstractmethod
    def readings(self) -> Array:
        """(points, components): what the components are in the data."""

    @property
    @abstractmethod
    def points(self) -> Array:
        """(points, d) as measured."""

    @abstractmethod
    def residuals(self) -> Array:
        """(points, components)."""

    @abstractmethod
    def slopes(self) -> Array:
        """(points, components, p): derivative of the model by small moves of its parameters."""

    @abstractmethod
    def moved(self, step: Array) -> Self:
        """The state after small moves (p,)."""


P = TypeVar("P", bound=ArcProblem)


def weighted_rows(problem: ArcProblem, weights: Array | None = None) -> tuple[Array, Array]:
    """Residuals (n,) and slopes (n, p), each point times the square root of its weight."""
    r, j = problem.residuals(), problem.slopes()
    if weights is not None:
        root = np.sqrt(weights)[:, None]
        r, j = r * root, j * root[:, :, None]
    return r.reshape(-1), j.reshape(-1, j.shape[2])


def decomposed(slopes: Array) -> tuple[Array, Array, Array, Array]:
    """(lengths, U, S, V^T) of the slopes with unit columns; directions that no row sees are left out."""
    lengths = np.linalg.norm(slopes, axis=0)
    lengths = np.where(lengths > 0, lengths, 1.0)
    u, s, vt = np.linalg.svd(slopes / lengths, full_matrices=False)
    seen = s > RELATIVE * s[0]
    return lengths, u[:, seen], s[seen], vt[seen]


def minimise(problem: P, weights: Array | None = None) -> P:
    """Levenberg-Marquardt from a start: least sum of ``weights`` (points,) times squared residuals.

    Ends where a full step changes the model by 1e-11 of the residuals or by rounding, or by 1e-6 of the residuals and
    steps no longer shrink.
    """
    state, damping, last = problem, 0.0, np.inf
    r, j = weighted_rows(state, weights)
    floor = ROUNDING * np.sqrt(len(r)) * float(np.max(np.abs(state.points)))
    for _ in range(STEPS):
        lengths, u, s, vt = decomposed(j)
        along = u.T @ r
        gain, rest = float(np.linalg.norm(along)), float(np.linalg.norm(r))
        if gain <= SETTLED * rest + floor or last / 2 < gain < CLOSE * rest:
            return state
        last = gain
        trial = state.moved(vt.T @ (s / (s**2 + damping) * along) / lengths)
        trial_r, trial_j = weighted_rows(trial, weights)
        if float(np.linalg.norm(trial_r)) <= rest + floor or (gain < CLOSE * rest and damping == 0.0):
            state, r, j = trial, trial_r, trial_j
            damping = damping / 10 if damping > 1e-6 else 0.0
        elif damping > 1e8:
            return state  # nothing lower within rounding
        else:
            damping = max(10 * damping, 1e-4)
    raise InputError("the fit of the arc does not settle; the arc is too short for its noise, measure a longer one")
