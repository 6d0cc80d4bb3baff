"""Counters that run over: found where rows agree with the others once a whole modulus is added.

A counter of modulus M shows the counts minus k M.  Neighbouring rows between which it did not run over still fit the
linear relation; they predict the others, and k = round((prediction - shown) / M).  M is tried among the powers of two
that the shown numbers leave room for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from elastocal.encoders.series import Series
from elastocal.errors import InputError
from elastocal.spatial.entries import Array, Ints

CLOSE = 2e-3
"""What the unwrapped rows may leave, in parts of the modulus."""
BETTER = 20.0
"""How many times less than before they must leave."""
MODULI = tuple(2**k for k in range(8, 33))


@dataclass(frozen=True)
class Wrap:
    """The first row whose counter ran over, and how often."""

    place: str
    axis: str
    modulus: int
    turns: int


def unwrapped(series: Sequence[Series], modulus: int) -> tuple[Series, ...]:
    """Counts that go on where the counter ran over; between two rows it must move by less than half the modulus."""
    out = []
    for one in series:
        for axis, column in one.counts.items():
            if np.ptp(column.values) >= modulus:
                raise InputError(
                    f"{one.table}, column {column.heading}: holds counts that differ by {np.ptp(column.values):g}, so "
                    f"they do not wrap at {modulus}; correct --wrap"
                )
            one = one.with_counts(axis, np.unwrap(column.values, period=modulus))
        out.append(one)
    for wrap in wraps(out, (modulus,)):
        raise InputError(
            f"{wrap.place}: with --wrap {modulus} the counts still do not fit; a row is more than half of it away from "
            "the one before, so log closer rows or correct the modulus"
        )
    return tuple(out)


def wraps(series: Sequence[Series], moduli: Sequence[int] = MODULI) -> Iterator[Wrap]:
    """The columns of counts that wrap, by their first row that does."""
    for one in series:
        for axis, column in one.counts.items():
            x = _inputs(one, axis)
            found = None if x is None else _wrapped(x, column.values, moduli, len(moduli) > 1)
            if found is not None:
                modulus, turns = found
                row = int(np.flatnonzero(turns != turns[0])[0])
                yield Wrap(one.place(row, column), axis, modulus, int(turns[row] - turns[0]))


def _inputs(series: Series, axis: str) -> Array | None:
    columns = [series.motors[axis]] if axis in series.motors else list(series.joints.values())
    moving = [c.values for c in columns if np.ptp(c.values) > 0]
    if not moving:
        return None
    return np.column_stack([*moving, np.ones(len(series.rows))])


def _wrapped(x: Array, y: Array, moduli: Sequence[int], shown: bool) -> tuple[int, Ints] | None:
    """Modulus and whole turns (n,) of the best explanation; None where the counts fit as they are."""
    n, p = x.shape
    if n < p + 2:
        return None
    plain = _left(x, y)
    best: tuple[float, int, Ints] | None = None
    for window in range(n - p):
        rows = slice(window, window + p + 1)
        if np.linalg.matrix_rank(x[rows] / np.max(np.abs(x), axis=0)) < p or _left(x[rows], y[rows]) > plain / BETTER:
            continue
        aim = x @ np.linalg.lstsq(x[rows], y[rows], rcond=None)[0]
        for modulus in moduli:
            if shown and not np.ptp(y) < modulus <= 16 * max(float(np.ptp(y)), 1.0):
                continue
            turns = np.round((aim - y) / modulus).astype(np.int64)
            left = _left(x, y + modulus * turns)
            if (
                np.any(turns != turns[0])
                and left < CLOSE * modulus
                and left < plain / BETTER
                and (best is None or left < best[0])
            ):
                best = left, modulus, turns
    return None if best is None else best[1:]


def _left(x: Array, y: Array) -> float:
    """Largest residual of a fit."""
    return float(np.max(np.abs(y - x @ np.linalg.lstsq(x, y, rcond=None)[0])))
