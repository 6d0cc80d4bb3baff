"""A constant rigid transform ``T_a_b``: it maps b-coordinates to a-coordinates."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import cast

import numpy as np

from elastocal.spatial.entries import IDENTITY, ORIGIN, Array, Matrix3, Row3
from elastocal.spatial.rotation import rpy_matrix


def _frozen(values: object, shape: tuple[int, ...]) -> Array:
    array = np.array(values, dtype=np.float64).reshape(shape)
    array.setflags(write=False)
    return array


@dataclass(frozen=True, eq=False)
class Pose:
    """Rotation (3, 3) and translation (3,) of one fixed frame."""

    rotation: Array = field(default_factory=lambda: np.eye(3))
    translation: Array = field(default_factory=lambda: np.zeros(3))

    def __post_init__(self) -> None:
        object.__setattr__(self, "rotation", _frozen(self.rotation, (3, 3)))
        object.__setattr__(self, "translation", _frozen(self.translation, (3,)))

    @classmethod
    def from_xyz_rpy(cls, xyz: object = (0, 0, 0), rpy: tuple[float, float, float] = (0, 0, 0)) -> Pose:
        """Translation and fixed-axis roll, pitch, yaw, as URDF writes them."""
        return cls(rpy_matrix(*rpy), _frozen(xyz, (3,)))

    def __matmul__(self, other: Pose) -> Pose:
        return Pose(
            self.rotation @ other.rotation,
            self.rotation @ other.translation + self.translation,
        )

    def matrix(self) -> Array:
        out = np.eye(4)
        out[:3, :3] = self.rotation
        out[:3, 3] = self.translation
        return out

    @cached_property
    def entries(self) -> tuple[Matrix3, Row3]:
        """Rotation and translation as plain floats; rounding dust next to 0 and 1 is swept."""
        near = np.round(self.rotation)
        rot = np.where(np.abs(self.rotation - near) < 4e-16, near, self.rotation) + 0.0
        if np.array_equal(rot, np.eye(3)):
            rows: Matrix3 = IDENTITY
        else:
            rows = cast(Matrix3, tuple(tuple(float(x) for x in row) for row in rot))
        shift = cast(Row3, tuple(float(x) + 0.0 for x in self.translation))
        return rows, (ORIGIN if shift == ORIGIN else shift)
