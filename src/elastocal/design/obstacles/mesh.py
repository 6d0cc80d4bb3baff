"""A surface of triangles, as a CAD system exports it; distances by coal (extra ``mesh``), one segment at a time."""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from elastocal.design.obstacles.obstacle import Obstacle
from elastocal.errors import ExtraMissingError
from elastocal.spatial.entries import Array, Bools
from elastocal.spatial.rotation import align_z
from elastocal.values import dataclass

Corner = tuple[float, float, float]
THIN = 1e-6
"""Radius (m) of the capsule that stands for a segment."""


@dataclass(frozen=True, kw_only=True)
class Mesh(Obstacle):
    """``triangles`` in base axes, m; what a closed surface encloses belongs to it, if all look out as STL has them."""

    kind: ClassVar[str] = "mesh"
    triangles: tuple[tuple[Corner, Corner, Corner], ...]

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
