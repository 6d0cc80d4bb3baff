"""What a picture of a robot must decide: how much larger to draw small things, and which of many poses to draw."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from elastocal.spatial.entries import Array, Ints

LONGEST = 0.15
"""The largest deflection, force or ellipsoid as a share of the picture."""
MOST_ARMS = 8
"""Arms drawn in one picture."""
MOST_MARKS = 200
"""Points, arrows and ellipsoids of one kind in one picture."""


def enlargement(extent: float, largest: float) -> float:
    """1, 2 or 5 times a power of ten, at most such that ``largest`` takes LONGEST of the picture; 1 for nothing."""
    from math import floor, isfinite, log10

    if not (isfinite(largest) and largest > 0 and isfinite(extent) and extent > 0):
        return 1.0
    wanted = LONGEST * extent / largest
    power = 10.0 ** floor(log10(wanted))
    return power * max(d for d in (1.0, 2.0, 5.0) if d * power <= wanted * (1 + 1e-12))


def times(factor: float) -> str:
    """A factor in words: "200 times larger"."""
    return "to scale" if factor == 1 else f"{factor:,.10g} times larger".replace(",", " ")


def spread_out(points: Array, most: int, first: Sequence[int] = ()) -> Ints:
    """At most ``most`` rows of (N, 3) that lie far from each other, in their order; those of ``first`` come first.

    Each next one is the farthest from all that are chosen; the same for any scale and turn of the picture.
    """
    import numpy as np

    known = np.flatnonzero(np.isfinite(points).all(axis=1))
    places = points[known]
    wanted = [int(np.flatnonzero(known == i)[0]) for i in dict.fromkeys(first) if i in known]
    chosen = (wanted or list(range(min(1, len(known)))))[:most]
    gap = np.full(len(known), np.inf)
    for i in chosen:
        gap = np.minimum(gap, np.linalg.norm(places - places[i], axis=1))
    while len(chosen) < most and len(known) and gap.max() > 0:
        chosen.append(int(np.argmax(gap)))
        gap = np.minimum(gap, np.linalg.norm(places - places[chosen[-1]], axis=1))
    return np.sort(known[chosen]).astype(np.int64)


def thinned(count: int, most: int) -> Ints:
    """At most ``most`` of ``count`` rows, evenly, both ends included."""
    import numpy as np

    return np.unique(np.round(np.linspace(0, count - 1, min(most, count)))).astype(np.int64)
