"""Principal values and axes of a symmetric matrix known from its components, with accuracy to first order.

d lambda = v^T dM v,     turn of v1 towards v2 = v2^T dM v1 / (lambda1 - lambda2)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elastocal.spatial.entries import Array


@dataclass(frozen=True, eq=False)
class Principal:
    """``values`` (d,) falling, with their ``sd``; ``axes`` (d, d) as columns, right-handed.

    ``angle`` of the first axis from x towards y, within half a turn, and its sd (in a plane only, else nan).
    """

    values: Array
    sd: Array
    axes: Array
    angle: float
    angle_sd: float


def pairs(dimension: int) -> tuple[tuple[int, int], ...]:
    """Index pairs of the components: the diagonal, then above it."""
    i, j = np.triu_indices(dimension, 1)
    return (*((k, k) for k in range(dimension)), *((int(a), int(b)) for a, b in zip(i, j, strict=True)))


def quadratic_rows(one: Array, other: Array) -> Array:
    """Rows r (n, m) with r . components = one^T M other, for vectors (n, d)."""
    return np.column_stack(
        [
            one[:, i] * other[:, j] if i == j else one[:, i] * other[:, j] + one[:, j] * other[:, i]
            for i, j in pairs(one.shape[1])
        ]
    )


def matrix_of(components: Array, dimension: int) -> Array:
    out = np.zeros((dimension, dimension))
    for value, (i, j) in zip(components, pairs(dimension), strict=True):
        out[i, j] = out[j, i] = value
    return out


def principal(components: Array, covariance: Array, dimension: int) -> Principal:
    values, axes = np.linalg.eigh(matrix_of(components, dimension))
    values, axes = values[::-1], axes[:, ::-1]
    first = axes[:, 0] * (np.sign(axes[np.argmax(np.abs(axes[:, 0]) > 1e-12), 0]) or 1.0)
    axes = np.column_stack([first, *axes.T[1:]])
    axes[:, -1] *= np.sign(np.linalg.det(axes))
    rows = quadratic_rows(axes.T, axes.T)
    sd = np.sqrt(np.einsum("im,mn,in->i", rows, covariance, rows))
    if dimension != 2:
        return Principal(values, sd, axes, np.nan, np.nan)
    turn = quadratic_rows(axes[:, 1:].T, axes[:, :1].T)[0]
    apart = values[0] - values[1]
    angle_sd = float(np.sqrt(turn @ covariance @ turn) / apart) if apart > 0 else np.nan
    return Principal(values, sd, axes, float(np.arctan2(axes[1, 0], axes[0, 0])), angle_sd)
