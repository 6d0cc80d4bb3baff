"""Least squares over any number of configurations in the memory of one chunk (003 eq. 11-14).

Whatever the number of readings, they first become a small problem with the same squares: ``reduce_rows`` finds T, d and
rest with |A x - y|^2 = |T x - d|^2 + rest for every x; rank and groups are decided from T by SVD.  A Householder QR of
all rows gives T too, but many times slower:

(a) Some hundred configurations spread over the data.  QR with pivots finds columns S that are independent there,
    A_S = Q R_s, and the others as A_S C.  It also gives a first fit x_s.
(b) One pass over all rows: r = y - A x_s, Z = A_S R_s^-1, Gram matrix of [Z r].  Z is close to orthogonal, so that
    the Gram matrix loses no digits, and T = chol(Z^T Z) R_s [I C].  Where the sample is well conditioned, the
    lengths of the columns do instead of R_s.
(c) In the same pass A n must vanish, n = [-C w, w] one generic combination of all null directions of the sample.
    If it does not, the sample missed something, and T comes from the QR of all rows after all.

The order of the rows changes which ones are sampled, but T^T T, T^T d and rest only by rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import sqrt

import numpy as np

from elastocal.errors import NumberError, ShapeError
from elastocal.solve.identifiability import ZERO_COLUMN, stacked_triangle
from elastocal.spatial.entries import Array, Ints
from elastocal.values import dataclass

FEW = 200
"""Configurations of the sample, or three for every two parameters if that is more."""
DEPENDENT = 1e-12
"""Pivots below this part of the first are dependence to rounding; anything above is left to the SVD of T."""
MISSED = 1e-11
"""Largest |A n| (unit columns) that rounding explains; far below the 1e-9 that counts in ``solve.identifiability``."""
EVEN = 1e3
"""Condition of Z up to which its Gram matrix loses few enough digits: six of sixteen."""


@dataclass(frozen=True, eq=False)
class Reduced:
    """All that least squares needs of ``count`` whitened rows: |A x - y|^2 = |T x - d|^2 + rest for every x.

    ``triangle`` T (r, p), ``readings`` d (r,), r at most p + 1.
    """

    triangle: Array
    readings: Array
    rest: float
    count: int


Rows = slice | Ints
Chunks = Callable[[Rows], Iterator[tuple[Array, Array]]]
"""The data: for chosen configurations, in any number of chunks, whitened A (p, rows, m) and readings y (rows, m).

