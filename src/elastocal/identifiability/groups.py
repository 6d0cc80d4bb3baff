"""Which parameters the data determine (003 section 4.1).

G1  identifiable: no direction of the null space touches the parameter.
G2  not identifiable: its column is zero, nothing that is measured depends on it.
G3  semi-identifiable: it acts only together with others.  Parameters that share null directions form a subgroup;
    k of them act as m < k combinations.  In each subgroup the parameters kept are the first independent ones in
    order of preference (actuated joints first, then the table's order); every other one is absorbed by them:
    A_j = sum_i A_i c_ij, so that what the data determine is kept_i + sum_j c_ij dropped_j.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from elastocal.identifiability.rank import Rank, decide_rank
from elastocal.spatial.entries import Array, Bools

TOUCH = 1e-7
"""A null direction touches a parameter where its part (of a unit vector, unit columns) is above this."""
DUST = 1e-6
"""Coefficients (unit columns) below this are rounding of columns that only just can be told apart."""


class Group(StrEnum):
    IDENTIFIABLE = "G1"
    SILENT = "G2"
    COMBINED = "G3"


@dataclass(frozen=True)
class Combination:
    """What stands behind a kept parameter: itself plus coefficient times each absorbed one."""

    kept: str
    absorbed: tuple[tuple[str, float], ...]

    def text(self) -> str:
        terms = "".join(f" {'-' if c < 0 else '+'} {abs(c):.4g} {name}" for name, c in self.absorbed)
        return f"{self.kept}{terms}"


@dataclass(frozen=True)
class Subgroup:
    """k parameters that act as m combinations."""

    members: tuple[str, ...]
    combinations: tuple[Combination, ...]

    def text(self) -> str:
        written = "; ".join(c.text() for c in self.combinations)
        many = "combination" if len(self.combinations) == 1 else "combinations"
        return f"{len(self.members)} parameters act as {len(self.combinations)} {many}: {written}"


@dataclass(frozen=True, eq=False)
class Groups:
    """Group of every parameter; ``kept`` is an identifiable basis (all of G1 and the kept of G3)."""

    names: tuple[str, ...]
    group: tuple[Group, ...]
    kept: tuple[int, ...]
    subgroups: tuple[Subgroup, ...]
    rank: Rank

    def count(self, group: Group) -> int:
        return sum(g == group for g in self.group)


def classify(names: Sequence[str], r: Array, scales: Array, first: Sequence[str] = ()) -> Groups:
    """Groups of the columns of a whitened matrix (or its triangle); ``first`` are preferred when keeping."""
    found = decide_rank(r, scales)
    touched = np.linalg.norm(found.null, axis=1) > TOUCH
    preferred = set(first)
    order = sorted(range(len(names)), key=lambda i: (names[i] not in preferred, i))
    kept = [int(i) for i in np.flatnonzero(~touched & ~found.silent)]
    subgroups, combined = [], set[int]()
    for members in _components(found.null, touched & ~found.silent):
        chosen, coefficients = _basis(r / found.lengths, [i for i in order if i in members])
        kept += chosen
        together = _together(members, chosen, coefficients)
        combined.update(together)
        if together:
            subgroups.append(_subgroup(names, together, chosen, coefficients, found.lengths))
    group = tuple(
        Group.SILENT if silent else Group.COMBINED if i in combined else Group.IDENTIFIABLE
        for i, silent in enumerate(found.silent)
    )
    return Groups(tuple(names), group, tuple(sorted(kept)), tuple(subgroups), found)


def _together(members: list[int], chosen: list[int], coefficients: dict[int, Array]) -> list[int]:
    """Members without those that absorb nothing: only rounding of the null directions touched them."""
    alone = {i for row, i in enumerate(chosen) if all(abs(c[row]) <= DUST for c in coefficients.values())}
    return [i for i in members if i not in alone]


def resolved_columns(
    r: Array, scales: Array, kept: Sequence[int], order: Sequence[int]
) -> tuple[list[int], dict[int, float]]:
    """Columns of ``kept`` whose change by ``scales`` the readings would show beyond what those before them explain.

    ``r`` is whitened, so that one is the noise of all readings together; ``order`` says who comes first.  Returned are
    the columns that are seen and, for the others, how large the effect is: what stays below one is not known, however
    clear it is in theory.
    """
    basis = np.zeros((r.shape[0], 0))
    seen: list[int] = []
    hidden: dict[int, float] = {}
    for i in (i for i in order if i in set(kept)):
        rest = r[:, i] * scales[i]
        for _ in range(2):
            rest = rest - basis @ (basis.T @ rest)
        size = float(np.linalg.norm(rest))
        if size > 1.0:
            seen.append(i)
            basis = np.column_stack([basis, rest / size])
        else:
            hidden[i] = size
    return sorted(seen), hidden


def _components(null: Array, active: Bools) -> list[list[int]]:
    """Parameters linked by shared null directions: blocks of the projector on the null space."""
    linked = np.abs(null @ null.T) > TOUCH
    left = [int(i) for i in np.flatnonzero(active)]
    out: list[list[int]] = []
    while left:
        block, grow = {left[0]}, [left[0]]
        while grow:
            near = [j for j in left if linked[grow[-1], j] and j not in block]
            grow.pop()
            block.update(near)
            grow += near
        out.append(sorted(block))
        left = [i for i in left if i not in block]
    return out


def _basis(unit: Array, order: list[int]) -> tuple[list[int], dict[int, Array]]:
    """The first independent columns in ``order``; the others as combinations of them."""
    chosen: list[int] = []
    basis = np.zeros((unit.shape[0], 0))
    absorbed: list[int] = []
    for i in order:
        rest = unit[:, i].copy()
        for _ in range(2):  # once more, so that rounding does not look like independence
            rest -= basis @ (basis.T @ rest)
        size = np.linalg.norm(rest)
        if size > TOUCH:
            chosen.append(i)
            basis = np.column_stack([basis, rest / size])
        else:
            absorbed.append(i)
    triangle = np.asarray(np.linalg.lstsq(unit[:, chosen], unit[:, absorbed], rcond=None)[0], dtype=np.float64)
    return chosen, {j: triangle[:, n] for n, j in enumerate(absorbed)}


def _subgroup(
    names: Sequence[str], members: list[int], chosen: list[int], coefficients: dict[int, Array], lengths: Array
) -> Subgroup:
    """The combinations of those of the basis ``chosen`` that absorb something."""
    combinations = []
    for row, i in enumerate(chosen):
        terms = [
            (names[j], float(c[row] * lengths[j] / lengths[i])) for j, c in coefficients.items() if abs(c[row]) > DUST
        ]
        if terms:
            combinations.append(Combination(names[i], tuple(terms)))
    return Subgroup(tuple(names[i] for i in members), tuple(combinations))
