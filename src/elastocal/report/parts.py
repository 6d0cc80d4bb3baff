"""What a picture in three dimensions is made of: named parts with coordinates in base axes, their lines, a camera.

An arrow is a shaft with four barbs, an ellipsoid c + cos(t) a + sin(t) b the three ellipses through its pairs of
semi-axes: lines print well and hide nothing.  The camera stands so that a box fills the picture, near enough and with
its middle in the middle.  A point p is drawn at (r . (p - c), u . (p - c)) / (F (d - w . (p - c))): c is looked at from
the distance d along w; r and u point to the right and up in the picture, whose upper edge is at 1.  The widest field in
height is plotly's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import product
from math import cos, pi, sin, sqrt, tan
from typing import Literal

from elastocal.values import dataclass

Point = tuple[float, float, float]
Look = Literal[
    "plain", "arm", "faint", "joint", "cell", "floor", "warning", "before", "after", "expected", "outlier", "read",
    "load", "program",
]  # fmt: skip
"""``plain`` takes the next colour; the others are drawn alike in every picture: a robot, what stands behind it, its
joints, the things around it, the floor, what must be noticed, and the roles of curves."""


@dataclass(frozen=True)
class Strokes:
    """Lines that belong together, each through its points."""

    name: str
    lines: tuple[tuple[Point, ...], ...]
    view: str = ""
    look: Look = "plain"

    def __len__(self) -> int:
        return len(self.lines)


@dataclass(frozen=True)
class Dots:
    """Points; ``words`` say what each is where a reader points at it."""

    name: str
    points: tuple[Point, ...]
    words: tuple[str, ...] = ()
    view: str = ""
    look: Look = "plain"

    def __len__(self) -> int:
        return len(self.points)


@dataclass(frozen=True)
class Arrows:
    """From each start to its end, as drawn; ``words`` say what each stands for."""

    name: str
    starts: tuple[Point, ...]
    ends: tuple[Point, ...]
    words: tuple[str, ...] = ()
    view: str = ""
    look: Look = "plain"

    def __len__(self) -> int:
        return len(self.starts)


@dataclass(frozen=True)
class Ellipsoids:
    """Centres, and the three semi-axes of each as vectors, as drawn."""

    name: str
    centres: tuple[Point, ...]
    axes: tuple[tuple[Point, Point, Point], ...]
    words: tuple[str, ...] = ()
    view: str = ""
    look: Look = "plain"

    def __len__(self) -> int:
        return len(self.centres)


@dataclass(frozen=True)
class Labels:
    """Words at points, always visible."""

    name: str
    points: tuple[Point, ...]
    words: tuple[str, ...]
    view: str = ""

    def __len__(self) -> int:
        return len(self.points)


@dataclass(frozen=True)
class Capsule:
    """All points within ``radius`` of the line from ``start`` to ``end``."""

    start: Point
    end: Point
    radius: float


@dataclass(frozen=True)
class Mesh:
    """Triangles, each by the numbers of its three ``points``."""

    points: tuple[Point, ...]
    faces: tuple[tuple[int, int, int], ...]


@dataclass(frozen=True)
class Solids:
    """Bodies that hide what is behind them; ``words`` say what each is."""

    name: str
    shapes: tuple[Capsule | Mesh, ...]
    words: tuple[str, ...] = ()
    view: str = ""
    look: Look = "arm"

    def __len__(self) -> int:
        return len(self.shapes)


Part = Strokes | Dots | Arrows | Ellipsoids | Labels | Solids


STEPS = 24
BARB = 0.18
"""Length of a barb as a share of its arrow."""


@lru_cache(maxsize=4096)
def arrow(start: Point, end: Point) -> tuple[Point, ...]:
    """Shaft and barbs in one stroke."""
    along = plus(end, scaled(start, -1.0))
    length = sqrt(dot(along, along))
    if length == 0:
        return start, end
    flattest = min(range(3), key=lambda i: abs(along[i]))
    side = unit(cross(along, (float(flattest == 0), float(flattest == 1), float(flattest == 2))))
    other = unit(cross(along, side))
    back = plus(end, scaled(along, -BARB))
    barbs = [plus(back, scaled(v, 0.4 * BARB * length * s)) for v in (side, other) for s in (1.0, -1.0)]
    return start, end, *(p for barb in barbs for p in (barb, end))


_TURNS = [2 * pi * k / STEPS for k in range(STEPS + STEPS // 4 + 1)]
_ROUND = [(cos(t), sin(t)) for t in _TURNS]


@lru_cache(maxsize=4096)
def ellipses(centre: Point, axes: tuple[Point, Point, Point]) -> tuple[Point, ...]:
    """Three ellipses in one stroke: each ends where it began, at the end of a semi-axis that the next one shares."""
    x, y, z = centre
    out: list[Point] = []
    for i in range(3):
        (a, b, c), (d, e, f) = axes[i], axes[(i + 1) % 3]
        out += [(x + (a * u + d * v), y + (b * u + e * v), z + (c * u + f * v)) for u, v in _ROUND]
    return tuple(out)


def plus(a: Point, b: Point) -> Point:
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


def scaled(a: Point, factor: float) -> Point:
    return a[0] * factor, a[1] * factor, a[2] * factor


def dot(a: Point, b: Point) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a: Point, b: Point) -> Point:
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def unit(a: Point) -> Point:
    return scaled(a, 1 / sqrt(dot(a, a)))


FROM: Point = unit((1.15, -1.75, 0.65))
FIELD = tan(pi / 8)
LOWEST, HIGHEST, ASIDE = -0.72, 0.94, 0.58
"""Where the box ends in the picture: below and aside there is room for numbers and names of axes."""
NEAREST = 0.8
"""Of a flat box, in diagonals: nearer, its near corners would look large."""
ROUNDS = 80


@dataclass(frozen=True)
class Camera:
    """``eye`` and ``centre`` in the units of the box; ``aspect`` is the least width of a picture over its height."""

    eye: Point
    centre: Point
    aspect: float


@lru_cache(maxsize=64)
def camera(sides: Point) -> Camera:
    """Of a box of these sides about the origin; every round mends what the last one left in height and middle."""
    right = unit(cross((0.0, 0.0, 1.0), FROM))
    up = cross(FROM, right)
    corners = [(s * sides[0] / 2, t * sides[1] / 2, v * sides[2] / 2) for s, t, v in product((-1, 1), repeat=3)]
    centre, distance, wide = (0.0, 0.0, 0.0), 2 * sum(sides), 0.0
    for _ in range(ROUNDS):
        seen = [plus(p, scaled(centre, -1.0)) for p in corners]
        depths = [FIELD * (distance - dot(FROM, p)) for p in seen]
        across = [dot(right, p) / d for p, d in zip(seen, depths, strict=True)]
        height = [dot(up, p) / d for p, d in zip(seen, depths, strict=True)]
        wide = (max(across) - min(across)) / 2
        step_up = (max(height) + min(height) - HIGHEST - LOWEST) / 2
        step_aside = (max(across) + min(across)) / 2
        centre = plus(centre, scaled(plus(scaled(up, step_up), scaled(right, step_aside)), 0.7 * FIELD * distance))
        distance = max(
            distance * sqrt((max(height) - min(height)) / (HIGHEST - LOWEST)), NEAREST * sqrt(dot(sides, sides))
        )
    return Camera(plus(centre, scaled(FROM, distance)), centre, wide / ASIDE)


ROUND, RINGS = 8, 2
"""Corners around a capsule, and rings of each of its ends."""


@lru_cache(maxsize=4096)
def meshed(shape: Capsule | Mesh) -> Mesh:
    """A capsule as triangles: rings of corners from one pole to the other."""
    if isinstance(shape, Mesh):
        return shape
    along = plus(shape.end, scaled(shape.start, -1.0))
    length = sqrt(dot(along, along))
    axis = scaled(along, 1 / length) if length else (0.0, 0.0, 1.0)
    flattest = min(range(3), key=lambda i: abs(axis[i]))
    side = unit(cross(axis, (float(flattest == 0), float(flattest == 1), float(flattest == 2))))
    other = cross(axis, side)
    tilts = [pi / 2 * k / RINGS for k in range(RINGS)]
    rings = [(shape.start, -t) for t in reversed(tilts)] + [(shape.end, t) for t in tilts]
    points: list[Point] = [plus(shape.start, scaled(axis, -shape.radius))]
    for centre, tilt in rings:
        for k in range(ROUND):
            turn = 2 * pi * k / ROUND
            out = plus(
                scaled(side, cos(turn) * cos(tilt)), plus(scaled(other, sin(turn) * cos(tilt)), scaled(axis, sin(tilt)))
            )
            points.append(plus(centre, scaled(out, shape.radius)))
    points.append(plus(shape.end, scaled(axis, shape.radius)))
    last = len(points) - 1
    faces = [(0, 1 + (k + 1) % ROUND, 1 + k) for k in range(ROUND)]
    for ring in range(len(rings) - 1):
        for k in range(ROUND):
            a, b = 1 + ring * ROUND + k, 1 + ring * ROUND + (k + 1) % ROUND
            faces += [(a, b, b + ROUND), (a, b + ROUND, a + ROUND)]
    start = 1 + (len(rings) - 1) * ROUND
    faces += [(last, start + k, start + (k + 1) % ROUND) for k in range(ROUND)]
    return Mesh(tuple(points), tuple(faces))


def strokes(part: Strokes | Arrows | Ellipsoids) -> Sequence[Sequence[Point]]:
    """Lines to draw."""
    if isinstance(part, Strokes):
        return part.lines
    if isinstance(part, Arrows):
        return [arrow(a, b) for a, b in zip(part.starts, part.ends, strict=True)]
    return [ellipses(c, axes) for c, axes in zip(part.centres, part.axes, strict=True)]


SLENDER, AIR = 0.35, 0.04
"""Shortest side of the box of axes, and the room left on its sides, both as shares of the longest side."""


def box(parts: Sequence[Part]) -> list[tuple[float, float]]:
    """One box for all views, so that choosing another moves nothing."""
    corners = [p for part in parts for p in _corners(part)]
    every = [(min(c), max(c)) for c in zip(*corners, strict=True)] if corners else [(0.0, 0.0)] * 3
    longest = max(high - low for low, high in every) or 1.0
    out = []
    for low, high in every:
        half = max((high - low) / 2 + AIR * longest, SLENDER * longest / 2)
        out.append(((low + high) / 2 - half, (low + high) / 2 + half))
    return out


def _corners(part: Part) -> Sequence[Point]:
    if isinstance(part, Dots | Labels):
        return part.points
    if isinstance(part, Solids):
        return [p for shape in part.shapes for p in meshed(shape).points]
    return [p for line in strokes(part) for p in line]
