"""Least squares of whitened rows that says which unknowns the rows determine; of problems that are not linear,
Levenberg and Marquardt's way to the minimum by steps of it.

    y = X b + e,    X = U S V^T diag(l),    b = X^+ y,    cov(b) = X^+ X^+T                            (linear)

with the rank decided on columns of unit length, whatever their units.  Unknown j is determined where no null vector
touches it: then X^+ gives its least-squares value whatever the others are.  Rows that are not kept take no part, and
have a residual and a leverage all the same: the variance of their prediction in units of their own, infinite where the
kept rows say nothing of it.  It needs no prior; problems with priors, several scales or blocks are those of ``blocks``.

Not linear (``minimise``): a state is anything that small moves change.  rows(state) gives residuals r (n,) and the
derivative J (n, p) of the model by small moves, moved(state, step) the state after them; moves which the rows do not
determine stay zero.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from elastocal.errors import InputError
from elastocal.spatial.entries import Array, Bools
from elastocal.values import dataclass

RELATIVE = 1e-9
"""Singular values (columns of unit length) and lengths of columns below this part of the largest count as zero."""
TOUCHED = 1e-7
"""Part of a null vector from which an unknown belongs to it."""
ROUNDING = 1e-12
"""Residuals below this part of the readings are rounding, not noise."""


@dataclass(frozen=True, eq=False)
class UnitQR:
    """A = Q R diag(lengths): columns of unit length, so that R tells how they depend on each other whatever the units.

    A column of zeros keeps the length one and a zero in R.
    """

    q: Array
    r: Array
    lengths: Array

    @property
    def least(self) -> float:
        """Least part of a column that those before it do not explain."""
        return float(np.min(np.abs(np.diag(self.r)), initial=np.inf))

    def solve(self, y: Array) -> Array:
        """A^+ y, of one right-hand side (n,) or several (n, k)."""
        values = np.linalg.solve(self.r, self.q.T @ y)
        return np.asarray(values / (self.lengths if y.ndim == 1 else self.lengths[:, None]))

    @property
    def covariance(self) -> Array:
        """(A^T A)^-1."""
        inverse = np.linalg.solve(self.r, np.eye(len(self.lengths)))
        return np.asarray(inverse @ inverse.T / np.outer(self.lengths, self.lengths))


def unit_qr(columns: Array) -> UnitQR:
    lengths = np.linalg.norm(columns, axis=0)
    lengths = np.where(lengths > 0, lengths, 1.0)
    q, triangle = np.linalg.qr(columns / lengths)
    return UnitQR(np.asarray(q), np.asarray(triangle), lengths)


@dataclass(frozen=True, eq=False)
class LinearSolution:
    """``values`` (p,) and ``unit_covariance`` (p, p), for noise of one, hold where ``known``; ``null`` (p, p - rank).

    ``residuals`` and ``leverage`` (n,) are of all rows, ``freedom`` counts the kept ones to spare; ``size`` is the
    largest reading kept.
    """

    names: tuple[str, ...]
    values: Array
    unit_covariance: Array
    known: Bools
    null: Array
    residuals: Array
    leverage: Array
    kept: Bools
    freedom: int
    size: float

    @property
    def squares(self) -> float:
        return float(np.sum(self.residuals[self.kept] ** 2))

    @property
    def scatter(self) -> float:
        """Standard deviation of the residuals, at least rounding; nan with nothing to spare."""
        if self.freedom < 1:
            return float("nan")
        return max(float(np.sqrt(self.squares / self.freedom)), ROUNDING * self.size)

    @property
    def exact(self) -> bool:
        """Whether the residuals are rounding only."""
        return self.freedom < 1 or self.scatter <= 2 * ROUNDING * self.size

    def entangled(self, name: str) -> tuple[str, ...]:
        """The unknowns that are not separately identifiable from ``name``."""
        touched = np.abs(self.null) > TOUCHED
        together = touched[:, touched[self.names.index(name)]]
        return tuple(n for n, hits in zip(self.names, together, strict=True) if np.any(hits) and n != name)


def solve_linear(
    columns: Array, y: Array, names: Sequence[str] = (), kept: Bools | None = None, relative: float = RELATIVE
) -> LinearSolution:
    """``columns`` (n, p) and ``y`` (n,) in units of their noise; ``relative`` decides the rank."""
    n, p = columns.shape
    rows = np.ones(n, dtype=bool) if kept is None else kept
    scaled, lengths = _scaled(columns, rows)
    u, s, vt = np.linalg.svd(scaled[rows], full_matrices=int(rows.sum()) < p)
    rank = _rank(s, relative)
    root = vt[:rank].T / s[:rank]
    inside = scaled @ vt[:rank].T
    hidden = np.linalg.norm(scaled - inside @ vt[:rank], axis=1) > 1e-6 * np.linalg.norm(scaled, axis=1)
    leverage = np.where(hidden & ~rows, np.inf, np.sum((inside / s[:rank]) ** 2, axis=1))
    values = root @ (u[:, :rank].T @ y[rows]) / lengths
    null = vt[rank:].T
    return LinearSolution(
        tuple(names) or tuple(str(j) for j in range(p)), values, root @ root.T / np.outer(lengths, lengths),
        np.all(np.abs(null) <= TOUCHED, axis=1), null, y - columns @ values, leverage, rows, int(rows.sum()) - rank,
        float(np.max(np.abs(y[rows]), initial=0.0)),
    )  # fmt: skip


def orthonormal_span(columns: Array, relative: float = RELATIVE) -> Array:
    """Orthonormal columns (n, rank) that span what the unknowns can do."""
    scaled, _ = _scaled(columns, np.ones(len(columns), dtype=bool))
    u, s, _ = np.linalg.svd(scaled, full_matrices=False)
    return np.asarray(u[:, : _rank(s, relative)])


def _scaled(columns: Array, rows: Bools) -> tuple[Array, Array]:
    """Columns of unit length over the kept rows, those that hardly move anything as zeros, and the lengths."""
    lengths = np.linalg.norm(columns[rows], axis=0)
    unobservable = lengths <= RELATIVE * np.max(lengths, initial=0.0)
    unit = np.where(unobservable, 1.0, lengths)
    return np.where(unobservable & rows[:, None], 0.0, columns / unit), unit


def _rank(singular: Array, relative: float) -> int:
    return int(np.sum(singular > relative * np.max(singular, initial=0.0)))


def determined_values(columns: Array, y: Array, names: Sequence[str]) -> Array:
    """Values (p,) of unknowns that the rows determine one by one; refuses all else."""
    if not (np.all(np.isfinite(y)) and np.all(np.isfinite(columns))):
        raise InputError(
            "readings and their derivatives must be finite numbers; leave the others out", code="not-finite"
        )
    if len(y) < columns.shape[1]:
        raise InputError(
            f"{len(y)} equations cannot give {columns.shape[1]} parameters; measure more or seek fewer",
            code="few-readings", value=len(y),
        )  # fmt: skip
    solution = solve_linear(columns, y, names)
    for name, known in zip(solution.names, solution.known, strict=True):
        if not known:
            others = ", ".join(solution.entangled(name))
            why = f"cannot be told apart from {others}" if others else "moves no reading"
            raise InputError(
                f"{name} {why}; leave it out, or load the robot in another direction", code="rank", value=name
            )
    return solution.values


STEPS = 200
SETTLED, CLOSE, LAST_DIGIT = 1e-11, 1e-6, 1e-15
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
    floor = LAST_DIGIT * np.sqrt(len(r)) * size
    for _ in range(STEPS):
        step = solve_linear(j, r).values
        gain, rest = float(np.linalg.norm(j @ step)), float(np.linalg.norm(r))
        if gain <= SETTLED * rest + floor or last / 2 < gain < CLOSE * rest:
            return state
        last = gain
        trial = moved(state, _damped_step(r, j, damping) if damping else step)
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


def _damped_step(r: Array, j: Array, damping: float) -> Array:
    """The step that also keeps its parts small, each in units of what its column does to the residuals."""
    small = np.diag(np.sqrt(damping) * np.linalg.norm(j, axis=0))
    return solve_linear(np.concatenate([j, small]), np.concatenate([r, np.zeros(len(small))])).values
