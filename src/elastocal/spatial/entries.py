"""Entries of batched matrices: a float where the value is the same in every configuration, else a vector.

Products along a chain meet many exact zeros and ones (frames that only shift, axes that are aligned).
Keeping such entries as floats lets the unrolled products skip them, on numbers and on symbols (``tape``) alike.

Cosine and sine are one series, as text: floats, arrays and compiled code run the same operations and give the same
bits, on every machine.  With x = k pi + 2 h, |h| <= pi / 4, and s = sin h by its series,

    cos x = (-1)^k (1 - 2 s^2),   sin x = (-1)^k 2 s sqrt(1 - s^2).

pi stands in three parts, so that k pi is exact for |x| below 1e6.  Absolute error at most 4e-16 there; beyond, that
of the last digit of x, up to 1e15.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

_PI = (3.1415926553308964, -1.7411031384001463e-09, -7.00686879617986e-19)
_SERIES = tuple((-1.0) ** k / math.factorial(2 * k + 1) for k in range(1, 9))
FEW_ANGLES = 12
"""Angles up to which floats, one by one, take less time than arrays."""


def cos_sin_statements(x: str, cos: str, sin: str) -> list[str]:
    """Assign cosine and sine of ``x``; k, h, z, u and v are used up."""
    series = repr(_SERIES[-1])
    for c in _SERIES[-2::-1]:
        series = f"(z * {series} + {c!r})"
    return [
        f"k = rint({x} * {1 / math.pi!r})",
        f"h = ((({x} - k * {_PI[0]!r}) - k * {_PI[1]!r}) - k * {_PI[2]!r}) * 0.5",
        "z = h * h",
        f"u = h + h * (z * {series})",
        "v = u * u",
        "k = 1.0 - 2.0 * abs(k - 2.0 * rint(0.5 * k))",
        f"{cos} = (1.0 - 2.0 * v) * k",
        f"{sin} = (u * sqrt(abs(1.0 - v))) * (2.0 * k)",
    ]


def _cos_sin_function(rint: Any, sqrt: Any) -> Callable[[Any], tuple[Any, Any]]:
    lines = ["def cos_sin(x):", *(f"    {line}" for line in cos_sin_statements("x", "c", "s")), "    return c, s"]
    space = {"rint": rint, "sqrt": sqrt}
    exec(compile("\n".join(lines), "<cos_sin>", "exec"), space)
    return space["cos_sin"]  # type: ignore[no-any-return]


def _rint(x: float) -> float:
    return float(round(x)) if math.isfinite(x) else math.nan


cos_sin_of_array = _cos_sin_function(np.rint, np.sqrt)
cos_sin_of_float = _cos_sin_function(_rint, math.sqrt)


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
        return cos_sin_of_float(angle)
    if angle.size > FEW_ANGLES:
        return cos_sin_of_array(angle)
    both = np.array([cos_sin_of_float(x) for x in angle.ravel().tolist()]).reshape(-1, 2).T
    return both[0].reshape(angle.shape), both[1].reshape(angle.shape)


def dense(entries: tuple[Entry, ...] | list[Entry], n: int) -> Array:
    """Stack entries into a (len, n) array."""
    out = np.empty((len(entries), n))
    for row, entry in zip(out, entries, strict=True):
        row[:] = entry
    return out
