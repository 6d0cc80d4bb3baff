"""Where an arm stands still in a recording: intervals of time in which no joint leaves a small band.

A band rather than a speed: differences of noisy encoder values over a few milliseconds are no speeds.  From each
instant on an interval grows while the spread of every joint stays within ``band``; intervals that last ``shortest``
count.  Of each the first and last tenth is left out, in which the arm settles or starts.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from elastocal.spatial.entries import Array

MARGIN = 0.1
"""Share of a dwell at either end that is not used."""


class Dwell(NamedTuple):
    """``first`` to ``last`` in s, margins left out, and rows of the recording."""

    first: float
    last: float
    rows: slice


def dwells(time: Array, q: Array, band: Array, shortest: float) -> tuple[Dwell, ...]:
    """Dwells of joint values (N, n) at times (N,) in order; ``band`` (n,) is the spread that a still joint may have."""
    out: list[Dwell] = []
    start, total = 0, len(time)
    while start < total:
        low, high = q[start].copy(), q[start].copy()
        end = start + 1
        while end < total:
            new_low, new_high = np.minimum(low, q[end]), np.maximum(high, q[end])
            if np.any(new_high - new_low > band):
                break
            low, high, end = new_low, new_high, end + 1
        length = float(time[end - 1] - time[start])
        if length >= shortest:
            margin = MARGIN * length
            first, last = float(time[start]) + margin, float(time[end - 1]) - margin
            inside = np.flatnonzero((time >= first) & (time <= last))
            if len(inside):
                out.append(Dwell(first, last, slice(int(inside[0]), int(inside[-1]) + 1)))
            start = end
        else:
            start += 1 if end == start + 1 else max(1, (end - start) // 4)
    return tuple(out)
