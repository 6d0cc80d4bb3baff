"""How far the model is from the robot: what the residuals show beyond noise.

With repeats the noise is known without any model, and the excess of the lack of fit over it is the model's.  Without
repeats the stated noise stands in.  With neither, noise and model cannot be told apart.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elastocal.identify.fit import Fit
from elastocal.identify.repeats import LackOfFit


@dataclass(frozen=True)
class Discrepancy:
    """Standard deviation in m per axis (nan where unknown), and how it is known."""

    sd: float
    reason: str


def discrepancy(fit: Fit, found: LackOfFit) -> Discrepancy:
    """Excess variance of the residuals, in units of the mean variance of a length reading."""
    lengths = [i for i, row in enumerate(fit.campaign.measurement.rows) if row.unit == "m"]
    if not lengths:
        return Discrepancy(float("nan"), "no length was read: what the model lacks is not known in m")
    variance = fit.problem.weights.variance[:, lengths]
    one = float(np.mean(variance[fit.problem.used[:, lengths]]))
    if np.isfinite(found.ratio):
        excess = (found.lack_of_fit**2 - found.pure_error**2) / found.each  # all repeats of a state share the fault
        return Discrepancy(float(np.sqrt(max(excess, 0.0) * one)), "lack of fit beyond the scatter of repeats")
    if fit.stated and np.isfinite(fit.scatter):
        return Discrepancy(float(np.sqrt(max(fit.scatter**2 - 1, 0.0) * one)), "residuals beyond the stated noise")
    return Discrepancy(float("nan"), "neither repeats nor a stated noise: the model's part cannot be told from noise")
