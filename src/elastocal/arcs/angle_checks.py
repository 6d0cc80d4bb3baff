"""Joint angles that cannot belong to an arc: too few, in degrees, or running the other way."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from elastocal.errors import InputError
from elastocal.spatial.entries import Array

CLEAR = 9.0
"""How much the sum of squares over the variance must differ between two senses: odds of exp(4.5), 90 to 1."""
SURE = 1e-6
STRAIGHT = 1e-3
"""An arc must fit better than a straight line by more than chance gives once in a thousand."""


def as_angles(angles: ArrayLike, points: Array) -> Array:
    """(m,) angles in rad, one for each point."""
    q = np.asarray(angles, dtype=np.float64)
    if q.shape != (len(points),):
        raise InputError(f"{len(points)} points need as many angles, but the angles have shape {q.shape}")
    if not np.all(np.isfinite(q)):
        raise InputError(f"angle {int(np.argmin(np.isfinite(q))) + 1} is not a finite number; leave its point out")
    return q


def distinct_angles(angles: Array) -> int:
    """How many different directions there are; turns by 2 pi do not count."""
    return len(np.unique(np.round(np.column_stack([np.cos(angles), np.sin(angles)]), 9) + 0.0, axis=0))


def check_angles(angles: Array) -> None:
    """Refuse fewer than three points or angles."""
    if len(angles) < 3:
        raise InputError(f"{len(angles)} points do not make an arc; measure at least three")
    distinct = distinct_angles(angles)
    if distinct == 1:
        raise InputError("all angles are equal: the joint was not moved, or its column is wrong")
    if distinct == 2:
        raise InputError("only two angles differ, and two fit either sense of rotation; measure at a third angle")


class WrongUnitError(InputError):
    """Angles that fit far better when multiplied by ``factor``."""

    def __init__(self, factor: float, left: str, words: str) -> None:
        super().__init__(f"the angles look like {words}: {left}")
        self.factor, self.left = factor, left


def check_angle_units(
    squares: float, in_degrees: float, twice: float, line: LineFit, freedom: int, extent: float
) -> None:
    """Refuse angles that fit far better in another unit: squares as given, read as degrees, or turned back into them.

    Far better is a ratio of the sums of squares that normal noise gives once in a million (F distribution).  Points on
    a straight line fit any angles that are small enough, so they are told first.
    """
    from scipy.special import fdtrc

    floor = (1e-9 * extent) ** 2
    for other, factor, words in (
        (in_degrees, np.pi / 180, "degrees where radians are meant; convert them"),
        (twice, 180 / np.pi, "degrees that were converted to radians twice; convert them once"),
    ):
        if not (squares > floor and fdtrc(freedom, freedom, squares / max(other, floor)) < SURE):
            continue
        ratio = (line.squares / line.freedom) / (max(other, floor) / freedom)
        if fdtrc(line.freedom, freedom, ratio) > STRAIGHT:
            raise InputError(
                f"the points lie on a straight line within {_mm(line.squares, line.freedom)} mm, which has no centre "
                "and does not fit the angles; measure a longer arc, and check the angles"
            )
        left = f"the residuals would be {_mm(other, freedom)} instead of {_mm(squares, freedom)} mm"
        raise WrongUnitError(factor, left, words)


@dataclass(frozen=True)
class LineFit:
    """Sum of squares of the points' distances from their best straight line, and its spare equations."""

    squares: float
    freedom: int


def fitted_line(points: Array) -> LineFit:
    spread = np.linalg.svd(points - points.mean(axis=0), compute_uv=False)
    m, d = points.shape
    return LineFit(float(np.sum(spread[1:] ** 2)), (m - 2) * (d - 1))


def check_span(angles: Array, squares: float, freedom: int, extent: float) -> None:
    """Refuse angles over more than a turn with which no arc passes through the points."""
    span = float(np.ptp(angles))
    if span > 2 * np.pi and squares > len(angles) * (0.05 * extent) ** 2:
        raise InputError(
            f"the angles span {span:.4g} rad, more than a turn, and no arc passes through the points with them "
            f"(residuals of {_mm(squares, freedom)} mm); check their unit"
        )


def check_sense(stated: int | None, found: int, squares: float, other: float, variance: float, freedom: int) -> int:
    """The sense to use: the stated one unless the data clearly reject it, else the found one if it is clear."""
    if stated not in (None, 1, -1):
        raise InputError(f"the sense of rotation is 1 (with the angle) or -1 (against it), not {stated}")
    clear = other - squares > CLEAR * variance
    if stated is None and not clear:
        raise InputError(
            f"both senses of rotation fit the points ({_mm(squares, freedom)} and {_mm(other, freedom)} mm are left); "
            "state the sense or measure a longer arc"
        )
    if stated is not None and stated != found and clear:
        way = "against the angle" if stated == 1 else "with the angle"
        raise InputError(
            f"the points run {way}, not as stated: {_mm(other, freedom)} mm are left with the stated sense and "
            f"{_mm(squares, freedom)} mm with the other; the axes are mirrored or the angle's sign is wrong"
        )
    return found if stated is None else stated


def _mm(squares: float, freedom: int) -> str:
    return f"{1e3 * np.sqrt(squares / freedom):.4g}"
