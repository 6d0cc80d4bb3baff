"""Rigid transforms: a constant one ``T_a_b`` (it maps b-coordinates to a-coordinates), the difference of two batches of
poses, and the transform that brings one set of points closest to another.
"""

from __future__ import annotations

from dataclasses import field
from functools import cached_property
from typing import Any, cast

import numpy as np

from elastocal.errors import ShapeError, TooFewError, UnobservableError
from elastocal.spatial.entries import IDENTITY, ORIGIN, Array, Matrix3, Row3
from elastocal.spatial.rotation import nearest_rotation, rotation_vector, rpy_matrix
from elastocal.values import dataclass


def _frozen(name: str, values: Any, shape: tuple[int, ...]) -> Array:
    try:
        array = np.array(values, dtype=np.float64)
        array = array if array.shape == shape else array.reshape(shape)
    except (TypeError, ValueError):
        message = f"{name} of a pose: has shape {np.shape(values)}, {shape} is needed"
        raise ShapeError(message, parameter=name, value=np.shape(values)) from None
    array.setflags(write=False)
    return array


_UNTURNED = _frozen("rotation", np.eye(3), (3, 3))


@dataclass(frozen=True, eq=False)
class Pose:
    """Rotation (3, 3) and translation (3,) of one fixed frame."""

    rotation: Array = field(default_factory=lambda: np.eye(3))
    translation: Array = field(default_factory=lambda: np.zeros(3))

    def __post_init__(self) -> None:
        if self.rotation is not _UNTURNED:
            object.__setattr__(self, "rotation", _frozen("rotation", self.rotation, (3, 3)))
        object.__setattr__(self, "translation", _frozen("translation", self.translation, (3,)))

    @classmethod
    def from_xyz_rpy(cls, xyz: object = (0, 0, 0), rpy: tuple[float, float, float] = (0, 0, 0)) -> Pose:
        """Translation and fixed-axis roll, pitch, yaw, as URDF writes them."""
        return cls(rpy_matrix(*rpy) if any(rpy) else _UNTURNED, xyz)  # type: ignore[arg-type]

    def __matmul__(self, other: Pose) -> Pose:
        return Pose(
            self.rotation @ other.rotation,
            self.rotation @ other.translation + self.translation,
        )

    def inverse(self) -> Pose:
        return Pose(self.rotation.T, -self.rotation.T @ self.translation)

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


def missing(position: Array, rotation: Array | None, place: Array, turn: Array) -> Array:
    """What brings a pose (place, turn) to the desired one: shift and rotation vector in base axes, (6, N).

    Positions are (3, N), rotations (3, 3, N); without a desired rotation the shift alone, (3, N).
    """
    shift = position - place
    if rotation is None:
        return shift
    return np.concatenate([shift, rotation_vector(np.einsum("ijn,kjn->ikn", rotation, turn))])


THIN = 1e-3
"""Points are in line where their spread across is less than this share of the spread along."""


def rigid_fit(points: Array, targets: Array) -> tuple[Pose, float]:
    """T with least sum of |T p - t|^2 over points and targets (N, 3), and the root mean square distance left.

    The rotation is the nearest one to sum (t - mean)(p - mean)^T, also for points in a plane (Kabsch, Umeyama).
    """
    if len(points) < 3:
        raise TooFewError(
            f"{len(points)} points do not tell how axes lie; at least three that are not in line do", value=len(points)
        )
    centre, aim = points.mean(axis=0), targets.mean(axis=0)
    for cloud in (points - centre, targets - aim):
        spread = np.linalg.svd(cloud, compute_uv=False)
        if spread[1] < THIN * spread[0] or spread[0] == 0:
            raise UnobservableError(
                "all points are in line and do not tell how axes lie; add some beside the line", code="points-in-line"
            )
    rotation = nearest_rotation((targets - aim).T @ (points - centre))
    pose = Pose(rotation, aim - rotation @ centre)
    left = points @ rotation.T + pose.translation - targets
    return pose, float(np.sqrt(np.mean(np.sum(left**2, axis=1))))
