"""A cylinder with round ends: a pillar, a rail."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from elastocal.design.obstacles.obstacle import Obstacle, Vector
from elastocal.errors import InputError
from elastocal.model.elements import quantity
from elastocal.spatial.distance import segment_segment
from elastocal.spatial.entries import Array


@dataclass(frozen=True, kw_only=True)
class Capsule(Obstacle):
    """All points within ``radius`` of the line from ``start`` to ``end``."""

    kind: ClassVar[str] = "capsule"
    start: Vector = quantity("length")
    end: Vector = quantity("length")
    radius: float = quantity("length")

    def __post_init__(self) -> None:
        if not self.radius > 0:
            raise InputError(f"obstacle {self.label}: its radius must be positive")

    def distance(self, a: Array, b: Array) -> Array:
        return segment_segment(a, b, np.array(self.start), np.array(self.end)) - self.radius
