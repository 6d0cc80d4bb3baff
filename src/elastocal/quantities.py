"""Numbers as people read them: significant digits, lengths with their unit, estimates as 0.302(4)."""

from __future__ import annotations

import re
from math import floor, isfinite, log10

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


def millimetres(metres: float) -> str:
    """With three decimals, or as many as two digits take: an error is never 0.000."""
    size = 1e3 * metres
    return f"{size:.3f}" if not 0 < size < 0.01 else f"{size:.{1 - floor(log10(size))}f}"


READ_IN: dict[str, tuple[tuple[float, str], ...]] = {
    "m": ((1e3, "mm"), (1e6, "um")),
    "rad": ((1e3, "mrad"), (1e6, "urad")),
    "rad/(N m)": ((1e6, "urad/(N m)"), (1e9, "nrad/(N m)")),
    "m/N": ((1e6, "um/N"), (1e9, "nm/N")),
    "m/(N m)": ((1e6, "um/(N m)"), (1e9, "nm/(N m)")),
    "rad/N": ((1e6, "urad/N"), (1e9, "nrad/N")),
}
"""Units of the trade for those of SI, the larger first."""


def read_in(unit: str, size: float) -> tuple[float, str]:
    """Factor and unit in which people read a number of this size in SI, such as 0.302 urad/(N m)."""
    choices = READ_IN.get(unit, ((1.0, unit),))
    return next((c for c in choices if c[0] * size >= 0.1), choices[0 if size == 0 else -1])


RAREST = 1e-4
"""A smaller probability is given as smaller than this: its size rests on the tail of a distribution nobody knows."""


def probability(value: float) -> str:
    """A probability for people: 0.042, or < 0.0001."""
    if not isfinite(value):
        return DASH
    return f"< {RAREST:g}" if value < RAREST else f"{value:.2g}"


_MICRO, _SIGNS = (
    re.compile(r"(?<![\w.-])u(m|rad)(?!\w|[.-]\w)"),
    (("+-", "\N{PLUS-MINUS SIGN}"), (">=", "\N{GREATER-THAN OR EQUAL TO}")),
)


def typeset(text: str) -> str:
    """Words for a page in place of a terminal: um with its Greek letter, +- and >= as one sign."""
    for plain, sign in _SIGNS:
        text = text.replace(plain, sign)
    return _MICRO.sub("\N{MICRO SIGN}\\1", text) if "um" in text or "urad" in text else text


def told_apart(one: float, other: float) -> tuple[str, str]:
    """Two numbers with as many decimals as show three digits of their difference."""
    gap = abs(one - other)
    decimals = max(0, 2 - floor(log10(gap))) if isfinite(gap) and gap > 0 else 3
    return number(one, decimals), number(other, decimals)


PLAIN = (1e-5, 1e6)
"""Sizes of estimates without a power of ten."""


def concise(value: float, sd: float) -> str:
    """Value and standard deviation as ``0.302(4)``: the digits in brackets are the sd in the last places shown.

    Two digits of the sd where it begins with 1, else one (GUM 7.2.6).  What is far from 1 wants another unit, and has a
    power of ten, in steps of three, where there is none.
    """
    if not isfinite(value) or not isfinite(sd) or sd <= 0:
        return DASH
    size = max(abs(value), sd)
    power = 0 if PLAIN[0] <= size < PLAIN[1] else 3 * floor(log10(size) / 3)
    if power and size / 10.0**power >= 100:
        power += 3
    a, e = value / 10.0**power, sd / 10.0**power
    digits = 2 if f"{e:.1e}"[0] == "1" else 1
    places = digits - 1 - floor(log10(float(f"{e:.{digits - 1}e}")))
    decimals = max(0, places)
    a, e = (round(v, places) if places < 0 else v for v in (a, e))
    shown = round(e * 10**decimals)
    tail = f"e{power:d}" if power else ""
    return f"{number(a, decimals)}({shown}){tail}"


def quantile_95(freedom: float) -> float:
    """Half width of a 95 % interval in standard deviations: Student's t where the noise is estimated.

    From 100 degrees of freedom on by its series (Cornish and Fisher), to 1e-10.
    """
    if freedom >= 100:
        z, v = 1.959963984540054, float(freedom)
        terms = (
            (z**3 + z) / 4,
            (5 * z**5 + 16 * z**3 + 3 * z) / 96,
            (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
            (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
        )
        return z + sum(term / v ** (i + 1) for i, term in enumerate(terms))
    from elastocal.distributions import stdtrit

    return stdtrit(max(freedom, 1.0), 0.975)
