"""Joint values of the unloaded robot for a batch of targets, any serial robot: ``pose_search`` on its rigid pose.

The robot is taken with its geometric errors; ``model.nominal`` is the one that a controller knows.  Candidates of a
measurement stay within the joints' limits.  Targets of a program are sought without: its user is told which axis would
go beyond them, not that the target is out of reach.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from elastocal.model.kinematics import rigid_motion
from elastocal.model.limits import extent
from elastocal.model.pose_search import REACHED, Bounds, Posed, search
from elastocal.model.pose_status import PoseStatus
from elastocal.model.robot import RobotModel
from elastocal.model.task import Task, unmoved_directions
from elastocal.spatial.entries import Array, Ints
from elastocal.spatial.gap import missing

ANCHORS = 500


def inverse_kinematics(
    model: RobotModel,
    frame: str,
    task: Task,
    position: Array,
    rotation: Array | None,
    start: Array,
    bounds: Bounds | None = None,
) -> Posed:
    """For positions (3, N) and rotations (3, 3, N) from joint values (n, N), within ``bounds`` where given.

    ``rotation`` may be None where the task has no rows of it.
    """
    rows = list(task.rows)

    def look(q: Array, some: Ints) -> tuple[Array, Array]:
        place, turn, jacobian = rigid_motion(model, frame, q)
        wanted = None if rotation is None else rotation[:, :, some]
        return missing(position[:, some], wanted, place, turn)[rows], jacobian[rows]

    found = search(model, task.rows, look, start, bounds)
    lost = np.flatnonzero(~found.reached)
    status = found.status.copy()
    if len(lost):
        off = position[:, lost] - rigid_motion(model, frame, found.q[:, lost])[0]
        beside = np.abs(unmoved_directions(model, frame).T @ off).max(axis=0, initial=0.0) > REACHED * extent(model)
        status[lost[beside]] = PoseStatus.OFF_THE_PLANE
    return replace(found, status=status)


def along_path(model: RobotModel, frame: str, task: Task, position: Array, rotation: Array, before: Array) -> Posed:
    """The same along a path that starts near joint values (n,).

    Up to five hundred anchors evenly along the path are solved one after the other, each from the last one reached; all
    others start between their two anchors, in one batch.
    """
    total = position.shape[1]
    every = -(-total // ANCHORS)
    at = np.unique(np.append(np.arange(0, total, every), total - 1))
    anchors, status = np.empty((model.n, len(at))), np.zeros(len(at), dtype=np.int64)
    last = before
    for i, row in enumerate(at):
        one = slice(row, row + 1)
        found = inverse_kinematics(model, frame, task, position[:, one], rotation[:, :, one], last[:, None])
        anchors[:, i], status[i] = found.q[:, 0], found.status[0]
        last = anchors[:, i] if found.reached[0] else last
    if every == 1:
        return Posed(anchors, status)
    good = status == PoseStatus.REACHED
    base = np.where(good.any(), good, True)
    start = np.stack([np.interp(np.arange(total), at[base], row[base]) for row in anchors])
    return inverse_kinematics(model, frame, task, position, rotation, start)
