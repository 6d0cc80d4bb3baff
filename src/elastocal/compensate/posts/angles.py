"""Orientations as languages write them; the writing nearest to the old one is chosen.

Angles (a, b, c) and (a + pi, b', c + pi), with b' = pi - b where three axes differ and b' = -b where the first is the
last, are one rotation, and so are angles that differ by whole turns.
"""

from __future__ import annotations

import warnings

import numpy as np
from scipy.spatial.transform import Rotation

from elastocal.spatial.entries import Array


def near(angle: Array, old: Array) -> Array:
    """``angle`` plus the whole turns that bring it closest to ``old``."""
    return np.asarray(angle - 2 * np.pi * np.round((angle - old) / (2 * np.pi)))


def euler_near(rotation: Array, sequence: str, old: Array) -> Array:
    """Intrinsic angles (N, 3) of rotations (N, 3, 3), nearest to the ``old`` ones.

    R R_3(-c_old) is taken apart instead of R, so that c stays where only a +- c is determined.
    """
    if not len(rotation):
        return np.empty((0, 3))
    last = Rotation.from_euler(sequence[2], -old[:, 2:])
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Gimbal lock", UserWarning)
        first = (Rotation.from_matrix(rotation) * last).as_euler(sequence)
    first = first + np.stack([0 * old[:, 2], 0 * old[:, 2], old[:, 2]], axis=1)
    middle = -first[:, 1] if sequence[0] == sequence[2] else np.pi - first[:, 1]
    second = np.stack([first[:, 0] + np.pi, middle, first[:, 2] + np.pi], axis=1)
    first, second = near(first, old), near(second, old)
    closer = np.abs(second - old).sum(axis=1) < np.abs(first - old).sum(axis=1)
    return np.where(closer[:, None], second, first)


def quaternion_near(rotation: Array, old: Array) -> Array:
    """Unit quaternions (N, 4), scalar first, of the sign of the ``old`` ones."""
    if not len(rotation):
        return np.empty((0, 4))
    q = Rotation.from_matrix(rotation).as_quat(scalar_first=True)
    return np.asarray(np.where((q * old).sum(axis=1, keepdims=True) < 0, -q, q))


def aligned(axes: Array) -> Array:
    """Rotations (N, 3, 3) whose third columns are along ``axes`` (N, 3); the turn about them is arbitrary."""
    z = axes / np.linalg.norm(axes, axis=1, keepdims=True)
    x = np.cross(np.eye(3)[np.argmin(np.abs(z), axis=1)], z)
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    return np.stack([x, np.cross(z, x), z], axis=2)
