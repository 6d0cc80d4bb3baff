"""A ball: phi = |x - c| - r."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar, Self

import numpy as np

from elastocal.model.parameters import Parameter, quantity
from elastocal.model.surfaces.surface import Near, Surface, Vector
from elastocal.spatial.batch import dot_products
from elastocal.spatial.entries import Array
from elastocal.values import dataclass


@dataclass(frozen=True, kw_only=True)
class Sphere(Surface):
    """Shape: centre c (3) and radius."""

    kind: ClassVar[str] = "sphere"
    centre: Vector = quantity("length")
    radius: float = quantity("length")

    def __post_init__(self) -> None:
        self.refuse_unless_finite(self.centre)
        self.refuse_unless_positive(self.radius)

    def shape(self) -> Array:
        return np.array([*self.centre, self.radius])

    def slope(self) -> Array:
        return np.eye(4)

    def parameters(self) -> tuple[Parameter, ...]:
        rows = zip(("x", "y", "z", "radius"), self.shape(), strict=True)
        return tuple(self.parameter(symbol, "m", value) for symbol, value in rows)

    def with_values(self, values: Sequence[float]) -> Self:
        x, y, z, r = (float(v) for v in values)
        return replace(self, centre=(x, y, z), radius=r)

    @staticmethod
    def near(shape: Array, x: Array) -> Near:
        return round_about(x - shape[:3], shape[3], np.eye(3)[:, :, None])

    @staticmethod
    def by_shape(shape: Array, x: Array) -> tuple[Array, Array]:
        _, n, hessian = Sphere.near(shape, x)
        distance = np.concatenate([-n, np.full((1, x.shape[1]), -1.0)])
        normal = np.concatenate([-hessian, np.zeros((3, 1, x.shape[1]))], axis=1)
        return distance, normal


def round_about(arm: Array, radius: Array, plane: Array) -> Near:
    """phi = |arm| - r for arms (3, N) that lie in the plane of a projector (3, 3, 1 or N); at |arm| = 0 n is zero."""
    rho = np.sqrt(dot_products(arm, arm))
    safe = np.where(rho > 0, rho, 1.0)
    n = arm / safe
    hessian = (plane - n[:, None] * n[None]) / safe
    return Near(rho - radius, n, hessian)
