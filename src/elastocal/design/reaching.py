"""Configurations that put the tool at given points: from any start, by damped Newton steps within the joint limits.

    q <- clip(q + J^T (J J^T + d^2 I)^-1 (target - x(q)))

Only the place is asked for.  The orientation stays near that of the start, so different starts bring different ones.
"""

from __future__ import annotations

import numpy as np

from elastocal.design.pool import joint_ranges
from elastocal.model.kinematics import kinematics
from elastocal.model.robot import RobotModel
from elastocal.spatial.entries import Array, Bools

STEPS = 60
NEAR = 1e-6
STILL = 1e-12
"""A jacobian below this does not move a coordinate."""
DAMPING = 1e-3
"""Part of the robot's size."""


def across(model: RobotModel, targets: Array, lows: Array, highs: Array, frame: str | None = None) -> Array:
    """Targets (N, 3) with the coordinates that an arm cannot change (the height of a planar one) at their only value.

    ``lows`` and ``highs`` (N, 3) are the boxes that the targets lie in: what they leave out stays out of reach.
    """
    low, high = joint_ranges(model)
    at = kinematics(model, low + np.linspace(0.1, 0.9, 9)[:, None] * (high - low), frame)
    fixed = np.max(np.abs(at.jacobian[:, :3]), axis=(0, 2)) < STILL
    only = at.position[0]
    return np.where(fixed & (lows <= only) & (only <= highs), only, targets)


def reached(model: RobotModel, start: Array, targets: Array, frame: str | None = None) -> tuple[Array, Bools]:
    """Joint values (N, n) from ``start`` (N, n) for points (N, 3) of the frame (default tool), and where they hold."""
    lows = np.array([-np.inf if m.limits is None else m.limits[0] for m in model.motions])
    highs = np.array([np.inf if m.limits is None else m.limits[1] for m in model.motions])
    q = np.clip(start, lows, highs)
    damping = (DAMPING * model.size) ** 2 * np.eye(3)
    error = np.full(len(q), np.inf)
    left = np.arange(len(q))
    for _ in range(STEPS):
        at = kinematics(model, q[left], frame)
        gap = targets[left] - at.position
        error[left] = np.linalg.norm(gap, axis=1)
        going = error[left] > NEAR
        left, gap = left[going], gap[going]
        if not len(left):
            break
        j = at.jacobian[going, :3]
        push = np.linalg.solve(j @ j.swapaxes(1, 2) + damping, gap[:, :, None])
        q[left] = np.clip(q[left] + (j.swapaxes(1, 2) @ push)[:, :, 0], lows, highs)
    return q, error <= NEAR
