"""Which parameters the data determine (003 section 4.1), and whether the noise leaves anything of them (eq. 14, 20).

Rank is decided the same way whatever units or row order.  A tall whitened matrix is reduced to a small triangle with
the same singular values and null space first.  Only orthogonal transformations are used (never the normal equations,
which put a null space of 1e-15 at 5e-8), block after block, so that memory does not grow with the number of readings.

G1  identifiable: no direction of the null space touches the parameter.
G2  unobservable: its column is zero, nothing that is measured depends on it.
G3  not separately identifiable: it acts only together with others.  Parameters that share null directions form a
    subgroup; k of them act as m < k combinations.  In each subgroup the parameters kept are the first independent ones
    in order of preference (actuated joints first, then the table's order); every other one is absorbed by them:
    A_j = sum_i A_i c_ij, so that what the data determine is kept_i + sum_j c_ij dropped_j.

A kept parameter is identifiable in practice (G1+) where the ratio of its value to its standard deviation is large.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum

import numpy as np

from elastocal.errors import RangeError
from elastocal.solve.linear import RELATIVE, unit_qr
from elastocal.spatial.entries import Array, Bools
from elastocal.values import dataclass

CLEAR_GAP = 1e3
ZERO_COLUMN = 1e-9
"""A difference of two states has rounding of 1e-15 of what it is the difference of: below this part of the largest
effect so little is left of a column that rounding would decide what it depends on."""


def stacked_triangle(blocks: Iterable[Array], width: int) -> Array:
    """R (at most width rows) of the QR factors of all blocks (rows, width) stacked."""
    r = np.zeros((0, width))
    for block in blocks:
        r = np.asarray(np.linalg.qr(np.concatenate([r, block]), mode="r"))
    return r


@dataclass(frozen=True, eq=False)
class Rank:
    """``gap`` is the ratio between the last singular value counted and the first one not; below 1000 it is not clear.

    ``null`` (p, p - rank) spans what cannot be seen, in parameters scaled to unit columns (``lengths``).
    """

    rank: int
    singular: Array
    gap: float
    lengths: Array
    unobservable: Bools
    null: Array

    @property
    def clear(self) -> bool:
        return self.gap >= CLEAR_GAP


def decide_rank(r: Array, scales: Array) -> Rank:
    """Rank of a triangle or any matrix with p columns; ``scales`` are the parameters' sizes that matter.

    A column whose effect, for a change of its scale, is below 1e-9 of the largest is unobservable (group G2).
    """
    lengths = np.linalg.norm(r, axis=0)
    effect = lengths * scales
    unobservable = effect <= ZERO_COLUMN * (effect.max() if effect.size else 0.0)
    unit = np.where(unobservable, 1.0, lengths)
    even = np.where(unobservable, 0.0, r / unit)
    singular, v = _svd(even)
    width = r.shape[1]
    values = np.zeros(width)
    values[: len(singular)] = singular
    rank = int(np.sum(values > RELATIVE * values[0])) if width and values[0] > 0 else 0
    below = values[rank] if rank < width else 0.0
    observable = width - int(unobservable.sum())
    gap = np.inf if rank >= observable or below == 0.0 else float(values[rank - 1] / below) if rank else np.inf
    return Rank(rank, values, gap, unit, unobservable, v[rank:].T)


def _svd(matrix: Array) -> tuple[Array, Array]:
    """Singular values and right vectors; by the slower driver where the fast one does not converge, which happens."""
    try:
        _, singular, v = np.linalg.svd(matrix, full_matrices=True)
    except np.linalg.LinAlgError:
        from scipy.linalg import svd

        _, singular, v = svd(matrix, full_matrices=True, lapack_driver="gesvd")
    return singular, v


TOUCH = 1e-7
"""A null direction touches a parameter where its part (of a unit vector, unit columns) is above this."""
DUST = 1e-6
"""Coefficients (unit columns) below this are rounding of columns that only just can be told apart."""
ABOVE, BELOW = 5.0, 2.0


class Group(StrEnum):
    IDENTIFIABLE = "G1"
    UNOBSERVABLE = "G2"
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
        return f"{len(self.members)} parameters are identifiable only as {len(self.combinations)} {many}: {written}"


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
    rank = decide_rank(r, scales)
    touched = np.linalg.norm(rank.null, axis=1) > TOUCH
    preferred = set(first)
    order = sorted(range(len(names)), key=lambda i: (names[i] not in preferred, i))
    kept = [int(i) for i in np.flatnonzero(~touched & ~rank.unobservable)]
    subgroups, combined = [], set[int]()
    for members in _components(rank.null, touched & ~rank.unobservable):
        chosen, coefficients = _basis(r / rank.lengths, [i for i in order if i in members])
        kept += chosen
        together = _together(members, chosen, coefficients)
        combined.update(together)
        if together:
            subgroups.append(_subgroup(names, together, chosen, coefficients, rank.lengths))
    group = tuple(
        Group.UNOBSERVABLE if unobservable else Group.COMBINED if i in combined else Group.IDENTIFIABLE
        for i, unobservable in enumerate(rank.unobservable)
    )
    return Groups(tuple(names), group, tuple(sorted(kept)), tuple(subgroups), rank)


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
    seen, hidden = _independent(r * scales, [i for i in order if i in set(kept)], 1.0)
    return sorted(seen), hidden


def _independent(columns: Array, order: Sequence[int], least: float) -> tuple[list[int], dict[int, float]]:
    """Columns of which more than ``least`` is left beside those before them, and how much is left of the others."""
    basis, chosen, rests = np.zeros((len(columns), 0)), list[int](), dict[int, float]()
    for i in order:
        rest = columns[:, i]
        for _ in range(2):  # once more, so that rounding does not look like independence
            rest = rest - basis @ (basis.T @ rest)
        size = float(np.linalg.norm(rest))
        if size > least:
            chosen.append(i)
            basis = np.column_stack([basis, rest / size])
        else:
            rests[i] = size
    return chosen, rests


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
    chosen, absorbed = _independent(unit, order, TOUCH)
    triangle = np.asarray(np.linalg.lstsq(unit[:, chosen], unit[:, list(absorbed)], rcond=None)[0], dtype=np.float64)
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


class Practical(StrEnum):
    """Subgroups of G1: G1+ identifiable in practice, G1~ perhaps with more data, G1- lost in the noise."""

    IDENTIFIABLE = "G1+"
    HARDLY = "G1~"
    NOT = "G1-"


@dataclass(frozen=True)
class Expectation:
    """A kept parameter: its value (a combination's, if it absorbs others), standard deviation, ratio and subgroup."""

    name: str
    value: float
    sd: float
    ratio: float
    group: Practical


def practical(ratio: float, above: float = ABOVE, below: float = BELOW) -> Practical:
    """Subgroup of a parameter-to-noise ratio."""
    return Practical.IDENTIFIABLE if ratio > above else Practical.NOT if ratio < below else Practical.HARDLY


def covariance(r: Array, kept: Sequence[int]) -> Array:
    """(A^T A)^-1 of the kept columns of a whitened matrix, by QR with unit columns (003 eq. 14).

    All nan where a column is zero: nothing is known then.
    """
    columns = r[:, list(kept)]
    if not np.all(np.any(columns, axis=0)):
        return np.full((columns.shape[1],) * 2, np.nan)
    return unit_qr(columns).covariance


def expectations(
    groups: Groups, r: Array, values: Array, above: float = ABOVE, below: float = BELOW
) -> tuple[Expectation, ...]:
    """Accuracy to expect for an identifiable basis, from a whitened matrix (one row = one noise unit)."""
    if not above > below > 0:
        raise RangeError(f"thresholds {above:g} and {below:g}: the upper must be above the lower, both positive")
    if not groups.kept:
        return ()
    at = {name: i for i, name in enumerate(groups.names)}
    absorbed = {c.kept: [k * values[at[n]] for n, k in c.absorbed] for s in groups.subgroups for c in s.combinations}
    out = []
    for i, sd in zip(groups.kept, np.sqrt(np.diag(covariance(r, groups.kept))), strict=True):
        terms = np.array([values[i], *absorbed.get(groups.names[i], [])])
        value = float(terms.sum())
        if abs(value) < 1e-12 * np.abs(terms).sum():
            value = 0.0  # terms that cancel leave rounding, not a value
        ratio = abs(value) / float(sd)
        out.append(Expectation(groups.names[i], value, float(sd), ratio, practical(ratio, above, below)))
    return tuple(out)
