"""A direction that may lean: a = (a0 + t_u u + t_v v) / |...| with u, v, a0 at right angles, t the slopes."""

from __future__ import annotations

import numpy as np

from elastocal.errors import InputError
from elastocal.spatial.entries import Array
from elastocal.spatial.rotation import align_z

Vector = tuple[float, float, float]
Pair = tuple[float, float]


def unit(label: str, what: str, direction: Vector) -> Array:
    """The direction at length one."""
    array = np.array(direction, dtype=np.float64)
    length = float(np.linalg.norm(array))
    if not np.isfinite(length) or length < 1e-9:
        raise InputError(f"{label}: {what} {direction} has no direction; give a non-zero vector")
    return np.asarray(array / length)


def perpendiculars(direction: Array) -> Array:
    """u and v (3, 2), at right angles to the unit vector and to each other."""
    return align_z(direction)[:, :2]


def leaning(direction: Array, tilt: Pair) -> tuple[Array, Array]:
    """The unit vector (3,) after leaning by the slopes, and its derivative (3, 2) by them."""
    sides = perpendiculars(direction)
    long = direction + sides @ np.array(tilt)
    length = float(np.linalg.norm(long))
    new = long / length
    return new, (sides - np.outer(new, new @ sides)) / length
