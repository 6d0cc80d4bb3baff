"""Things that stand in the cell and how far segments are from them: a floor, a box, a sphere, a capsule.

A capsule is a cylinder with round ends: a pillar, a rail.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import fields, replace
from functools import cache
from typing import ClassVar

import numpy as np

from elastocal.errors import NumberError, RangeError
from elastocal.kinds import kinds_in
from elastocal.model.parameters import quantity
from elastocal.spatial.capsules import point_segment, segment_box, segment_segment, segments_nearer
from elastocal.spatial.entries import Array, Bools
from elastocal.spatial.rotation import rpy_matrix
from elastocal.values import dataclass

Vector = tuple[float, float, float]


@dataclass(frozen=True, kw_only=True)
class Obstacle(ABC):
    """One shape in base axes; ``name`` for reports."""

    kind: ClassVar[str]
    name: str = ""

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            if not isinstance(value, str) and not np.all(np.isfinite(np.asarray(value, dtype=np.float64))):
                raise NumberError(
                    f"obstacle {self.label}: its {each.name} is {value}; give finite numbers", value=each.name
                )
            if each.name == "radius" and not value > 0:
                raise RangeError(f"obstacle {self.label}: its radius must be positive", value=value)

    @property
    def label(self) -> str:
        return self.name or self.kind

    @abstractmethod
    def distance(self, a: Array, b: Array) -> Array:
        """From the segments a-b (N, 3) to its surface, (N,); zero or less where they meet."""

    def nearer(self, a: Array, b: Array, least: float) -> Bools:
        """(N,) where the segments a-b (N, 3) come nearer than ``least``; negative: reach so deep into it."""
        return np.asarray(self.distance(a, b) < least)


@cache
def obstacle_kinds() -> dict[str, type[Obstacle]]:
    """Every shape by its kind."""
    from elastocal.design import obstacles

    return kinds_in(obstacles, Obstacle)


@dataclass(frozen=True, kw_only=True)
class Floor(Obstacle):
    """Everything below ``height`` along z of the base; the distance is negative there."""

    kind: ClassVar[str] = "floor"
    height: float = quantity("length", default=0.0)

    def distance(self, a: Array, b: Array) -> Array:
        return np.asarray(np.minimum(a[..., 2], b[..., 2]) - self.height)


@dataclass(frozen=True, kw_only=True)
class BoxObstacle(Obstacle):
    """``size`` along its own axes, which stand at ``centre`` turned by ``rpy``."""

    kind: ClassVar[str] = "box"
    centre: Vector = quantity("length")
    size: Vector = quantity("length")
    rpy: Vector = quantity("angle", default=(0.0, 0.0, 0.0))

    def __post_init__(self) -> None:
        super().__post_init__()
        if not min(self.size) > 0:
            raise RangeError(f"obstacle {self.label}: its size must be three positive lengths", value=self.size)

    def distance(self, a: Array, b: Array) -> Array:
        turn, centre = rpy_matrix(*self.rpy), np.array(self.centre)
        return segment_box((a - centre) @ turn, (b - centre) @ turn, np.array(self.size) / 2)

    def nearer(self, a: Array, b: Array, least: float) -> Bools:
        """Inside, where ``distance`` is zero, a negative ``least`` is how deep."""
        if least >= 0 or min(self.size) <= -2 * least:
            return super().nearer(a, b, least)
        core = replace(self, size=(self.size[0] + 2 * least, self.size[1] + 2 * least, self.size[2] + 2 * least))
        return np.asarray(core.distance(a, b) <= 0)


@dataclass(frozen=True, kw_only=True)
class SphereObstacle(Obstacle):
    kind: ClassVar[str] = "sphere"
    centre: Vector = quantity("length")
    radius: float = quantity("length")

    def distance(self, a: Array, b: Array) -> Array:
        return point_segment(np.array(self.centre), a, b) - self.radius


@dataclass(frozen=True, kw_only=True)
class Capsule(Obstacle):
    """All points within ``radius`` of the line from ``start`` to ``end``."""

    kind: ClassVar[str] = "capsule"
    start: Vector = quantity("length")
    end: Vector = quantity("length")
    radius: float = quantity("length")

    def distance(self, a: Array, b: Array) -> Array:
        return segment_segment(a, b, np.array(self.start), np.array(self.end)) - self.radius

    def nearer(self, a: Array, b: Array, least: float) -> Bools:
        return segments_nearer((a, b), (np.array(self.start), np.array(self.end)), least + self.radius)
