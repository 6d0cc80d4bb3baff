"""Whether residuals are more than noise: by F against repeats, else by chi2 against the noise that is stated.

Where they are, and the robot bends, compliances are no constants: gears stiffen, have backlash, hysteresis.  The share
s by which they all differ from state to state is what explains the excess,

    s^2 sum_j |a_j k_j|^2 = (g^2 - g0^2) f,                                                                 (share)

a_j the whitened column of compliance k_j, g the scatter of the residuals with f degrees of freedom, g0 that of repeats,
else 1.  No number of readings makes it smaller: every compliance is uncertain by s k_j beside its covariance.  Noise
that is merely larger than stated is told apart by the residuals of a reading, which go with its own deflection where a
compliance differs:

    T = sum_bj (c_bj . r_b)^2 / (g^2 sum_bj |c_bj|^2),   c_bj = a_bj k_j,                                 (together)

is about one of noise; beyond ``TOGETHER`` there is a share.
"""

from __future__ import annotations

from math import inf, nan

import numpy as np

from elastocal.solve.nested import f_test
from elastocal.spatial.entries import Array, Bools, Ints
from elastocal.values import dataclass

UNLIKELY = 0.01
"""Level of the tests."""
TOGETHER = 2.0
ENOUGH = 5
"""Degrees of freedom of repeats that are asked before what is stated."""


@dataclass(frozen=True)
class LackOfFit:
    """``pure_error`` and ``lack_of_fit`` are sizes in units of the stated noise; nan where nothing was repeated.

    ``probability`` is that of so large a ratio by chance where the model is right (F test); ``each`` is how many times
    a state was read on average, which is by how much a fault of the model counts more than noise in ``lack_of_fit``**2.
    """

    pure_error: float
    pure_freedom: int
    lack_of_fit: float
    lack_freedom: int
    ratio: float
    probability: float
    each: float


def split_residuals(whitened: Array, used: Bools, state: Ints, everything: float, freedom: int) -> LackOfFit:
    """Of residuals (N, R) in units of the noise, and their sum of squares with priors, by the states (N,) repeated."""
    groups = int(state.max()) + 1
    count = np.zeros((groups, whitened.shape[1]))
    total = np.zeros_like(count)
    np.add.at(count, state, used)
    np.add.at(total, state, np.where(used, whitened, 0.0))
    mean = total / np.maximum(count, 1)
    pure = float(np.sum(np.where(used, whitened - mean[state], 0.0) ** 2))
    pure_freedom = int(np.sum(np.maximum(count - 1, 0)))
    lack_freedom = freedom - pure_freedom
    lack = max(everything - pure, 0.0)
    if pure_freedom < 1 or lack_freedom < 1:
        size = float(np.sqrt(pure / pure_freedom)) if pure_freedom > 0 else nan
        return LackOfFit(size, pure_freedom, nan, max(lack_freedom, 0), nan, nan, nan)
    test = f_test(lack / (pure / pure_freedom) if pure > 0 else inf, lack_freedom, pure_freedom)
    sizes = float(np.sqrt(pure / pure_freedom)), float(np.sqrt(lack / lack_freedom))
    return LackOfFit(sizes[0], pure_freedom, sizes[1], lack_freedom, test.statistic, test.probability, _each(count))


def _each(count: Array) -> float:
    """Mean number of repeats that makes an analysis of variance with uneven groups unbiased; m where all are m."""
    sizes = count[count > 0]
    total = float(sizes.sum())
    return (total - float(np.sum(sizes**2)) / total) / (len(sizes) - 1) if len(sizes) > 1 else total


@dataclass(frozen=True)
class Misfit:
    """``probability`` of so much by chance where the model is right, against what ``word`` says (nan: nothing tells the
    noise), and the sum of squares that is too much."""

    probability: float
    excess: float
    word: str

    @property
    def real(self) -> bool:
        return self.probability < UNLIKELY


def misfit_of(again: LackOfFit, scatter: float, freedom: int, chance: float) -> Misfit:
    """By repeats where there are enough, else by the ``chance`` of the scatter against the stated noise."""
    if again.pure_freedom >= ENOUGH and np.isfinite(again.probability):
        excess = (again.lack_of_fit**2 - again.pure_error**2) * again.lack_freedom
        return Misfit(again.probability, max(excess, 0.0), "repeats")
    return Misfit(chance, max((scatter**2 - 1) * freedom, 0.0), "the stated noise")


def chance_of(scatter: float, freedom: int) -> float:
    """Probability of a scatter in units of the noise where the model is right, by chi2."""
    return f_test(freedom * scatter**2, freedom, inf).probability if np.isfinite(scatter) else nan


def share_of(bent: Array, whitened: Array, misfit: Misfit) -> float:
    """s of readings (N, R) by what every compliance adds to them, ``bent`` (N, R, p) (eqs. share, together)."""
    square = float(np.sum(bent**2))
    if not square > 0 or not whitened.any():
        return 0.0
    live = float(np.sum(whitened**2)) / max(int(np.count_nonzero(whitened)), 1)
    along = np.einsum("nrp,nr->np", bent, whitened)
    together = float(np.sum(along**2)) / (live * square)
    return float(np.sqrt(misfit.excess / square)) if together > TOGETHER else 0.0
