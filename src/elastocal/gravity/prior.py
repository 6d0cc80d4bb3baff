"""What the robot file knows of its masses before any torque is read."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elastocal.errors import InputError
from elastocal.measure.campaign import Belief
from elastocal.model.loads.link_mass import LinkMass
from elastocal.model.robot import RobotModel


@dataclass(frozen=True)
class MassPrior:
    """Standard deviations: a share of each mass, and the place of its centre in m."""

    share: float = 0.3
    centre: float = 0.03

    def __post_init__(self) -> None:
        if not (0 < self.share < np.inf and 0 < self.centre < np.inf):
            raise InputError(
                f"masses known to {self.share:g} and their centres to {self.centre:g} m: both must be positive numbers"
            )

    def beliefs(self, model: RobotModel) -> tuple[Belief, ...]:
        """One for each mass and mass moment; a link without mass is no belief but a gap."""
        out = []
        for e in model.loads:
            if isinstance(e, LinkMass) and e.mass > 0:
                sds = [self.share * e.mass, *(np.hypot(self.share * u, self.centre * e.mass) for u in e.moment)]
                rows = zip(e.parameters(model.tree), sds, strict=True)
                out += [Belief(p.name, p.value, float(sd)) for p, sd in rows]
        return tuple(out)
