"""Tails of the distributions that tests use: what is needed of ``scipy.special``, under its names and to 1e-11.

Importing that takes longer than most fits.  All are incomplete beta and gamma functions, by continued fractions
(Lentz's recurrence) on the side where these converge fast, and by the series of the gamma function on the other:

    I_x(a, b) = x^a (1 - x)^b / (a B(a, b)) / (1 + d_1/(1 + d_2/(1 + ...)))        where x < (a + 1)/(a + b + 2)
    Q(a, x)   = x^a e^-x / Gamma(a) / (x + 1 - a - 1 (1 - a)/(x + 3 - a - ...))    where x > a + 1
    Q(a, x)   = Q(a - 1, x) + x^(a-1) e^-x / Gamma(a)    from Q(1/2, x) = erfc(sqrt x), Q(1, x) = e^-x

(Abramowitz and Stegun 26.5.8, 6.5.31, 6.5.21.)  The last one is for few whole degrees of freedom, which outliers are
asked for by the thousand.  From ``MANY`` degrees of freedom on rounding and the number of terms grow, and
the library's own are called.
"""

from __future__ import annotations

from collections.abc import Callable
from math import erfc, exp, lgamma, pi, sqrt

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Given = float | npt.NDArray[np.generic]
FEW = 12.0
MANY = 3000.0
BEYOND = 2e4
"""Chi-square that no number of degrees of freedom below ``MANY`` exceeds with a probability above 1e-300."""
TERMS = 1000
TINY = 1e-300
EXACT = 5e-16
"""Share of a sum or product that one more term may change where it ends: less is rounding."""
_log_gamma = np.frompyfunc(lgamma, 1, 1)
_erfc = np.frompyfunc(erfc, 1, 1)


def chdtrc(freedom: Given, x: Given) -> Array:
    """Probability that chi-square exceeds x."""
    v, at = _given(freedom, x)
    if _many(v):
        return _special("chdtrc", v, at)
    half = np.clip(at, 0.0, BEYOND) / 2
    few = np.all((v >= 1) & (v <= FEW) & (v == np.rint(v)))
    return _stepped(v, half) if few else _upper_gamma(v / 2, half)


def fdtrc(numerator: Given, denominator: Given, x: Given) -> Array:
    """Probability that F exceeds x."""
    a, b, at = _given(numerator, denominator, x)
    if _many(a, b):
        return _special("fdtrc", a, b, at)
    return _beta(b / 2, a / 2, *_shares(b, a * at))


def stdtr(freedom: Given, t: Given) -> Array:
    """Probability that Student's t is below t."""
    v, at = _given(freedom, t)
    if _many(v):
        return _special("stdtr", v, at)
    tail = 0.5 * _beta(v / 2, np.full_like(v, 0.5), *_shares(v, at**2))
    return np.where(at > 0, 1 - tail, tail)


def stdtrit(freedom: float, p: float) -> float:
    """The t that Student's is below with probability ``p``, above that of t = 1.

    By Newton's steps from there: the probability bends downwards, so that none goes too far."""
    half, t = (freedom + 1) / 2, 1.0
    top = exp(lgamma(half) - lgamma(freedom / 2)) / sqrt(pi * freedom)
    for _ in range(TERMS):
        step = (p - float(stdtr(freedom, t))) / (top * (1 + t * t / freedom) ** -half)
        t += step
        if abs(step) < 1e-14 * t:
            break
    return t


def bdtr(k: Given, n: Given, p: Given) -> Array:
    """Probability of k successes at most among n, each of probability p."""
    most, total, share = _given(k, n, p)
    whole = most >= total
    inside = _beta(np.where(whole, 1.0, total - most), most + 1, 1 - share, share)
    return np.where(whole, 1.0, inside)


def _given(*values: Given) -> tuple[Array, ...]:
    return tuple(np.broadcast_arrays(*(np.asarray(v, dtype=np.float64) for v in values)))


def _shares(one: Array, other: Array) -> tuple[Array, Array]:
    """Of ``one`` and of the other in their sum; the other may be infinite."""
    whole = np.isposinf(other)
    finite = np.where(whole, 1.0, other)
    return np.where(whole, 0.0, one / (one + finite)), np.where(whole, 1.0, finite / (one + finite))


def _many(*freedom: Array) -> bool:
    return any(np.any(v > MANY) for v in freedom)


def _special(name: str, *values: Array) -> Array:
    from scipy import special

    return np.asarray(getattr(special, name)(*values))


def _lgamma(a: Array) -> Array:
    return np.asarray(_log_gamma(a), dtype=np.float64)


def _beta(a: Array, b: Array, x: Array, rest: Array) -> Array:
    """I_x(a, b), with ``rest`` = 1 - x free of rounding; nan where x is."""
    swap = x > (a + 1) / (a + b + 2)
    a, b, x, rest = np.where(swap, b, a), np.where(swap, a, b), np.where(swap, rest, x), np.where(swap, x, rest)
    with np.errstate(divide="ignore", invalid="ignore"):
        front = a * np.log(x) + b * np.log(rest) + _lgamma(a + b) - _lgamma(a) - _lgamma(b)

    def term(i: int) -> tuple[Array, Array]:
        m = i // 2
        if i % 2:
            return -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)), np.ones_like(x)
        return m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)), np.ones_like(x)

    part = np.exp(front) / a / _fraction(np.ones_like(x), term)
    return np.where(swap, 1 - part, part)


def _stepped(freedom: Array, x: Array) -> Array:
    """Q(freedom / 2, x) from that of the first odd or even number; nan where x is."""
    odd = freedom % 2 == 1
    small = np.exp(-x)
    q = np.where(odd, np.asarray(_erfc(np.sqrt(x)), dtype=np.float64), small)
    part = small * np.where(odd, 2 * np.sqrt(x / np.pi), x)
    for k in range(1, int((freedom.max(initial=1) - 1) // 2) + 1):
        q = np.where(freedom > 2 * k, q + part, q)
        part = part * x / (k + np.where(odd, 0.5, 1.0))
    return q


def _upper_gamma(a: Array, x: Array) -> Array:
    """Q(a, x); nan where x is."""
    far = x > a + 1
    with np.errstate(divide="ignore"):
        front = np.exp(a * np.log(x) - x - _lgamma(a))
    near, out = np.where(far, 0.0, x), np.where(far, x, a + 2)
    total = part = 1 / a
    for i in range(1, TERMS):
        part = part * near / (a + i)
        total = total + part
        if not np.any(part > EXACT * total):
            break
    fraction = _fraction(out + 1 - a, lambda i: (-i * (i - a), out + 2 * i + 1 - a))
    return np.where(far, front / fraction, 1 - front * total)


def _fraction(first: Array, term: Callable[[int], tuple[Array, Array]]) -> Array:
    """b0 + a1/(b1 + a2/(b2 + ...)) from ``first`` b0 and ``term`` (a_i, b_i)."""
    value = np.where(first == 0, TINY, first)
    c, d = value, np.zeros_like(value)
    for i in range(1, TERMS):
        a, b = term(i)
        d, c = b + a * d, b + a / c
        d, c = 1 / np.where(d == 0, TINY, d), np.where(c == 0, TINY, c)
        change = c * d
        value = value * change
        if not np.any(np.abs(change - 1) > EXACT):
            break
    return value
