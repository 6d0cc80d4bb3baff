"""Condition number of the observation matrix, nuisances marginalised: the largest over the smallest singular value.

    value = sqrt(l_1 / l_s),    gain = -2 log value

with l_i the eigenvalues of W C W^T, the largest first, and W the parameters over their scales.
The number measures balance, not accuracy: more data may worsen it, and twice the same data leave it as it was.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from elastocal.design.criteria.criterion import ScaledCriterion, minus_log
from elastocal.design.criteria.e import WATCHED
from elastocal.design.knowledge import Knowledge
from elastocal.design.updates import Trials
from elastocal.spatial.entries import Array
from elastocal.values import dataclass


@dataclass(frozen=True, eq=False)
class Condition(ScaledCriterion):
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
        values = np.asarray(np.linalg.eigvalsh(trials.spreads(self.sought(trials.base))), dtype=np.float64)
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
