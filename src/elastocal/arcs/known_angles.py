"""Algorithm 1 (000 eq. 8-17): centre, radius and axis of a point's arc from points and their joint angles.

In the plane both senses of rotation are tried.  In space turning the axis round swaps them, so the sense is the one
about a stated axis, and the other one is tried about the axis found.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from elastocal.arcs.angle_checks import as_angles, check_angle_units, check_angles, check_sense, check_span, fitted_line
from elastocal.arcs.known_angle_arc import KnownAngleArc, arc_of_sense, other_sense_squares, spare_equations
from elastocal.arcs.points import as_noise, as_points, refuse_straight
from elastocal.arcs.procrustes import procrustes, unit_directions
from elastocal.errors import InputError
from elastocal.spatial.entries import Array, Ints

FINE = 1e-3
"""Residuals below this part of the arc's extent cannot come from angles in a wrong unit."""


def fit_known_angles(
    points: ArrayLike, angles: ArrayLike, *, noise: float | None = None, sense: int | None = None,
    axis: ArrayLike | None = None,
) -> KnownAngleArc:  # fmt: skip
    """Fit points (m, 2) or (m, 3) in metres at joint ``angles`` (m,) in rad; rows of nan were not seen.

    ``sense`` is checked if stated, else found.  In space it needs ``axis``, the rough direction of the joint axis;
    without one the axis is the one about which the point turns right-handed.
    """
    p, q, seen = seen_points(points, angles)
    freedom = spare_equations(p)
    found, squares, other = _both_senses(p, q, axis)
    refuse_units(p, q)
    check_span(q, squares, freedom, _extent(p))
    if sense is not None and axis is None and p.shape[1] == 3:
        raise InputError("a sense of rotation in space needs the direction of the axis that it refers to; state both")
    variance = max(squares / freedom, (as_noise(noise) or 0.0) ** 2)
    used = check_sense(sense, found, squares, other, variance, freedom)
    if used != found and p.shape[1] == 3:
        raise InputError("the arc is too short to tell the sense of rotation stated; measure a longer one")
    return arc_of_sense(p, q, seen, used, noise)


def seen_points(points: ArrayLike, angles: ArrayLike) -> tuple[Array, Array, Ints]:
    """Points and angles that were seen, and their places among all; refused where they cannot be an arc."""
    everything = as_points(points, "arc")
    seen = np.flatnonzero(~np.isnan(everything[:, 0]))
    p, q = everything[seen], as_angles(angles, everything)[seen]
    check_angles(q)
    refuse_straight(np.asarray(np.linalg.svd(p - p.mean(axis=0), compute_uv=False)), "arc")
    return p, q, seen


def refuse_units(points: Array, angles: Array) -> None:
    """Refuse angles that fit all points far better in another unit."""
    squares, extent = min(_both_senses(points, angles, None)[1:]), _extent(points)
    if squares > points.size * (FINE * extent) ** 2:
        in_degrees, twice = (min(_both_senses(points, s * angles, None)[1:]) for s in (np.pi / 180, 180 / np.pi))
        check_angle_units(squares, in_degrees, twice, fitted_line(points), spare_equations(points), extent)


def _extent(points: Array) -> float:
    spread = np.linalg.svd(points - points.mean(axis=0), compute_uv=False)
    return float(spread[0] / np.sqrt(len(points)))


def _both_senses(points: Array, angles: Array, axis: ArrayLike | None) -> tuple[int, float, float]:
    """The better sense, and the sums of squares of it and of the other one."""
    dimension = points.shape[1]
    frame, _, squares = procrustes(points, unit_directions(angles, 1, dimension))
    if dimension == 2:
        other = procrustes(points, unit_directions(angles, -1, 2))[2]
        return (1, squares, other) if squares <= other else (-1, other, squares)
    return (1 if axis is None else _side(frame.axis, axis)), squares, other_sense_squares(frame, points, angles, -1)


def _side(axis: Array, stated: ArrayLike) -> int:
    """On which side of the stated direction the right-handed axis lies."""
    direction = np.asarray(stated, dtype=np.float64)
    if direction.shape != (3,) or not np.linalg.norm(direction) > 0:
        raise InputError(f"the axis must be three numbers that are not all zero, not {direction}")
    cosine = float(axis @ direction / np.linalg.norm(direction))
    if abs(cosine) < 0.1:
        raise InputError("the stated axis lies in the plane of the arc; state the direction about which it turns")
    return 1 if cosine > 0 else -1
