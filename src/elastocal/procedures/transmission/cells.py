"""Every printed number against all others: by how much would it have to be wrong, and does that explain its row?

A number that is wrong by delta moves each equation it enters by d delta: a count by 1 (in both relations), a motor
angle by -c_i / 2 pi, a joint value by -t_ij in the equations of all motors that were read.  With e the deviation of
an equation from what the others predict and v its variance (independent, since blocks share no unknowns)

    delta = sum(d e / v) / sum(d^2 / v),     gain = delta^2 sum(d^2 / v),

and gain / (what is left per spare equation) follows F on 1 and the spare equations.  The number that gains most names
the column: a wrong joint value shows in all motors that it drives, a wrong count in one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache

import numpy as np

from elastocal.distributions import fdtrc
from elastocal.procedures.transmission.equations import System, What
from elastocal.procedures.transmission.fit import ROUNDING, SystemFit
from elastocal.spatial.entries import Array, Bools, Ints
from elastocal.values import dataclass


@dataclass(frozen=True)
class PrintedCell:
    """One printed number: column ``what`` of ``axis`` in a row of a series (both count from 0)."""

    series: int
    row: int
    what: What
    axis: str


Column = tuple[int, What, str]
"""Series, what, and axis of the numbers of one heading."""


@dataclass(frozen=True, eq=False)
class CellIncidence:
    """Which equations each cell enters: pairs of ``cell`` and ``equation``, all blocks one after another.

    ``unknown`` is the estimate (all blocks one after another) that carries an error of the cell, -1 for a count.
    Cells (C,) stand in a ``column`` of ``columns`` and a ``row``.
    """

    columns: tuple[Column, ...]
    column: Ints
    row: Ints
    cell: Ints
    equation: Ints
    unknown: Ints

    def __len__(self) -> int:
        return len(self.row)

    def printed(self, cell: int) -> PrintedCell:
        series, what, axis = self.columns[self.column[cell]]
        return PrintedCell(series, int(self.row[cell]), what, axis)

    def numbers(self, cells: Iterable[PrintedCell]) -> list[int]:
        """Places of those that enter an equation."""
        asked = [(self.columns.index(c), p.row) for p in cells if (c := (p.series, p.what, p.axis)) in self.columns]
        return [int(i) for column, row in asked for i in self._of_place.alike(column * self._rows + row)]

    @cached_property
    def _rows(self) -> int:
        return int(self.row.max(initial=0)) + 1

    @cached_property
    def _of_place(self) -> Groups:
        return Groups.of(self.column * self._rows + self.row)

    @cached_property
    def _of_row(self) -> Groups:
        series = np.array([c[0] for c in self.columns], dtype=np.int64)[self.column]
        return Groups.of(series * self._rows + self.row)

    @cached_property
    def _of_cell(self) -> Groups:
        return Groups.of(self.cell)

    def in_row(self, cell: int) -> tuple[int, ...]:
        """The cells of the row of one."""
        return tuple(self._of_row.like(cell).tolist())

    def mates(self, cell: int) -> tuple[int, ...]:
        """Cells of the same row that enter one of its equations, itself among them."""
        entered = self._entered(cell)
        return tuple(i for i in self.in_row(cell) if not entered.isdisjoint(self._entered(i)))

    def apart(self, cells: Iterable[int], others: set[int]) -> list[int]:
        """Those that are mates of no others."""
        row = self._of_row.key
        near = np.isin(row, row[list(others)])
        return [i for i in cells if not near[i] or others.isdisjoint(self.mates(i))]

    def _entered(self, cell: int) -> set[int]:
        """The equations of a cell."""
        return set(self.equation[self._of_cell.alike(cell)].tolist())


@dataclass(frozen=True, eq=False)
class Groups:
    """Places with the same ``key`` (N,), ``sorted`` by it."""

    key: Ints
    order: Ints
    sorted: Ints

    @classmethod
    def of(cls, key: Ints) -> Groups:
        order = np.argsort(key, kind="stable")
        return cls(key, order, key[order])

    def alike(self, key: int) -> Ints:
        """Those of a key, in order."""
        return self.order[slice(*np.searchsorted(self.sorted, [key, key + 1]))]

    def like(self, place: int) -> Ints:
        """Those of the key of one."""
        return self.alike(int(self.key[place]))


@dataclass(frozen=True, eq=False)
class CellTests:
    """For each cell: ``delta`` printed minus predicted in SI, its standard deviation, F, spare equations, probability.

    ``robust`` is |delta| over a standard deviation whose noise is the median of the residuals, ``alone`` is F with the
    noise of the cell's own blocks only; nan: not testable.
    """

    delta: Array
    sd: Array
    gain: Array
    statistic: Array
    freedom: Array
    probability: Array
    robust: Array
    alone: Array


@lru_cache(maxsize=1)
def incidence(system: System) -> CellIncidence:
    """Cells are numbered in the order in which equations name them."""
    columns: dict[Column, int] = {}
    parts = list(_pairs(system, columns))
    column, row, equation, unknown = (np.concatenate(some) for some in zip(*parts, strict=True))
    _, first, cell = np.unique(column * (int(row.max(initial=0)) + 1) + row, return_index=True, return_inverse=True)
    order = np.argsort(first)
    number = np.empty_like(order)
    number[order] = np.arange(len(order))
    first = first[order]
    return CellIncidence(tuple(columns), column[first], row[first], number[cell.ravel()], equation, unknown)


def _pairs(system: System, columns: dict[Column, int]) -> Iterator[tuple[Ints, Ints, Ints, Ints]]:
    """Column, row, equation and unknown of the pairs of every block, equation by equation."""
    equation = unknown = 0
    for block in system.blocks:
        used, series = np.unique(block.series, return_inverse=True)
        names: list[tuple[What, str]] = [("counts", block.axis), *((block.relation, name) for name in block.inputs)]
        at = np.full((len(used), len(names)), -1, dtype=np.int64)
        for i, k in enumerate(used.tolist()):
            for j, (what, name) in enumerate(names):
                if what != "joint" or name in system.series[k].joints:
                    at[i, j] = columns.setdefault((k, what, name), len(columns))
        column = at[series.ravel()]
        which, place = np.nonzero(column >= 0)
        carried = np.where(place > 0, unknown + place - 1, -1)
        yield column[which, place], block.rows[which], equation + which, carried
        equation += len(block.y)
        unknown += block.x.shape[1]


def tested(fit: SystemFit, of: CellIncidence) -> CellTests:
    """All cells against the equations kept; a cell that took part is judged by what the others leave of it."""
    away, variance, inside = _deviations(fit)
    d = error_directions(fit, of)
    usable = np.isfinite(variance[of.equation]) & (d != 0)
    weight = np.where(usable, 1 / np.where(usable, variance[of.equation], 1.0), 0.0)
    total = len(of)
    down = np.bincount(of.cell, d**2 * weight, total)
    up = np.bincount(of.cell, d * away[of.equation] * weight, total)
    with np.errstate(invalid="ignore", divide="ignore"):
        delta, gain, sd = up / down, up**2 / down, 1 / np.sqrt(down)
    left, spare, bound, robust = _rest(fit, of, usable, inside, gain)
    with np.errstate(invalid="ignore", divide="ignore"):
        scale = np.where(spare > 0.5, np.maximum(left / spare, bound), np.nan)
        statistic = gain / scale
    probability = np.where(np.isnan(statistic), np.nan, fdtrc(1, np.maximum(spare, 0.5), np.nan_to_num(statistic)))
    alone = _alone(fit, of, usable, inside, gain, bound)
    return CellTests(delta, sd * np.sqrt(scale), gain, statistic, spare, probability, np.sqrt(gain) / robust, alone)


def error_directions(fit: SystemFit, of: CellIncidence) -> Array:
    """d of each pair: how an error of the cell moves the equation."""
    every = np.concatenate([b.beta for b in fit.blocks])
    return np.where(of.unknown < 0, 1.0, -every[of.unknown])


def _deviations(fit: SystemFit) -> tuple[Array, Array, Bools]:
    """Deviation of each equation from the others' prediction, its variance (inf: none), and whether it took part."""
    away, variance, inside = [], [], []
    for b in fit.blocks:
        remains = np.where(b.kept, 1 - b.leverage, 1.0)
        known = np.isfinite(b.leverage) & (remains > 1e-9)
        safe = np.where(known, remains, 1.0)
        spread = np.where(b.kept, 1 / safe, 1 + np.where(known, b.leverage, 0.0))
        away.append(np.where(known, b.residuals / safe, 0.0))
        variance.append(np.where(known, b.sd**2 * spread, np.inf))
        inside.append(b.kept)
    return np.concatenate(away), np.concatenate(variance), np.concatenate(inside)


