"""Arcs of G-code: centre and turn from I J K or from R."""

from __future__ import annotations

from collections.abc import Mapping
from math import atan2, hypot, pi, sqrt

from elastocal.compensate.program import Arc

CENTRE = ("I", "J", "K")
MISFIT = 2e-5
"""Start and end may differ so much (m) in their distance from the centre."""


def arc(
    start: tuple[float, ...],
    end: tuple[float, ...],
    words: Mapping[str, float],
    axis: int,
    clockwise: bool,
    absolute: bool,
) -> Arc | str:
    """The arc about ``axis`` (words in m), or why there is none.

    Plane coordinates (u, v) follow the axis in cyclic order, so that G3 turns right-handed about it.
    """
    u, v = (axis + 1) % 3, (axis + 2) % 3
    a, b = (start[u], start[v]), (end[u], end[v])
    radius = words.get("R", words.get("CR"))
    if radius is not None:
        centre = _from_radius(a, b, radius, clockwise)
        if centre is None:
            return f"no arc of radius {abs(radius) * 1e3:g} mm joins its ends"
    elif any(CENTRE[i] in words for i in (u, v)):
        base = (0.0, 0.0) if absolute else a
        centre = (base[0] + words.get(CENTRE[u], 0.0), base[1] + words.get(CENTRE[v], 0.0))
        if absolute and not all(CENTRE[i] in words for i in (u, v)):
            return "its centre is given by half"
    else:
        return "it has neither centre nor radius"
    one, two = hypot(a[0] - centre[0], a[1] - centre[1]), hypot(b[0] - centre[0], b[1] - centre[1])
    if one < 1e-9 or abs(one - two) > MISFIT:
        return f"its ends are {one * 1e3:.4f} and {two * 1e3:.4f} mm from its centre"
    angle = atan2(b[1] - centre[1], b[0] - centre[0]) - atan2(a[1] - centre[1], a[0] - centre[0])
    angle %= 2 * pi
    whole = hypot(b[0] - a[0], b[1] - a[1]) < 1e-9
    angle = 2 * pi if whole else angle
    if clockwise:
        angle = -2 * pi if whole else angle - 2 * pi
    middle = [0.0, 0.0, 0.0]
    middle[u], middle[v], middle[axis] = *centre, start[axis]
    return Arc((middle[0], middle[1], middle[2]), axis, angle, end[axis] - start[axis])


def _from_radius(
    a: tuple[float, float], b: tuple[float, float], radius: float, clockwise: bool
) -> tuple[float, float] | None:
    """Centre of the arc up to half a turn (radius > 0) or beyond (radius < 0)."""
    du, dv = b[0] - a[0], b[1] - a[1]
    chord = hypot(du, dv)
    if chord < 1e-9 or chord / 2 > abs(radius) + MISFIT / 2:
        return None
    height = sqrt(max(radius * radius - chord * chord / 4, 0.0)) / chord
    side = -height if clockwise == (radius > 0) else height
    return (a[0] + b[0]) / 2 - side * dv, (a[1] + b[1]) / 2 + side * du
