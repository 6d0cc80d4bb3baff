"""E: the smallest eigenvalue of the information, the worst combination of scaled parameters.

    value = 1 / (largest eigenvalue of W C W^T),    gain = log value,    W the parameters over their scales

Eigenvalues of every candidate cost much, so candidates are ranked by a bound first: for eigenvectors v of the largest
eigenvalues before the change, the largest after it is at least the largest v^T W C' W^T v.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from elastocal.design.criteria.criterion import Criterion, Stakes, check_scales, minus_log, sizes
from elastocal.design.knowledge import Knowledge
from elastocal.design.updates import Trials
from elastocal.spatial.entries import Array

WATCHED = 8
"""Eigenvectors that a bound is taken from."""


@dataclass(frozen=True, eq=False)
class SmallestEigenvalue(Criterion):
    """``scales`` (p,) are the sizes of the parameters that matter; without them all count as one."""

    kind: ClassVar[str] = "e"
    scales: Array | None = None

    @classmethod
    def for_task(cls, stakes: Stakes) -> Self:
        return cls(stakes.scales)

    def check(self, parameters: int) -> None:
        check_scales(self.kind, self.scales, parameters)

    def value(self, known: Knowledge) -> float:
        return float(np.linalg.svd(known.half(sizes(self.scales, known)), compute_uv=False)[0] ** -2)

    def gain(self, known: Knowledge) -> float:
        return float(np.log(self.value(known)))

    def gains(self, trials: Trials) -> Array:
        values = np.asarray(np.linalg.eigvalsh(trials.spreads(sizes(self.scales, trials.base))), dtype=np.float64)
        return minus_log(values[:, -1])

    def ceilings(self, trials: Trials) -> Array | None:
        rows = sizes(self.scales, trials.base)
        directions = np.linalg.svd(trials.base.half(rows))[0][:, :WATCHED]
        return minus_log(trials.squares(directions.T @ rows).max(axis=0))
