"""A tall whitened matrix reduced to a small triangle with the same singular values and null space.

Only orthogonal transformations are used (never the normal equations, which put a null space of 1e-15 at 5e-8),
block after block, so that memory does not grow with the number of readings.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from elastocal.spatial.entries import Array


def stacked_triangle(blocks: Iterable[Array], width: int) -> Array:
    """R (at most width rows) of the QR factors of all blocks (rows, width) stacked."""
    r = np.zeros((0, width))
    for block in blocks:
        r = np.asarray(np.linalg.qr(np.concatenate([r, block]), mode="r"))
    return r
