"""Simple numbers that counts per turn and entries of S may stand for, and the odds that one lies there by chance.

Gear wheels have whole numbers of teeth, so a ratio is a fraction p/q.  The simplest fraction within the uncertainty
(smallest q) is looked for.  Fractions in lowest terms with denominators up to q have the density
Phi(q) = sum_{k <= q} phi(k) per unit length (phi: Euler's totient), so an interval of width w holds w Phi(q) of them on
average and a value that is no such fraction at all has one there with the probability 1 - exp(-w Phi(q)).

A prismatic joint's ratio is turns per mm, since leads are whole or simple parts of a mm.

Counts per turn are round where they are 1 or 3 times a power of two, or 1, 2, 2.5 or 5 times a power of ten: 2 in each
octave and 4 in each decade.

Several entries are judged together, so that at most the share ``RATE`` of those proposed are matches by chance:
Benjamini and Hochberg's rule with the share of chance matches estimated by Storey (from how many chances lie above
one half).  A number whose own chance is above ``MOST`` is never proposed.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction
from math import ceil, expm1, floor, isfinite, log

import numpy as np

from elastocal.distributions import chdtrc, stdtrit
from elastocal.procedures.transmission.equations import TURN
from elastocal.procedures.transmission.fit import Pattern
from elastocal.procedures.transmission.matrices import Matrices
from elastocal.spatial.entries import Array
from elastocal.values import dataclass

COVER, COVER_COUNTS = 0.95, 0.99
"""Probability of the interval that a fraction, or a round number of counts, must lie in.  Round numbers are so rare
that a wide interval is affordable."""
RATE, MOST = 0.1, 0.2
LARGEST = 200
"""Denominators are tried up to this one."""


@dataclass(frozen=True)
class Simple:
    """The simplest number within ``low`` to ``high``, and how often chance would put one as simple there."""

    value: Fraction
    low: float
    high: float
    expected: float
    """How many numbers as simple an interval of this width holds on average."""

    @property
    def chance(self) -> float:
        return -expm1(-self.expected)

    def text(self) -> str:
        return str(self.value)


def interval(value: float, sd: float, freedom: float, cover: float) -> tuple[float, float]:
    """By Student's t."""
    half = float(stdtrit(freedom, (1 + cover) / 2)) * sd
    return value - half, value + half


def simplest_fraction(value: float, sd: float, freedom: float) -> Simple | None:
    """The fraction of the smallest denominator within the interval; None where there is none, or no accuracy."""
    if not (isfinite(value) and isfinite(sd) and sd > 0 and freedom >= 0.5):
        return None
    low, high = interval(value, sd, freedom, COVER)
    density = 0
    for q in range(1, LARGEST + 1):
        density += _totient(q)
        p = ceil(low * q)
        if p <= high * q:
            near = min(range(p, floor(high * q) + 1), key=lambda n: abs(n / q - value)) if high - low < 1e3 else p
            return Simple(Fraction(near, q), low, high, (high - low) * density)
    return None


def round_counts(value: float, sd: float, freedom: float) -> Simple | None:
    """The round number of counts within the interval that is nearest to the value."""
    if not (isfinite(value) and isfinite(sd) and sd > 0 and freedom >= 0.5):
        return None
    low, high = interval(value, sd, freedom, COVER_COUNTS)
    inside = [r for r in round_numbers(high) if low <= r <= high]
    if not inside or low <= 0:
        return None
    expected = log(high / low) * (2 / log(2) + 4 / log(10))
    return Simple(Fraction(min(inside, key=lambda r: abs(r - value))), low, high, expected)


def round_numbers(most: float) -> list[int]:
    """All up to ``most``."""
    twos = [m * 2**k for m in (1, 3) for k in range(40)]
    tens = [m * 10**k // 10 for m in (10, 20, 25, 50) for k in range(1, 12)]
    return sorted({n for n in (*twos, *tens) if n <= most})


def supported(simples: Sequence[Simple | None]) -> tuple[bool, ...]:
    """Which of several simple numbers the data support."""
    chances = sorted(1.0 if s is None else s.chance for s in simples)
    share = min(1.0, 2 * (1 + sum(c > 0.5 for c in chances)) / max(len(chances), 1))
    allowed = [c for k, c in enumerate(chances, start=1) if c <= min(MOST, RATE * k / (share * len(chances)))]
    limit = max(allowed, default=-1.0)
    return tuple(s is not None and s.chance <= limit for s in simples)


def together(simples: Sequence[Simple]) -> float:
    """Probability that chance would do as well for all of them (Fisher: -2 sum log chance is chi square)."""
    return float(chdtrc(2 * len(simples), -2 * sum(log(s.chance) for s in simples))) if simples else 1.0


def _totient(n: int) -> int:
    out, left, p = n, n, 2
    while p * p <= left:
        if left % p == 0:
            out -= out // p
            while left % p == 0:
                left //= p
        p += 1
    return out - out // left if left > 1 else out


TURNS_PER_MM = 1 / (1000 * TURN)
"""From rad/m."""


@dataclass(frozen=True, eq=False)
class Ratios:
    """S with counts per turn that are round where the data support it, and the fractions that its entries stand for.

    ``fractions`` by motor and joint, for entries that are not zero; ``proposed`` are those that the data support.
    They stand for S times ``scale`` (n,) by joint: turns per turn, or turns per mm where the joint is prismatic.
    """

    counts: tuple[Simple | None, ...]
    counts_proposed: tuple[bool, ...]
    matrices: Matrices
    fractions: Mapping[tuple[str, str], Simple | None]
    proposed: Mapping[tuple[str, str], bool]
    scale: Array

    @property
    def per_turn(self) -> Array:
        """Counts per turn: the round number where it is proposed, else as measured."""
        return self.matrices.per_turn

    @property
    def structure(self) -> Array:
        """S: the fraction where it is proposed, else as measured with these counts per turn; unknown entries are 0."""
        out, axes = np.nan_to_num(self.matrices.structure), self.matrices.axes
        for (i, j), simple in self.fractions.items():
            if simple is not None and self.proposed[i, j]:
                out[axes.index(i), axes.index(j)] = float(simple.value) / self.scale[axes.index(j)]
        return out


def ratios_of(robust: Matrices, pattern: Pattern, known: Array, prismatic: Collection[str] = ()) -> Ratios:
    """Simple numbers for counts per turn that are not ``known`` (n,), then for the entries of the pattern."""
    axes = robust.axes
    counts = tuple(
        None
        if np.isfinite(known[i])
        else round_counts(*(float(v[i]) for v in (robust.per_turn, robust.per_turn_sd, robust.per_turn_freedom)))
        for i in range(len(axes))
    )
    kept = supported(counts)
    exact = np.array([float(c.value) if c is not None and k else np.nan for c, k in zip(counts, kept, strict=True)])
    matrices = robust.with_per_turn(exact)
    s, sd, freedom = matrices.structure, matrices.structure_sd, matrices.structure_freedom
    entries = [(i, j) for i in axes for j in axes if j in pattern.get(i, frozenset())]
    at = [(axes.index(i), axes.index(j)) for i, j in entries]
    scale = np.array([TURNS_PER_MM if a in prismatic else 1.0 for a in axes])
    simple = [simplest_fraction(*(float(v[k]) for v in (s * scale, sd * scale, freedom))) for k in at]
    proposed = supported(simple)
    return Ratios(
        counts,
        kept,
        matrices,
        dict(zip(entries, simple, strict=True)),
        dict(zip(entries, proposed, strict=True)),
        scale,
    )