It is called more than once, with indices for the sample and a slice for everything.  A chunk may use the memory of
the one before."""

GOLDEN = (sqrt(5) - 1) / 2


def reduce_rows(scales: Array, total: int, chunks: Chunks) -> Reduced:
    """The small problem with the same squares as all rows."""
    width = len(scales)
    few = max(FEW, 3 * width // 2)
    if total > 2 * few:
        reduced = _by_sample(scales, total, few, chunks)
        if reduced is not None:
            return reduced
    triangle, count = np.zeros((0, width + 1)), 0
    for a, y in _checked(chunks, slice(0, total), width):
        blocks = (np.column_stack([a[:, i].T, y[i]]) for i in range(len(y)))
        triangle = stacked_triangle((triangle, *blocks), width + 1)
        count += y.size
    if not np.all(np.isfinite(triangle)):
        raise NumberError(
            "readings and their derivatives must be finite numbers; leave the others out", code="not-finite"
        )
    return Reduced(triangle[:, :-1], triangle[:, -1], 0.0, count)


def spread_indices(total: int, few: int) -> Ints:
    """About ``few`` of ``total`` indices, even but without a period that a grid of configurations could share."""
    return np.unique((np.arange(1, few + 1) * GOLDEN % 1.0 * total).astype(np.int64))


def _checked(chunks: Chunks, rows: Rows, width: int) -> Iterator[tuple[Array, Array]]:
    for a, y in chunks(rows):
        if a.ndim != 3 or len(a) != width or a.shape[1:] != y.shape:
            raise ShapeError(
                f"a chunk has derivatives {a.shape} for readings {y.shape}; give ({width}, rows, m) and (rows, m)",
                value=(a.shape, y.shape, width),
            )
        if not np.all(np.isfinite(y)):
            raise NumberError("a reading is not a finite number; leave its configuration out", code="reading")
        yield a, y


@dataclass(frozen=True, eq=False)
class _Basis:
    """What the sample knows, for columns divided by ``unit``.

    ``order`` lists the independent columns first, ``triangle`` is their R_s (None: well conditioned, not needed),
    ``mix`` = C gives the others.  ``start`` = x_s and ``null`` = n are in the parameters' own units.
    """

    order: Ints
    rank: int
    unit: Array
    triangle: Array | None
    mix: Array
    start: Array
    null: Array
    rows: int

    @property
    def kept(self) -> Ints:
        return self.order[: self.rank]


def _basis(a: Array, y: Array, scales: Array) -> _Basis:
    """From the rows (m, p) and readings (m,) of the sample."""
    from scipy.linalg import qr, solve_triangular

    width = a.shape[1]
    lengths = np.linalg.norm(a, axis=0)
    effect = lengths * scales
    unobservable = effect <= ZERO_COLUMN * effect.max()
    # an unobservable column has no length of its own: one per cent of the largest effect stands for it in |A n|
    unit = np.where(unobservable, 1e-2 * effect.max() / scales, lengths)
    whole = np.asarray(np.linalg.qr(np.column_stack([np.where(unobservable, 0.0, a / unit), y]), mode="r"))
    q, r, order = qr(whole[:, :width], pivoting=True, mode="economic")
    rank = int(np.sum(np.abs(np.diag(r)) > DEPENDENT * abs(r[0, 0])))
    triangle = r[:rank, :rank]
    mix = solve_triangular(triangle, r[:rank, rank:])
    start, null = np.zeros(width), np.zeros(width)
    start[order[:rank]] = solve_triangular(triangle, q.T[:rank] @ whole[:, width])
    null[order[rank:]] = 0.5 + np.arange(1, width - rank + 1) * GOLDEN % 1.0
    null[order[:rank]] = -mix @ null[order[rank:]]
    plain = np.linalg.cond(triangle) <= EVEN / 4
    return _Basis(order, rank, unit, None if plain else triangle, mix, start / unit, null / unit, len(y))


def _by_sample(scales: Array, total: int, few: int, chunks: Chunks) -> Reduced | None:
    """T, d and rest by the steps (a) to (c); None where the sample does not stand for all rows."""
    parts = [
        np.concatenate([a.reshape(len(a), -1), y.reshape(1, -1)])
        for a, y in _checked(chunks, spread_indices(total, few), len(scales))
    ]
    sample = np.concatenate(parts, axis=1).T
    if not np.all(np.isfinite(sample)):
        raise NumberError("a derivative is not a finite number; leave its configuration out", code="derivative")
    if not sample[:, :-1].any():
        return None
    basis = _basis(sample[:, :-1], sample[:, -1], scales)
    gram, missed, count = _accumulate(basis, _checked(chunks, slice(0, total), len(scales)))
    if not missed <= MISSED**2 * count / basis.rows:
        return None
    return _assembled(basis, gram, count)


def _accumulate(basis: _Basis, chunks: Iterator[tuple[Array, Array]]) -> tuple[Array, float, int]:
    """Gram matrix of [Z r], the squares of A n, and the number of rows."""
    from scipy.linalg.blas import dtrsm

    kept, size = basis.kept.tolist(), np.append(basis.unit[basis.kept], 1.0)
    inner = None if basis.triangle is None else basis.triangle * size[:-1]
    gram, missed, count = np.zeros((len(size), len(size))), 0.0, 0
    z = np.empty((len(size), 0))
    for chunk, readings in chunks:
        if z.shape[1] != chunk.shape[2]:
            z = np.empty((len(size), chunk.shape[2]))
        for i, y in enumerate(readings):
            a = chunk[:, i]
            null = basis.null @ a
            missed += float(null @ null)
            for row, column in zip(z, kept, strict=False):
                row[:] = a[column]
            if inner is not None:
                z[:-1] = dtrsm(1.0, inner, z[:-1].T, side=1, overwrite_b=1).T
            z[-1] = y - basis.start @ a
            gram += z @ z.T
            count += len(y)
    return (gram / np.outer(size, size) if inner is None else gram), missed, count


def _assembled(basis: _Basis, gram: Array, count: int) -> Reduced | None:
    """T = chol(Z^T Z) R_s [I C] and d = Q^T r + T x_s; None where Z is too uneven for its Gram matrix."""
    from scipy.linalg import solve_triangular

    rank = basis.rank
    try:
        factor = np.linalg.cholesky(gram[:rank, :rank])
    except np.linalg.LinAlgError:
        return None
    if not np.linalg.cond(factor) <= EVEN:
        return None
    along = solve_triangular(factor, gram[:rank, rank], lower=True)
    r = factor.T if basis.triangle is None else factor.T @ basis.triangle
    triangle = np.empty((rank, len(basis.unit)))
    triangle[:, basis.order] = np.hstack([r, r @ basis.mix])
    triangle *= basis.unit
    rest = max(0.0, float(gram[rank, rank] - along @ along))
    return Reduced(triangle, along + triangle @ basis.start, rest, count)