def _rest(
    fit: SystemFit, of: CellIncidence, usable: Bools, inside: Bools, gain: Array
) -> tuple[Array, Array, Array, Array]:
    """For each cell: whitened squares and spare equations of the levels it touches without it, the least share of the
    variance that rounding of counts leaves, and a robust factor of the standard deviation."""
    noise = np.concatenate([b.block.noise for b in fit.blocks])
    sd = np.concatenate([b.sd for b in fit.blocks])
    white = np.concatenate([b.standardized for b in fit.blocks])
    leverage = np.concatenate([np.minimum(b.leverage, 1.0) for b in fit.blocks])
    n = len(fit.levels)
    squares = np.bincount(noise[inside], white[inside] ** 2, n)
    median = np.array([_median(white[inside & (noise == c)], leverage[inside & (noise == c)]) for c in range(n)])
    touched = np.zeros((len(of), n), dtype=bool)
    touched[of.cell[usable], noise[of.equation[usable]]] = True
    took = np.zeros(len(of), dtype=bool)
    took[of.cell[usable & inside[of.equation]]] = True
    left = np.asarray(touched @ squares - np.where(took, gain, 0.0), dtype=np.float64)
    spare = touched @ fit.spare - took
    bound = np.zeros(len(of))
    np.maximum.at(bound, of.cell[usable], ROUNDING / sd[of.equation[usable]] ** 2)
    worst = np.max(np.where(touched, median, 0.0), axis=1, initial=0.0)
    robust = np.maximum(np.where(worst > 0, worst, np.nan), np.sqrt(bound))
    return left, np.asarray(spare), bound, np.asarray(robust)


def _alone(fit: SystemFit, of: CellIncidence, usable: Bools, inside: Bools, gain: Array, bound: Array) -> Array:
    """F of cells that took part, with what is left in the blocks they touch."""
    owner = np.concatenate([np.full(len(b.kept), i) for i, b in enumerate(fit.blocks)])
    squares = np.array([np.sum(b.standardized[b.kept] ** 2) for b in fit.blocks])
    spare = np.array([np.sum(1 - np.minimum(b.leverage[b.kept], 1.0)) for b in fit.blocks])
    touched = np.zeros((len(of), len(fit.blocks)), dtype=bool)
    at = usable & inside[of.equation]
    touched[of.cell[at], owner[of.equation[at]]] = True
    free = touched @ spare - 1
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(free > 0.5, gain / np.maximum((touched @ squares - gain) / free, bound), np.nan)


def _median(white: Array, leverage: Array) -> float:
    free = 1 - leverage
    known = free > 1e-6
    return float(np.median(np.abs(white[known]) / np.sqrt(free[known])) / 0.6745) if known.any() else 0.0
