"""How well fitted parameters are known: covariance for the noise stated, or for the noise that the residuals show."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elastocal.arcs.problem import ArcProblem, decomposed, weighted_rows
from elastocal.errors import InputError
from elastocal.spatial.entries import Array

DISTURBED = 1e-3


@dataclass(frozen=True, eq=False)
class FitQuality:
    """Quality of a fit.  ``unit_covariance`` (p, p) holds for a noise of 1 m per coordinate.

    ``squares`` is the sum of the squared residuals in m^2, with ``freedom`` equations to spare; ``equations`` counts
    the coordinates read; ``noise`` is the stated standard deviation of a coordinate, None where it is unknown.
    """

    unit_covariance: Array
    squares: float
    freedom: int
    equations: int
    noise: float | None

    @property
    def residual_sd(self) -> float:
        """Noise that the residuals show, corrected for the parameters fitted; nan without spare equations."""
        return float(np.sqrt(self.squares / self.freedom)) if self.freedom > 0 else float("nan")

    @property
    def rms(self) -> float:
        """Plain root mean square over the coordinates read."""
        return float(np.sqrt(self.squares / self.equations))

    @property
    def sigma(self) -> float:
        """The noise that is used: the stated one, or the residuals' where that is more or none is stated."""
        if self.noise is None:
            return self.residual_sd
        return float(np.fmax(self.noise, self.residual_sd))

    @property
    def disturbed(self) -> bool:
        """Whether the residuals are larger than the stated noise explains, once in a thousand times by chance."""
        from scipy.special import chdtrc

        if self.noise is None or self.freedom < 1:
            return False
        return bool(chdtrc(self.freedom, self.squares / self.noise**2) < DISTURBED)

    @property
    def covariance(self) -> Array:
        return np.asarray(self.unit_covariance * self.sigma**2)

    def of(self, slopes: Array) -> Array:
        """Covariance of quantities with derivatives ``slopes`` (..., p) by the parameters."""
        return np.asarray(slopes @ self.covariance @ np.swapaxes(slopes, -1, -2))


def estimated(problem: ArcProblem, noise: float | None, equations: int, spare: int, what: str) -> FitQuality:
    """Exact first-order covariance (J^T J)^-1 at the minimum, by singular values; refused where J has lost rank.

    ``spare`` equations are left when every parameter, also those not in the problem, is counted.
    """
    r, j = weighted_rows(problem)
    lengths, _, s, vt = decomposed(j)
    if len(s) < j.shape[1]:
        raise InputError(f"{what}: these points do not determine all of the arc; measure more poses or a longer arc")
    root = vt.T / s / lengths[:, None]
    return FitQuality(root @ root.T, float(r @ r), spare, equations, noise)
