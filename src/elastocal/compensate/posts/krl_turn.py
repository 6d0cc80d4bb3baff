"""T of KRL: bit i is 1 where axis i + 1 stands below zero."""

from __future__ import annotations

import numpy as np

from elastocal.spatial.entries import Array


def turn_bits(joints: Array) -> int:
    """T of controller values (6,)."""
    return int(sum(1 << i for i, q in enumerate(joints[:6]) if q < 0))


def new_turn(turn: int, old: Array, new: Array) -> tuple[int, tuple[int, ...]]:
    """T after the axes went from ``old`` to ``new`` (6,), and the axes (from 1) whose bit it had to flip.

    Only bits of axes that change sign are touched: T stays as it was taught otherwise, even where it disagrees.
    """
    crossed = [i for i in range(min(6, len(old))) if (old[i] < 0) != (new[i] < 0) and np.isfinite(new[i])]
    wanted = turn_bits(new)
    flipped = tuple(i + 1 for i in crossed if (turn ^ wanted) >> i & 1)
    for i in flipped:
        turn ^= 1 << (i - 1)
    return turn, flipped
