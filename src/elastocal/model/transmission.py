"""From what the controller shows to joint values, in one place: signs, zeros and couplings.

    q = M (c - z)        M holds the signs on its diagonal and the couplings beside it

Virtual work gives the torques: what the controller's axes feel is M^T times the joint torques.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elastocal.errors import InputError
from elastocal.spatial.entries import Array


@dataclass(frozen=True, eq=False)
class Transmission:
    """``axes`` names the controller's axes; ``matrix`` is M (n, n); ``zero`` is z, in rad or m."""

    axes: tuple[str, ...]
    matrix: Array
    zero: Array

    def __post_init__(self) -> None:
        n = len(self.axes)
        matrix = np.asarray(self.matrix, dtype=np.float64).reshape(n, n)
        if n and (not np.all(np.isfinite(matrix)) or abs(np.linalg.det(matrix)) < 1e-12):
            raise InputError("controller: signs and couplings make a singular map; two axes would move one joint")
        object.__setattr__(self, "matrix", matrix)
        object.__setattr__(self, "zero", np.asarray(self.zero, dtype=np.float64).reshape(n))

    @classmethod
    def identity(cls, axes: tuple[str, ...]) -> Transmission:
        return cls(axes, np.eye(len(axes)), np.zeros(len(axes)))

    def to_joints(self, controller: Array) -> Array:
        """(N, n) controller values to (N, n) joint values, both rad or m."""
        return np.asarray((controller - self.zero) @ self.matrix.T)

    def to_controller(self, joints: Array) -> Array:
        return np.asarray(np.linalg.solve(self.matrix, joints.T).T + self.zero)

    def torques_to_controller(self, torques: Array) -> Array:
        """(N, n) joint torques to the torques that the controller's axes carry."""
        return np.asarray(torques @ self.matrix)
