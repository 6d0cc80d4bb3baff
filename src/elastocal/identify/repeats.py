"""What repeats say: the noise without any model (pure error), and whether the model is all there is (lack of fit)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elastocal.identify.fit import Fit
from elastocal.spatial.entries import Array, Ints


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


def repeats(fit: Fit, state: Ints) -> LackOfFit:
    """Split the residuals' sum of squares; ``state`` (N,) is equal for repeats of one configuration and load."""
    from scipy.special import fdtrc

    r, used = fit.whitened, fit.problem.used
    groups = int(state.max()) + 1
    count = np.zeros((groups, r.shape[1]))
    total = np.zeros_like(count)
    np.add.at(count, state, used)
    np.add.at(total, state, np.where(used, r, 0.0))
    mean = total / np.maximum(count, 1)
    pure = float(np.sum(np.where(used, r - mean[state], 0.0) ** 2))
    pure_freedom = int(np.sum(np.maximum(count - 1, 0)))
    everything = float(np.sum(fit.problem.misfit**2))
    lack_freedom = fit.freedom - pure_freedom
    lack = max(everything - pure, 0.0)
    if pure_freedom < 1 or lack_freedom < 1:
        size = float(np.sqrt(pure / pure_freedom)) if pure_freedom > 0 else float("nan")
        return LackOfFit(
            size, pure_freedom, float("nan"), max(lack_freedom, 0), float("nan"), float("nan"), float("nan")
        )
    ratio = (lack / lack_freedom) / (pure / pure_freedom) if pure > 0 else float("inf")
    chance = float(fdtrc(lack_freedom, pure_freedom, ratio)) if np.isfinite(ratio) else 0.0
    sizes = float(np.sqrt(pure / pure_freedom)), float(np.sqrt(lack / lack_freedom))
    return LackOfFit(sizes[0], pure_freedom, sizes[1], lack_freedom, ratio, chance, _each(count))


def _each(count: Array) -> float:
    """Mean number of repeats that makes an analysis of variance with uneven groups unbiased; m where all are m."""
    sizes = count[count > 0]
    total = float(sizes.sum())
    return (total - float(np.sum(sizes**2)) / total) / (len(sizes) - 1) if len(sizes) > 1 else total
