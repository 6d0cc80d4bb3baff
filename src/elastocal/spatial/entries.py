"""Entries of batched matrices: a float where the value is the same in every configuration, else a vector.

Products along a chain meet many exact zeros and ones (frames that only shift, axes that are aligned).
Keeping such entries as floats lets the unrolled products skip them, on numbers and on symbols (``tape``) alike.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from elastocal.spatial import angles

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Entry = float | Array
Row3 = tuple[Entry, Entry, Entry]
Matrix3 = tuple[Row3, Row3, Row3]

IDENTITY: Matrix3 = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
ORIGIN: Row3 = (0.0, 0.0, 0.0)


def mul(a: Entry, b: Entry) -> Entry:
    """a * b, free of work where a factor is the constant 0, 1 or -1."""
    if isinstance(b, float):
        a, b = b, a
    if isinstance(a, float):
        if a == 0.0:
            return 0.0
        if a == 1.0:
            return b
        if a == -1.0:
            return -b
    return a * b


def add(a: Entry, b: Entry) -> Entry:
    """a + b, free of work where a term is the constant 0."""
    if isinstance(a, float) and a == 0.0:
        return b
    if isinstance(b, float) and b == 0.0:
        return a
    return a + b


def sub(a: Entry, b: Entry) -> Entry:
    """a - b, free of work where a term is the constant 0."""
    if isinstance(b, float) and b == 0.0:
        return a
    if isinstance(a, float) and a == 0.0:
        return -b
    return a - b


def dot(a: Row3, b: Row3) -> Entry:
    return add(add(mul(a[0], b[0]), mul(a[1], b[1])), mul(a[2], b[2]))


def cross(a: Row3, b: Row3) -> Row3:
    return (
        sub(mul(a[1], b[2]), mul(a[2], b[1])),
        sub(mul(a[2], b[0]), mul(a[0], b[2])),
        sub(mul(a[0], b[1]), mul(a[1], b[0])),
    )


def plus(a: Row3, b: Row3) -> Row3:
    return add(a[0], b[0]), add(a[1], b[1]), add(a[2], b[2])


def minus(a: Row3, b: Row3) -> Row3:
    return sub(a[0], b[0]), sub(a[1], b[1]), sub(a[2], b[2])


def scaled(a: Row3, s: Entry) -> Row3:
    return mul(a[0], s), mul(a[1], s), mul(a[2], s)


def outer(a: Row3, b: Row3) -> Matrix3:
    return scaled(b, a[0]), scaled(b, a[1]), scaled(b, a[2])


def column(m: Matrix3, j: int) -> Row3:
    return m[0][j], m[1][j], m[2][j]


def from_columns(c: tuple[Row3, Row3, Row3]) -> Matrix3:
    a, b, d = c
    return (a[0], b[0], d[0]), (a[1], b[1], d[1]), (a[2], b[2], d[2])


def times_vector(m: Matrix3, t: Row3) -> Row3:
    return dot(m[0], t), dot(m[1], t), dot(m[2], t)


def times_matrix(m: Matrix3, c: Matrix3) -> Matrix3:
    cols = column(c, 0), column(c, 1), column(c, 2)
    if c == IDENTITY:
        return m
    return from_columns((times_vector(m, cols[0]), times_vector(m, cols[1]), times_vector(m, cols[2])))


def turned(m: Matrix3, axis: int, c: Entry, s: Entry) -> Matrix3:
    """m times the rotation by (cos, sin) about coordinate axis ``axis``."""
    j, k = (axis + 1) % 3, (axis + 2) % 3
    u, v = column(m, j), column(m, k)
    cols = [column(m, axis)] * 3
    cols[j] = plus(scaled(u, c), scaled(v, s))
    cols[k] = minus(scaled(v, c), scaled(u, s))
    return from_columns((cols[0], cols[1], cols[2]))


def cos_sin(angle: Entry) -> tuple[Entry, Entry]:
    """Cosine and sine, the same bits for floats and arrays; absolute error a few 1e-16."""
    if isinstance(angle, float):
        return angles.of_float(angle)
    if angle.size > angles.FEW:
        return angles.of_array(angle)
    both = np.array([angles.of_float(x) for x in angle.ravel().tolist()]).reshape(-1, 2).T
    return both[0].reshape(angle.shape), both[1].reshape(angle.shape)


def dense(entries: tuple[Entry, ...] | list[Entry], n: int) -> Array:
    """Stack entries into a (len, n) array."""
    out = np.empty((len(entries), n))
    for row, entry in zip(out, entries, strict=True):
        row[:] = entry
    return out
