"""Arrows and ellipsoids as lines: an arrow is a shaft with four barbs, an ellipsoid c + cos(t) a + sin(t) b the three
ellipses through its pairs of semi-axes.  Lines print well and hide nothing."""

from __future__ import annotations

from math import cos, pi, sin, sqrt

from elastocal.report.parts import Point

STEPS = 24
BARB = 0.18
"""Length of a barb as a share of its arrow."""


def arrow(start: Point, end: Point) -> list[Point]:
    """Shaft and barbs in one stroke."""
    along = plus(end, scaled(start, -1.0))
    length = sqrt(dot(along, along))
    if length == 0:
        return [start, end]
    flattest = min(range(3), key=lambda i: abs(along[i]))
    side = unit(cross(along, (float(flattest == 0), float(flattest == 1), float(flattest == 2))))
    other = unit(cross(along, side))
    back = plus(end, scaled(along, -BARB))
    barbs = [plus(back, scaled(v, 0.4 * BARB * length * s)) for v in (side, other) for s in (1.0, -1.0)]
    return [start, end, *(p for barb in barbs for p in (barb, end))]


def ellipses(centre: Point, axes: tuple[Point, Point, Point]) -> list[Point]:
    """Three ellipses in one stroke: each ends where it began, at the end of a semi-axis that the next one shares."""
    out: list[Point] = []
    for i in range(3):
        a, b = axes[i], axes[(i + 1) % 3]
        turns = [2 * pi * k / STEPS for k in range(STEPS + STEPS // 4 + 1)]
        out += [plus(centre, plus(scaled(a, cos(t)), scaled(b, sin(t)))) for t in turns]
    return out


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
