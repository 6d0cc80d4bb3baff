"""A: the sum of the variances of the parameters, each in units of its scale.

value = sum_i (sd_i / scale_i)^2,    gain = -log(value / s)
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from elastocal.design.criteria.criterion import ScaledCriterion, mean_slopes, minus_log
from elastocal.design.knowledge import Knowledge
from elastocal.design.updates import Trials
from elastocal.spatial.entries import Array
from elastocal.values import dataclass


@dataclass(frozen=True, eq=False)
class CovarianceTrace(ScaledCriterion):
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
