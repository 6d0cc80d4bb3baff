"""From logged series to the coupling of motors and joints: T_m, T_j, S, its zeros, bad numbers, simple ratios."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from elastocal.encoders.by_table import TableEntry, entries_by_table
from elastocal.encoders.checks import check_moved, check_units, doubts
from elastocal.encoders.equations import System, system
from elastocal.encoders.fit import Fit, Pattern, fitted
from elastocal.encoders.matrices import Matrices, Regularity, matrices, regularity
from elastocal.encoders.offsets import ZeroTest, offsets_are_zero
from elastocal.encoders.pattern import robust_pattern, significance, unseen
from elastocal.encoders.rational import Simple, round_counts, simplest_fraction, supported
from elastocal.encoders.robust import LEVEL, GrossError
from elastocal.encoders.series import Series
from elastocal.encoders.wrap import unwrapped, wraps
from elastocal.errors import InputError, UnknownNameError
from elastocal.spatial.entries import Array, Bools


@dataclass(frozen=True, eq=False)
class Ratios:
    """S with counts per turn that are round where the data support it, and the fractions that its entries stand for.

    ``fractions`` by motor and joint, for entries that are not zero; ``proposed`` are those that the data support.
    """

    counts: tuple[Simple | None, ...]
    counts_proposed: tuple[bool, ...]
    matrices: Matrices
    fractions: Mapping[tuple[str, str], Simple | None]
    proposed: Mapping[tuple[str, str], bool]

    @property
    def per_turn(self) -> Array:
        """Counts per turn: the round number where it is proposed, else as measured."""
        return self.matrices.per_turn

    @property
    def structure(self) -> Array:
        """S: the fraction where it is proposed, else as measured with these counts per turn; unknown entries are 0."""
        out, axes = np.nan_to_num(self.matrices.structure), self.matrices.axes
        for (i, j), simple in self.fractions.items():
            if simple is not None and self.proposed[i, j]:
                out[axes.index(i), axes.index(j)] = float(simple.value)
        return out


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
    everything: Fit
    rest: Fit
    all_rows: Matrices
    robust: Matrices
    regularity: Regularity
    significance: Array
    unseen: tuple[tuple[str, str], ...]
    tables: tuple[TableEntry, ...]
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
    series: Sequence[Series],
    *,
    axes: Sequence[str] | None = None,
    from_zero: bool | None = None,
    wrap: int | None = None,
    per_turn: Mapping[str, float] | None = None,
    level: float = LEVEL,
) -> TransmissionFit:
    """Fit, screen and judge; ``per_turn`` gives counts per motor turn that are known, ``wrap`` the counters' modulus.

    ``from_zero`` says whether counts are zero where the joints are; None: if the tables do not contradict it.
    """
    given = unwrapped(series, wrap) if wrap is not None else tuple(series)
    for found in wraps(given):
        raise InputError(
            f"{found.place}: the counter runs over at {found.modulus} (this row fits the others with "
            f"{found.turns * found.modulus:+d} counts); unwrap by --wrap {found.modulus}, or log counts that go on"
        )
    equations = system(given, bool(from_zero))
    names = _ordered(equations, axes)
    check_moved(equations, names)
    check_units(given)
    screening, pattern = robust_pattern(equations, level)
    zero = offsets_are_zero(screening.fit) if from_zero is None else ZeroTest(None, None, from_zero)
    if zero.accepted and not equations.from_zero and (without := _without_offsets(given)) is not None:
        equations = without
        screening, pattern = robust_pattern(equations, level)
    kept = tuple(b.kept for b in screening.fit.blocks)
    everything = fitted(equations, None, pattern)
    known = _known_counts(per_turn or {}, names)
    all_rows, robust = (matrices(f, names).with_per_turn(known) for f in (everything, screening.fit))
    seen = unseen(equations)
    return TransmissionFit(
        names, equations, pattern, screening.bad, everything, screening.fit, all_rows, robust,
        regularity(robust.structure, robust.structure_sd), _significance(equations, names, kept), seen,
        entries_by_table(equations, pattern, screening.cells, all_rows, robust),
        _ratios(robust, pattern, known), zero, doubts(robust, pattern, screening.fit, seen),
    )  # fmt: skip


def _without_offsets(series: Sequence[Series]) -> System | None:
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
    out, whole = np.full((len(axes), len(axes)), np.nan), fitted(equations, kept)
    for found in whole.blocks:
        for j in found.block.inputs if found.block.relation == "joint" else ():
            out[axes.index(found.block.axis), axes.index(j)] = significance(whole, found, j)
    return out


def _ratios(robust: Matrices, pattern: Pattern, known: Array) -> Ratios:
    axes = robust.axes
    counts = tuple(
        None
        if np.isfinite(known[i])
        else round_counts(*(float(v[i]) for v in (robust.per_turn, robust.per_turn_sd, robust.per_turn_freedom)))
        for i in range(len(axes))
    )
    kept = supported(counts)
    exact = np.array([float(c.value) if c is not None and k else np.nan for c, k in zip(counts, kept, strict=True)])
    found = robust.with_per_turn(exact)
    s, sd, freedom = found.structure, found.structure_sd, found.structure_freedom
    entries = [(i, j) for i in axes for j in axes if j in pattern.get(i, frozenset())]
    at = [(axes.index(i), axes.index(j)) for i, j in entries]
    simple = [simplest_fraction(float(s[k]), float(sd[k]), float(freedom[k])) for k in at]
    proposed = supported(simple)
    return Ratios(
        counts, kept, found, dict(zip(entries, simple, strict=True)), dict(zip(entries, proposed, strict=True))
    )


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
