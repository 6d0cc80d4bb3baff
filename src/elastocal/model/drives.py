"""From what motors and encoders show to what the controller shows (001 eq. 1, 3 and 8).

    phi = S c                     motor angles by the structure matrix S (motor rad per rad or m of an axis)
    eps = eps_0 + n phi / 2 pi    encoder counts, n per motor turn, eps_0 where all axes are at zero

Virtual work gives the torques: tau = S^T tau_m, what the axes feel of the motors' torques.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elastocal.errors import InputError
from elastocal.spatial.entries import Array

TURN = 2 * np.pi


@dataclass(frozen=True, eq=False)
class Drives:
    """``structure`` is S (n, n), rows motors, columns axes; ``counts_per_turn`` (n,) is nan where it is unknown."""

    structure: Array
    counts_per_turn: Array
    counts_at_zero: Array

    def __post_init__(self) -> None:
        s = np.asarray(self.structure, dtype=np.float64)
        n = len(s)
        if s.shape != (n, n) or not np.all(np.isfinite(s)):
            raise InputError("controller: structure must be a square matrix of finite numbers, one row for each motor")
        lengths = np.linalg.norm(s, axis=1)
        if n and (np.any(lengths == 0) or abs(np.linalg.det(s / lengths[:, None])) < 1e-9):
            raise InputError("controller: structure is singular; its motors do not determine the axes")
        per_turn = np.asarray(self.counts_per_turn, dtype=np.float64).reshape(n)
        if np.any(per_turn == 0):
            raise InputError("controller: counts_per_turn must not be zero")
        for name, value in (("structure", s), ("counts_per_turn", per_turn), ("counts_at_zero", self.counts_at_zero)):
            object.__setattr__(self, name, np.asarray(value, dtype=np.float64).reshape(s.shape if value is s else (n,)))

    def motors(self, controller: Array) -> Array:
        """(N, n) controller values to motor angles in rad."""
        return np.asarray(controller @ self.structure.T)

    def counts(self, controller: Array) -> Array:
        return np.asarray(self.counts_at_zero + self.motors(controller) * self.counts_per_turn / TURN)

    def from_motors(self, motors: Array) -> Array:
        """(N, n) motor angles in rad to controller values in rad or m."""
        return np.asarray(np.linalg.solve(self.structure, motors.T).T)

    def motors_of_counts(self, counts: Array) -> Array:
        """(N, n) counts to motor angles in rad; nan where the counts per turn are unknown."""
        return np.asarray(TURN * (counts - self.counts_at_zero) / self.counts_per_turn)

    def from_counts(self, counts: Array) -> Array:
        return self.from_motors(self.motors_of_counts(counts))

    def torques_to_motors(self, torques: Array) -> Array:
        """(N, n) torques of the controller's axes to those of the motors."""
        return np.asarray(np.linalg.solve(self.structure.T, torques.T).T)

    def torques_of_motors(self, torques: Array) -> Array:
        """(N, n) torques of the motors to those of the controller's axes: S^T tau_m.

        A torque that is nan spoils those axes only that its motor turns with.
        """
        lost = np.isnan(torques).astype(float) @ (self.structure != 0) > 0
        return np.where(lost, np.nan, np.nan_to_num(torques) @ self.structure)
