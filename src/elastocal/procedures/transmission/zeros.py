"""Zeros of T_j and of the offsets by significance, not by assumption.

Entries: of each motor's entries beside the diagonal the least significant is set to zero and all others are fitted
again, as long as its probability (Student's t on the spare equations) times the number of entries that were measured
is above ``level``.  A motor's own joint is never set to zero; where nothing is known of the noise, no entry is.

Offsets: with o those of a block and C their covariance, the sum of o^T C^-1 o over all blocks, divided by their
number, follows F on that number and the spare equations if all of them are zero.  Offsets that pass are set to zero,
which makes every ratio about twice as accurate.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elastocal.procedures.transmission.cells import PrintedCell
from elastocal.procedures.transmission.equations import System, named_axes
from elastocal.procedures.transmission.fit import BlockFit, Pattern, SystemFit, fit_system
from elastocal.procedures.transmission.outliers import LEVEL, Screening, screen

PASSES = 5
OFFSET_LEVEL = 0.05


def significance(fit: SystemFit, found: BlockFit, joint: str) -> float:
    """Probability of an entry at least as large if it were zero; nan where nothing is known of the noise."""
    from scipy.special import stdtr

    at, freedom = found.of(joint), fit.freedom(found)
    sd = float(np.sqrt(found.covariance[at, at]))
    if freedom < 0.5 or sd == 0:
        return float("nan")
    return float(2 * stdtr(freedom, -abs(found.beta[at]) / sd))


def measured_entries(system: System) -> int:
    """How many entries of T_j the tables tell of."""
    return sum(len(b.inputs) for b in system.blocks if b.relation == "joint")


def full(system: System) -> dict[str, frozenset[str]]:
    return {b.axis: frozenset(b.inputs) for b in system.blocks if b.relation == "joint"}


def eliminated(fit: SystemFit, level: float = LEVEL) -> dict[str, frozenset[str]]:
    """The pattern that is left when no entry beside the diagonal is insignificant; ``fit`` says which rows count."""
    system, pattern, total = fit.system, full(fit.system), measured_entries(fit.system)
    kept = tuple(b.kept for b in fit.blocks)
    while True:
        fit = fit_system(system, kept, pattern, fit)
        weak = [(b.block.axis, j) for b in fit.blocks if (j := _weakest(fit, b, pattern, level / total))]
        if not weak:
            return pattern
        for axis, joint in weak:
            pattern[axis] = pattern[axis] - {joint}


def _weakest(fit: SystemFit, found: BlockFit, pattern: Pattern, limit: float) -> str | None:
    """The least significant entry of a motor, where it is not significant."""
    if found.block.relation == "motor":
        return None
    others = sorted(pattern[found.block.axis] - {found.block.axis})
    chance, joint = max(((significance(fit, found, j), j) for j in others), default=(0.0, None))
    return joint if chance > limit else None


def robust_pattern(system: System, level: float = LEVEL) -> tuple[Screening, Pattern]:
    """Zeros and outliers in turn, until neither changes."""
    pattern: dict[str, frozenset[str]] = full(system)
    cells: frozenset[PrintedCell] = frozenset()
    for _ in range(PASSES):
        found = screen(system, pattern, cells, level)
        again = eliminated(found.fit, level)
        if again == pattern and found.cells == cells:
            break
        pattern, cells = again, found.cells
    return screen(system, pattern, cells, level), pattern


def unseen(system: System) -> tuple[tuple[str, str], ...]:
    """Motor and joint of the entries that no table tells of."""
    blocks = {b.axis: b.inputs for b in system.blocks if b.relation == "joint"}
    axes = named_axes(system.series)
    return tuple((i, j) for i in axes for j in axes if j not in blocks.get(i, ()))


@dataclass(frozen=True)
class ZeroTest:
    """F and its probability (None where it was not tested), and whether offsets are taken as zero."""

    statistic: float | None
    probability: float | None
    accepted: bool


def offsets_are_zero(fit: SystemFit) -> ZeroTest:
    """The test, by a fit with free offsets."""
    from scipy.special import fdtrc

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
    if count == 0 or spare < 0.5:
        return ZeroTest(None, None, False)
    value = total / count
    probability = float(fdtrc(count, spare, value))
    return ZeroTest(value, probability, probability > OFFSET_LEVEL)
