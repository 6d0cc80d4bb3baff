"""What stands round a robot as parts of a scene: obstacles as wires, the tracker and its beams."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from elastocal.report.parts import Dots, Ellipsoids, Labels, Part, Point, Strokes

if TYPE_CHECKING:
    from elastocal.design.cell import Cell
    from elastocal.design.obstacles.obstacle import Obstacle
    from elastocal.spatial.entries import Array

NAME = "obstacles"


def cell_parts(cell: Cell) -> tuple[Part, ...]:
    """Every obstacle, and where the tracker stands."""
    parts = [part for obstacle in cell.obstacles for part in _wires(obstacle)]
    if cell.tracker is None:
        return tuple(parts)
    at: Point = cell.tracker
    return (*parts, Dots("tracker", (at,), ("tracker",), look="cell"), Labels("tracker", (at,), ("tracker",)))


def beams(cell: Cell, markers: Array, view: str) -> tuple[Part, ...]:
    """Lines of sight to markers (k, 3)."""
    if cell.tracker is None or not len(markers):
        return ()
    start = cell.tracker
    lines = tuple((start, (float(x), float(y), float(z))) for x, y, z in markers)
    return (Strokes("line of sight", lines, view, "faint"),)


def _wires(obstacle: Obstacle) -> tuple[Part, ...]:
    import numpy as np

    from elastocal.design.obstacles.mesh import Mesh
    from elastocal.design.obstacles.obstacle import BoxObstacle, Capsule, SphereObstacle
    from elastocal.spatial.rotation import rpy_matrix

    if isinstance(obstacle, BoxObstacle):
        return (_edges(np.array(obstacle.centre), np.array(obstacle.size), rpy_matrix(*obstacle.rpy)),)
    if isinstance(obstacle, SphereObstacle):
        return (_balls((obstacle.centre,), obstacle.radius),)
    if isinstance(obstacle, Capsule):
        ends = (obstacle.start, obstacle.end)
        return Strokes(NAME, (ends,), look="cell"), _balls(ends, obstacle.radius)
    assert isinstance(obstacle, Mesh)
    corners = np.array(obstacle.triangles).reshape(-1, 3)
    low, high = corners.min(axis=0), corners.max(axis=0)
    return (_edges((low + high) / 2, high - low, np.eye(3)),)


def _edges(centre: Array, size: Array, turn: Array) -> Strokes:
    """The twelve edges of a box; of a mesh, those of the box round it."""
    signs = list(product((-0.5, 0.5), repeat=3))
    corner = {s: tuple(float(v) for v in centre + turn @ (size * s)) for s in signs}
    pairs = [(a, b) for a in signs for b in signs if a < b and sum(u != v for u, v in zip(a, b, strict=True)) == 1]
    lines = tuple(((*corner[a],), (*corner[b],)) for a, b in pairs)
    return Strokes(NAME, lines, look="cell")  # type: ignore[arg-type]


def _balls(centres: tuple[Point, ...], radius: float) -> Ellipsoids:
    axes = ((radius, 0.0, 0.0), (0.0, radius, 0.0), (0.0, 0.0, radius))
    return Ellipsoids(NAME, centres, (axes,) * len(centres), look="cell")
