"""Orientations of toolpaths, in the forms that ``csv_columns`` lists, to rotations and back."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from elastocal.compensate.posts.angles import aligned, euler_near, quaternion_near
from elastocal.spatial.entries import Array


def as_rotations(numbers: Array, form: str, stated: Array | None) -> Array:
    """(N, 3, 3) of numbers (N, k) in SI; ``stated`` where the file gives points only."""
    n = len(numbers)
    if form in ("point", "joints") or not n:
        out = np.full((n, 3, 3), np.nan)
        if stated is not None and form == "point":
            out[:] = stated
        return out
    if form == "vector":
        return aligned(numbers)
    if form == "quaternion":
        return np.asarray(Rotation.from_quat(numbers, scalar_first=True).as_matrix())
    if form == "rotvec":
        return np.asarray(Rotation.from_rotvec(numbers).as_matrix())
    return np.asarray(Rotation.from_euler(form, numbers).as_matrix())


def as_numbers(rotations: Array, form: str, old: Array) -> Array:
    """Numbers (N, k) of rotations, written as near to the ``old`` ones as can be."""
    if form == "point" or not len(rotations):
        return old
    if form == "vector":
        return np.asarray(rotations[:, :, 2] * np.linalg.norm(old, axis=1, keepdims=True))
    if form == "quaternion":
        return quaternion_near(rotations, old)
    if form == "rotvec":
        return _rotvec_near(Rotation.from_matrix(rotations).as_rotvec(), old)
    return euler_near(rotations, form, old)


def _rotvec_near(vector: Array, old: Array) -> Array:
    """v (1 + 2 pi n / |v|) is the same rotation for every whole n; the one nearest to ``old`` is taken."""
    size = np.linalg.norm(vector, axis=1, keepdims=True)
    unit = np.where(size > 1e-12, vector / np.where(size > 0, size, 1.0), 0.0)
    along = (unit * old).sum(axis=1, keepdims=True)
    return np.asarray(vector + unit * 2 * np.pi * np.round((along - size) / (2 * np.pi)))
