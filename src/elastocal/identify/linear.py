"""Weighted linear least squares (003 eq. 11-14): readings y = A pi + noise, by QR, never by normal equations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from elastocal.errors import InputError
from elastocal.spatial.entries import Array


@dataclass(frozen=True, eq=False)
class LinearFit:
    """Estimates of an identifiable set of parameters.

    ``covariance`` holds for the stated noise; ``scatter`` is the residuals' size in units of it (about one where
    the stated noise is right, nan without spare equations).
    """

    names: tuple[str, ...]
    values: Array
    covariance: Array
    residuals: Array
    scatter: float
    freedom: int

    @property
    def sd(self) -> Array:
        return np.asarray(np.sqrt(np.diag(self.covariance)))


def fit_linear(names: Sequence[str], matrix: Array, readings: Array, noise: Array | float) -> LinearFit:
    """Fit readings (m,) with standard deviations ``noise`` (m,) or one for all.

    The columns must be independent: choose them with ``identifiability.groups`` first.
    """
    a, y = np.asarray(matrix, dtype=np.float64), np.asarray(readings, dtype=np.float64)
    sigma = np.broadcast_to(np.asarray(noise, dtype=np.float64), y.shape)
    if not np.all(np.isfinite(y)) or not np.all(sigma > 0):
        raise InputError("readings must be finite numbers and their noise positive")
    if len(y) < a.shape[1]:
        raise InputError(f"{len(y)} equations cannot give {a.shape[1]} parameters; measure more or seek fewer")
    lengths = np.linalg.norm(a / sigma[:, None], axis=0)
    if np.any(lengths == 0):
        lost = names[int(np.argmin(lengths))]
        raise InputError(f"no reading depends on {lost}; leave it out or load the robot in another direction")
    q, r = np.linalg.qr(a / sigma[:, None] / lengths)
    if np.min(np.abs(np.diag(r))) < 1e-9:
        raise InputError("the parameters cannot be told apart by these readings; see which with identifiability.groups")
    inverse = np.linalg.solve(r, np.eye(len(lengths)))
    values = inverse @ (q.T @ (y / sigma)) / lengths
    residuals = y - a @ values
    freedom = len(y) - a.shape[1]
    scatter = float(np.sqrt(np.sum((residuals / sigma) ** 2) / freedom)) if freedom else float("nan")
    covariance = inverse @ inverse.T / np.outer(lengths, lengths)
    return LinearFit(tuple(names), values, covariance, residuals, scatter, freedom)
