"""Rotations: constant ones by matrix, batches by their rotation vector, and as languages write them.

A ``Rotation`` is unit quaternions (..., 4), scalar first: what programs need of that class of
``scipy.spatial.transform``, under its names and to the same digits, since importing that takes longer than
correcting a program.  Capital letters of a sequence turn about the axes as they are turned already, small letters
about fixed ones.
"""

from __future__ import annotations

import warnings
from math import atan2, cos, hypot, sin
from typing import Any

import numpy as np

from elastocal.errors import RangeError
from elastocal.spatial.entries import Array, Ints
from elastocal.values import dataclass


def axis_matrix(axis: int, angle: float) -> Array:
    """Rotation by ``angle`` about coordinate axis 0, 1 or 2; exact at multiples of a quarter turn."""
    c, s = exact_cos_sin(angle)
    j, k = (axis + 1) % 3, (axis + 2) % 3
    out = np.eye(3)
    out[j, j], out[j, k], out[k, j], out[k, k] = c, -s, s, c
    return out


def exact_cos_sin(angle: float) -> tuple[float, float]:
    quarter = angle / (np.pi / 2)
    if abs(quarter - round(quarter)) < 1e-14:
        return ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0))[round(quarter) % 4]
    return cos(angle), sin(angle)


def rpy_matrix(roll: float, pitch: float, yaw: float) -> Array:
    """Fixed-axis roll, pitch, yaw: Rz(yaw) Ry(pitch) Rx(roll), the URDF convention."""
    return axis_matrix(2, yaw) @ axis_matrix(1, pitch) @ axis_matrix(0, roll)


def matrix_rpy(rotation: Array) -> tuple[float, float, float]:
    """Roll, pitch, yaw of one rotation matrix, to full precision at any pitch.

    Near 90 deg of pitch the roll is known badly; pitch and yaw are taken from what that very roll leaves over,
    so that the product still is the rotation.
    """
    r = rotation
    roll = atan2(r[2, 1], r[2, 2]) if hypot(r[2, 1], r[2, 2]) > 4e-16 else 0.0
    rest = r @ axis_matrix(0, roll).T
    return roll, atan2(-rest[2, 0], rest[2, 2]), atan2(-rest[0, 1], rest[1, 1])


def align_z(axis: Array) -> Array:
    """Rotations (..., 3, 3) whose third columns are the unit vectors ``axis`` (..., 3)."""
    unlike = np.eye(3)[np.argmin(np.abs(axis), axis=-1)]
    x = np.cross(unlike, axis)
    x /= np.linalg.norm(x, axis=-1, keepdims=True)
    return np.stack([x, np.cross(axis, x), axis], axis=-1)


def rotation_vector(rotation: Array) -> Array:
    """Rotation vectors (3, N) of rotation matrices (3, 3, N), by quaternions: accurate for small angles.

    The quaternion component with the largest magnitude is found first (Shepperd), so that angles
    near pi lose no digits either.
    """
    r = rotation
    trace = r[0, 0] + r[1, 1] + r[2, 2]
    squares = np.stack([trace, r[0, 0], r[1, 1], r[2, 2]])
    best = np.argmax(squares, axis=0)
    a, b, c = r[2, 1] - r[1, 2], r[0, 2] - r[2, 0], r[1, 0] - r[0, 1]
    d, e, f = r[1, 0] + r[0, 1], r[0, 2] + r[2, 0], r[2, 1] + r[1, 2]
    diag = 1 + 2 * squares[1:] - trace
    options = np.stack(
        [
            np.stack([1 + trace, a, b, c]),
            np.stack([a, diag[0], d, e]),
            np.stack([b, d, diag[1], f]),
            np.stack([c, e, f, diag[2]]),
        ]
    )
    quaternion = np.take_along_axis(options, best[None, None, :], axis=0)[0]
    quaternion = quaternion / np.linalg.norm(quaternion, axis=0)
    quaternion = np.where(quaternion[0] < 0, -quaternion, quaternion)
    norm = np.linalg.norm(quaternion[1:], axis=0)
    angle = 2 * np.arctan2(norm, quaternion[0])
    factor = np.where(norm > 1e-12, angle / np.where(norm > 0, norm, 1.0), 2.0)
    return np.asarray(quaternion[1:] * factor)


def turns_between(turns: Array, pairs: Ints) -> Array:
    """Rotation vectors (P, 3) from pose to pose of ``pairs`` (P, 2), in the axes of the first."""
    change = turns[pairs[:, 0]].transpose(0, 2, 1) @ turns[pairs[:, 1]]
    return np.asarray(rotation_vector(np.moveaxis(change, 0, -1)).T)


def cross_matrices(vectors: Array) -> Array:
    """[v]x (3, 3, N) of vectors (3, N)."""
    x, y, z = vectors
    o = np.zeros_like(x)
    return np.array([[o, -z, y], [z, o, -x], [-y, x, o]])


