"""How well the parameters themselves are known, nuisances marginalised: D, A, E, and the condition number.

    d           value = log det M_s,                            gain = value / s
    a           value = sum_i (sd_i / scale_i)^2,               gain = -log(value / s)
    e           value = 1 / l_1,                                gain = log value
    condition   value = sqrt(l_1 / l_s),                        gain = -2 log value

with M_s the information of the s parameters sought and l_i the eigenvalues of W C W^T, the largest first, W the
parameters over their scales.  The choice by d does not depend on units.  The condition number of the observation matrix
measures balance: more data may worsen it, and twice the same data leave it as it was.

Eigenvalues of every candidate cost much, so candidates are ranked by a bound first: for eigenvectors v of the largest
eigenvalues before the change, the largest after it is at least the largest v^T W C' W^T v; of the smallest likewise.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from elastocal.design.criteria.criterion import Criterion, ScaledCriterion, mean_slopes, minus_log
from elastocal.design.knowledge import Knowledge, Trials, pushed
from elastocal.spatial.entries import Array
from elastocal.values import dataclass

WATCHED = 8
"""Eigenvectors that a bound is taken from."""


@dataclass(frozen=True)
class Determinant(Criterion):
    """D: the inverse volume of the confidence ellipsoid; more data are never worse, whatever the units."""

    kind: ClassVar[str] = "d"

    @property
    def certifiable(self) -> bool:
        return True

    def gain(self, known: Knowledge) -> float:
        return known.log_determinant / len(known.coordinates.interest)

    def value(self, known: Knowledge) -> float:
        return known.log_determinant

    def gains(self, trials: Trials) -> Array:
        return np.asarray(self.gain(trials.base) + trials.log_ratio / len(trials.base.coordinates.interest))

    def slopes(self, known: Knowledge, rows: Array) -> Array:
        """(tr(M^-1 A^T A) - tr(M_n^-1 A_n^T A_n)) / s: the first rows of root^T A^T are those of the nuisances."""
        seen = pushed(known.root.T[known.coordinates.nuisance :], rows)
        return np.asarray(np.einsum("rkn,rkn->n", seen, seen) / len(known.coordinates.interest))


@dataclass(frozen=True, eq=False)
class CovarianceTrace(ScaledCriterion):
    """A: the sum of the variances."""

    kind: ClassVar[str] = "a"

    @property
    def certifiable(self) -> bool:
        return True

    def value(self, known: Knowledge) -> float:
        return float(np.sum(known.half(self.sought(known)) ** 2))

    def gain(self, known: Knowledge) -> float:
        return float(-np.log(self.value(known) / len(known.coordinates.interest)))

    def gains(self, trials: Trials) -> Array:
        rows = self.sought(trials.base)
        return minus_log(trials.total(rows) / len(rows))

    def slopes(self, known: Knowledge, rows: Array) -> Array:
        return mean_slopes(known, self.sought(known), rows)


@dataclass(frozen=True, eq=False)
class SmallestEigenvalue(ScaledCriterion):
    """E: the worst combination."""

    kind: ClassVar[str] = "e"

    def value(self, known: Knowledge) -> float:
        return float(np.linalg.svd(known.half(self.sought(known)), compute_uv=False)[0] ** -2)

    def gain(self, known: Knowledge) -> float:
        return float(np.log(self.value(known)))

    def gains(self, trials: Trials) -> Array:
        return minus_log(_eigenvalues(self, trials)[:, -1])

    def ceilings(self, trials: Trials) -> Array | None:
        rows = self.sought(trials.base)
        directions = np.linalg.svd(trials.base.half(rows))[0][:, :WATCHED]
        return minus_log(trials.squares(directions.T @ rows).max(axis=0))


@dataclass(frozen=True, eq=False)
class Condition(ScaledCriterion):
    """The largest over the smallest singular value: balance, not accuracy."""

    kind: ClassVar[str] = "condition"

    @property
    def monotone(self) -> bool:
        return False

    @property
    def degree(self) -> float:
        return 0.0

    def value(self, known: Knowledge) -> float:
        singular = np.linalg.svd(known.half(self.sought(known)), compute_uv=False)
        return float(singular[0] / singular[-1])

    def gains(self, trials: Trials) -> Array:
        values = _eigenvalues(self, trials)
        return _balance(values[:, -1], values[:, 0])

    def ceilings(self, trials: Trials) -> Array | None:
        rows = self.sought(trials.base)
        directions = np.linalg.svd(trials.base.half(rows))[0]
        largest = trials.squares(directions[:, :WATCHED].T @ rows).max(axis=0)
        smallest = trials.squares(directions[:, -WATCHED:].T @ rows).min(axis=0)
        return _balance(largest, smallest)


def _balance(largest: Array, smallest: Array) -> Array:
    """-inf where rounding left nothing of the smallest."""
    return minus_log(np.where(smallest > 0, largest / np.where(smallest > 0, smallest, 1.0), 0.0))


def _eigenvalues(criterion: ScaledCriterion, trials: Trials) -> Array:
    """Of W C' W^T after each candidate (n, s), ascending."""
    return np.asarray(np.linalg.eigvalsh(trials.spreads(criterion.sought(trials.base))), dtype=np.float64)
