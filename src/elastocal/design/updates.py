"""Every candidate added to (or taken from) a plan at once, by rank-k updates.

With C the covariance of the plan, D_c = A_c C A_c^T and S_c = I + D_c (I - D_c where c is taken away):

    log det M'  = log det M + log det S_c                       (matrix determinant lemma)
    W C' W^T    = W C W^T -+ Y^T Y,   Y = L^-1 A_c C W^T,  S_c = L L^T      (Woodbury)

for any rows W.  Nothing of the size of the parameters is factored for a candidate, only k x k matrices: (k, k, n),
candidates last, only the lower triangle in use.  Every step is a few long vector operations; LAPACK would be called n
times for matrices of a few numbers.

The D_c of all candidates are kept while members come and go.  A member leaves or joins, and C changes by a product of k
rows:

    C_without - C = R^T R,   C - C_with = R^T R,    R = L^-1 A_j C_0,  L L^T = I + A_j C_0 A_j^T

with C_0 the covariance without the member.  So D_c changes by the gram of R A_c^T, k x p numbers per candidate instead
of p x p.  C itself is never updated but factored anew from the members; rounding that gathers in D_c is measured on a
sample after every change, and D_c is computed anew where it exceeds 1e-10.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from elastocal.design.information import Space
from elastocal.design.knowledge import RIDGE, Knowledge
from elastocal.spatial.entries import Array, Bools, Ints

DRIFT = 1e-10
FEW = 512
"""Candidates below which whole squares are faster than triangles row by row."""
SAMPLE = 4
"""Candidates of every chunk that the drift is measured on."""


def pushed(factor: Array, rows: Array) -> Array:
    """factor (r, p) times rows (p, k, n) as one product of matrices: (r, k, n)."""
    p, k, n = rows.shape
    return np.asarray((factor @ rows.reshape(p, k * n)).reshape(len(factor), k, n))


def gram(g: Array, onto: Array | None = None) -> Array:
    """sum_r g_ra g_rb of g (r, k, n), added to ``onto``; one pass per product, without a temporary."""
    k, n = g.shape[1:]
    out = np.empty((k, k, n))
    for a in range(k):
        np.einsum("rn,rbn->bn", g[:, a], g[:, : a + 1], out=out[a, : a + 1])
        if onto is not None:
            out[a, : a + 1] += onto[a, : a + 1]
    return out


def beside_one(s: Array, sign: int) -> Array:
    """I + sign S, as a new array."""
    out = np.empty_like(s)
    for a in range(len(s)):
        np.multiply(s[a, : a + 1], sign, out=out[a, : a + 1])
        out[a, a] += 1.0
    return out


def eliminate(s: Array) -> tuple[Array, Array]:
    """S = L diag(d) L^T: L in the place of S (its diagonal of ones is not written) and d (k, n).

    Where S is not positive, some d is not, and what follows it means nothing.
    """
    k = len(s)
    d = np.empty((k, s.shape[2]))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        for j in range(k):
            d[j] = s[j, j]
            ratio = s[j + 1 :, j] / d[j]
            for rows, upto in _bands(j, s):
                s[rows, j + 1 : upto] -= ratio[rows.start - j - 1 : upto - j - 1, None] * s[j + 1 : upto, j]
            s[j + 1 :, j] = ratio
    return s, d


def _bands(j: int, s: Array) -> Iterator[tuple[slice, int]]:
    """Rows below j of a lower triangle (k, k, n), one by one, or all at once where few candidates make calls dear."""
    k, n = len(s), s.shape[2]
    step = k if n < FEW else 1
    for first in range(j + 1, k, step):
        yield slice(first, min(first + step, k)), min(first + step, k)


def log_determinant(d: Array) -> Array:
    """sum log d (n,), over those that are positive."""
    return np.asarray(np.sum(np.log(np.where(d > 0, d, 1.0)), axis=0))


def solved(factor: Array, y: Array) -> Array:
    """L^-1 y of y (r, k, n), in the place of y."""
    k = len(factor)
    for j in range(k - 1):
        for i in range(j + 1, k):
            y[:, i] -= factor[i, j] * y[:, j]
    return y


def trace_of_ratio(factor: Array, d: Array, b: Array) -> Array:
    """tr(S^-1 B) (n,) of S = L diag(d) L^T: B (lower triangle, spent) is eliminated along with S, from both sides."""
    k = len(factor)
    total = b[0, 0] / d[0]
    for j in range(k - 1):
        ratio, column = factor[j + 1 :, j], b[j + 1 :, j]
        left = column - ratio * b[j, j]
        for rows, upto in _bands(j, b):
            own, end = slice(rows.start - j - 1, upto - j - 1), upto - j - 1
            b[rows, j + 1 : upto] -= ratio[own, None] * column[:end] + left[own, None] * ratio[:end]
        total += b[j + 1, j + 1] / d[j + 1]
    return np.asarray(total)


@dataclass(frozen=True, eq=False)
class Trials:
    """``rows`` (p, k, n) of n candidates, ``forms`` (k, k, n) the lower triangles of D_c; ``sign`` -1: taken away.

    ``numbers`` (n,) are those of the candidates, where all that are tried have one.
    """

    base: Knowledge
    rows: Array
    forms: Array
    sign: int = 1
    numbers: Ints | None = None

    @classmethod
    def at(cls, base: Knowledge, rows: Array, sign: int = 1) -> Trials:
        """With forms computed from the root."""
        return cls(base, rows, gram(pushed(base.root.T, rows)), sign)

    def picked(self, index: Ints) -> Trials:
        return Trials(self.base, self.rows[:, :, index], self.forms[:, :, index], self.sign)

    @cached_property
    def factor(self) -> tuple[Array, Array, Bools]:
        """S_c = L diag(d) L^T as L (k, k, n), d (k, n), and where it is positive (n,); the identity elsewhere.

        It is not where taking a candidate away leaves a combination open.
        """
        lower, d = eliminate(beside_one(self.forms, self.sign))
        possible = np.all(d > 0, axis=0)
        if not np.all(possible):
            lower[:, :, ~possible], d[:, ~possible] = 0.0, 1.0
        return lower, d, possible

    @property
    def possible(self) -> Bools:
        return self.factor[2]

    @cached_property
    def log_ratio(self) -> Array:
        """log det M' - log det M (n,) of the parameters sought: that of all less that of the nuisances alone."""
        q = self.base.coordinates.nuisance
        whole = np.where(self.possible, log_determinant(self.factor[1]), -np.inf)
        if not q:
            return whole
        own = gram(pushed(self.base.root[:q, :q].T, self.rows[:q]))
        return np.where(self.possible, whole - log_determinant(eliminate(beside_one(own, self.sign))[1]), -np.inf)

    @property
    def closed(self) -> Bools:
        """(n,) True where the plan then determines every combination, if not well."""
        lower, d, possible = self.factor
        left = np.trace(self.base.covariance) - self.sign * trace_of_ratio(
            lower, d, gram(pushed(self.base.covariance, self.rows))
        )
        return np.asarray(possible & (left < 0.5 / RIDGE))

    def _seen(self, rows: Array) -> Array:
        """A_c C W^T as (r, k, n)."""
        return pushed(self.base.half(rows) @ self.base.root.T, self.rows)

    def squares(self, rows: Array) -> Array:
        """Variance (r, n) of every row of W (r, p)."""
        factor, d, _ = self.factor
        y = solved(factor, self._seen(rows))
        before = np.sum(self.base.half(rows) ** 2, axis=1)
        return np.asarray(before[:, None] - self.sign * np.einsum("rkn,rkn,kn->rn", y, y, 1 / d))

    def total(self, rows: Array) -> Array:
        """tr(W C' W^T) (n,)."""
        factor, d, _ = self.factor
        change = trace_of_ratio(factor, d, gram(self._seen(rows)))
        return np.asarray(np.sum(self.base.half(rows) ** 2) - self.sign * change)

    def spreads(self, rows: Array) -> Array:
        """W C' W^T (n, r, r)."""
        factor, d, _ = self.factor
        y = (solved(factor, self._seen(rows)) / np.sqrt(d)).transpose(2, 1, 0)
        half = self.base.half(rows)
        return np.asarray(half @ half.T - self.sign * (y.swapaxes(1, 2) @ y))


