"""A round bar without ends: phi = |P (x - p)| - r, P = I - a a^T across its axis a through the point p."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar, Self

import numpy as np

from elastocal.model.parameters import Parameter, quantity
from elastocal.model.surfaces.sphere import round_about
from elastocal.model.surfaces.surface import Near, Pair, Surface, Vector, leaning, perpendiculars, unit
from elastocal.spatial.batch import dot_products
from elastocal.spatial.entries import Array
from elastocal.values import dataclass


@dataclass(frozen=True, kw_only=True)
class Cylinder(Surface):
    """Shape: point p (3), unit axis a (3), radius.

    A shift along the axis changes nothing, so the parameters are the ``shift`` across the stated axis, the slopes
    ``tilt`` of the axis about the stated point, and the radius.
    """

    kind: ClassVar[str] = "cylinder"
    point: Vector = quantity("length")
    axis: Vector
    radius: float = quantity("length")
    shift: Pair = quantity("length", default=(0.0, 0.0))
    tilt: Pair = quantity("angle", default=(0.0, 0.0))

    def __post_init__(self) -> None:
        unit(self.label, "axis", self.axis)
        self.refuse_unless_finite(self.point, self.shift, self.tilt)
        self.refuse_unless_positive(self.radius)

    def _stated(self) -> Array:
        return unit(self.label, "axis", self.axis)

    def shape(self) -> Array:
        stated = self._stated()
        point = np.array(self.point) + perpendiculars(stated) @ np.array(self.shift)
        return np.array([*point, *leaning(stated, self.tilt)[0], self.radius])

    def slope(self) -> Array:
        out = np.zeros((7, 5))
        out[:3, :2] = perpendiculars(self._stated())
        out[3:6, 2:4] = leaning(self._stated(), self.tilt)[1]
        out[6, 4] = 1.0
        return out

    def parameters(self) -> tuple[Parameter, ...]:
        shift = tuple(self.parameter(s, "m", v) for s, v in zip("uv", self.shift, strict=True))
        tilt = tuple(self.parameter(f"tilt_{s}", "rad", v) for s, v in zip("uv", self.tilt, strict=True))
        return (*shift, *tilt, self.parameter("radius", "m", self.radius))

    def with_values(self, values: Sequence[float]) -> Self:
        u, v, tilt_u, tilt_v, r = (float(value) for value in values)
        return replace(self, shift=(u, v), tilt=(tilt_u, tilt_v), radius=r)

    @staticmethod
    def near(shape: Array, x: Array) -> Near:
        a = shape[3:6]
        arm = x - shape[:3]
        arm = arm - a * dot_products(a, arm)
        return round_about(arm, shape[6], np.eye(3)[:, :, None] - a[:, None] * a[None])

    @staticmethod
    def by_shape(shape: Array, x: Array) -> tuple[Array, Array]:
        """With y = x - p and h = a . y: d arm = -h da - a (y . da), of which n sees only the first part."""
        distance, n, hessian = Cylinder.near(shape, x)
        a, y = shape[3:6], x - shape[:3]
        h = dot_products(a, y)
        by_distance = np.concatenate([-n, -h * n, np.full((1, x.shape[1]), -1.0)])
        turn = (np.eye(3)[:, :, None] - n[:, None] * n[None]) / (distance + shape[6])
        arm = -h * np.eye(3)[:, :, None] - a[:, None] * y[None]
        by_axis = np.einsum("ijn,jkn->ikn", turn, arm)
        return by_distance, np.concatenate([-hessian, by_axis, np.zeros((3, 1, x.shape[1]))], axis=1)
