"""A box with edges along the base axes, or turned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from elastocal.design.obstacles.obstacle import Obstacle, Vector
from elastocal.errors import InputError
from elastocal.model.elements import quantity
from elastocal.spatial.distance import segment_box
from elastocal.spatial.entries import Array
from elastocal.spatial.rotation import rpy_matrix


@dataclass(frozen=True, kw_only=True)
class BoxObstacle(Obstacle):
    """``size`` along its own axes, which stand at ``centre`` turned by ``rpy``."""

    kind: ClassVar[str] = "box"
    centre: Vector = quantity("length")
    size: Vector = quantity("length")
    rpy: Vector = quantity("angle", default=(0.0, 0.0, 0.0))

    def __post_init__(self) -> None:
        if not min(self.size) > 0:
            raise InputError(f"obstacle {self.label}: its size must be three positive lengths")

    def distance(self, a: Array, b: Array) -> Array:
        turn, centre = rpy_matrix(*self.rpy), np.array(self.centre)
        return segment_box((a - centre) @ turn, (b - centre) @ turn, np.array(self.size) / 2)
