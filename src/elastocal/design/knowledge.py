"""What a plan tells about the parameters: its information as a triangular root.

In coordinates y of the parameters x = T y (``information``) the information is M; with M = R^T R, R upper triangular,

    root = R^-1,    covariance of y = root root^T,    covariance of W x = (W T root)(W T root)^T.

The coordinates of nuisances come first, so that the leading block of ``root`` is the root of the inverse of their own
block of M, and the information of the others with nuisances marginalised (the Schur complement) has the determinant

    det M_s = prod over the other i of R_ii^2  (times that of T).
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elastocal.spatial.entries import Array, Ints
from elastocal.values import dataclass

RIDGE = 1e-7
"""Part of the mean information of a candidate that is added where a plan leaves a combination open."""


@dataclass(frozen=True, eq=False)
class Coordinates:
    """x = T y: ``transform`` (p, p), rows in the order of the parameters; the first ``nuisance`` of y are nuisances.

    ``order`` (p,) are the parameters with nuisances first; T with rows in this order is upper triangular.  Of
    combinations that stand for all parameters (``information.leading_space``) T is (p, r).
    """

    transform: Array
    order: Ints
    nuisance: int

    @cached_property
    def interest(self) -> Array:
        """(s, p): picks the parameters that are no nuisances."""
        return np.asarray(np.eye(len(self.order))[self.order[self.nuisance :]])

    @cached_property
    def log_scale(self) -> float:
        """log |det| of the block of T that belongs to the parameters sought; 0 where y has fewer numbers than x."""
        if self.transform.shape[1] < len(self.order):
            return 0.0
        diagonal = self.transform[self.order, np.arange(len(self.order))][self.nuisance :]
        return float(np.sum(np.log(np.abs(diagonal))))


@dataclass(frozen=True, eq=False)
class Knowledge:
    """``root`` (p, p), upper triangular; ``open`` where a ridge had to be added to have one."""

    root: Array
    coordinates: Coordinates
    open: bool = False

    @cached_property
    def covariance(self) -> Array:
        """Of y."""
        return np.asarray(self.root @ self.root.T)

    @cached_property
    def log_determinant(self) -> float:
        """log det of the information of the parameters sought, nuisances marginalised."""
        diagonal = np.abs(np.diag(self.root))[self.coordinates.nuisance :]
        return float(-2 * np.sum(np.log(diagonal))) - 2 * self.coordinates.log_scale

    def half(self, rows: Array) -> Array:
        """H (r, p) with H H^T the covariance of ``rows`` (r, p) times the parameters."""
        return np.asarray(rows @ self.coordinates.transform @ self.root)

    @cached_property
    def sd(self) -> Array:
        """Standard deviation (p,) of every parameter, nuisances too."""
        return np.asarray(np.linalg.norm(self.coordinates.transform @ self.root, axis=1))


def inverse_triangle(triangle: NDArray[np.floating[Any]]) -> Array:
    """R^-1 of an upper triangle, exactly one too: elimination finds nothing to do."""
    return np.asarray(np.linalg.inv(triangle))


def known(information: Array, coordinates: Coordinates) -> Knowledge:
    """From M (p, p) in the coordinates of a ``Space``; a ridge is added where M is singular or nearly so."""
    try:
        root = inverse_triangle(np.linalg.cholesky(information).T)
        if np.sum(root**2) < 1 / RIDGE:
            return Knowledge(root, coordinates)
    except np.linalg.LinAlgError:
        pass
    ridge = information + RIDGE * np.eye(len(information))
    return Knowledge(inverse_triangle(np.linalg.cholesky(ridge).T), coordinates, open=True)
