"""Twelve significant digits of many numbers at once, as ``%.12g`` writes them.

A number is brought to a whole one of twelve digits by one product with an exact power of ten, which is off by less than
1e-4 then; its digits are looked up four by four.  Python writes those that lie closer than that to the middle between
two, zero, the very small and the very large.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import floor, log10

import numpy as np
from numpy.typing import NDArray

from elastocal.spatial.entries import Array, Ints

Signs = NDArray[np.uint8]
WIDTH = 20
"""Signs of the longest, such as -1.23456789012e-100."""
SIZE = 12
LEAST = -4
"""Powers of ten below which exponents are written."""
_ZERO, _POINT, _MINUS = b"0.-"


def significant_digits(values: Array) -> Signs:
    """Signs (N, WIDTH) of numbers (N,); zeros are none."""
    size, out = np.abs(values), np.zeros((len(values), WIDTH), dtype=np.uint8)
    known = size[(size >= 10.0**LEAST) & (size < 10.0 ** (SIZE - 1))]
    done = np.zeros(len(values), dtype=bool)
    size[~(size < 10.0 ** (SIZE - 1))] = 0.0
    for power in range(floor(log10(known.min())), floor(log10(known.max())) + 1) if len(known) else ():
        scaled = size * 10.0 ** (SIZE - 1 - power)
        whole = np.rint(scaled)
        rows = (scaled >= 10.0 ** (SIZE - 1)) & (whole < 10.0**SIZE) & (np.abs(scaled - whole) < 0.499)
        if rows.all():
            _lay_out(whole.astype(np.int64), power, out)
            done[:] = True
            break
        if rows.any():
            part = np.zeros((int(np.count_nonzero(rows)), WIDTH), dtype=np.uint8)
            _lay_out(whole[rows].astype(np.int64), power, part)
            out[rows] = part
            done |= rows
    out[values < 0, 0] = _MINUS
    for i in np.flatnonzero(~done).tolist():
        text = b"%.12g" % values[i]
        out[i] = 0
        out[i, : len(text)] = np.frombuffer(text, dtype=np.uint8)
    return out


def lines_of(columns: Sequence[Signs | bytes], count: int) -> str:
    """Lines of columns, each the signs (N, w) of one place in every line, or (1, w) or text that is the same in all."""
    signs = [np.frombuffer(c, dtype=np.uint8)[None] if isinstance(c, bytes) else c for c in columns]
    whole = np.concatenate([np.broadcast_to(s, (count, s.shape[1])) for s in signs], axis=1)
    return whole.tobytes().translate(None, b"\0").decode("ascii")


@cache
def _four() -> NDArray[np.uint32]:
    """The digits of whole numbers below 10 000, four signs in one."""
    return np.frombuffer("".join(f"{i:04d}" for i in range(10_000)).encode(), dtype=np.uint32)


def _lay_out(whole: Ints, power: int, out: Signs) -> None:
    """Whole numbers of twelve digits with the point of numbers from 10^power on; the first place is that of a minus."""
    digits = _digits(whole)
    before, noughts = max(power + 1, 0), max(-power - 1, 0)
    point = 1 + max(before, 1)
    out[:, 1:point] = digits[:, :before] if before else _ZERO
    out[:, point] = _POINT
    first = point + 1 + noughts
    out[:, point + 1 : first] = _ZERO
    out[:, first : first + SIZE - before] = digits[:, before:]
    rows = np.arange(len(digits))
    for place in range(SIZE - 1, before - 1, -1):
        rows = rows[digits[rows, place] == _ZERO]
        out[rows, first + place - before] = 0
    out[rows, point] = 0


def _digits(whole: Ints) -> Signs:
    """(N, 12)"""
    parts, rest = np.empty((len(whole), 3), dtype=np.uint32), whole
    for place in (2, 1):
        higher = rest // 10_000
        parts[:, place] = _four().take(rest - 10_000 * higher)
        rest = higher
    parts[:, 0] = _four().take(rest)
    return parts.view(np.uint8)
