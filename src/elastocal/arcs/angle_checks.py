"""Joint angles that cannot belong to an arc: too few, in degrees, or running the other way."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from elastocal.errors import InputError
from elastocal.spatial.entries import Array

CLEAR = 9.0
"""How much the sum of squares over the variance must differ between two senses: odds of exp(4.5), 90 to 1."""
SURE = 1e-6


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


def check_units(angles: Array, squares: float, in_degrees: float, twice: float, freedom: int, extent: float) -> None:
    """Refuse angles that fit far better in another unit: squares as given, read as degrees, or turned back into them.

    Far better is a ratio of the sums of squares that normal noise gives once in a million (F distribution).
    """
    from scipy.special import fdtrc

    floor = (1e-9 * extent) ** 2
    for other, words in (
        (in_degrees, "degrees where radians are meant; convert them"),
        (twice, "degrees that were converted to radians twice; convert them once"),
    ):
        if squares > floor and fdtrc(freedom, freedom, squares / max(other, floor)) < SURE:
            raise InputError(
                f"the angles look like {words}: the residuals would be {_mm(other, freedom)} instead of "
                f"{_mm(squares, freedom)} mm"
            )
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
