"""Probabilities of Student's t, F, chi square and of counts: those of ``scipy.special``, under its names and to ten
digits, since importing that takes as long as a small calibration.

    I_x(a, b) = x^a (1 - x)^b / (B(a, b) (v_0 + u_1/(v_1 + u_2/(v_2 + ...))))          (incomplete beta; below)
    Q(a, x)   = x^a e^-x / Gamma(a) / (x + 1 - a - 1 (1 - a)/(x + 3 - a - ...))       (incomplete gamma; DLMF 8.9.2)
    1 - Q     = x^a e^-x / Gamma(a + 1) (1 + x/(a + 1) + x^2/((a + 1)(a + 2)) + ...)  (for x < a + 1; DLMF 8.7.1)

The fraction is the even part of DLMF 8.17.22 (DiDonato and Morris, ACM Trans. Math. Softw. 18, 1992, 360-373, eq. 9):
fifty terms do for a million degrees of freedom, where the other takes tens of thousands and loses digits in them.
The factors before them are written with x relative to the mean, so that large a and b lose no digits.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import exp, lgamma, log, log1p, pi, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
ROUNDING, TERMS = 1e-16, 100_000
SETTLED = 1e-14
"""How far a factor of a continued fraction is from one where it ends: closer ones are rounding, which need not end."""
MANY = 1e12
"""Degrees of freedom from which F is taken as a chi square."""
TINY = 1e-300
"""Is added to what is divided by, which may be zero (Lentz 1976)."""


def fdtrc(numerator: npt.ArrayLike, denominator: npt.ArrayLike, value: npt.ArrayLike) -> Any:
    """Probability of a larger F, by its degrees of freedom."""
    a, b, f = np.broadcast_arrays(*(np.asarray(v, dtype=np.float64) for v in (numerator, denominator, value)))
    out = np.empty(f.shape)
    many = b > MANY
    out[many] = chdtrc(a[many], a[many] * f[many])
    a, b, f = a[~many], b[~many], f[~many]
    with np.errstate(over="ignore", invalid="ignore"):
        below = np.where(np.isinf(f), 0.0, b / (b + a * f))
        above = np.where(np.isinf(f), 1.0, a * f / (b + a * f))
    out[~many] = _incomplete_beta(b / 2, a / 2, below, above)
    return out[()]


def stdtr(freedom: npt.ArrayLike, value: npt.ArrayLike) -> Any:
    """Probability of a smaller t."""
    t = np.asarray(value, dtype=np.float64)
    with np.errstate(over="ignore"):
        tail = 0.5 * np.asarray(fdtrc(1.0, freedom, t**2))
    return np.where(t > 0, 1 - tail, tail)[()]


@cache
def stdtrit(freedom: float, probability: float) -> float:
    """t of a probability: Newton's method on the tail, which is convex, so that steps from zero stay short of it."""
    tail = min(probability, 1 - probability)
    size = exp(lgamma((freedom + 1) / 2) - lgamma(freedom / 2)) / sqrt(freedom * pi)
    t, step = 0.0, 1.0
    while step > 1e-15 * t:
        density = size * exp(-(freedom + 1) / 2 * log1p(t * t / freedom))
        step = (float(stdtr(freedom, -t)) - tail) / density
        t += step
    return t if probability > 0.5 else -t


def chdtrc(freedom: npt.ArrayLike, value: npt.ArrayLike) -> Any:
    """Probability of a larger chi square."""
    v, chi2 = np.broadcast_arrays(np.asarray(freedom, dtype=np.float64), np.asarray(value, dtype=np.float64))
    a, x = v / 2, chi2 / 2
    out = np.where(x > 0, np.nan, 1.0)
    out[np.isnan(x)], out[np.isposinf(x)] = np.nan, 0.0
    open_ = np.isfinite(x) & (x > 0)
    low, high = open_ & (x < a + 1), open_ & (x >= a + 1)
    out[low] = 1 - _gamma_size(a[low], x[low]) / a[low] * _gamma_series(a[low], x[low])
    out[high] = _gamma_size(a[high], x[high]) * _gamma_fraction(a[high], x[high])
    return out[()]


@cache
def chdtri(freedom: float, probability: float) -> float:
    """What a chi square exceeds with a probability: Newton's method on the logarithm of the tail by that of the value,
    which is concave, so that steps from a bound above (Laurent and Massart 2000, eq. 4.3) stay above."""
    size = -log(probability)
    chi2, step = freedom + 2 * sqrt(freedom * size) + 2 * size, -1.0
    while step < -1e-15:
        x, tail = chi2 / 2, float(chdtrc(freedom, chi2))
        step = tail * log(tail / probability) / exp(freedom / 2 * log(x) - x - lgamma(freedom / 2))
        chi2 *= exp(step)
    return chi2


