"""A ball."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from elastocal.design.obstacles.obstacle import Obstacle, Vector
from elastocal.errors import InputError
from elastocal.model.elements import quantity
from elastocal.spatial.distance import point_segment
from elastocal.spatial.entries import Array


@dataclass(frozen=True, kw_only=True)
class SphereObstacle(Obstacle):
    kind: ClassVar[str] = "sphere"
    centre: Vector = quantity("length")
    radius: float = quantity("length")

    def __post_init__(self) -> None:
        if not self.radius > 0:
            raise InputError(f"obstacle {self.label}: its radius must be positive")

    def distance(self, a: Array, b: Array) -> Array:
        return point_segment(np.array(self.centre), a, b) - self.radius
