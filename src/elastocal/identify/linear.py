"""Weighted linear least squares (003 eq. 11-14): readings y = A pi + noise.

Whatever the number of readings, they first become a small problem with the same squares (``Reduced``): here by QR of
one matrix, in ``identify.streamed`` chunk by chunk.  ``fit_reduced`` is the only solver of both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from elastocal.errors import InputError
from elastocal.identifiability.groups import Groups, classify
from elastocal.identifiability.triangle import stacked_triangle
from elastocal.spatial.entries import Array


@dataclass(frozen=True, eq=False)
class Reduced:
    """All that least squares needs of ``count`` whitened rows: |A x - y|^2 = |T x - d|^2 + rest for every x.

    ``triangle`` T (r, p), ``readings`` d (r,), r at most p + 1.
    """

    triangle: Array
    readings: Array
    rest: float
    count: int


@dataclass(frozen=True, eq=False)
class ReducedFit:
    """Estimates of an identifiable basis: every parameter of G1 and the kept ones of G3 (then a combination).

    ``triangle`` R of the basis has R^T R = A^T A, and ``covariance`` = (R^T R)^-1 holds for the stated noise.
    ``squares`` is the sum of the squared residuals in units of the noise, with ``freedom`` equations to spare.
    """

    groups: Groups
    names: tuple[str, ...]
    values: Array
    covariance: Array
    triangle: Array
    squares: float
    freedom: int
    reduced: Reduced

    @property
    def sd(self) -> Array:
        return np.asarray(np.sqrt(np.diag(self.covariance)))

    @property
    def scatter(self) -> float:
        """Size of the residuals in units of the stated noise: about one where it is right, nan without spare rows."""
        return float(np.sqrt(self.squares / self.freedom)) if self.freedom else float("nan")


def fit_reduced(names: Sequence[str], scales: Array, reduced: Reduced, first: Sequence[str] = ()) -> ReducedFit:
    """Groups and least-squares values; ``scales`` and ``first`` as in ``identifiability.groups.classify``."""
    if not np.all(np.isfinite(reduced.triangle)) or not np.all(np.isfinite(reduced.readings)):
        raise InputError("readings and their derivatives must be finite numbers; leave the others out")
    groups = classify(names, reduced.triangle, scales, first)
    columns = reduced.triangle[:, list(groups.kept)]
    lengths = np.linalg.norm(columns, axis=0)
    q, unit = np.linalg.qr(columns / lengths)
    inverse = np.linalg.solve(unit, np.eye(len(lengths)))
    along = q.T @ reduced.readings
    across = reduced.readings - q @ along
    return ReducedFit(
        groups=groups,
        names=tuple(names[i] for i in groups.kept),
        values=inverse @ along / lengths,
        covariance=inverse @ inverse.T / np.outer(lengths, lengths),
        triangle=unit * lengths,
        squares=reduced.rest + float(across @ across),
        freedom=reduced.count - len(lengths),
        reduced=reduced,
    )


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
    """Fit readings (m,) with standard deviations ``noise`` (m,) or one for all; keeps the residual of every reading.

    The columns must be independent: choose them with ``identifiability.groups`` first.
    """
    a, y = np.asarray(matrix, dtype=np.float64), np.asarray(readings, dtype=np.float64)
    sigma = np.broadcast_to(np.asarray(noise, dtype=np.float64), y.shape)
    if not np.all(np.isfinite(y)) or not np.all(sigma > 0):
        raise InputError("readings must be finite numbers and their noise positive")
    if len(y) < a.shape[1]:
        raise InputError(f"{len(y)} equations cannot give {a.shape[1]} parameters; measure more or seek fewer")
    whitened = np.column_stack([a, y]) / sigma[:, None]
    lengths = np.linalg.norm(whitened[:, :-1], axis=0)
    if np.any(lengths == 0):
        lost = names[int(np.argmin(lengths))]
        raise InputError(f"no reading depends on {lost}; leave it out or load the robot in another direction")
    triangle = stacked_triangle([whitened], a.shape[1] + 1)
    found = fit_reduced(names, 1 / lengths, Reduced(triangle[:, :-1], triangle[:, -1], 0.0, len(y)))
    if found.groups.subgroups:
        together = found.groups.subgroups[0].text()
        raise InputError(f"the parameters cannot be told apart by these readings: {together}; keep one for each")
    residuals = y - a @ found.values
    return LinearFit(found.names, found.values, found.covariance, residuals, found.scatter, found.freedom)
