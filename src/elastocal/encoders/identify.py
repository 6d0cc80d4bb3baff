"""From logged series to the coupling of motors and joints: T_m, T_j, S, its zeros, bad numbers, simple ratios."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from elastocal.encoders.by_table import EntryByTable, entries_by_table
from elastocal.encoders.checks import check_moved, check_table_units, doubts
from elastocal.encoders.equations import System, system
from elastocal.encoders.fit import Pattern, SystemFit, fitted_system
from elastocal.encoders.matrices import Matrices, Regularity, matrices, regularity_of
from elastocal.encoders.offsets import ZeroTest, offsets_are_zero
from elastocal.encoders.pattern import robust_pattern, significance, unseen
from elastocal.encoders.ratios import Ratios, ratios_of
from elastocal.encoders.robust import LEVEL, ContradictionError, GrossError, ScreenedCells
from elastocal.encoders.scatter import scattered
from elastocal.encoders.series import EncoderSeries
from elastocal.encoders.swapped import swapped
from elastocal.encoders.wrap import unwrapped_counts, wraps
from elastocal.errors import InputError, UnknownNameError
from elastocal.spatial.entries import Array, Bools

MANY = 1 / 6
"""Share of bad rows from which swapped columns are looked for."""


@dataclass(frozen=True, eq=False)
class TransmissionFit:
    """``everything`` is the fit of all rows, ``rest`` that without the bad numbers; both within ``pattern``.

    ``significance`` (n, n): probability that an entry would be so large if it were zero, judged with all measured
    entries of its motor free.  ``unseen`` are entries that no table tells of; they count as zero.
    """

    axes: tuple[str, ...]
    system: System
    pattern: Pattern
    bad: tuple[GrossError, ...]
    everything: SystemFit
    rest: SystemFit
    all_rows: Matrices
    robust: Matrices
    regularity: Regularity
    significance: Array
    unseen: tuple[tuple[str, str], ...]
    tables: tuple[EntryByTable, ...]
    ratios: Ratios
    zero: ZeroTest
    notes: tuple[str, ...]

    def at(self, motor: str, joint: str) -> tuple[int, int]:
        return self.axes.index(motor), self.axes.index(joint)

    def coupled(self) -> Iterator[tuple[str, str]]:
        """Motor and joint of every entry that is not zero, row by row."""
        yield from ((i, j) for i in self.axes for j in self.axes if j in self.pattern.get(i, frozenset()))

    def counts_at_zero(self) -> Array:
        """Counts at joint values zero, by the last series that records every joint that moves the motor; else nan."""
        return np.array([_at_zero(self, axis) for axis in self.axes])


def identify_transmission(
    series: Sequence[EncoderSeries],
    *,
    axes: Sequence[str] | None = None,
    from_zero: bool | None = None,
    wrap: int | None = None,
    per_turn: Mapping[str, float] | None = None,
    prismatic: Collection[str] = (),
) -> TransmissionFit:
    """Fit, screen and judge; ``per_turn`` gives counts per motor turn that are known, ``wrap`` the counters' modulus.

    ``from_zero`` says whether counts are zero where the joints are; None: if the tables do not contradict it.
    ``prismatic`` names the joints whose values are lengths.
    """
    check_table_units(series)
    given = unwrapped_counts(series, wrap) if wrap is not None else _going_on(series)
    equations = system(given, bool(from_zero))
    names = _ordered(equations, axes)
    check_moved(equations, names)
    screening, pattern = _screened(equations, given, prismatic)
    zero = offsets_are_zero(screening.fit) if from_zero is None else ZeroTest(None, None, from_zero)
    if zero.accepted and not equations.from_zero and (without := _without_offsets(given)) is not None:
        equations = without
        screening, pattern = robust_pattern(equations, LEVEL)
    kept = tuple(b.kept for b in screening.fit.blocks)
    everything = fitted_system(equations, None, pattern)
    known = _known_counts(per_turn or {}, names)
    all_rows, robust = (matrices(f, names).with_per_turn(known) for f in (everything, screening.fit))
    seen, ratios = unseen(equations), ratios_of(robust, pattern, known, prismatic)
    rounds = [k or bool(np.isfinite(n)) for k, n in zip(ratios.counts_proposed, known, strict=True)]
    notes = (
        *_mixed_up(screening, given, prismatic), *doubts(robust, screening.fit, seen, rounds, prismatic)
    )  # fmt: skip
    return TransmissionFit(
        names, equations, pattern, screening.bad, everything, screening.fit, all_rows, robust,
        regularity_of(robust), _significance(equations, names, kept), seen,
        entries_by_table(equations, pattern, screening.cells, all_rows, robust), ratios, zero, notes,
    )  # fmt: skip


def _going_on(series: Sequence[EncoderSeries]) -> tuple[EncoderSeries, ...]:
    """The same series; refuses counters that ran over."""
    for found in wraps(series):
        raise InputError(
            f"{found.place}: the counter runs over at {found.modulus} (this row fits the others with "
            f"{found.turns * found.modulus:+d} counts); unwrap by --wrap {found.modulus}, or log counts that go on"
        )
    return tuple(series)


def _screened(
    equations: System, series: Sequence[EncoderSeries], prismatic: Collection[str]
) -> tuple[ScreenedCells, Pattern]:
    """The bad numbers and the zeros of S; a contradiction is told as swapped columns where these explain it."""
    try:
        return robust_pattern(equations, LEVEL)
    except ContradictionError:
        if (said := swapped(series, equations.from_zero, LEVEL, prismatic)) is None:
            raise
        raise InputError(
            f"{said} look swapped: exchanged, they agree with the others; exchange their headings"
        ) from None


def _mixed_up(screening: ScreenedCells, series: Sequence[EncoderSeries], prismatic: Collection[str]) -> tuple[str, ...]:
    """Doubts where residuals are no noise, or bad numbers are many, with the columns whose exchange explains them."""
    found, many = scattered(screening.fit, prismatic), len(screening.bad) > MANY * sum(len(s.rows) for s in series)
    said = swapped(series, screening.fit.system.from_zero, LEVEL, prismatic) if found or many else None
    return found if said is None else (f"{said} look swapped: exchanged, they agree with the others.", *found)


def _without_offsets(series: Sequence[EncoderSeries]) -> System | None:
    """Equations without offsets; None where joints that stood still away from zero would take their place."""
    try:
        return system(series, True)
    except InputError:
        return None


def _known_counts(per_turn: Mapping[str, float], axes: tuple[str, ...]) -> Array:
    for axis in per_turn:
        if axis not in axes:
            raise UnknownNameError("axis", axis, axes, "--counts-per-turn")
    return np.array([per_turn.get(a, np.nan) for a in axes])


def _ordered(equations: System, axes: Sequence[str] | None) -> tuple[str, ...]:
    if axes is None:
        return equations.axes
    for name in equations.axes:
        if name not in axes:
            raise UnknownNameError("axis", name, axes)
    return tuple(axes)


def _significance(equations: System, axes: tuple[str, ...], kept: tuple[Bools, ...]) -> Array:
    out, whole = np.full((len(axes), len(axes)), np.nan), fitted_system(equations, kept)
    for found in whole.blocks:
        for j in found.block.inputs if found.block.relation == "joint" else ():
            out[axes.index(found.block.axis), axes.index(j)] = significance(whole, found, j)
    return out


def _at_zero(of: TransmissionFit, axis: str) -> float:
    if of.system.from_zero:
        return 0.0
    block = of.rest.block("joint", axis)
    if block is None:
        return float("nan")
    used = np.unique(block.block.series)
    whole = [
        place
        for place, k in enumerate(used)
        if of.pattern[axis] <= set(of.system.series[k].joints) and np.any(block.kept[block.block.series == k])
    ]
    return float(block.beta[len(block.block.inputs) + whole[-1]]) if whole else float("nan")
