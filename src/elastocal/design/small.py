"""Small symmetric matrices of many candidates at once: (k, k, n), candidates last, only the lower triangle in use.

Every step is a few long vector operations; LAPACK would be called n times for matrices of a few numbers.
"""

from __future__ import annotations

import numpy as np

from elastocal.spatial.entries import Array


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
            for i in range(j + 1, k):
                s[i, j + 1 : i + 1] -= ratio[i - j - 1] * s[j + 1 : i + 1, j]
            s[j + 1 :, j] = ratio
    return s, d


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
        for i in range(k - j - 1):
            b[j + 1 + i, j + 1 : j + 2 + i] -= ratio[i] * column[: i + 1] + left[i] * ratio[: i + 1]
        total += b[j + 1, j + 1] / d[j + 1]
    return np.asarray(total)
