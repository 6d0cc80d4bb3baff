"""What a plan tells about the parameters: its information as a triangular root.

In coordinates y of the parameters x = T y (``information``) the information is M; with M = R^T R, R upper triangular,

    root = R^-1,    covariance of y = root root^T,    covariance of W x = (W T root)(W T root)^T.

The coordinates of nuisances come first, so that the leading block of ``root`` is the root of the inverse of their own
block of M, and the information of the others with nuisances marginalised (the Schur complement) has the determinant

    det M_s = prod over the other i of R_ii^2  (times that of T).

Every candidate is added to a plan at once, by rank-k updates.

With C the covariance of the plan, D_c = A_c C A_c^T and S_c = I + D_c:

    log det M'  = log det M + log det S_c                       (matrix determinant lemma)
    W C' W^T    = W C W^T - Y^T Y,   Y = L^-1 A_c C W^T,  S_c = L L^T      (Woodbury)

for any rows W.  Nothing of the size of the parameters is factored for a candidate, only k x k matrices: (k, k, n),
candidates last, only the lower triangle in use.  Every step is a few long vector operations; LAPACK would be called n
times for matrices of a few numbers.  Where candidates are few, the number of calls decides: LAPACK is called, and the
matrices are whole.

The D_c of all candidates are kept while members come and go.  A member leaves or joins, and C changes by a product of k
rows:

    C_without - C = R^T R,   C - C_with = R^T R,    R = L^-1 A_j C_0,  L L^T = I + A_j C_0 A_j^T

with C_0 the covariance without the member.  So D_c changes by the gram of R A_c^T, k x p numbers per candidate instead
of p x p.  C itself is never updated but factored anew from the members; rounding that gathers in D_c is measured on a
sample after every change, and D_c is computed anew where it exceeds 1e-10.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from elastocal.spatial.entries import Array, Bools, Ints
from elastocal.values import dataclass

if TYPE_CHECKING:
    from elastocal.design.information import Space

RIDGE = 1e-7
"""Part of the mean information of a candidate that is added where a plan leaves a combination open."""


@dataclass(frozen=True, eq=False)
class Coordinates:
    """x = T y: ``transform`` (p, p), rows in the order of the parameters; the first ``nuisance`` of y are nuisances.

    ``order`` (p,) are the parameters with nuisances first; T with rows in this order is upper triangular.  Of
    combinations that stand for all parameters (``information.leading_space``) T is (p, r).
    """

    transform: Array
    order: Ints
    nuisance: int

    @cached_property
    def interest(self) -> Array:
        """(s, p): picks the parameters that are no nuisances."""
        return np.asarray(np.eye(len(self.order))[self.order[self.nuisance :]])

    @cached_property
    def log_scale(self) -> float:
        """log |det| of the block of T that belongs to the parameters sought; 0 where y has fewer numbers than x."""
        if self.transform.shape[1] < len(self.order):
            return 0.0
        diagonal = self.transform[self.order, np.arange(len(self.order))][self.nuisance :]
        return float(np.sum(np.log(np.abs(diagonal))))


@dataclass(frozen=True, eq=False)
class Knowledge:
    """``root`` (p, p), upper triangular; ``open`` where a ridge had to be added to have one."""

    root: Array
    coordinates: Coordinates
    open: bool = False

    @cached_property
    def covariance(self) -> Array:
        """Of y."""
        return np.asarray(self.root @ self.root.T)

    @cached_property
    def log_determinant(self) -> float:
        """log det of the information of the parameters sought, nuisances marginalised."""
        diagonal = np.abs(np.diag(self.root))[self.coordinates.nuisance :]
        return float(-2 * np.sum(np.log(diagonal))) - 2 * self.coordinates.log_scale

    def half(self, rows: Array) -> Array:
        """H (r, p) with H H^T the covariance of ``rows`` (r, p) times the parameters."""
        return np.asarray(rows @ self.coordinates.transform @ self.root)

    @cached_property
    def sd(self) -> Array:
        """Standard deviation (p,) of every parameter, nuisances too."""
        return np.asarray(np.linalg.norm(self.coordinates.transform @ self.root, axis=1))


def inverse_triangle(triangle: NDArray[np.floating[Any]]) -> Array:
    """R^-1 of an upper triangle, exactly one too: elimination finds nothing to do."""
    return np.asarray(np.linalg.inv(triangle))


def known(information: Array, coordinates: Coordinates) -> Knowledge:
    """From M (p, p) in the coordinates of a ``Space``; a ridge is added where M is singular or nearly so."""
    try:
        root = inverse_triangle(np.linalg.cholesky(information).T)
        if np.sum(root**2) < 1 / RIDGE:
            return Knowledge(root, coordinates)
    except np.linalg.LinAlgError:
        pass
    ridge = information + RIDGE * np.eye(len(information))
    return Knowledge(inverse_triangle(np.linalg.cholesky(ridge).T), coordinates, open=True)


DRIFT = 1e-10
FEW = 64
"""Candidates up to which matrices one by one are faster than vectors over the candidates."""
SAMPLE = 4
"""Candidates of every chunk that the drift is measured on."""


def pushed(factor: Array, rows: Array) -> Array:
    """factor (r, p) times rows (p, k, n) as one product of matrices: (r, k, n)."""
    p, k, n = rows.shape
    return np.asarray((factor @ rows.reshape(p, k * n)).reshape(len(factor), k, n))


def gram(g: Array, onto: Array | None = None) -> Array:
    """sum_r g_ra g_rb of g (r, k, n), added to ``onto``; one pass per product, without a temporary."""
    k, n = g.shape[1:]
    if n <= FEW:
        few = (g.transpose(2, 1, 0) @ g.transpose(2, 0, 1)).transpose(1, 2, 0)
        return few if onto is None else few + onto
    out = np.zeros((k, k, n))
    for a in range(k):
        np.einsum("rn,rbn->bn", g[:, a], g[:, : a + 1], out=out[a, : a + 1])
        if onto is not None:
            out[a, : a + 1] += onto[a, : a + 1]
    return out


def beside_one(d: Array) -> tuple[Array, Array]:
    """I + D = L diag(d) L^T of D (k, k, n): L (its diagonal of ones is not written by elimination) and d (k, n)."""
    k, n = d.shape[1:]
    if n <= FEW:
        lower = np.linalg.cholesky(d.transpose(2, 0, 1) + np.eye(k))
        diagonal = np.einsum("naa->na", lower)
        return (lower / diagonal[:, None]).transpose(1, 2, 0), diagonal.T**2
    s, pivots = np.empty_like(d), np.empty((k, n))
    for j in range(k):
        s[j, : j + 1] = d[j, : j + 1]
        s[j, j] += 1.0
    for j in range(k):
        pivots[j] = s[j, j]
        ratio = s[j + 1 :, j] / pivots[j]
        for i in range(j + 1, k):
            s[i, j + 1 : i + 1] -= ratio[i - j - 1] * s[j + 1 : i + 1, j]
        s[j + 1 :, j] = ratio
    return s, pivots


def solved(factor: Array, y: Array) -> Array:
    """L^-1 y of y (r, k, n), in the place of y."""
    k = len(factor)
    for j in range(k - 1):
        for i in range(j + 1, k):
            y[:, i] -= factor[i, j] * y[:, j]
    return y


def trace_of_ratio(factor: Array, d: Array, b: Array) -> Array:
    """tr(S^-1 B) (n,) of S = L diag(d) L^T: B (lower triangle, spent) is eliminated along with S, from both sides."""
    total = b[0, 0] / d[0]
    for j in range(len(d) - 1):
        ratio, column = factor[j + 1 :, j], b[j + 1 :, j]
        left = column - ratio * b[j, j]
        for i in range(len(ratio)):
            b[i + j + 1, j + 1 : i + j + 2] -= ratio[i] * column[: i + 1] + left[i] * ratio[: i + 1]
        total += b[j + 1, j + 1] / d[j + 1]
    return np.asarray(total)


@dataclass(frozen=True, eq=False)
class Trials:
    """``rows`` (p, k, n) of n candidates, their ``numbers`` (n,), and the lower triangles (k, k, n) of D_c where these
    were ``updated``: otherwise they are computed from the root when they are asked for."""

    base: Knowledge
    rows: Array
    numbers: Ints
    updated: Array | None = None

    def picked(self, index: Ints) -> Trials:
        updated = None if self.updated is None else _symmetric(self.updated[:, :, index])
        return Trials(self.base, self.rows[:, :, index], self.numbers[index], updated)

    @cached_property
    def forms(self) -> Array:
        return gram(pushed(self.base.root.T, self.rows)) if self.updated is None else self.updated

    @cached_property
    def factor(self) -> tuple[Array, Array]:
        """S_c = L diag(d) L^T as L (k, k, n) and d (k, n)."""
        return beside_one(self.forms)

    @cached_property
    def log_ratio(self) -> Array:
        """log det M' - log det M (n,) of the parameters sought: that of all less that of the nuisances alone."""
        q = self.base.coordinates.nuisance
        whole = np.sum(np.log(self.factor[1]), axis=0)
        if not q:
            return np.asarray(whole)
        own = beside_one(gram(pushed(self.base.root[:q, :q].T, self.rows[:q])))
        return np.asarray(whole - np.sum(np.log(own[1]), axis=0))

    @property
    def closed(self) -> Bools:
        """(n,) True where the plan then determines every combination, if not well."""
        gained = self._ratios(gram(pushed(self.base.covariance, self.rows)))
        return np.asarray(np.trace(self.base.covariance) - gained < 0.5 / RIDGE)

    def _ratios(self, b: Array) -> Array:
        """tr(S_c^-1 B_c) (n,) of B (k, k, n), spent."""
        if len(self.numbers) > FEW:
            return trace_of_ratio(*self.factor, b)
        s = self.forms.transpose(2, 0, 1) + np.eye(len(b))
        return np.asarray(np.einsum("naa->n", np.linalg.solve(s, b.transpose(2, 0, 1))))

    def _seen(self, half: Array) -> Array:
        """A_c C W^T as (r, k, n), of ``half`` of W."""
        return pushed(half @ self.base.root.T, self.rows)

    def squares(self, rows: Array) -> Array:
        """Variance (r, n) of every row of W (r, p)."""
        factor, d = self.factor
        half = self.base.half(rows)
        y = solved(factor, self._seen(half))
        before = np.sum(half**2, axis=1)
        return np.asarray(before[:, None] - np.einsum("rkn,rkn,kn->rn", y, y, 1 / d))

    def total(self, rows: Array) -> Array:
        """tr(W C' W^T) (n,)."""
        half = self.base.half(rows)
        return np.asarray(np.sum(half**2) - self._ratios(gram(self._seen(half))))

    def spreads(self, rows: Array) -> Array:
        """W C' W^T (n, r, r)."""
        factor, d = self.factor
        half = self.base.half(rows)
        y = (solved(factor, self._seen(half)) / np.sqrt(d)).transpose(2, 1, 0)
        return np.asarray(half @ half.T - y.swapaxes(1, 2) @ y)


