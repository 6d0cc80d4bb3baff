"""Rotations: constant ones by matrix, batches by their rotation vector."""

from __future__ import annotations

from math import atan2, cos, hypot, sin

import numpy as np

from elastocal.spatial.entries import Array


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
