"""How many combinations of parameters a matrix determines, decided the same way whatever units or row order.

A tall whitened matrix is reduced to a small triangle with the same singular values and null space first.  Only
orthogonal transformations are used (never the normal equations, which put a null space of 1e-15 at 5e-8), block after
block, so that memory does not grow with the number of readings.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from elastocal.spatial.entries import Array, Bools
from elastocal.values import dataclass

RELATIVE = 1e-9
"""Singular values below this part of the largest (columns of unit length) count as zero."""
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
