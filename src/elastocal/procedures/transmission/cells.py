"""Every printed number against all others: by how much would it have to be wrong, and does that explain its row?

A number that is wrong by delta moves each equation it enters by d delta: a count by 1 (in both relations), a motor
angle by -c_i / 2 pi, a joint value by -t_ij in the equations of all motors that were read.  With e the deviation of
an equation from what the others predict and v its variance (independent, since blocks share no unknowns)

    delta = sum(d e / v) / sum(d^2 / v),     gain = delta^2 sum(d^2 / v),

and gain / (what is left per spare equation) follows F on 1 and the spare equations.  The number that gains most names
the column: a wrong joint value shows in all motors that it drives, a wrong count in one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

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


@dataclass(frozen=True, eq=False)
class CellIncidence:
    """Which equations each cell enters: pairs of ``cell`` and ``equation``, all blocks one after another.

    ``unknown`` is the estimate (all blocks one after another) that carries an error of the cell, -1 for a count.
    """

    cells: tuple[PrintedCell, ...]
    cell: Ints
    equation: Ints
    unknown: Ints

    @cached_property
    def row_mates(self) -> Mapping[tuple[int, int], tuple[int, ...]]:
        """The cells of each row, by series and row."""
        out: dict[tuple[int, int], tuple[int, ...]] = {}
        for i, c in enumerate(self.cells):
            out[c.series, c.row] = (*out.get((c.series, c.row), ()), i)
        return out

    @cached_property
    def entered(self) -> tuple[frozenset[int], ...]:
        """The equations of each cell."""
        out: list[list[int]] = [[] for _ in self.cells]
        for c, e in zip(self.cell.tolist(), self.equation.tolist(), strict=True):
            out[c].append(e)
        return tuple(frozenset(e) for e in out)

    def mates(self, cell: int) -> tuple[int, ...]:
        """Cells of the same row that enter one of its equations, itself among them."""
        c = self.cells[cell]
        return tuple(i for i in self.row_mates[c.series, c.row] if self.entered[i] & self.entered[cell])


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


def incidence(system: System) -> CellIncidence:
    pairs = list(_pairs(system))
    cells = tuple(dict.fromkeys(c for c, _, _ in pairs))
    number = {c: i for i, c in enumerate(cells)}
    at = np.array([(number[c], e, u) for c, e, u in pairs], dtype=np.int64).reshape(-1, 3)
    return CellIncidence(cells, at[:, 0], at[:, 1], at[:, 2])


def _pairs(system: System) -> Iterator[tuple[PrintedCell, int, int]]:
    equation = unknown = 0
    for block in system.blocks:
        for k, row in zip(block.series.tolist(), block.rows.tolist(), strict=True):
            yield PrintedCell(k, row, "counts", block.axis), equation, -1
            for i, name in enumerate(block.inputs):
                if block.relation == "motor" or name in system.series[k].joints:
                    yield PrintedCell(k, row, block.relation, name), equation, unknown + i
            equation += 1
        unknown += block.x.shape[1]


def tested(fit: SystemFit, of: CellIncidence) -> CellTests:
    """All cells against the equations kept; a cell that took part is judged by what the others leave of it."""
    away, variance, inside = _deviations(fit)
    d = error_directions(fit, of)
    usable = np.isfinite(variance[of.equation]) & (d != 0)
    weight = np.where(usable, 1 / np.where(usable, variance[of.equation], 1.0), 0.0)
    total = len(of.cells)
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
    touched = np.zeros((len(of.cells), n), dtype=bool)
    touched[of.cell[usable], noise[of.equation[usable]]] = True
    took = np.zeros(len(of.cells), dtype=bool)
    took[of.cell[usable & inside[of.equation]]] = True
    left = np.asarray(touched @ squares - np.where(took, gain, 0.0), dtype=np.float64)
    spare = touched @ fit.spare - took
    bound = np.zeros(len(of.cells))
    np.maximum.at(bound, of.cell[usable], ROUNDING / sd[of.equation[usable]] ** 2)
    worst = np.max(np.where(touched, median, 0.0), axis=1, initial=0.0)
    robust = np.maximum(np.where(worst > 0, worst, np.nan), np.sqrt(bound))
    return left, np.asarray(spare), bound, np.asarray(robust)


def _alone(fit: SystemFit, of: CellIncidence, usable: Bools, inside: Bools, gain: Array, bound: Array) -> Array:
    """F of cells that took part, with what is left in the blocks they touch."""
    owner = np.concatenate([np.full(len(b.kept), i) for i, b in enumerate(fit.blocks)])
    squares = np.array([np.sum(b.standardized[b.kept] ** 2) for b in fit.blocks])
    spare = np.array([np.sum(1 - np.minimum(b.leverage[b.kept], 1.0)) for b in fit.blocks])
    touched = np.zeros((len(of.cells), len(fit.blocks)), dtype=bool)
    at = usable & inside[of.equation]
    touched[of.cell[at], owner[of.equation[at]]] = True
    free = touched @ spare - 1
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(free > 0.5, gain / np.maximum((touched @ squares - gain) / free, bound), np.nan)


def _median(white: Array, leverage: Array) -> float:
    free = 1 - leverage
    known = free > 1e-6
    return float(np.median(np.abs(white[known]) / np.sqrt(free[known])) / 0.6745) if known.any() else 0.0
