"""Linear least squares that says which unknowns the rows determine, and the outliers of a loop.

    y = X b + e,   b = X^+ y,   cov(b) = sigma^2 X^+ X^+T

with the rank decided on columns of unit length (``identifiability.rank``).  Unknown j is determined where no null
vector touches it: then X^+ gives its least-squares value whatever the others are.

Reading i lies t_i = e_i / (s_i sqrt(1 - h_i)) away from what the others predict, s_i being the scatter of the others:
Student's t on their spare readings.  The worst is left out where its probability times the number of readings is below
a level (Bonferroni), then the rest is judged again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from elastocal.identifiability.rank import RELATIVE, decide_rank
from elastocal.procedures.loops.estimate import LEVEL
from elastocal.procedures.loops.loop import Loop, model_columns
from elastocal.spatial.entries import Array, Bools

TOUCHED = 1e-7
ROUNDING = 1e-12
"""Residuals below this part of the readings are rounding, not noise."""


@dataclass(frozen=True, eq=False)
class Solution:
    """``values`` (p,) and ``unit_covariance`` (p, p) hold where ``known``; ``leverage`` (n,) is diag of X X^+."""

    names: tuple[str, ...]
    values: Array
    unit_covariance: Array
    known: Bools
    null: Array
    residuals: Array
    leverage: Array
    freedom: int
    size: float

    @property
    def scatter(self) -> float:
        """Standard deviation of the residuals, at least rounding; nan with nothing to spare."""
        if self.freedom < 1:
            return float("nan")
        return max(float(np.sqrt(np.sum(self.residuals**2) / self.freedom)), ROUNDING * self.size)

    @property
    def exact(self) -> bool:
        """Whether the residuals are rounding only."""
        return self.freedom < 1 or self.scatter <= 2 * ROUNDING * self.size

    def entangled(self, name: str) -> tuple[str, ...]:
        """The unknowns that are not separately identifiable from ``name``."""
        touched = np.abs(self.null) > TOUCHED
        together = touched[:, touched[self.names.index(name)]]
        return tuple(n for n, hits in zip(self.names, together, strict=True) if np.any(hits) and n != name)


def fit_columns(names: Sequence[str], columns: Array, y: Array) -> Solution:
    """``columns`` (n, p), ``y`` (n,), equal weights."""
    rank = decide_rank(columns, np.ones(columns.shape[1]))
    inverse = np.linalg.pinv(columns / rank.lengths, rcond=RELATIVE) / rank.lengths[:, None]
    values = inverse @ y
    known = np.all(np.abs(rank.null) <= TOUCHED, axis=1)
    leverage = np.einsum("ij,ji->i", columns, inverse)
    size = float(np.max(np.abs(y), initial=0.0))
    return Solution(
        tuple(names), values, inverse @ inverse.T, known, rank.null, y - columns @ values, leverage,
        len(y) - rank.rank, size,
    )  # fmt: skip


MOST, FEW = 0.1, 2


@dataclass(frozen=True)
class Outlier:
    """Reading ``row`` of a loop (from 0): read, what the rest predicts, and how likely such a reading is."""

    row: int
    value: float
    predicted: float
    sigmas: float
    probability: float


def screened_loop(
    loop: Loop, used: Bools, noise: float | None, loops: int = 1
) -> tuple[Bools, tuple[Outlier, ...], Solution]:
    """The readings kept, those left out (at most a tenth, or two) in order of discovery, and the fit of the kept.

    The level is shared by all ``loops``, so that one set of loops in a hundred names a good reading.
    """
    names, columns = model_columns(loop)
    kept, found = used.copy(), list[Outlier]()
    most = max(FEW, int(MOST * used.sum()))
    while True:
        rows = np.flatnonzero(kept)
        fit = fit_columns(names, columns[rows], loop.displacement[rows])
        worst = None if len(found) == most else _worst(fit, noise, LEVEL / loops)
        if worst is None:
            return kept, tuple(found), fit
        at, t, probability = worst
        row = int(rows[at])
        away = fit.residuals[at] / (1 - fit.leverage[at])
        value = float(loop.displacement[row])
        found.append(Outlier(row, value, float(value - away), abs(t), probability))
        kept[row] = False


def _worst(fit: Solution, noise: float | None, level: float) -> tuple[int, float, float] | None:
    from scipy.special import ndtr, stdtr

    free = 1 - fit.leverage
    tested = free > 1e-9
    if fit.freedom < 2 or not tested.any():
        return None
    share = np.where(tested, fit.residuals**2 / np.where(tested, free, 1.0), 0.0)
    others = np.sqrt(np.maximum(np.sum(fit.residuals**2) - share, 0.0) / (fit.freedom - 1))
    scale = np.maximum(others, max(noise or 0.0, ROUNDING * fit.size, np.finfo(float).tiny))
    t = np.sqrt(share) / scale
    at = int(np.argmax(t))
    tail = ndtr(-t[at]) if scale[at] == noise else stdtr(fit.freedom - 1, -t[at])
    probability = min(1.0, 2 * float(tail) * int(tested.sum()))
    return (at, float(t[at]), probability) if probability < level else None
