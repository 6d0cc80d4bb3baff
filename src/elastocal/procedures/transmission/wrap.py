"""Counters that run over: columns of counts that fit the linear law once whole moduli are added.

Columns are taken one after another, those of few inputs first, and each that is understood tells the later ones its
slopes: where a joint moved alone, its slope is known in the table in which all move.  M is tried among the powers of
two that the shown numbers leave room for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from elastocal.errors import InputError
from elastocal.procedures.transmission.equations import EncoderSeries
from elastocal.procedures.transmission.turns import ShownCounts, Turns, all_but_one, plain, whole_turns
from elastocal.solve.linear import solve_linear
from elastocal.spatial.entries import Array
from elastocal.values import dataclass

MODULI = tuple(2**k for k in range(8, 33))
ROOM = 16
"""A modulus is at most this many times the range of the shown counts."""
MANY = 20
"""Up to so many rows are left out in turn; of more, one in 20 may be off."""
Slopes = dict[tuple[str, str, str], tuple[float, float]]
"""Counts per unit and standard deviation by relation, motor and input."""


@dataclass(frozen=True)
class Wrap:
    """The first row whose counter ran over, and how often."""

    place: str
    axis: str
    modulus: int
    turns: int


def wraps(series: Sequence[EncoderSeries]) -> Iterator[Wrap]:
    """The columns of counts that run over, by their first row that did."""
    slopes: Slopes = {}
    for k, axis in _order(series):
        one = series[k]
        rows, y = _rows(one, axis, slopes), one.counts[axis].values
        reach = max(float(np.ptp(y)), 1.0)
        moduli = [m for m in MODULI if reach < m <= ROOM * reach]
        if not moduli or plain(rows, moduli):
            _learn(slopes, one, axis)
            continue
        if (best := _turns(rows, moduli)) is not None:
            row = int(np.flatnonzero(best.turns)[0])
            yield Wrap(one.place(row, one.counts[axis]), axis, best.modulus, int(best.turns[row]))


def _turns(rows: ShownCounts, moduli: Sequence[int]) -> Turns | None:
    """The explanation that is least by chance, of all rows before all but one."""
    candidates = [t for m in moduli if (t := whole_turns(rows, m)) is not None]
    if not candidates and len(rows.shown) <= MANY:
        parts = list(all_but_one(rows, MANY))
        candidates = [t for m in moduli for kept in parts if (t := whole_turns(rows, m, kept)) is not None]
    return min(candidates, key=lambda t: t.chance, default=None)


def unwrapped_counts(series: Sequence[EncoderSeries], modulus: int) -> tuple[EncoderSeries, ...]:
    """Counts that go on where the counter ran over; refuses columns in which nothing tells how often it did.

    A column whose shown counts differ by the modulus or more did not run over at it.
    """
    out, slopes = list(series), Slopes()
    beyond = [(k, a) for k, a in _order(series) if np.ptp(series[k].counts[a].values) >= modulus]
    for k, axis in beyond:
        _learn(slopes, out[k], axis)
    waiting = [c for c in _order(series) if c not in beyond]
    while waiting:
        again = []
        for k, axis in waiting:
            done = _one(out[k], axis, modulus, slopes)
            if done is None:
                again.append((k, axis))
            else:
                out[k] = done
                _learn(slopes, done, axis)
        if len(again) == len(waiting):
            raise _refusal(out[again[0][0]], again[0][1], modulus)
        waiting = again
    if beyond and all(a is b for a, b in zip(out, series, strict=True)):
        raise _too_small(series[beyond[0][0]], beyond[0][1], modulus)
    return tuple(out)


def _one(series: EncoderSeries, axis: str, modulus: int, slopes: Slopes) -> EncoderSeries | None:
    rows = _rows(series, axis, slopes)
    if plain(rows, (modulus,)):
        return series
    unwrapped = _turns(rows, (modulus,))
    if unwrapped is None or unwrapped.open:
        return None
    return series.with_added(axis, modulus * unwrapped.turns.astype(np.float64))


def _too_small(series: EncoderSeries, axis: str, modulus: int) -> InputError:
    column = series.counts[axis]
    return InputError(
        f"{series.table}, column {column.heading}: holds counts that differ by {np.ptp(column.values):g}, so they do "
        f"not wrap at {modulus}, nor do any others; correct the modulus",
        code="counter-wrap",
        value=modulus,
        parameter="wrap",
    )


def _refusal(series: EncoderSeries, axis: str, modulus: int) -> InputError:
    return InputError(
        f"{series.table}, column {series.counts[axis].heading}: nothing tells how often the counter ran over at "
        f"{modulus}; add rows that are less than a third of it apart, or a table in which each joint moves alone, or "
        "correct the modulus",
        code="counter-wrap",
        value=modulus,
        parameter="wrap",
    )


def _order(series: Sequence[EncoderSeries]) -> list[tuple[int, str]]:
    """Columns by the number of inputs."""
    every = [(k, axis) for k, one in enumerate(series) for axis in one.counts]
    return sorted(every, key=lambda c: len(_inputs(series[c[0]], c[1])[1]))


def _inputs(series: EncoderSeries, axis: str) -> tuple[str, dict[str, Array]]:
    """The motor's own angle where it was read, else all joints that move."""
    relation, columns = ("motor", {axis: series.motors[axis]}) if axis in series.motors else ("joint", series.joints)
    return relation, {a: c.values for a, c in columns.items() if np.ptp(c.values) > 0}


def _rows(series: EncoderSeries, axis: str, slopes: Slopes) -> ShownCounts:
    relation, inputs = _inputs(series, axis)
    known = [slopes.get((relation, axis, a), (np.nan, np.nan)) for a in inputs]
    x = np.column_stack([*inputs.values(), np.zeros((len(series.rows), 0))])
    rows = np.array(known).reshape(-1, 2)
    return ShownCounts(x, series.counts[axis].values, rows[:, 0], rows[:, 1])


def _learn(slopes: Slopes, series: EncoderSeries, axis: str) -> None:
    """Slopes of a column that is understood, each from the series that tells most of it."""
    for relation, one in (("joint", replace(series, motors={})), ("motor", series)):
        if relation == "motor" and axis not in series.motors:
            continue
        names, rows = list(_inputs(one, axis)[1]), _rows(one, axis, {})
        x = np.column_stack([rows.x, np.ones(len(rows.x))])
        fit = solve_linear(x, rows.shown)
        if rows.spare < 1 or not fit.known.all():
            continue
        beta, left = rows.fitted(rows.shown)
        sd = left * np.sqrt(np.diag(fit.unit_covariance))
        for name, slope, its in zip(names, beta, sd, strict=False):
            key = relation, axis, name
            if its < slopes.get(key, (0.0, np.inf))[1]:
                slopes[key] = float(slope), float(its)
