"""The same entries from each table alone, with every row and without the bad numbers: do the tables agree?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from elastocal.encoders.cells import PrintedCell, incidence
from elastocal.encoders.equations import System, system
from elastocal.encoders.fit import Pattern, fitted_system
from elastocal.encoders.matrices import Matrices, matrices
from elastocal.encoders.robust import kept_without
from elastocal.encoders.series import TURN
from elastocal.errors import InputError
from elastocal.spatial.entries import Array


@dataclass(frozen=True)
class EntryByTable:
    """One entry of S as one table has it; counts per turn are those of all tables, so the sd is of T_j only."""

    table: str
    motor: str
    joint: str
    all_rows: float
    all_rows_sd: float
    robust: float
    robust_sd: float


def entries_by_table(
    whole: System, pattern: Pattern, bad: frozenset[PrintedCell], all_rows: Matrices, robust: Matrices
) -> tuple[EntryByTable, ...]:
    """Entries of the pattern, table by table; a table that cannot stand alone is left out."""
    return tuple(e for table in dict.fromkeys(s.table for s in whole.series)
                 for e in _entries(whole, table, pattern, bad, all_rows, robust))  # fmt: skip


def _entries(
    whole: System, table: str, pattern: Pattern, bad: frozenset[PrintedCell], all_rows: Matrices, robust: Matrices
) -> Iterator[EntryByTable]:
    at = [k for k, s in enumerate(whole.series) if s.table == table]
    try:
        alone = system([whole.series[k] for k in at], whole.from_zero)
    except InputError:
        return
    axes, of = robust.axes, incidence(alone)
    mine = frozenset(PrintedCell(at.index(c.series), c.row, c.what, c.axis) for c in bad if c.series in at)
    every = fitted_system(alone, None, pattern)
    rest = fitted_system(alone, kept_without(alone, of, mine, every), pattern)
    one, other = ((matrices(f, axes), TURN / m.per_turn) for f, m in ((every, all_rows), (rest, robust)))
    for block in (b for b in alone.blocks if b.relation == "joint"):
        for j in block.inputs:
            if j in pattern[block.axis]:
                k = axes.index(block.axis), axes.index(j)
                yield EntryByTable(table, block.axis, j, *_pair(*one, k), *_pair(*other, k))


def _pair(found: Matrices, factor: Array, at: tuple[int, int]) -> tuple[float, float]:
    return float(found.joint[at] * factor[at[0]]), float(found.joint_sd[at] * factor[at[0]])


def disagreement(entries: tuple[EntryByTable, ...]) -> tuple[tuple[EntryByTable, EntryByTable, float], ...]:
    """Pairs of tables that tell of the same entry, and their difference in standard deviations."""
    out = []
    for n, a in enumerate(entries):
        for b in entries[n + 1 :]:
            if (a.motor, a.joint) == (b.motor, b.joint):
                out.append((a, b, float(abs(a.robust - b.robust) / np.hypot(a.robust_sd, b.robust_sd))))
    return tuple(out)
