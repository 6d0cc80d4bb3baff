"""From where a box is seen so that it fills a picture: near enough, and with its middle in the middle.

A point p is drawn at (r . (p - c), u . (p - c)) / (F (d - w . (p - c))): c is looked at from the distance d along w; r
and u point to the right and up in the picture, whose upper edge is at 1.  The widest field in height is plotly's own.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from math import pi, sqrt, tan

from elastocal.report.parts import Point
from elastocal.report.strokes import cross, dot, plus, scaled, unit

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