def rotations(vectors: Array) -> Array:
    """Rotation matrices (3, 3, N) of rotation vectors (3, N): I + sin(t)/t [v]x + (1 - cos(t))/t^2 [v]x^2."""
    angle = np.linalg.norm(vectors, axis=0)
    cross = cross_matrices(vectors)
    square = np.einsum("ijn,jkn->ikn", cross, cross)
    half = np.sinc(angle / (2 * np.pi))
    return np.asarray(np.eye(3)[:, :, None] + np.sinc(angle / np.pi) * cross + 0.5 * half**2 * square)


def left_jacobian_inverse(vectors: Array) -> Array:
    """(3, 3, N): change of a rotation vector v by a small turn in fixed axes, dv = (I - [v]x/2 + c [v]x^2) w.

    c = (1 - (t/2) cot(t/2)) / t^2, which is 1/12 at t = 0.
    """
    angle = np.linalg.norm(vectors, axis=0)
    cross = cross_matrices(vectors)
    square = np.einsum("ijn,jkn->ikn", cross, cross)
    large = angle > 1e-3
    t = np.where(large, angle, 1.0)
    c = np.where(large, (1 - t / 2 / np.tan(t / 2)) / t**2, 1 / 12 + angle**2 / 720)
    return np.asarray(np.eye(3)[:, :, None] - 0.5 * cross + c * square)


def nearest_rotation(matrices: Array) -> Array:
    """The rotation nearest to every matrix (..., 3, 3), never a reflection: U diag(1, 1, det(U V^T)) V^T."""
    u, _, vt = np.linalg.svd(matrices)
    u[..., 2] *= np.sign(np.linalg.det(u @ vt))[..., None]
    return np.asarray(u @ vt)


LOCKED = 1e-7
"""Middle angles, in rad, so near to their singularity leave only a sum of the others; the last is then zero."""
SMALL = 1e-3
"""Angles in rad below which a series is more exact than a quotient."""


