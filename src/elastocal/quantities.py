"""Numbers as people read them: significant digits, lengths with their unit, estimates as 0.302(4)e-6."""

from __future__ import annotations

from math import floor, isfinite, isinf, log10

DASH = "\N{EN DASH}"
"""Stands for a number that is not known."""


def number(value: float, decimals: int | None = None) -> str:
    """A number for people: fixed decimals, or six significant digits, never a negative zero."""
    if not isfinite(value):
        return DASH
    if decimals is None:
        return f"{value + 0.0:.6g}"
    text = f"{value:.{decimals}f}"
    return text[1:] if text.startswith("-") and float(text) == 0 else text


def significant(value: float) -> str:
    """A number with three digits that count, as 0.123, 12.3 or 12300; an exponent only for the very small."""
    if not isfinite(value):
        return DASH
    rounded = float(f"{value:.2e}")
    if rounded == 0 or abs(rounded) < 1e-4:
        return f"{rounded + 0.0:.3g}"
    return f"{rounded:.{max(0, 2 - floor(log10(abs(rounded))))}f}"


def length(metres: float) -> str:
    """A length for people, up to three digits: 12.3 um, 450 um, 35.9 mm, 2.61 m."""
    if not isfinite(metres):
        return DASH
    size = abs(float(f"{metres:.2e}"))
    factor, unit = (1e6, "um") if size < 1e-3 else (1e3, "mm") if size < 1 else (1.0, "m")
    return f"{factor * metres:.3g} {unit}"


def told_apart(one: float, other: float) -> tuple[str, str]:
    """Two numbers with as many decimals as show three digits of their difference."""
    gap = abs(one - other)
    decimals = max(0, 2 - floor(log10(gap))) if isfinite(gap) and gap > 0 else 3
    return number(one, decimals), number(other, decimals)


def concise(value: float, sd: float) -> str:
    """Value and standard deviation as ``0.302(4)e-6``: the digits in brackets are the sd in the last places shown.

    Two digits of the sd where it begins with 1, else one (GUM 7.2.6); powers of ten in steps of three.
    """
    if not isfinite(value) or not isfinite(sd) or sd <= 0:
        return DASH
    size = max(abs(value), sd)
    power = 3 * floor(log10(size) / 3)
    if size / 10.0**power >= 100:
        power += 3
    a, e = value / 10.0**power, sd / 10.0**power
    digits = 2 if f"{e:.1e}"[0] == "1" else 1
    decimals = max(0, digits - 1 - floor(log10(float(f"{e:.{digits - 1}e}"))))
    shown = round(e * 10**decimals) if decimals else round(e)
    tail = f"e{power:d}" if power else ""
    return f"{number(a, decimals)}({shown}){tail}"


def quantile_95(freedom: float) -> float:
    """Half width of a 95 % interval in standard deviations: Student's t where the noise is estimated."""
    from scipy.special import stdtrit

    return 1.959963984540054 if isinf(freedom) else float(stdtrit(max(freedom, 1.0), 0.975))
