"""Backlash of a gripper or tool holder by direction: the tool lies against the edge of the backlash.

The backlash is an ellipsoid with half axes g = (gx, gy, gz) along the frame's axes.  A force f pushes the
tool to the point of the ellipsoid farthest along f:

    theta = G^2 f / |G f|,   G = diag(g)          (isotropic: g f / |f|, 002 eq. 7)

Its tangent is (G^2 - theta theta^T) / |G f|.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar, Self

import numpy as np

from elastocal.errors import RangeError
from elastocal.model.elements import FrameCoordinate, Terms
from elastocal.model.frames import FrameTree
from elastocal.model.parameters import Parameter, quantity
from elastocal.model.posture import Posture
from elastocal.spatial import batch
from elastocal.spatial.entries import Array, Bools
from elastocal.values import dataclass


@dataclass(frozen=True, kw_only=True)
class GripperBacklash(FrameCoordinate):
    """Half gaps along x, y, z of ``frame``; one number means the same in all directions."""

    kind: ClassVar[str] = "gripper_backlash"
    axes: ClassVar[str] = "xyz"
    gap: float | tuple[float, float, float] = quantity("length", default=0.0)
    threshold: float = quantity("force", default=0.0)

    @property
    def isotropic(self) -> bool:
        return not isinstance(self.gap, tuple)

    @property
    def half_axes(self) -> Array:
        return np.array(self.gap if isinstance(self.gap, tuple) else (self.gap,) * 3, dtype=np.float64)

    def check_physics(self) -> None:
        if not np.all(self.half_axes >= 0) or not self.threshold >= 0:
            raise RangeError(f"gripper_backlash at {self.frame}: gaps and threshold must not be negative")

    def parameters(self, tree: FrameTree) -> tuple[Parameter, ...]:
        if self.isotropic:
            return (self.parameter("gap", "m", float(self.half_axes[0]), 1e-4),)
        pairs = zip("xyz", self.half_axes, strict=True)
        return tuple(self.parameter(f"gap_{a}", "m", float(g), 1e-4) for a, g in pairs)

    def with_values(self, values: Sequence[float]) -> Self:
        if self.isotropic:
            return replace(self, gap=float(values[0]))
        return replace(self, gap=(float(values[0]), float(values[1]), float(values[2])))

    def backlash(self, force: Array) -> tuple[Array, Array] | None:
        g = self.half_axes[:, None]
        if not g.any():
            return None
        reach = g * force
        size = np.sqrt(batch.dot_products(reach, reach))
        share = np.divide(1.0, size, out=np.zeros_like(size), where=size > 0)
        theta = g * reach * share
        tangent = -theta[:, None] * theta
        for i in range(3):
            tangent[i, i] += g[i] ** 2
        tangent *= share
        return theta, tangent

    def undetermined(self, force: Array, noise: Array) -> Bools | None:
        active = self.half_axes > 0
        size = np.linalg.norm(force[active], axis=0)
        return np.asarray(size <= np.maximum(self.threshold, np.linalg.norm(noise[active], axis=0)))

    def sensitivity(self, force: Array, posture: Posture) -> tuple[Terms, ...]:
        if self.isotropic:
            size = np.linalg.norm(force, axis=0)
            unit = np.where(size > 0, force / np.where(size > 0, size, 1.0), 0.0)
            return (tuple(enumerate(unit)),)
        g = self.half_axes[:, None]
        size = np.linalg.norm(g * force, axis=0)
        safe = np.where(size > 0, size, 1.0)
        direct = np.eye(3)[:, :, None] * (2 * g * force / safe)[None]
        shared = (g**2 * force / safe)[:, None] * (g * force**2 / safe**2)[None]
        slopes = np.where(size > 0, direct - shared, 0.0)
        return tuple(tuple(enumerate(slopes[:, p])) for p in range(3))
