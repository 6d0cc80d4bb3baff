"""What was stated beforehand and the fit does not believe: nuisances and beliefs beyond their standard deviation.

A stated unknown u ~ N(0, s^2) is estimated together with the parameters.  With C the covariance of the fit, P the
diagonal of 1 / s^2 of what is stated and noise of size g in units of the stated one, its estimate scatters by

    var(u) = s^2 - 2 C_uu + sum_j C_uj^2 / s_j^2 + g^2 (C_uu - sum_j C_uj^2 / s_j^2),

which is s^2 - C_uu for g = 1: what the readings add to the statement.  An estimate far beyond it says that something
that the model takes as exact is wrong, and that the unknown had to take its place.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elastocal.identify.fit import Fit

CHANCE = 0.0027
"""That of three standard deviations, for all that is stated together."""
SEEN = 1e-6
"""Share of the stated variance that readings must have decided."""


@dataclass(frozen=True)
class Stated:
    """``value`` is how far the estimate is from what was stated with ``sd``; ``sigmas`` counts what it could scatter.

    ``chance`` is that of any of the stated unknowns lying so far off (Bonferroni).
    """

    name: str
    unit: str
    value: float
    sd: float
    sigmas: float
    chance: float

    @property
    def strayed(self) -> bool:
        return self.chance < CHANCE


def stated_unknowns(fit: Fit) -> tuple[Stated, ...]:
    """Every unknown of which something was stated, with the chance of what was found."""
    from scipy.special import ndtr

    problem = fit.problem
    rows = problem.matrix[problem.priors()]
    at = [int(np.argmax(np.abs(row))) for row in rows]
    if not at:
        return ()
    sd = np.array([1 / row[i] for row, i in zip(rows, at, strict=True)])
    off = -problem.misfit[problem.priors()] * sd
    c = fit.unit_covariance[np.ix_(at, at)]
    own = np.diag(c)
    known = np.sum((c / sd) ** 2, axis=1)
    variance = sd**2 - 2 * own + known + fit.inflation**2 * (own - known)
    decided = variance > SEEN * sd**2
    sigmas = np.where(decided, np.abs(off) / np.sqrt(np.where(decided, variance, 1.0)), 0.0)
    chance = np.minimum(1.0, len(at) * 2 * ndtr(-sigmas))
    return tuple(
        Stated(problem.names[i], problem.units[i], float(off[k]), float(sd[k]), float(sigmas[k]), float(chance[k]))
        for k, i in enumerate(at)
    )
