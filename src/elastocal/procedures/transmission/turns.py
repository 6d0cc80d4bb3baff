"""How often a counter of modulus M ran over before each row: whole numbers k and slopes b, for which

    shown_n + M k_n = sum_j x_nj b_j + o + noise.

Slopes that other series tell of are one more equation each, reach_j b_j = reach_j t_j, with reach_j the range of x_j;
the others may let the counter run over ``MOST`` times within their range.  With the slopes and the offset as random
numbers of these sizes, k is the whole-number point nearest in the metric of all errors (as carrier phases are resolved
in satellite positioning): reduction by Lenstra, Lenstra and Lovasz, then Babai's planes.

Chance: numbers without any such law leave a largest residual r in s spare equations with the probability (4 r / M)^s
for one choice of the slopes, and there are about (2 MOST + 1) choices for each unknown slope.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import hypot, log

import numpy as np

from elastocal.spatial.entries import Array, Bools, Ints
from elastocal.values import dataclass

MOST = 8
FINE = 5e-4
"""Coarsest noise that is looked for, in parts of the modulus; counts are the finest."""
SMALL = 0.02
"""Residuals, in parts of the modulus, of counts that need no turns."""
RARE = log(1e-4)
"""Turns must be rarer than this by chance, and explain the rows this much better than none."""
FEW = 12
"""How many rows that do not fit are left out in turn."""
ALIAS = 1.5
"""Slopes within this factor that fit as well leave open which are true."""


@dataclass(frozen=True, eq=False)
class ShownCounts:
    """Shown counts (n,) against inputs (n, p); ``slopes`` and their ``sd`` (p,) by other series, nan where unknown."""

    x: Array
    shown: Array
    slopes: Array
    sd: Array

    @property
    def known(self) -> Bools:
        return np.isfinite(self.slopes)

    @property
    def reach(self) -> Array:
        return np.asarray(np.ptp(self.x, axis=0))

    @property
    def spare(self) -> int:
        return len(self.shown) + int(self.known.sum()) - len(self.slopes) - 1

    def some(self, at: Ints | Bools) -> ShownCounts:
        return ShownCounts(self.x[at], self.shown[at], self.slopes, self.sd)

    def fitted(self, counts: Array) -> tuple[Array, float]:
        """Slopes and offset (p + 1,), and the largest residual of rows and known slopes (at least half a count).

        One row in 20 may be off by more.
        """
        beta, left = self.fits(counts[:, None])
        return beta[:, 0], float(left[0])

    def fits(self, counts: Array) -> tuple[Array, Array]:
        """The same for several columns of counts (n, m) at once."""
        known, reach = np.flatnonzero(self.known), self.reach
        shown = np.zeros((len(known), self.x.shape[1] + 1))
        shown[np.arange(len(known)), known] = reach[known]
        a = np.vstack([np.column_stack([self.x, np.ones(len(self.x))]), shown])
        told_y = np.tile((reach[known] * self.slopes[known])[:, None], counts.shape[1])
        y = np.vstack([counts, told_y])
        w = np.concatenate([np.ones(len(counts)), 1 / np.maximum(reach * self.sd, 1.0)[known]])
        beta = np.linalg.lstsq(a * w[:, None], y * w[:, None], rcond=None)[0]
        off = np.sort(np.abs(y - a @ beta), axis=0)
        return beta, np.maximum(off[-1 - len(self.shown) // 20], 0.5)


@dataclass(frozen=True, eq=False)
class Turns:
    """``turns`` (n,) of the counter, logarithm of their chance, and whether other slopes would do as well."""

    modulus: int
    turns: Ints
    chance: float
    open: bool


def plain(rows: ShownCounts, moduli: Sequence[int]) -> bool:
    """Whether the rows need no turns: all fit, or all but a few (worst first, up to a third) that no turns explain."""
    modulus, kept, ways = moduli[0], rows, 0.0
    for out in range(min(len(rows.shown) // 3, FEW) + 1):
        beta, left = kept.fitted(kept.shown)
        if left < SMALL * modulus and kept.spare > 0 and (not out or _chance(kept, left, modulus, False) + ways < RARE):
            return not _whole(rows.shown - rows.x @ beta[:-1] - beta[-1], left, moduli)
        parts = [kept.some(at) for at in all_but_one(kept, FEW)]
        kept, ways = min(parts, key=lambda part: part.fitted(part.shown)[1]), ways + log(len(kept.shown))
    return False


def _whole(off: Array, left: float, moduli: Sequence[int]) -> bool:
    """Whether a row is off by a whole number of turns."""
    return any(np.any((np.abs(off) > m / 2) & (np.abs(off - m * np.round(off / m)) <= 5 * left + 1)) for m in moduli)


def whole_turns(rows: ShownCounts, modulus: int, kept: Ints | None = None) -> Turns | None:
    """Turns that make the rows (or those ``kept``) fit the linear law; None where nothing rarer than chance does."""
    at = np.arange(len(rows.shown)) if kept is None else kept
    part = rows.some(at)
    if part.spare < 1:
        return None
    best = _best(part, modulus)
    chance = best.chance + log(len(rows.shown)) * (len(rows.shown) - len(at))
    if chance > RARE + _chance(part, part.fitted(part.shown)[1], modulus, False):
        return None
    turns = _extended(rows, at, best.turns, modulus)
    if not 0 < np.ptp(turns) <= _most_turns(rows, modulus):
        return None
    return Turns(modulus, turns - turns[0], chance, best.open)


def _most_turns(rows: ShownCounts, modulus: int) -> float:
    """As often as known slopes let the counter run over, and ``MOST`` times for each other input."""
    known = float(np.abs(rows.slopes[rows.known]) @ rows.reach[rows.known]) / modulus
    return known + MOST * float((~rows.known).sum()) + 1


def all_but_one(rows: ShownCounts, most: int) -> Iterator[Ints]:
    """Rows in which one is left out: each of the ``most`` that fit worst as they are."""
    beta, _ = rows.fitted(rows.shown)
    off = np.abs(rows.shown - rows.x @ beta[:-1] - beta[-1])
    yield from (np.delete(np.arange(len(off)), i) for i in np.argsort(-off, kind="stable")[:most])


def _best(rows: ShownCounts, modulus: int) -> Turns:
    """Of the turns that fit about as well as any, those of the smallest slopes."""
    turns = np.array([
        _extended(rows, window, k, modulus)
        for window in _windows(rows)
        for noise in (max(1.0, 1e-5 * modulus), FINE * modulus)
        for k in _candidates(rows.some(window), modulus, noise)
    ])  # fmt: skip
    beta, left = rows.fits(rows.shown[:, None] + modulus * turns.T)
    slopes, alike = beta[:-1].T, np.flatnonzero(left <= 3 * left.min() + 1)
    best = min(alike, key=lambda i: float(np.abs(slopes[i]) @ rows.reach))
    rivals = any(_rival(rows, slopes[best], slopes[i], modulus) for i in alike)
    return Turns(modulus, turns[best], _chance(rows, float(left[best]), modulus, True), rivals)


def _rival(rows: ShownCounts, slopes: Array, other: Array, modulus: int) -> bool:
    """Whether other slopes are about as small, where they differ."""
    differ = np.abs(other - slopes) * rows.reach > 0.25 * modulus
    return bool(differ.any()) and np.abs(other)[differ].sum() < ALIAS * np.abs(slopes)[differ].sum()


def _candidates(rows: ShownCounts, modulus: int, noise: float) -> Iterator[Ints]:
    """The nearest whole numbers, and those one short vector of the lattice away."""
    known, reach = rows.known, np.maximum(rows.reach, 1e-300)
    sd = np.where(known, np.maximum(np.nan_to_num(rows.sd), 1.0 / reach), MOST * modulus / reach)
    y = rows.shown - rows.x @ np.where(known, rows.slopes, 0.0)
    wide = np.column_stack([rows.x * sd, np.full(len(y), float(modulus))])
    root = np.linalg.cholesky(noise**2 * np.eye(len(y)) + wide @ wide.T)
    white = np.linalg.solve(root, np.column_stack([modulus * np.eye(len(y)), y - np.median(y)]))
    k, short = nearest(white[:, :-1], white[:, -1])
    yield k
    for step in short:
        yield k + step
        yield k - step


def _windows(rows: ShownCounts) -> list[Ints]:
    """The first and the last neighbouring rows that tell all slopes apart; all rows where they are few."""
    n, p = rows.x.shape
    size = p + 9
    if n <= size:
        return [np.arange(n)]
    scaled = rows.x / np.maximum(rows.reach, 1e-300)
    parts = [np.arange(first, first + size) for first in range(0, n - size + 1, max(size // 2, 1))]
    good = [w for w in parts if np.linalg.matrix_rank(scaled[w] - scaled[w].mean(axis=0), tol=1e-6) == p]
    return [good[0], good[-1]] if good else [np.unique(np.linspace(0, n - 1, size).astype(np.int64))]


def _extended(rows: ShownCounts, at: Ints, turns: Ints, modulus: int) -> Ints:
    """Turns of all rows from those of some: rows nearer in the inputs first, twice as many each time."""
    scaled = rows.x / np.maximum(rows.reach, 1e-300)
    away = np.linalg.norm(scaled - scaled[at].mean(axis=0), axis=1)
    away[at] = -1.0
    order, out = np.argsort(away, kind="stable"), np.zeros(len(away), dtype=np.int64)
    out[at] = turns
    size = len(at)
    while size < len(order):
        beta, _ = rows.some(order[:size]).fitted((rows.shown + modulus * out)[order[:size]])
        more = order[size : 2 * size]
        out[more] = np.round((rows.x[more] @ beta[:-1] + beta[-1] - rows.shown[more]) / modulus)
        size += len(more)
    return out


def _chance(rows: ShownCounts, left: float, modulus: int, searched: bool) -> float:
    """Logarithm of the probability that numbers without a law fit as well."""
    choices = int((~rows.known).sum()) * log(2 * MOST + 1) if searched else 0.0
    return rows.spare * min(log(4 * left / modulus), 0.0) + choices


SWAP = 0.99
"""How much shorter a vector must become to change places (Lovasz's condition)."""


def nearest(basis: Array, target: Array) -> tuple[Ints, Ints]:
    """Whole numbers k (n,) with B k near -t, and short combinations (n, n) that may be added to them, as rows."""
    whole = _reduction(np.linalg.qr(basis)[1])
    q, r = np.linalg.qr(basis @ whole)
    left, at = -q.T @ target, np.zeros(len(target), dtype=np.int64)
    for i in range(len(at) - 1, -1, -1):
        at[i] = np.round(left[i] / r[i, i])
        left = left - at[i] * r[:, i]
    return whole @ at, whole.T


def _reduction(r: Array) -> Ints:
    """The whole numbers (columns) that make short vectors of a triangular basis, which stays triangular by rotations
    of two rows."""
    n, k = r.shape[1], 1
    columns = [[float(v) for v in column] for column in r.T]  # numbers one by one are quicker than arrays of a few
    whole = [[int(i == j) for i in range(n)] for j in range(n)]
    while k < n:
        here = columns[k]
        for j in range(k - 1, -1, -1):
            if m := round(here[j] / columns[j][j]):
                here[: j + 1] = [a - m * b for a, b in zip(here[: j + 1], columns[j], strict=False)]
                whole[k] = [a - m * b for a, b in zip(whole[k], whole[j], strict=True)]
        long = hypot(here[k - 1], here[k])
        if long**2 >= SWAP * columns[k - 1][k - 1] ** 2:
            k += 1
            continue
        columns[k - 1 : k + 1], whole[k - 1 : k + 1] = [here, columns[k - 1]], [whole[k], whole[k - 1]]
        c, s = here[k - 1] / long, here[k] / long
        for column in columns[k - 1 :]:
            a, b = column[k - 1], column[k]
            column[k - 1], column[k] = c * a + s * b, c * b - s * a
        k = max(k - 1, 1)
    return np.array(whole, dtype=np.int64).T
