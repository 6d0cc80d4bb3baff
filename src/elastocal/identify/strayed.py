"""What was stated beforehand and the fit does not believe: nuisances and beliefs beyond their standard deviation.

A stated unknown u ~ N(0, s^2) is estimated together with the parameters.  With C the covariance of the fit, P the
diagonal of 1 / s^2 of what is stated and noise of size g in units of the stated one, its estimate scatters by

    var(u) = s^2 - 2 C_uu + sum_j C_uj^2 / s_j^2 + g^2 (C_uu - sum_j C_uj^2 / s_j^2),

which is s^2 - C_uu for g = 1: what the readings add to the statement.  An estimate far beyond it says that something
that the model takes as exact is wrong, and that the unknown had to take its place.

g is estimated from what the residuals would be if nothing were stated of u, at least 1 where the noise is stated: with
f degrees of freedom, g^2 = (r^T r - u^2 / (s^2 - C_uu)) / (f - 1).  Only its share of the variance is uncertain then;
the tail is Student's t with

    (f - 1) (var(u) / (g^2 (C_uu - sum_j C_uj^2 / s_j^2)))^2

degrees of freedom (Satterthwaite 1946): the normal one where the statement alone decides.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elastocal.identify.fit import Fit
from elastocal.spatial.entries import Array

CHANCE = 0.0027
"""That of three standard deviations, for all that is stated together."""
SEEN = 1e-6
"""Share of the stated variance that readings must have decided."""
EXACT = 1e-16
"""Square of residuals, in units of the noise, that is rounding: readings without noise leave no less."""


@dataclass(frozen=True)
class Stated:
    """``value`` is how far the estimate is from what was stated with ``sd``; ``sigmas`` counts what it could scatter.

    ``chance`` is that of any of the stated unknowns that readings decide lying so far off (Bonferroni).
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
    from scipy.special import stdtr

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
    alone = sd**2 - own
    decided = alone > SEEN * sd**2
    squares = problem.misfit @ problem.misfit - off**2 / np.where(decided, alone, np.inf)
    noise, spare = remaining_noise(squares, fit.freedom - 1, fit.stated)
    by_noise = noise**2 * (own - known)
    variance = sd**2 - 2 * own + known + by_noise
    decided &= variance > 0  # not where readings without spare ones tell the noise: nan
    sigmas = np.where(decided, np.abs(off) / np.sqrt(np.where(decided, variance, 1.0)), 0.0)
    share = np.where(decided, by_noise / np.where(decided, variance, 1.0), 1.0)
    tail = stdtr(spare / np.maximum(share, SEEN) ** 2, -sigmas)
    chance = np.where(decided, np.minimum(1.0, int(decided.sum()) * 2 * tail), 1.0)
    return tuple(
        Stated(problem.names[i], problem.units[i], float(off[k]), float(sd[k]), float(sigmas[k]), float(chance[k]))
        for k, i in enumerate(at)
    )


def remaining_noise(squares: Array, freedom: int, stated: bool) -> tuple[Array, Array]:
    """Size of the noise from the squares that remain, and its degrees of freedom: inf where what is stated holds.

    nan where nothing remains to tell it by and nothing is stated.
    """
    left = np.maximum(squares / freedom, EXACT) if freedom > 0 else np.full(squares.shape, np.nan)
    estimated = left > 1 if stated else np.ones(left.shape, dtype=bool)
    return np.sqrt(np.where(estimated, left, 1.0)), np.where(estimated, float(freedom), np.inf)
