"""Algorithm 1 (000 eq. 8-17): centre, radius and axis of a point's arc from points and their joint angles.

In the plane both senses of rotation are tried.  In space turning the axis round swaps them, so the sense is the one
about a stated axis, and the other one is tried about the axis fitted.  Angles that cannot belong to the points are
refused: too few, in another unit, or running the other way.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from elastocal.distributions import fdtrc
from elastocal.errors import (
    ImplausibleError,
    MissingError,
    NumberError,
    RangeError,
    ShapeError,
    TooFewError,
    UnitError,
    UnobservableError,
)
from elastocal.procedures.compensator.arc_problem import as_noise, as_points
from elastocal.procedures.compensator.concentric import refuse_straight
from elastocal.procedures.compensator.known_angle_arc import (
    KnownAngleArc,
    arc_of_sense,
    other_sense_squares,
    procrustes,
    spare_equations,
    unit_directions,
)
from elastocal.spatial.entries import Array, Ints

CLEAR = 9.0
"""How much the sum of squares over the variance must differ between two senses: odds of exp(4.5), 90 to 1."""
SURE = 1e-6
STRAIGHT = 1e-3
"""An arc must fit better than a straight line by more than chance gives once in a thousand."""
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
    fitted, squares, other = _both_senses(p, q, axis)
    refuse_units(p, q)
    check_span(q, squares, freedom, _extent(p))
    if sense is not None and axis is None and p.shape[1] == 3:
        raise MissingError(
            "a sense of rotation in space needs the direction of the axis that it refers to; state both", code="no-axis"
        )
    variance = max(squares / freedom, (as_noise(noise) or 0.0) ** 2)
    used = check_sense(sense, fitted, squares, other, variance, freedom)
    if used != fitted and p.shape[1] == 3:
        raise TooFewError("the arc is too short to tell the sense of rotation stated; measure a longer one")
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
        raise ShapeError(f"the axis must be three numbers that are not all zero, not {direction}")
    cosine = float(axis @ direction / np.linalg.norm(direction))
    if abs(cosine) < 0.1:
        raise MissingError(
            "the stated axis lies in the plane of the arc; state the direction about which it turns",
            code="axis-in-plane",
        )
    return 1 if cosine > 0 else -1


def as_angles(angles: ArrayLike, points: Array) -> Array:
    """(m,) angles in rad, one for each point."""
    q = np.asarray(angles, dtype=np.float64)
    if q.shape != (len(points),):
        raise ShapeError(
            f"{len(points)} points need as many angles, but the angles have shape {q.shape}",
            value=(len(points), q.shape),
        )
    if not np.all(np.isfinite(q)):
        raise NumberError(f"angle {int(np.argmin(np.isfinite(q))) + 1} is not a finite number; leave its point out")
    return q


def distinct_angles(angles: Array) -> int:
    """How many different directions there are; turns by 2 pi do not count."""
    return len(np.unique(np.round(np.column_stack([np.cos(angles), np.sin(angles)]), 9) + 0.0, axis=0))


def check_angles(angles: Array) -> None:
    """Refuse fewer than three points or angles."""
    if len(angles) < 3:
        raise TooFewError(f"{len(angles)} points do not make an arc; measure at least three", value=len(angles))
    distinct = distinct_angles(angles)
    if distinct == 1:
        raise ImplausibleError(
            "all angles are equal: the joint was not moved, or its column is wrong", code="no-motion"
        )
    if distinct == 2:
        raise UnobservableError(
            "only two angles differ, and two fit either sense of rotation; measure at a third angle", code="two-angles"
        )


class WrongUnitError(UnitError):
    """Angles that fit far better when multiplied by ``factor``."""

    def __init__(self, factor: float, left: str, words: str) -> None:
        super().__init__(f"the angles look like {words}: {left}")
        self.factor, self.left = factor, left


def check_angle_units(
    squares: float, in_degrees: float, twice: float, line: tuple[float, int], freedom: int, extent: float
) -> None:
    """Refuse angles that fit far better in another unit: squares as given, read as degrees, or turned back into them.

    Far better is a ratio of the sums of squares that normal noise gives once in a million (F distribution).  Points on
    a straight line fit any angles that are small enough, so they are told first.
    """
    floor = (1e-9 * extent) ** 2
    for other, factor, words in (
        (in_degrees, np.pi / 180, "degrees where radians are meant; convert them"),
        (twice, 180 / np.pi, "degrees that were converted to radians twice; convert them once"),
    ):
        if not (squares > floor and fdtrc(freedom, freedom, squares / max(other, floor)) < SURE):
            continue
        ratio = (line[0] / line[1]) / (max(other, floor) / freedom)
        if fdtrc(line[1], freedom, ratio) > STRAIGHT:
            raise ImplausibleError(
                f"the points lie on a straight line within {_mm(*line)} mm, which has no centre "
                "and does not fit the angles; measure a longer arc, and check the angles",
                code="straight-line",
            )
        left = f"the residuals would be {_mm(other, freedom)} instead of {_mm(squares, freedom)} mm"
        raise WrongUnitError(factor, left, words)


def fitted_line(points: Array) -> tuple[float, int]:
    """Sum of squares of the points' distances from their best straight line, and its spare equations."""
    spread = np.linalg.svd(points - points.mean(axis=0), compute_uv=False)
    m, d = points.shape
    return float(np.sum(spread[1:] ** 2)), (m - 2) * (d - 1)


def check_span(angles: Array, squares: float, freedom: int, extent: float) -> None:
    """Refuse angles over more than a turn with which no arc passes through the points."""
    span = float(np.ptp(angles))
    if span > 2 * np.pi and squares > len(angles) * (0.05 * extent) ** 2:
        raise UnitError(
            f"the angles span {span:.4g} rad, more than a turn, and no arc passes through the points with them "
            f"(residuals of {_mm(squares, freedom)} mm); check their unit",
            value=span,
        )


def check_sense(stated: int | None, sense: int, squares: float, other: float, variance: float, freedom: int) -> int:
    """The sense to use: the stated one unless the data clearly reject it, else the found one if it is clear."""
    if stated not in (None, 1, -1):
        raise RangeError(f"the sense of rotation is 1 (with the angle) or -1 (against it), not {stated}", value=stated)
    clear = other - squares > CLEAR * variance
    if stated is None and not clear:
        raise UnobservableError(
            f"both senses of rotation fit the points ({_mm(squares, freedom)} and {_mm(other, freedom)} mm are left); "
            "state the sense or measure a longer arc",
            code="both-senses",
        )
    if stated is not None and stated != sense and clear:
        way = "against the angle" if stated == 1 else "with the angle"
        raise ImplausibleError(
            f"the points run {way}, not as stated: {_mm(other, freedom)} mm are left with the stated sense and "
            f"{_mm(squares, freedom)} mm with the other; the axes are mirrored or the angle's sign is wrong",
            code="wrong-sense",
        )
    return sense if stated is None else stated


def _mm(squares: float, freedom: int) -> str:
    return f"{1e3 * np.sqrt(squares / freedom):.4g}"
