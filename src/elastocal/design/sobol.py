"""Sobol points, plain or scrambled: the points of ``scipy.stats.qmc``, whose import would take longer than most plans.

Coordinate j of point k is the exclusive or of the direction numbers that the Gray code of k picks.  Direction numbers
of a coordinate follow from a primitive polynomial over the field of two elements and its first numbers, both as
tabulated by Joe and Kuo (SIAM J. Sci. Comput. 30, 2008).  Scrambled points (Matousek) have every direction number
multiplied by a random lower triangular matrix of bits, and all points shifted by a random number.
"""

from __future__ import annotations

import numpy as np

from elastocal.spatial.entries import Array, Ints

BITS = 30
_START = (
    (1, ()), (3, (1,)), (7, (1, 3)), (11, (1, 3, 1)), (13, (1, 1, 1)), (19, (1, 1, 3, 3)), (25, (1, 3, 5, 13)),
    (37, (1, 1, 5, 5, 17)), (41, (1, 1, 5, 5, 5)), (47, (1, 1, 7, 11, 19)), (55, (1, 1, 5, 1, 1)),
    (59, (1, 1, 1, 3, 11)), (61, (1, 3, 5, 5, 31)), (67, (1, 3, 3, 9, 7, 49)), (91, (1, 1, 1, 15, 21, 21)),
    (97, (1, 3, 1, 13, 27, 49)),
)  # fmt: skip
"""Polynomial, its bits from the highest power on, and first numbers of every coordinate."""


def sobol(d: int, log2: int, rng: np.random.Generator | None = None) -> Array:
    """The first 2^log2 points (2^log2, d) of the unit box; scrambled with a generator."""
    if d > len(_START):
        from scipy.stats import qmc

        return np.asarray(qmc.Sobol(d, scramble=rng is not None, seed=rng).random_base2(log2))
    directions, shift = (
        np.array([_directions(*_START[j]) for j in range(d)], np.int64).reshape(d, BITS),
        np.zeros(d, np.int64),
    )
    if rng is not None:
        weights, own = 2 ** np.arange(BITS), rng.spawn(1)[0]
        shift = own.integers(2, size=(d, BITS), dtype=np.uint32).astype(np.int64) @ weights
        matrices = np.tril(own.integers(2, size=(d, BITS, BITS), dtype=np.uint32)).astype(np.int64)
        matrices[:, np.arange(BITS), np.arange(BITS)] = 1
        bits = directions[:, :, None] >> np.arange(BITS)[::-1] & 1  # of every number, the highest first
        directions = (np.einsum("dpk,djk->djp", matrices, bits) & 1) @ weights[::-1]
    point = np.arange(2**log2)
    gray = point ^ (point >> 1)
    out = np.broadcast_to(shift, (len(point), d)).copy()
    for j in range(log2):
        out ^= (gray[:, None] >> j & 1) * directions[:, j]
    return np.asarray(out / 2.0**BITS)


def _directions(polynomial: int, first: tuple[int, ...]) -> Ints:
    """Numbers v_1, v_2, ... of one coordinate, each with its leading bit in place."""
    degree = len(first)
    m = list(first)
    for k in range(degree, BITS):
        if degree == 0:
            m.append(1)
            continue
        new = m[k - degree] ^ (m[k - degree] << degree)
        for i in range(1, degree):
            if polynomial >> (degree - i) & 1:
                new ^= m[k - i] << i
        m.append(new)
    return np.array([v << (BITS - 1 - k) for k, v in enumerate(m)], dtype=np.int64)
