"""Charts that notice a slow drift: exponentially weighted moving averages with a stated rate of false alarms.

    E_k = (1 - w) E_(k-1) + w Z_k,   E_0 = 0;   Z_k independent and standard normal while nothing drifts        (1)
    s_k^2 = w / (2 - w) (1 - (1 - w)^(2 k));    alarm where abs(E_k) > L s_k                                    (2)

The average run length from E_k = u until an alarm satisfies, with h_k = L s_k,

    A_k(u) = 1 + 1/w int_(-h_(k+1))^(h_(k+1)) A_(k+1)(y) phi((y - (1 - w) u) / w - d) dy                        (3)

for a shift d of the Z_k (Crowder, Technometrics 29, 1987, for h constant).  s_k soon is constant: there (3) is one
linear system at Gauss-Legendre nodes, from which it is gone back to k = 0.

Z_k are recursive residuals: each value against the mean of those before it, which is unknown at first.  With known
standard deviations they are standard normal as they are,

    Z_k = (x_k - m_(k-1)) / sqrt(v_k + 1 / sum_(i<k) 1/v_i),   m_(k-1) weighted by 1/v_i                          (4)

and where the standard deviation is unknown too, by way of Student's distribution (Hawkins, The Statistician 36, 1987):

    T_k = sqrt((k - 1) / k) (x_k - m_(k-1)) / s_(k-1),   Z_k = Phi^-1(F_(k-2)(T_k)),   k >= 3                       (5)
"""

from __future__ import annotations

from functools import cache

import numpy as np

from elastocal.errors import RangeError
from elastocal.spatial.entries import Array

WEIGHT = 0.2
"""w: shifts of one standard deviation are found soonest near it."""
_NODES = 40
_STEPS = 40
"""After which s_k counts as constant: (1 - w)^(2 k) is below 2e-8."""


def averages(z: Array) -> tuple[Array, Array]:
    """E_k and s_k of Z (K, charts) by (1) and (2); a nan leaves its chart where it was."""
    known = np.isfinite(z)
    share, new = np.where(known, WEIGHT, 0.0), np.where(known, WEIGHT * z, 0.0)
    kept, levels, level = 1 - share, np.empty(z.shape), np.zeros(z.shape[1])
    for k in range(len(z)):
        level = kept[k] * level + new[k]
        levels[k] = level
    spread = _spread(np.cumsum(known, axis=0), WEIGHT)
    return np.where(known, levels, np.nan), np.where(known, spread, np.nan)


def run_length(limit: float, shift: float = 0.0, weight: float = WEIGHT, *, constant: bool = False) -> float:
    """Average number of Z_k until an alarm, by (3); ``constant`` has the band as wide from the start as it ends."""
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    top = limit * float(_spread(np.array(np.inf), weight))

    def kernel(start: Array, h: float) -> Array:
        """Matrix that takes A at the nodes within +-h to the integral of (3) from ``start``."""
        at = (h * nodes[None, :] - (1 - weight) * start[:, None]) / weight - shift
        return np.asarray(h * weights * np.exp(-0.5 * at**2) / (np.sqrt(2 * np.pi) * weight))

    lengths = np.linalg.solve(np.eye(_NODES) - kernel(top * nodes, top), np.ones(_NODES))
    bands = [top] * _STEPS if constant else [limit * float(_spread(np.array(k), weight)) for k in range(1, _STEPS + 1)]
    ahead = top
    for h in reversed(bands):
        lengths = 1 + kernel(h * nodes, ahead) @ lengths
        ahead = h
    return float(1 + (kernel(np.zeros(1), ahead) @ lengths)[0])


@cache
def limit_of(length: float, weight: float = WEIGHT) -> float:
    """L for an average run length while nothing drifts."""
    if not 2 <= length <= 1e9:
        raise RangeError(f"run length {length:g}: give 2 to 1e9 records between false alarms",
                         value=length, parameter="run_length")  # fmt: skip
    low, high = 0.3, 8.0
    while high - low > 1e-6:  # the run length grows with the limit
        middle = (low + high) / 2
        low, high = (middle, high) if run_length(middle, weight=weight) < length else (low, middle)
    return high


def of_known_spread(values: Array, sd: Array) -> Array:
    """Z (K, charts) by (4); nan for the first value of every chart and where a value or its sd is nan."""
    good = np.isfinite(values) & np.isfinite(sd) & (sd > 0)
    precision = np.where(good, 1 / np.where(good, sd, 1.0) ** 2, 0.0)
    before = np.cumsum(precision, axis=0) - precision
    weighted = np.where(good, precision * np.where(good, values, 0.0), 0.0)
    total = np.cumsum(weighted, axis=0) - weighted
    with np.errstate(divide="ignore", invalid="ignore"):
        z = (values - total / before) / np.sqrt(sd**2 + 1 / before)
    return np.where(good & (before > 0), z, np.nan)


def of_own_spread(values: Array) -> Array:
    """Z (K, 1) by (5) of values (K,); nan for the first two."""
    from scipy.special import ndtri, stdtr

    z = np.full((len(values), 1), np.nan)
    for n in range(2, len(values)):
        past = values[:n]
        sd = float(past.std(ddof=1))
        if sd > 0:
            t = np.sqrt(n / (n + 1)) * (values[n] - past.mean()) / sd
            z[n, 0] = -float(np.sign(t)) * float(ndtri(max(stdtr(n - 1, -abs(t)), 1e-300)))
    return z


def _spread(count: Array, weight: float) -> Array:
    """s_k of (2)."""
    return np.asarray(np.sqrt(weight / (2 - weight) * (1 - (1 - weight) ** (2 * count))))
