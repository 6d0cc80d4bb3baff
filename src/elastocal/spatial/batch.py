"""Small dense algebra, one matrix per configuration, configurations along the last axis."""

from __future__ import annotations

import math

import numpy as np

from elastocal.spatial.entries import Array

PAGE = 1 << 18
"""Numbers of a large page (2 MB), of which a system may make memory that is filled for the first time."""


def room(*shape: int) -> Array:
    """An array to be filled; a large one begins a large page: the small ones at its ends would cost a tenth of it."""
    size = math.prod(shape)
    if size < 2 * PAGE:
        return np.empty(shape)
    more = np.empty((-(-size // PAGE) + 1) * PAGE)
    first = -more.ctypes.data // more.itemsize % PAGE
    return more[first : first + size].reshape(shape)


def dot_products(a: Array, b: Array) -> Array:
    """Inner products (N,) of vectors (3, N); the same bits for any N."""
    return np.asarray(a[0] * b[0] + a[1] * b[1] + a[2] * b[2])


def matmul(a: Array, b: Array) -> Array:
    """(i, j, N) times (j, k, N)."""
    return np.asarray(np.einsum("ijn,jkn->ikn", a, b))


def matmul_t(a: Array, b: Array) -> Array:
    """Transpose of a (j, i, N) times b (j, k, N)."""
    return np.asarray(np.einsum("jin,jkn->ikn", a, b))


def matmul_any(a: Array, b: Array) -> Array:
    """The same where one factor may be constant, (i, j) or (j, k)."""
    if a.ndim == 2:
        return np.asarray(np.einsum("ij,jkn->ikn", a, b))
    if b.ndim == 2:
        return np.asarray(np.einsum("ijn,jk->ikn", a, b))
    return matmul(a, b)


def eliminate_unpivoted(matrix: Array, rhs: Array) -> Array:
    """Gauss elimination of (d, d, N) against (d, r, N), unpivoted: for matrices near the identity.

    Unpivoted elimination is invariant to the units of rows and columns; where a leading minor
    vanishes the result is not finite, which callers read as a lost configuration.
    """
    d = matrix.shape[0]
    work = np.concatenate([matrix, rhs], axis=1)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        for i in range(d):
            work[i, i + 1 :] /= work[i, i]
            if i + 1 < d:
                work[i + 1 :, i + 1 :] -= work[i + 1 :, i, None] * work[i, i + 1 :]
        for i in range(d - 1, 0, -1):
            work[:i, d:] -= work[:i, i, None] * work[i, d:]
    return work[:, d:]


def triangle(columns: Array, r: Array) -> None:
    """R of the QR factors of (m, k, N) into the upper triangle of (k, k, N), by modified Gram-Schmidt.

    The columns are used up.  R alone is as accurate as Householder's; the loss of orthogonality of Q does
    not matter here.
    """
    q = columns
    k = q.shape[1]
    scratch = np.empty((q.shape[0], q.shape[2]))
    for j in range(k):
        unit = q[:, j]
        np.einsum("mn,mn->n", unit, unit, out=r[j, j])
        np.sqrt(r[j, j], out=r[j, j])
        unit /= np.where(r[j, j] > 0, r[j, j], 1.0)
        for i in range(j + 1, k):
            np.einsum("mn,mn->n", unit, q[:, i], out=r[j, i])
            np.multiply(unit, r[j, i], out=scratch)
            q[:, i] -= scratch


def inverse_gram(r: Array, out: Array) -> None:
    """(R^T R)^-1 = R^-1 R^-T into (k, k, N), for upper triangular R (k, k, N), which is inverted in place."""
    k = r.shape[0]
    for j in range(k):
        np.divide(1.0, r[j, j], out=r[j, j])
    for j in range(k):
        for i in range(j):  # r[i, m] is inverted already for m < j, r[m, j] not yet for m >= i
            np.multiply(np.einsum("mn,mn->n", r[i, i:j], r[i:j, j]), -r[j, j], out=r[i, j])
    for i in range(k):
        for j in range(i, k):
            np.einsum("mn,mn->n", r[i, j:], r[j, j:], out=out[i, j])
            if i != j:
                out[j, i] = out[i, j]
