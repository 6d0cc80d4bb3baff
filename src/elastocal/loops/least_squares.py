"""Linear least squares that says which unknowns the rows determine.

    y = X b + e,   b = X^+ y,   cov(b) = sigma^2 X^+ X^+T

with the rank decided on columns of unit length (``identifiability.rank``).  Unknown j is determined where no null
vector touches it: then X^+ gives its least-squares value whatever the others are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from elastocal.identifiability.rank import RELATIVE, decide_rank
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
        """The unknowns that act only together with ``name``."""
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