def every(space: Space, base: Knowledge) -> Iterator[Trials]:
    """Every candidate added, chunk by chunk."""
    for start, rows in zip(space.starts, space.chunks, strict=True):
        yield Trials(base, rows, start + np.arange(rows.shape[2]))


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

    def trials(self, base: Knowledge, left: Array | None = None) -> Iterator[Trials]:
        """Every candidate added, chunk by chunk; ``left`` is R of a member that has left the plan of the forms."""
        for start, rows, forms in zip(self.space.starts, self.space.chunks, self.forms, strict=True):
            now = forms if left is None else gram(pushed(left, rows), forms)
            yield Trials(base, rows, start + np.arange(rows.shape[2]), now)

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


def _symmetric(lower: Array) -> Array:
    """Matrices (k, k, n) whose lower triangles are given."""
    return np.where(np.tri(len(lower), dtype=bool)[:, :, None], lower, lower.swapaxes(0, 1))


def _add(forms: Array, change: Array, sign: int) -> None:
    """In place, the lower triangle; of few candidates all."""
    if forms.shape[2] <= FEW:
        forms += sign * change
        return
    for a in range(len(forms)):
        forms[a, : a + 1] += sign * change[a, : a + 1]


def _forms(space: Space, known: Knowledge) -> list[Array]:
    return [gram(pushed(known.root.T, rows)) for rows in space.chunks]
