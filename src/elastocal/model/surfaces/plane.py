"""The flat face of a body: phi = n . (x - p), with n pointing out of the body."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar, Self

import numpy as np

from elastocal.model.parameters import Parameter, quantity
from elastocal.model.surfaces.surface import Near, Pair, Surface, Vector, leaning, unit
from elastocal.spatial.batch import dot_products
from elastocal.spatial.entries import Array
from elastocal.values import dataclass


@dataclass(frozen=True, kw_only=True)
class Plane(Surface):
    """Shape: point p (3) and unit normal n (3).

    Parameters: ``height`` of the face along the stated normal, and the slopes ``tilt`` about the stated point.
    """

    kind: ClassVar[str] = "plane"
    point: Vector = quantity("length")
    normal: Vector
    height: float = quantity("length", default=0.0)
    tilt: Pair = quantity("angle", default=(0.0, 0.0))

    def __post_init__(self) -> None:
        unit(self.label, "normal", self.normal)
        self.refuse_unless_finite(self.point, self.height, self.tilt)

    def _stated(self) -> Array:
        return unit(self.label, "normal", self.normal)

    def shape(self) -> Array:
        stated = self._stated()
        point = np.array(self.point) + self.height * stated
        return np.concatenate([point, leaning(stated, self.tilt)[0]])

    def slope(self) -> Array:
        out = np.zeros((6, 3))
        out[:3, 0] = self._stated()
        out[3:, 1:] = leaning(self._stated(), self.tilt)[1]
        return out

    def parameters(self) -> tuple[Parameter, ...]:
        tilt = tuple(self.parameter(f"tilt_{s}", "rad", v) for s, v in zip("uv", self.tilt, strict=True))
        return (self.parameter("height", "m", self.height), *tilt)

    def with_values(self, values: Sequence[float]) -> Self:
        height, tilt_u, tilt_v = (float(v) for v in values)
        return replace(self, height=height, tilt=(tilt_u, tilt_v))

    @staticmethod
    def near(shape: Array, x: Array) -> Near:
        n = shape[3:6]
        distance = dot_products(n, x - shape[:3])
        return Near(distance, n, np.zeros((3, 3, x.shape[1])))

    @staticmethod
    def by_shape(shape: Array, x: Array) -> tuple[Array, Array]:
        by_normal = np.zeros((3, 6, x.shape[1]))
        by_normal[:, 3:] = np.eye(3)[:, :, None]
        return np.concatenate([-shape[3:6], x - shape[:3]]), by_normal
