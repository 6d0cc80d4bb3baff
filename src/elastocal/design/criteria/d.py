"""D: the determinant of the information, the inverse volume of the confidence ellipsoid.

    value = log det M_s,    gain = value / s

with M_s the information of the s parameters sought, nuisances marginalised.  The choice does not depend on units.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from elastocal.design.criteria.criterion import Criterion
from elastocal.design.knowledge import Knowledge
from elastocal.design.updates import Trials, pushed
from elastocal.spatial.entries import Array
from elastocal.values import dataclass


@dataclass(frozen=True)
class Determinant(Criterion):
    """More data are never worse, whatever the units."""

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
