"""What a corrected program is left off by as a whole, where targets stay as they are, and what no prediction counts.

At a target the squares of two errors add up: what the model is left off by with the new digits, which is rounding
where the target is corrected, and the residual error that the covariance of the calibration predicts.
"""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

import numpy as np

from elastocal.quantities import millimetres
from elastocal.solve.summary import rms
from elastocal.values import dataclass

if TYPE_CHECKING:
    from elastocal.compensation.correction import Correction
    from elastocal.model.robot import Robot

WEIGHT = ("link_mass", "payload", "gravity_compensator", "own_weight", "lateral_weight", "weight_backlash")
"""Kinds of effects of the arm's own weight."""


@dataclass(frozen=True)
class Remaining:
    """``rms`` in m over all targets whose error is known; ``targets`` are not corrected, and stay off by up to
    ``farthest`` m (nan: nobody knows); of ``unknown`` ones of them nobody knows."""

    rms: float
    targets: int
    farthest: float
    unknown: int = 0

    @property
    def text(self) -> str:
        """Of the targets that stay as they are; "" where there are none."""
        if not self.targets:
            return ""
        stay = "1 target stays" if self.targets == 1 else f"{self.targets} targets stay"
        if not isfinite(self.farthest):
            return f"{stay} uncorrected, off by an unknown amount"
        rest = f", {self.unknown} of them by an unknown amount" if self.unknown else ""
        far = f"{'' if self.targets == 1 else 'up to '}{millimetres(self.farthest)} mm"
        return f"{stay} uncorrected, off by {far}{rest}"


def remaining(result: Correction) -> Remaining:
    off, left = result.after.distance, ~result.corrected
    both = np.hypot(off, np.nan_to_num(result.predicted))
    known = both[np.isfinite(both)]
    far = off[left & np.isfinite(off)]
    farthest = float(far.max()) if len(far) else np.nan
    return Remaining(rms(known) if len(known) else np.nan, int(left.sum()), farthest, int(left.sum()) - len(far))


def geometry_kinds(model: Robot) -> frozenset[str]:
    """Kinds of the effects of a robot that no load changes, whatever package they are of."""
    return frozenset(c.kind for c in model.coordinates if c.constant_in_load).difference(WEIGHT)


def unmeasured_geometry(result: Correction) -> str:
    """What of the geometry counts as exact in the prediction, "" where nothing does; taught targets hold it already."""
    if result.known is None or result.method.taught:
        return ""
    kinds, geometry = {p.name: p.kind for p in result.model.parameters}, geometry_kinds(result.model)
    sought = any(kinds[name] in geometry for name in result.known.names)
    if sought and result.known.registered:
        return ""
    return "lengths and joint zeros of the robot file" + (" that were not estimated" if sought else "")
