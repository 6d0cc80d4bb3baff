"""Coordinates in which a whitened linear problem y = A beta + e is as well conditioned as it can be.

A diag(lengths)^-1 = Q R with columns of unit length, and z = R diag(lengths) (beta - beta_hat).
Then y - A beta = r - Q z, and Q^T Q = I whatever the units and the correlation of the parameters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from elastocal.errors import InputError
from elastocal.spatial.entries import Array

SMALLEST = 1e-9


@dataclass(frozen=True, eq=False)
class Basis:
    """``values`` is the least-squares estimate beta_hat and ``residuals`` is r = y - A beta_hat."""

    names: tuple[str, ...]
    q: Array
    triangle: Array
    lengths: Array
    values: Array
    residuals: Array

    def parameters(self, z: Array) -> Array:
        """beta = beta_hat + diag(lengths)^-1 R^-1 z of coordinates (..., p)."""
        p = len(self.lengths)
        moved = np.linalg.solve(self.triangle, z.reshape(-1, p).T).T / self.lengths
        moved += self.values
        return moved.reshape(z.shape)


def basis(names: Sequence[str], matrix: Array, readings: Array) -> Basis:
    """QR of the columns at unit length; refuses what has no unique solution or nothing to spare."""
    a, y = np.asarray(matrix, dtype=np.float64), np.asarray(readings, dtype=np.float64)
    if a.ndim != 2 or y.shape != a.shape[:1] or len(names) != a.shape[1]:
        raise InputError(
            f"{len(names)} names, a matrix {a.shape} and readings {y.shape} do not belong together; "
            "give one column per name and one row per reading"
        )
    if not np.all(np.isfinite(a)) or not np.all(np.isfinite(y)):
        raise InputError("the matrix and the readings must be finite numbers; leave out rows without a value")
    if len(y) < len(names) + 1:
        raise InputError(
            f"{len(y)} readings cannot tell how sure {len(names)} parameters are; "
            f"measure at least {len(names) + 1} or seek fewer parameters"
        )
    lengths = np.linalg.norm(a, axis=0)
    if np.any(lengths == 0):
        lost = names[int(np.argmin(lengths))]
        raise InputError(f"no reading depends on {lost}; leave it out or load the robot in another direction")
    q, r = np.linalg.qr(a / lengths)
    if np.linalg.norm(r, -2) < SMALLEST:
        raise InputError("the parameters cannot be told apart by these readings; see which with identifiability.groups")
    z = q.T @ y
    values = np.linalg.solve(r, z) / lengths
    return Basis(tuple(names), q, r, lengths, values, y - q @ z)