@dataclass(frozen=True, eq=False)
class Rotation:
    """One turn (4,), or many (..., 4)."""

    quaternion: Array

    @classmethod
    def from_quat(cls, numbers: Any, scalar_first: bool = False) -> Rotation:
        """Of any length but zero."""
        q = np.asarray(numbers, dtype=np.float64)
        size = np.linalg.norm(q, axis=-1, keepdims=True)
        if np.any(size == 0.0):
            raise RangeError("a quaternion of zeros is no rotation", code="no-rotation")
        return cls((q if scalar_first else np.roll(q, 1, axis=-1)) / size)

    @classmethod
    def from_matrix(cls, matrix: Any) -> Rotation:
        """Of the nearest rotation where a matrix is not quite one; by its largest component (Shepperd)."""
        r = np.asarray(matrix, dtype=np.float64)
        known = np.asarray(np.isfinite(r).all((-2, -1)))
        if np.any(np.linalg.det(np.where(known[..., None, None], r, np.eye(3))) <= 0):
            raise RangeError("a matrix that mirrors is no rotation", code="no-rotation")
        off = ~np.all(np.abs(r @ np.swapaxes(r, -1, -2) - np.eye(3)) < 1e-12, axis=(-2, -1)) & known
        if np.any(off):
            r = np.where(off[..., None, None], nearest_rotation(np.where(off[..., None, None], r, np.eye(3))), r)
        trace = np.einsum("...ii->...", r)
        x, y, z = (r[..., 2, 1], r[..., 1, 2]), (r[..., 0, 2], r[..., 2, 0]), (r[..., 1, 0], r[..., 0, 1])
        a, b, c = x[0] - x[1], y[0] - y[1], z[0] - z[1]
        d, e, f = z[0] + z[1], y[0] + y[1], x[0] + x[1]
        rows = (
            (1 + trace, a, b, c),
            (a, _own(r, trace, 0), d, e),
            (b, d, _own(r, trace, 1), f),
            (c, e, f, _own(r, trace, 2)),
        )
        best = np.argmax(np.stack([r[..., 0, 0], r[..., 1, 1], r[..., 2, 2], trace], axis=-1), axis=-1)
        q = np.stack([np.choose((best + 1) % 4, [row[i] for row in rows]) for i in range(4)], axis=-1)
        return cls(q / np.linalg.norm(q, axis=-1, keepdims=True))

    @classmethod
    def from_rotvec(cls, vector: Any) -> Rotation:
        v = np.asarray(vector, dtype=np.float64)
        angle = np.linalg.norm(v, axis=-1, keepdims=True)
        square, small = angle**2, angle <= SMALL
        scale = np.where(small, 0.5 - square / 48 + square**2 / 3840, np.sin(angle / 2) / (angle + small))
        return cls(np.concatenate([np.cos(angle / 2), v * scale], axis=-1))

    @classmethod
    def from_euler(cls, sequence: str, angles: Any, degrees: bool = False) -> Rotation:
        """Of angles (..., k) about the k axes of the ``sequence``."""
        half = np.asarray(angles, dtype=np.float64) / 2
        half = np.radians(half) if degrees else half
        half = half[..., None] if len(sequence) == 1 and (half.ndim == 0 or half.shape[-1] != 1) else half
        turns = []
        for i, axis in enumerate(sequence.lower()):
            q = np.zeros((*half.shape[:-1], 4))
            q[..., 0], q[..., 1 + "xyz".index(axis)] = np.cos(half[..., i]), np.sin(half[..., i])
            turns.append(cls(q))
        out, *others = turns if sequence.isupper() else turns[::-1]
        for turn in others:
            out = out * turn
        return out

    def __mul__(self, other: Rotation) -> Rotation:
        """First ``other``, then this one."""
        a, b = np.broadcast_arrays(self.quaternion, other.quaternion)
        u, v = a[..., 1:], b[..., 1:]
        scalar = a[..., 0] * b[..., 0] - (u * v).sum(axis=-1)
        vector = a[..., :1] * v + b[..., :1] * u + np.cross(u, v)
        return Rotation(np.concatenate([scalar[..., None], vector], axis=-1))

    def inv(self) -> Rotation:
        return Rotation(self.quaternion * np.array([1.0, -1.0, -1.0, -1.0]))

    def apply(self, vector: Array) -> Array:
        return np.asarray(self.as_matrix() @ vector)

    def as_quat(self, canonical: bool = False, scalar_first: bool = False) -> Array:
        """``canonical``: of the two signs the one with a positive first number that is not zero, scalar first."""
        q = _canonical(self.quaternion) if canonical else self.quaternion
        return q if scalar_first else np.roll(q, -1, axis=-1)

    def as_matrix(self) -> Array:
        w, x, y, z = np.moveaxis(self.quaternion, -1, 0)
        rows = (
            (x * x - y * y - z * z + w * w, 2 * (x * y - z * w), 2 * (x * z + y * w)),
            (2 * (x * y + z * w), -x * x + y * y - z * z + w * w, 2 * (y * z - x * w)),
            (2 * (x * z - y * w), 2 * (y * z + x * w), -x * x - y * y + z * z + w * w),
        )
        return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)

    def as_rotvec(self) -> Array:
        q = _canonical(self.quaternion)
        angle = 2 * np.arctan2(np.linalg.norm(q[..., 1:], axis=-1, keepdims=True), q[..., :1])
        square, small = angle**2, angle <= SMALL
        scale = np.where(small, 2 + square / 12 + 7 * square**2 / 2880, angle / (np.sin(angle / 2) + small))
        return np.asarray(scale * q[..., 1:])

    def as_euler(self, sequence: str, degrees: bool = False) -> Array:
        """Angles (..., 3), first and last in -pi to pi, by half sums and differences (Bernardes and Viollet)."""
        inner = sequence.isupper()
        i, j, k = ("xyz".index(a) for a in (sequence[::-1] if inner else sequence).lower())
        same = i == k
        k = 3 - i - j if same else k
        sign = (i - j) * (j - k) * (k - i) // 2
        w, *v = np.moveaxis(self.quaternion, -1, 0)
        a, b, c, d = w, v[i], v[j], v[k] * sign
        if not same:
            a, b, c, d = a - c, b + d, c + a, d - b
        total, apart = np.arctan2(b, a), np.arctan2(d, c)
        middle = 2 * np.arctan2(np.hypot(c, d), np.hypot(a, b))
        low, high = np.abs(middle) <= LOCKED, np.abs(middle - np.pi) <= LOCKED
        if np.any(low | high):
            warnings.warn("Gimbal lock: the third angle is taken to be zero", stacklevel=2)
        alone = np.where(low, 2 * total, 2 * apart * (1 if inner else -1))
        near, far = total - apart, total + apart
        out = [far, middle, near] if inner else [near, middle, far]
        out = [np.where(low | high, alone, out[0]), out[1], np.where(low | high, 0.0, out[2])]
        if not same:
            out[0 if inner else 2] = out[0 if inner else 2] * sign
            out[1] = middle - np.pi / 2
        angles = np.stack(out, axis=-1)
        angles = angles - 2 * np.pi * ((angles > np.pi).astype(float) - (angles < -np.pi))
        return np.degrees(angles) if degrees else angles


def _own(r: Array, trace: Array, i: int) -> Array:
    return np.asarray(1 - trace + 2 * r[..., i, i])


def _canonical(q: Array) -> Array:
    first = np.take_along_axis(q, np.argmax(q != 0, axis=-1)[..., None], axis=-1)
    return np.where(first < 0, -q, q)
