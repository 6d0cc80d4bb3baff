"""A disc for a planar robot: a cylinder along z, placed by its centre in the x-y plane (002 section 4.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar, Self

import numpy as np

from elastocal.model.parameters import Parameter, quantity
from elastocal.model.surfaces.cylinder import Cylinder
from elastocal.model.surfaces.surface import Pair, Surface
from elastocal.spatial.entries import Array
from elastocal.values import dataclass


@dataclass(frozen=True, kw_only=True)
class Disc(Surface):
    """Shape: that of the cylinder along z through (x, y, 0)."""

    kind: ClassVar[str] = "disc"
    centre: Pair = quantity("length")
    radius: float = quantity("length")
    near = staticmethod(Cylinder.near)
    by_shape = staticmethod(Cylinder.by_shape)

    def __post_init__(self) -> None:
        self.refuse_unless_finite(self.centre)
        self.refuse_unless_positive(self.radius)

    def shape(self) -> Array:
        return np.array([*self.centre, 0.0, 0.0, 0.0, 1.0, self.radius])

    def slope(self) -> Array:
        out = np.zeros((7, 3))
        out[[0, 1, 6], [0, 1, 2]] = 1.0
        return out

    def parameters(self) -> tuple[Parameter, ...]:
        rows = zip(("x", "y", "radius"), (*self.centre, self.radius), strict=True)
        return tuple(self.parameter(symbol, "m", value) for symbol, value in rows)

    def with_values(self, values: Sequence[float]) -> Self:
        x, y, r = (float(v) for v in values)
        return replace(self, centre=(x, y), radius=r)