def bdtr(most: npt.ArrayLike, tries: npt.ArrayLike, probability: float) -> Any:
    """Probability of at most so many successes, fewer than the tries, each of which has the same probability."""
    k = np.asarray(most, dtype=np.float64)
    left = np.asarray(tries, dtype=np.float64) - k
    return fdtrc(2 * (k + 1), 2 * left, left / (k + 1) * probability / (1 - probability))


def _incomplete_beta(a: Array, b: Array, x: Array, y: Array) -> Array:
    """I_x(a, b), y = 1 - x; by the other end where x is above the mean."""
    out = np.where(np.isnan(x) | np.isnan(a) | np.isnan(b), np.nan, np.where(x > 0, 1.0, 0.0))
    inside = (x > 0) & (y > 0)
    turned = inside & (x > (a + 1) / (a + b + 2))
    plain = inside & ~turned
    out[plain] = _beta_size(a[plain], b[plain], x[plain], y[plain]) * _beta_fraction(
        a[plain], b[plain], x[plain], y[plain]
    )
    own = tuple(v[turned] for v in (b, a, y, x))
    out[turned] = 1 - _beta_size(*own) * _beta_fraction(*own)
    return out


def _beta_size(a: Array, b: Array, x: Array, y: Array) -> Array:
    """x^a y^b / (a B(a, b)), relative to its value at the mean a / (a + b)."""
    n = a + b
    above = np.where(x < y, x - a / n, b / n - y)
    far = a * _log_ratio(x, a / n, above) + b * _log_ratio(y, b / n, -above)
    rest = _stirling_rest(n) - _stirling_rest(a) - _stirling_rest(b)
    return np.asarray(np.sqrt(b / (2 * np.pi * a * n)) * np.exp(far + rest))


def _beta_fraction(a: Array, b: Array, x: Array, y: Array) -> Array:
    off = a * y - b * x
    out = a * (off + 1) / (a + 1) + TINY
    c, d = out.copy(), np.zeros_like(x)
    for m in range(1, TERMS):
        odd = a + (2 * m - 1)
        u = (a + (m - 1)) * (a + b + (m - 1)) * m * (b - m) * (x / odd) ** 2
        v = m + m * (b - m) * x / odd + (a + m) * (off + 1 + m * (1 + y)) / (odd + 2)
        d, c = 1 / (u * d + v + TINY), u / c + v + TINY
        step = d * c
        out *= step
        if np.abs(step - 1).max(initial=0.0) <= SETTLED:
            break
    return np.asarray(a / out)


def _gamma_size(a: Array, x: Array) -> Array:
    """x^a e^-x / Gamma(a), relative to its value at a."""
    return np.asarray(np.sqrt(a / (2 * np.pi)) * np.exp(a * _log_ratio(x, a, x - a) + a - x - _stirling_rest(a)))


def _gamma_series(a: Array, x: Array) -> Array:
    out, term = np.ones_like(x), np.ones_like(x)
    for i in range(1, TERMS):
        term = term * x / (a + i)
        out += term
        if np.all(term <= ROUNDING * out):
            break
    return out


def _gamma_fraction(a: Array, x: Array) -> Array:
    b = x + 1 - a
    c, d = np.full_like(x, 1 / TINY), 1 / (b + TINY)
    out = d.copy()
    for i in range(1, TERMS):
        term, b = -i * (i - a), b + 2
        d, c = 1 / (term * d + b + TINY), b + term / c + TINY
        step = d * c
        out *= step
        if np.abs(step - 1).max(initial=0.0) <= SETTLED:
            break
    return out


def _log_ratio(x: Array, mean: Array, above: Array) -> Array:
    """log(x / mean), with all digits of x - mean where they are close."""
    close = np.abs(above) < 0.5 * mean
    return np.where(close, np.log1p(np.where(close, above / mean, 0.0)), np.log(x / mean))


def _each(of_one: Callable[[float], float]) -> Callable[[Array], Array]:
    return lambda values: np.array([of_one(v) for v in values.tolist()])


@_each
def _stirling_rest(z: float) -> float:
    """log Gamma(z) less Stirling's formula (z - 1/2) log z - z + log(2 pi) / 2."""
    if z < 10:
        return lgamma(z) - (z - 0.5) * log(z) + z - 0.5 * log(2 * pi)
    w = 1 / (z * z)
    return (1 / 12 - w * (1 / 360 - w * (1 / 1260 - w * (1 / 1680 - w * (1 / 1188 - w * 691 / 360360))))) / z
