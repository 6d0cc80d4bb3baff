"""The rigid motion that brings one set of points closest to another."""

from __future__ import annotations

import numpy as np

from elastocal.errors import InputError
from elastocal.spatial.entries import Array
from elastocal.spatial.pose import Pose

THIN = 1e-3
"""Points are in line where their spread across is less than this share of the spread along."""


def rigid_fit(points: Array, targets: Array) -> tuple[Pose, float]:
    """T with least sum of |T p - t|^2 over points and targets (N, 3), and the root mean square distance left.

    With the singular values U S V^T of sum (t - mean)(p - mean)^T the rotation is U diag(1, 1, det(U V^T)) V^T: always
    a rotation, never a reflection, also for points in a plane (Kabsch, Umeyama).
    """
    if len(points) < 3:
        raise InputError(f"{len(points)} points do not tell how axes lie; at least three that are not in line do")
    centre, aim = points.mean(axis=0), targets.mean(axis=0)
    for cloud in (points - centre, targets - aim):
        spread = np.linalg.svd(cloud, compute_uv=False)
        if spread[1] < THIN * spread[0] or spread[0] == 0:
            raise InputError("all points are in line and do not tell how axes lie; add some beside the line")
    u, _, vt = np.linalg.svd((targets - aim).T @ (points - centre))
    rotation = u @ np.diag([1.0, 1.0, np.sign(np.linalg.det(u @ vt))]) @ vt
    pose = Pose(rotation, aim - rotation @ centre)
    left = points @ rotation.T + pose.translation - targets
    return pose, float(np.sqrt(np.mean(np.sum(left**2, axis=1))))
