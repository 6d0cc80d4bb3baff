"""T_m, T_j and S = T_m T_j with the accuracy of every entry (001 eq. 3-8), from all tables and from each table alone.

S is dimensionless for revolute joints (motor rad per joint rad) and in rad/m for prismatic ones.

Zeros of T_j and of the offsets by significance, not by assumption.

Entries: of each motor's entries beside the diagonal the least significant is set to zero and all others are fitted
again, as long as its probability (Student's t on the spare equations) times the number of entries that were measured
is above ``level``.  A motor's own joint is never set to zero; where nothing is known of the noise, no entry is.

Offsets: with o those of a block and C their covariance, the sum of o^T C^-1 o over all blocks, divided by their
number, follows F on that number and the spare equations if all of them are zero.  Offsets that pass are set to zero,
which makes every ratio about twice as accurate.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from elastocal.distributions import stdtr
from elastocal.errors import InputError
from elastocal.procedures.transmission.cells import PrintedCell, incidence
from elastocal.procedures.transmission.equations import TURN, System, named_axes, system
from elastocal.procedures.transmission.fit import BlockFit, Pattern, SystemFit, fit_system
from elastocal.procedures.transmission.outliers import (
    LEVEL,
    ContradictionError,
    Screening,
    hidden_rows,
    kept_without,
    screen,
)
from elastocal.solve.nested import NestedTest, f_test
from elastocal.spatial.entries import Array
from elastocal.values import dataclass

PASSES = 5
OFFSET_LEVEL = 0.05


def significance(fit: SystemFit, block_fit: BlockFit, joint: str) -> float:
    """Probability of an entry at least as large if it were zero; nan where nothing is known of the noise."""
    at = block_fit.of(joint)
    freedom = float(fit.freedom(block_fit)[at])
    sd = float(np.sqrt(block_fit.covariance[at, at]))
    if freedom < 0.5 or sd == 0:
        return float("nan")
    return float(2 * stdtr(freedom, -abs(block_fit.beta[at]) / sd))


def full(system: System) -> dict[str, frozenset[str]]:
    return {b.axis: frozenset(b.inputs) for b in system.blocks if b.relation == "joint"}


def eliminated(fit: SystemFit, level: float = LEVEL) -> dict[str, frozenset[str]]:
    """The pattern that is left when no entry beside the diagonal is insignificant; ``fit`` says which rows count."""
    system, pattern = fit.system, full(fit.system)
    total = sum(len(inputs) for inputs in pattern.values())
    kept = tuple(b.kept for b in fit.blocks)
    while True:
        fit = fit_system(system, kept, pattern, fit)
        weak = [(b.block.axis, j) for b in fit.blocks if (j := _weakest(fit, b, pattern, level / total))]
        if not weak:
            return pattern
        for axis, joint in weak:
            pattern[axis] = pattern[axis] - {joint}


def _weakest(fit: SystemFit, block_fit: BlockFit, pattern: Pattern, limit: float) -> str | None:
    """The least significant entry of a motor, where it is not significant."""
    if block_fit.block.relation == "motor":
        return None
    others = sorted(pattern[block_fit.block.axis] - {block_fit.block.axis})
    chances = [(significance(fit, block_fit, j), j) for j in others]
    chance, joint = max((c for c in chances if np.isfinite(c[0])), default=(0.0, None))
    return joint if chance > limit else None


def robust_pattern(system: System, level: float = LEVEL) -> tuple[Screening, Pattern]:
    """Zeros and outliers in turn, until neither changes; where that ends in a contradiction, without hidden rows."""
    try:
        return _in_turn(system, frozenset(), level)
    except ContradictionError:
        if (rows := hidden_rows(system, full(system), level)) is None:
            raise
        return _in_turn(system, rows, level)


def _in_turn(system: System, cells: frozenset[PrintedCell], level: float) -> tuple[Screening, Pattern]:
    pattern: dict[str, frozenset[str]] = full(system)
    for _ in range(PASSES):
        screening = screen(system, pattern, cells, level)
        again = eliminated(screening.fit, level)
        if again == pattern and screening.cells == cells:
            break
        pattern, cells = again, screening.cells
    return screen(system, pattern, cells, level), pattern


def unseen(system: System) -> tuple[tuple[str, str], ...]:
    """Motor and joint of the entries that no table tells of."""
    blocks = {b.axis: b.inputs for b in system.blocks if b.relation == "joint"}
    axes = named_axes(system.series)
    return tuple((i, j) for i in axes for j in axes if j not in blocks.get(i, ()))


def undetermined(matrices: Matrices, pattern: Pattern) -> tuple[tuple[str, str], ...]:
    """Motor and joint of couplings that only tables without rows to spare tell of: any numbers would agree."""
    axes = matrices.axes
    return tuple((i, j) for a, i in enumerate(axes) for b, j in enumerate(axes)
                 if j in pattern.get(i, frozenset()) and np.isnan(matrices.joint[a, b]))  # fmt: skip


def offsets_are_zero(fit: SystemFit) -> NestedTest:
    """The test, by a fit with free offsets."""
    total, count = 0.0, 0
    for b in fit.blocks:
        at = slice(len(b.block.inputs), None)
        o, c = b.beta[at], b.covariance[at, at]
        if b.block.relation == "joint" and len(o):
            total += float(o @ np.linalg.pinv(c, hermitian=True) @ o)
            count += int(np.linalg.matrix_rank(c, hermitian=True))
    spare = float(
        np.sum([n for n, (_, relation) in zip(fit.spare, fit.system.levels, strict=True) if relation == "joint"])
    )
    return f_test(total, count, spare)


@dataclass(frozen=True, eq=False)
class Matrices:
    """Rows are motors, columns joints, both in the order of ``axes``; unknown entries are nan.

    ``per_turn`` (n,) counts per motor turn; ``joint`` (n, n) counts per rad or m (T_j); ``structure`` (n, n) is S.
    """

    axes: tuple[str, ...]
    per_turn: Array
    per_turn_sd: Array
    per_turn_freedom: Array
    joint: Array
    joint_sd: Array
    joint_freedom: Array

    @property
    def structure(self) -> Array:
        return TURN * self.joint / self.per_turn[:, None]

    @property
    def structure_sd(self) -> Array:
        """By the errors of both, which are independent: counts are exact, angles of motor and joint are not."""
        own = TURN * self.joint_sd / np.abs(self.per_turn[:, None])
        return np.hypot(own, self.structure * (self.per_turn_sd / self.per_turn)[:, None])

    @property
    def structure_freedom(self) -> Array:
        """Welch and Satterthwaite."""
        one = (TURN * self.joint_sd / self.per_turn[:, None]) ** 2
        other = (self.structure * (self.per_turn_sd / self.per_turn)[:, None]) ** 2
        with np.errstate(invalid="ignore", divide="ignore"):
            terms = one**2 / self.joint_freedom + np.where(other > 0, other**2 / self.per_turn_freedom[:, None], 0.0)
            return (one + other) ** 2 / terms

    def with_per_turn(self, exact: Array) -> Matrices:
        """The same with counts per turn that are known exactly, where they are finite."""
        known = np.isfinite(exact)
        return Matrices(
            self.axes, np.where(known, exact, self.per_turn), np.where(known, 0.0, self.per_turn_sd),
            np.where(known, np.inf, self.per_turn_freedom), self.joint, self.joint_sd, self.joint_freedom,
        )  # fmt: skip


def matrices(fit: SystemFit, axes: Sequence[str]) -> Matrices:
    """Everything that a fit tells of these axes; zeros of the pattern are exact zeros, couplings that nothing can test
    are unknown."""
    n = len(axes)
    per_turn, per_turn_sd, per_turn_freedom = (np.full(n, np.nan) for _ in range(3))
    joint, joint_sd, joint_freedom = (np.full((n, n), np.nan) for _ in range(3))
    at = {axis: i for i, axis in enumerate(axes)}
    for solution in fit.blocks:
        i, freedom = at[solution.block.axis], fit.freedom(solution)
        sd = np.where(freedom > 0, np.sqrt(np.diag(solution.covariance)), np.nan)
        if solution.block.relation == "motor":
            per_turn[i], per_turn_sd[i], per_turn_freedom[i] = TURN * solution.beta[0], TURN * sd[0], freedom[0]
            continue
        for k, name in enumerate(solution.block.inputs):
            if freedom[k] == 0 and solution.active[k] and name != solution.block.axis:
                continue
            joint[i, at[name]], joint_sd[i, at[name]], joint_freedom[i, at[name]] = solution.beta[k], sd[k], freedom[k]
    return Matrices(tuple(axes), per_turn, per_turn_sd, per_turn_freedom, joint, joint_sd, joint_freedom)


@dataclass(frozen=True)
class Regularity:
    """Rank, determinant of S with its standard deviation (first order), condition of its rows at equal length.

    ``sigmas`` is the determinant over its standard deviation.  Where counts per turn are unknown, so is the
    determinant (nan); all else is that of T_j, whose rows S only multiplies.
    """

    rank: int
    determinant: float
    determinant_sd: float
    condition: float
    sigmas: float


def regularity_of(matrices: Matrices) -> Regularity:
    """Of S; of T_j where counts per turn are unknown."""
    if np.isfinite(matrices.per_turn).all():
        return regularity(matrices.structure, matrices.structure_sd)
    return replace(regularity(matrices.joint, matrices.joint_sd), determinant=np.nan, determinant_sd=np.nan)


def regularity(structure: Array, sd: Array) -> Regularity:
    """Of a matrix whose unknown entries are taken as zero: d det = det tr(S^-1 dS)."""
    s = np.nan_to_num(structure)
    lengths = np.linalg.norm(s, axis=1)
    scaled = s / np.where(lengths > 0, lengths, 1.0)[:, None]
    values = np.linalg.svd(scaled, compute_uv=False)
    rank = int(np.sum(values > 1e-9 * max(values[0], 1e-300)))
    cofactors = _cofactors(s)
    spread = float(np.sqrt(np.sum((cofactors * np.nan_to_num(sd)) ** 2)))
    determinant = float(np.linalg.det(s))
    return Regularity(
        rank, determinant, spread, float(values[0] / values[-1]) if rank == len(s) else np.inf,
        abs(determinant) / spread if spread > 0 else np.inf,
    )  # fmt: skip


def _cofactors(s: Array) -> Array:
    """d det / d s_ij, also where s is singular: det(S) S^-T by the singular values."""
    u, w, vt = np.linalg.svd(s)
    rest = np.array([np.prod(np.delete(w, k)) for k in range(len(w))])
    return np.asarray(np.linalg.det(u) * np.linalg.det(vt) * (u * rest) @ vt)


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
    whole: System, pattern: Pattern, outliers: frozenset[PrintedCell], all_rows: Matrices, robust: Matrices
) -> tuple[EntryByTable, ...]:
    """Entries of the pattern, table by table; a table that cannot stand alone is left out."""
    return tuple(e for table in dict.fromkeys(s.table for s in whole.series)
                 for e in _entries(whole, table, pattern, outliers, all_rows, robust))  # fmt: skip


def _entries(
    whole: System, table: str, pattern: Pattern, outliers: frozenset[PrintedCell], all_rows: Matrices, robust: Matrices
) -> Iterator[EntryByTable]:
    at = [k for k, s in enumerate(whole.series) if s.table == table]
    try:
        alone = system([whole.series[k] for k in at], whole.from_zero)
    except InputError:
        return
    axes, of = robust.axes, incidence(alone)
    mine = frozenset(PrintedCell(at.index(c.series), c.row, c.what, c.axis) for c in outliers if c.series in at)
    every = fit_system(alone, None, pattern)
    rest = fit_system(alone, kept_without(alone, of, mine, every), pattern)
    one, other = ((matrices(f, axes), TURN / m.per_turn) for f, m in ((every, all_rows), (rest, robust)))
    for block in (b for b in alone.blocks if b.relation == "joint"):
        for j in block.inputs:
            if j in pattern[block.axis]:
                k = axes.index(block.axis), axes.index(j)
                yield EntryByTable(table, block.axis, j, *_pair(*one, k), *_pair(*other, k))


def _pair(matrices: Matrices, factor: Array, at: tuple[int, int]) -> tuple[float, float]:
    return float(matrices.joint[at] * factor[at[0]]), float(matrices.joint_sd[at] * factor[at[0]])


def disagreement(entries: tuple[EntryByTable, ...]) -> tuple[tuple[EntryByTable, EntryByTable, float], ...]:
    """Pairs of tables that tell of the same entry, and their difference in standard deviations."""
    out = []
    for n, a in enumerate(entries):
        for b in entries[n + 1 :]:
            if (a.motor, a.joint) == (b.motor, b.joint):
                out.append((a, b, float(abs(a.robust - b.robust) / np.hypot(a.robust_sd, b.robust_sd))))
    return tuple(out)
