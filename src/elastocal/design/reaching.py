"""Configurations that put the tool at given points, from any start, within the joint limits.

Only the place is asked for.  The orientation stays near that of the start, so different starts bring different ones.
"""

from __future__ import annotations

import numpy as np

from elastocal.model.configurations import middle
from elastocal.model.inverse_kinematics import inverse_kinematics
from elastocal.model.kinematics import kinematics
from elastocal.model.limits import joint_bounds
from elastocal.model.robot import RobotModel
from elastocal.model.task import Task, moved_rows
from elastocal.spatial.entries import Array, Bools

_PLACE = Task("position", (0, 1, 2))


def across(model: RobotModel, targets: Array, lows: Array, highs: Array, frame: str | None = None) -> Array:
    """Targets (N, 3) with the coordinates that an arm cannot change (the height of a planar one) at their only value.

    ``lows`` and ``highs`` (N, 3) are the boxes that the targets lie in: what they leave out stays out of reach.
    """
    fixed = ~np.isin(np.arange(3), moved_rows(model, frame or model.tool))
    only = kinematics(model, middle(model), frame).position[0]
    return np.where(fixed & (lows <= only) & (only <= highs), only, targets)


def reached(model: RobotModel, start: Array, targets: Array, frame: str | None = None) -> tuple[Array, Bools]:
    """Joint values (N, n) from ``start`` (N, n) for points (N, 3) of the frame (default tool), and where they hold."""
    found = inverse_kinematics(
        model, frame or model.tool, _PLACE, targets.T, None, np.ascontiguousarray(start.T), joint_bounds(model)
    )
    return found.q.T, found.reached
