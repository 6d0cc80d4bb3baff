"""Whole numbers k for which |B k + t| is small: reduction by Lenstra, Lenstra and Lovasz, then Babai's planes."""

from __future__ import annotations

import numpy as np

from elastocal.spatial.entries import Array, Ints

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
    n = r.shape[1]
    whole, k = np.eye(n, dtype=np.int64), 1
    while k < n:
        for j in range(k - 1, -1, -1):
            m = round(r[j, k] / r[j, j])
            if m:
                r[:, k] -= m * r[:, j]
                whole[:, k] -= m * whole[:, j]
        pair = slice(k - 1, k + 1)
        long = float(np.hypot(r[k - 1, k], r[k, k]))
        if long**2 >= SWAP * r[k - 1, k - 1] ** 2:
            k += 1
            continue
        r[:, pair], whole[:, pair] = r[:, pair][:, ::-1].copy(), whole[:, pair][:, ::-1].copy()
        c, s = r[k - 1, k - 1] / long, r[k, k - 1] / long
        r[pair] = np.array([[c, s], [-s, c]]) @ r[pair]
        k = max(k - 1, 1)
    return whole
