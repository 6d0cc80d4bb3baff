"""Things that stand in the cell and how far segments are from them: a floor, a box, a sphere, a capsule, a mesh.

A capsule is a cylinder with round ends: a pillar, a rail.  Distances from a mesh of triangles, as a CAD system exports
it, are by coal (extra ``mesh``), one segment at a time.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import fields, replace
from functools import cache, cached_property
from typing import Any, ClassVar

import numpy as np

from elastocal.errors import ExtraMissingError, NumberError, RangeError
from elastocal.kinds import kinds_in
from elastocal.model.parameters import quantity
from elastocal.spatial.capsules import point_segment, segment_box, segment_segment, segments_nearer
from elastocal.spatial.entries import Array, Bools
from elastocal.spatial.rotation import align_z, rpy_matrix
from elastocal.values import dataclass

Vector = tuple[float, float, float]
THIN = 1e-6
"""Radius (m) of the capsule that stands for a segment."""


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


@dataclass(frozen=True, kw_only=True)
class Mesh(Obstacle):
    """``triangles`` in base axes, m; what a closed surface encloses belongs to it, if all look out as STL has them."""

    kind: ClassVar[str] = "mesh"
    triangles: tuple[tuple[Vector, Vector, Vector], ...]

    @cached_property
    def _surface(self) -> Any:
        try:
            import coal
        except ImportError:
            raise ExtraMissingError.needed(f"obstacle {self.label}: meshes need coal", "mesh", "use a box") from None
        surface = coal.BVHModelOBBRSS()
        surface.beginModel(len(self.triangles), 3 * len(self.triangles))
        for triangle in self.triangles:
            surface.addTriangle(*(np.array(corner) for corner in triangle))
        surface.endModel()
        return surface

    def distance(self, a: Array, b: Array) -> Array:
        surface = self._surface
        import coal

        a, b = np.broadcast_arrays(a, b)
        still, request = coal.Transform3s.Identity(), coal.DistanceRequest()
        out = np.empty(len(a))
        for i, (start, end) in enumerate(zip(a, b, strict=True)):
            length = float(np.linalg.norm(end - start))
            turn = align_z((end - start) / length) if length > 0 else np.eye(3)
            place, result = coal.Transform3s(turn, (start + end) / 2), coal.DistanceResult()
            out[i] = coal.distance(coal.Capsule(THIN, length), place, surface, still, request, result) + THIN
        free = np.flatnonzero(out > 0)
        out[free[self.encloses(a[free])]] *= -1  # what does not meet the surface lies on one side of it
        return out

    def encloses(self, points: Array) -> Bools:
        """(N,) where the solid angle of all triangles is a whole turn, not none (van Oosterom and Strackee 1983)."""
        corners = np.array(self.triangles)
        low, high = corners.min(axis=(0, 1)), corners.max(axis=(0, 1))
        out: Bools = np.asarray(np.all((points > low) & (points < high), axis=1))
        for i in np.flatnonzero(out):
            a, b, c = (corners[:, k] - points[i] for k in range(3))
            la, lb, lc = (np.linalg.norm(v, axis=1) for v in (a, b, c))
            dots = [np.sum(v * w, axis=1) for v, w in ((a, b), (b, c), (c, a))]
            triple = np.sum(a * np.cross(b, c), axis=1)
            angle = 2 * np.arctan2(triple, la * lb * lc + dots[0] * lc + dots[1] * la + dots[2] * lb)
            out[i] = abs(angle.sum()) > 2 * np.pi
        return out
