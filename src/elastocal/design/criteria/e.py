"""E: the smallest eigenvalue of the information, the worst combination of scaled parameters.

    value = 1 / (largest eigenvalue of W C W^T),    gain = log value,    W the parameters over their scales

Eigenvalues of every candidate cost much, so candidates are ranked by a bound first: for eigenvectors v of the largest
eigenvalues before the change, the largest after it is at least the largest v^T W C' W^T v.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from elastocal.design.criteria.criterion import ScaledCriterion, minus_log
from elastocal.design.knowledge import Knowledge
from elastocal.design.updates import Trials
from elastocal.spatial.entries import Array
from elastocal.values import dataclass

WATCHED = 8
"""Eigenvectors that a bound is taken from."""


@dataclass(frozen=True, eq=False)
class SmallestEigenvalue(ScaledCriterion):
    kind: ClassVar[str] = "e"

    def value(self, known: Knowledge) -> float:
        return float(np.linalg.svd(known.half(self.sought(known)), compute_uv=False)[0] ** -2)

    def gain(self, known: Knowledge) -> float:
        return float(np.log(self.value(known)))

    def gains(self, trials: Trials) -> Array:
        values = np.asarray(np.linalg.eigvalsh(trials.spreads(self.sought(trials.base))), dtype=np.float64)
        return minus_log(values[:, -1])

    def ceilings(self, trials: Trials) -> Array | None:
        rows = self.sought(trials.base)
        directions = np.linalg.svd(trials.base.half(rows))[0][:, :WATCHED]
        return minus_log(trials.squares(directions.T @ rows).max(axis=0))
