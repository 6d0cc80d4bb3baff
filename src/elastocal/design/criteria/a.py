"""A: the sum of the variances of the parameters, each in units of its scale.

value = sum_i (sd_i / scale_i)^2,    gain = -log(value / s)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from elastocal.design.criteria.criterion import Criterion, Stakes, check_scales, mean_slopes, minus_log, sizes
from elastocal.design.knowledge import Knowledge
from elastocal.design.updates import Trials
from elastocal.spatial.entries import Array


@dataclass(frozen=True, eq=False)
class CovarianceTrace(Criterion):
    """``scales`` (p,) are the sizes of the parameters that matter; without them all count as one."""

    kind: ClassVar[str] = "a"
    scales: Array | None = None

    @classmethod
    def for_task(cls, stakes: Stakes) -> Self:
        return cls(stakes.scales)

    @property
    def certifiable(self) -> bool:
        return True

    def check(self, parameters: int) -> None:
        check_scales(self.kind, self.scales, parameters)

    def value(self, known: Knowledge) -> float:
        return float(np.sum(known.half(sizes(self.scales, known)) ** 2))

    def gain(self, known: Knowledge) -> float:
        return float(-np.log(self.value(known) / len(known.coordinates.interest)))

    def gains(self, trials: Trials) -> Array:
        rows = sizes(self.scales, trials.base)
        return minus_log(trials.total(rows) / len(rows))

    def slopes(self, known: Knowledge, rows: Array) -> Array:
        return mean_slopes(known, sizes(self.scales, known), rows)