def step(without: Knowledge, block: Array) -> Array:
    """R (k, p) of a member with rows ``block`` (k, p)."""
    seen = block @ without.root
    lower = np.linalg.cholesky(np.eye(len(block)) + seen @ seen.T)
    return np.asarray(np.linalg.solve(lower, seen @ without.root.T))


@dataclass(eq=False)
class Forms:
    """``forms`` of every chunk at one state of knowledge; ``drift`` is the largest error met, ``renewed`` how often."""

    space: Space
    forms: list[Array]
    drift: float = 0.0
    renewed: int = 0

    @classmethod
    def at(cls, space: Space, known: Knowledge) -> Forms:
        return cls(space, _forms(space, known))

    def trials(self, base: Knowledge, left: Array | None = None, some: Bools | None = None) -> Iterator[Trials]:
        """Every candidate added, or ``some`` (M,), chunk by chunk; ``left`` is R of a member that has left the plan of
        the forms."""
        for start, rows, forms in zip(self.space.starts, self.space.chunks, self.forms, strict=True):
            at = np.arange(rows.shape[2])
            if some is not None:
                at = np.flatnonzero(some[start : start + rows.shape[2]])
                if not len(at):
                    continue
                rows, forms = rows[:, :, at], forms[:, :, at]
            now = forms if left is None else gram(pushed(left, rows), forms)
            yield Trials(base, rows, now, numbers=start + at)

    def move(self, known: Knowledge, joined: Array, left: Array | None = None) -> None:
        """To the state ``known`` after a member left (its R) and another joined."""
        for rows, forms in zip(self.space.chunks, self.forms, strict=True):
            if left is not None:
                _add(forms, gram(pushed(left, rows)), 1)
            _add(forms, gram(pushed(joined, rows)), -1)
        error = self._error(known)
        if error > DRIFT:
            self.forms = _forms(self.space, known)
            self.renewed += 1
        else:
            self.drift = max(self.drift, error)

    def _error(self, known: Knowledge) -> float:
        """Largest difference to D_c computed directly, beside the size of I + D_c."""
        worst, lower = 0.0, np.tril_indices(self.space.k)
        for rows, forms in zip(self.space.chunks, self.forms, strict=True):
            every = max(1, rows.shape[2] // SAMPLE)
            direct = gram(pushed(known.root.T, np.ascontiguousarray(rows[:, :, ::every])))
            size = 1 + np.einsum("aan->an", direct).max(axis=0)
            worst = max(worst, float(np.max(np.abs(forms[:, :, ::every][lower] - direct[lower]) / size)))
        return worst


def _add(forms: Array, change: Array, sign: int) -> None:
    """In place, the lower triangle."""
    for a in range(len(forms)):
        forms[a, : a + 1] += sign * change[a, : a + 1]


def _forms(space: Space, known: Knowledge) -> list[Array]:
    return [gram(pushed(known.root.T, rows)) for rows in space.chunks]
