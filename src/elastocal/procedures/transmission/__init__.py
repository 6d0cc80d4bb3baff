"""The coupling of motors and joints from encoder counts (001 eq. 1-9): T_m, T_j, S, its zeros, gear ratios.

    phi = S theta,   eps = T_m^-1 phi = T_j theta,   S = T_m T_j

Order of the procedure: counters that ran over (``wrap``, ``turns``), the equations (``equations``), outliers and zeros
in turn (``cells``, ``outliers``), the matrices with their accuracy and zeros (``fit``, ``matrices``), the simple
numbers they stand for (``ratios``), and what may be wrong with the tables as a whole (``checks``).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from elastocal.arguments import checked
from elastocal.errors import InputError, MissingError, UnknownNameError
from elastocal.procedures.transmission.checks import (
    check_moved,
    check_table_units,
    contradicting,
    doubts,
    not_determined,
    scattered,
    swapped,
)
from elastocal.procedures.transmission.equations import EncoderSeries, System, system
from elastocal.procedures.transmission.fit import Pattern, SystemFit, fit_system
from elastocal.procedures.transmission.matrices import (
    OFFSET_LEVEL,
    EntryByTable,
    Matrices,
    Regularity,
    disagreement,
    entries_by_table,
    matrices,
    offsets_are_zero,
    regularity_of,
    robust_pattern,
    significance,
    undetermined,
    unseen,
)
from elastocal.procedures.transmission.outliers import LEVEL, ContradictionError, Outlier, Screening
from elastocal.procedures.transmission.ratios import Ratios, ratios_of, together
from elastocal.procedures.transmission.wrap import unwrapped_counts, wraps
from elastocal.results import Finding, as_frame, warning
from elastocal.solve.nested import NestedTest
from elastocal.spatial.entries import Array, Bools
from elastocal.spatial.threads import one_thread
from elastocal.values import dataclass

if TYPE_CHECKING:
    from elastocal.model.transmission import Drives

__all__ = ["EncoderSeries", "Transmission", "identify"]

MANY = 1 / 6
"""Share of rows with outliers from which swapped columns are looked for."""
DOUBTS = ("swapped-columns", "scatter", "tables-disagree", "not-determined")
"""Codes of warnings that no robot file should be written with."""
REGULAR = 3.0
"""A determinant nearer to zero than this many standard deviations is not told from zero."""


@dataclass(frozen=True, eq=False, repr=False)
class Transmission:
    """``everything`` is the fit of all rows, ``rest`` that without the outliers; both within ``pattern``.

    ``significance`` (n, n): probability that an entry would be so large if it were zero, judged with all measured
    entries of its motor free.  ``unseen`` are entries that no table tells of; they count as zero.  ``prismatic`` names
    the joints whose values are lengths.  ``zero`` tests whether counts are zero where the joints are; None where that
    was said.
    """

    axes: tuple[str, ...]
    prismatic: frozenset[str]
    system: System
    pattern: Pattern
    outliers: tuple[Outlier, ...]
    everything: SystemFit
    rest: SystemFit
    all_rows: Matrices
    robust: Matrices
    regularity: Regularity
    significance: Array
    unseen: tuple[tuple[str, str], ...]
    tables: tuple[EntryByTable, ...]
    ratios: Ratios
    zero: NestedTest | None
    warnings: tuple[Finding, ...]

    def to_frame(self) -> object:
        """One row for every entry of S that is measured: motor, joint, value and its standard deviation."""
        s, sd = self.robust.structure, self.robust.structure_sd
        return as_frame(
            [
                {"motor": a, "joint": b, "value": float(s[i, j]), "sd": float(sd[i, j])}
                for i, a in enumerate(self.axes)
                for j, b in enumerate(self.axes)
                if np.isfinite(s[i, j])
            ]
        )

    def __repr__(self) -> str:
        own = ", ".join(f"{a} {s:.5g}" for a, s in zip(self.axes, np.diag(self.robust.structure), strict=True))
        beside = ", ".join(f"{i} by {j}" for i, j in self.coupled() if i != j) or "none"
        return f"Transmission(ratios {own}; couplings {beside}; {len(self.outliers)} outliers)"

    @property
    def notes(self) -> tuple[str, ...]:
        return tuple(w.text for w in self.warnings)

    def at(self, motor: str, joint: str) -> tuple[int, int]:
        return self.axes.index(motor), self.axes.index(joint)

    def coupled(self) -> Iterator[tuple[str, str]]:
        """Motor and joint of every entry that is not zero, row by row."""
        unknown = self.undetermined
        yield from (
            (i, j)
            for i in self.axes
            for j in self.axes
            if j in self.pattern.get(i, frozenset()) and (i, j) not in unknown
        )

    @property
    def undetermined(self) -> tuple[tuple[str, str], ...]:
        """Motor and joint of couplings that no table can tell from zero."""
        return undetermined(self.robust, self.pattern)

    @property
    def doubt(self) -> str:
        """Why no robot file should hold this, "" where nothing speaks against it."""
        return next((w.text for w in self.warnings if w.code in DOUBTS), "")

    @property
    def regular(self) -> bool:
        """Whether motors determine the joints."""
        return self.regularity.rank == len(self.axes) and not self.regularity.sigmas < REGULAR

    @property
    def chance_of_ratios(self) -> float:
        """Probability that chance would do as well for all simple ratios that are proposed."""
        fractions = [s for k, s in self.ratios.fractions.items() if s is not None and self.ratios.proposed[k]]
        return together(fractions)

    def disagreements(self) -> tuple[tuple[EntryByTable, EntryByTable, float], ...]:
        """Pairs of tables that tell of the same entry, and their difference in standard deviations."""
        return disagreement(self.tables)

    def counts_at_zero(self) -> Array:
        """Counts at joint values zero, by the last series that records every joint that moves the motor; else nan."""
        return np.array([_at_zero(self, axis) for axis in self.axes])

    def without_counts_per_turn(self) -> tuple[str, ...]:
        """Axes of which no table has motor angles, so that S is unknown."""
        return tuple(a for a, n in zip(self.axes, self.robust.per_turn, strict=True) if np.isnan(n))

    def drives(self, measured: bool = False) -> Drives | None:
        """As a robot file takes them: simple numbers where the data support them, unless measured ones are asked for.

        Counts at zero that are unknown are written as 0.  None where counts per turn or couplings are unknown.
        """
        from elastocal.model.transmission import Drives

        if self.without_counts_per_turn() or self.undetermined:
            return None
        zero = np.nan_to_num(self.counts_at_zero())
        if measured:
            return Drives(np.nan_to_num(self.robust.structure), self.robust.per_turn, zero)
        return Drives(self.ratios.structure, self.ratios.per_turn, zero)


@checked()
@one_thread
def identify(
    series: Sequence[EncoderSeries],
    *,
    axes: Sequence[str] | None = None,
    from_zero: bool | None = None,
    wrap: int | None = None,
    counts_per_turn: Mapping[str, float] | None = None,
    prismatic: Collection[str] = (),
) -> Transmission:
    """Fit, screen and judge; ``counts_per_turn`` of motors where they are known, ``wrap`` the counters' modulus.

    ``from_zero`` says whether counts are zero where the joints are; None: if the tables do not contradict it.
    ``prismatic`` names the joints whose values are lengths.
    """
    if not series:
        raise MissingError("no table of encoders is given; give at least one", parameter="series", value=0)
    check_table_units(series)
    given = unwrapped_counts(series, wrap) if wrap is not None else _going_on(series, bool(from_zero), prismatic)
    equations = system(given, bool(from_zero))
    names = _ordered(equations, axes)
    check_moved(equations, names)
    screening, pattern = _screened(equations, given, prismatic)
    zero = offsets_are_zero(screening.fit) if from_zero is None else None
    passed = zero is not None and zero.probability > OFFSET_LEVEL
    if passed and (without := _without_offsets(given)) is not None:
        equations = without
        screening, pattern = robust_pattern(equations, LEVEL)
    kept = tuple(b.kept for b in screening.fit.blocks)
    everything = fit_system(equations, None, pattern)
    known = _known_counts(counts_per_turn or {}, names)
    all_rows, robust = (matrices(f, names).with_per_turn(known) for f in (everything, screening.fit))
    seen, ratios = unseen(equations), ratios_of(robust, pattern, known, prismatic)
    rounds = [k or bool(np.isfinite(n)) for k, n in zip(ratios.counts_proposed, known, strict=True)]
    tables = entries_by_table(equations, pattern, screening.cells, all_rows, robust)
    warnings = (
        *(_mixed_up(screening, given, prismatic) or contradicting(disagreement(tables))),
        *not_determined(undetermined(robust, pattern)),
        *doubts(robust, screening.fit, seen, rounds, prismatic),
    )
    return Transmission(
        names, frozenset(prismatic), equations, pattern, screening.outliers, everything, screening.fit, all_rows,
        robust, regularity_of(robust), _significance(equations, names, kept), seen,
        tables, ratios, zero, warnings,
    )  # fmt: skip


def _going_on(
    series: Sequence[EncoderSeries], from_zero: bool, prismatic: Collection[str]
) -> tuple[EncoderSeries, ...]:
    """The same series; refuses counters that ran over, unless two columns that changed places explain as much."""
    for wrap in wraps(series):
        if (columns := swapped(series, from_zero, LEVEL, prismatic)) is not None:
            raise _exchanged(columns)
        raise InputError(
            f"{wrap.place}: the counter runs over at {wrap.modulus} (this row fits the others with "
            f"{wrap.turns * wrap.modulus:+d} counts); unwrap with the modulus {wrap.modulus}, or log counts that "
            "go on",
            code="counter-wrap",
            value=wrap.modulus,
            parameter="wrap",
        )
    return tuple(series)


def _screened(
    equations: System, series: Sequence[EncoderSeries], prismatic: Collection[str]
) -> tuple[Screening, Pattern]:
    """The outliers and the zeros of S; a contradiction is told as swapped columns where these explain it."""
    try:
        return robust_pattern(equations, LEVEL)
    except ContradictionError:
        if (columns := swapped(series, equations.from_zero, LEVEL, prismatic)) is None:
            raise
        raise _exchanged(columns) from None


def _exchanged(columns: str) -> InputError:
    message = f"{columns} look swapped: exchanged, they agree with the others; exchange their headings"
    return InputError(message, code="swapped-columns")


def _mixed_up(screening: Screening, series: Sequence[EncoderSeries], prismatic: Collection[str]) -> tuple[Finding, ...]:
    """Doubts where residuals are no noise, or outliers are many, with the columns whose exchange explains them."""
    scatter = scattered(screening.fit, prismatic)
    many = len(screening.outliers) > MANY * sum(len(s.rows) for s in series)
    columns = swapped(series, screening.fit.system.from_zero, LEVEL, prismatic) if scatter or many else None
    if columns is None:
        return scatter
    message = f"{columns} look swapped: exchanged, they agree with the others; do not rely on this result."
    return warning("swapped-columns", message), *scatter


def _without_offsets(series: Sequence[EncoderSeries]) -> System | None:
    """Equations without offsets; None where joints that stood still away from zero would take their place."""
    try:
        return system(series, True)
    except InputError:
        return None


def _known_counts(counts_per_turn: Mapping[str, float], axes: tuple[str, ...]) -> Array:
    for axis in counts_per_turn:
        if axis not in axes:
            raise UnknownNameError("axis", axis, axes, "counts per turn", parameter="counts_per_turn")
    return np.array([counts_per_turn.get(a, np.nan) for a in axes])


def _ordered(equations: System, axes: Sequence[str] | None) -> tuple[str, ...]:
    if axes is None:
        return equations.axes
    for name in equations.axes:
        if name not in axes:
            raise UnknownNameError("axis", name, axes)
    return tuple(axes)


def _significance(equations: System, axes: tuple[str, ...], kept: tuple[Bools, ...]) -> Array:
    out, whole = np.full((len(axes), len(axes)), np.nan), fit_system(equations, kept)
    for block in whole.blocks:
        for j in block.block.inputs if block.block.relation == "joint" else ():
            out[axes.index(block.block.axis), axes.index(j)] = significance(whole, block, j)
    return out


def _at_zero(of: Transmission, axis: str) -> float:
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
