r"""Inverse kinematics of any serial robot by damped Newton steps, for a batch of targets.

    dq = J^T (J J^T + lambda^2 I)^-1 e,    lambda^2 = |e|^2 / 2 + tiny

J are the task's rows of the Jacobian with lengths divided by the robot's size, e what is missing.  The damping fades
with the error (Sugihara 2011), so the steps end as Newton's, with the least motion where there are joints to spare.
Each target stops on its own: its neighbours do not decide its result.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elastocal.compensate.nominal_motion import nominal_motion
from elastocal.compensate.task import Task
from elastocal.model.robot import RobotModel
from elastocal.spatial import batch
from elastocal.spatial.entries import Array, Bools
from elastocal.spatial.rotation import rotation_vector

TOLERANCE = 1e-12
"""Missing part of a pose at which the search stops, in rad and in m per m of the robot's extent."""
STEPS = 60
LONGEST_STEP = 0.5
_TINY = 1e-14
ANCHORS = 500


@dataclass(frozen=True, eq=False)
class Found:
    """Joint values (n, N) and whether each reaches its target; where not, the nearest that was found or nan.

    ``margins`` (k, N) tell how far each is from its singularities, where the inverse knows.
    """

    q: Array
    reached: Bools
    margins: Array | None = None


def damped_step(jacobian: Array, missing: Array, damping: Array | float) -> Array:
    """J^T (J J^T + damping)^-1 e (n, N) for J (r, n, N) and e (r, N)."""
    normal = np.einsum("ain,bin->abn", jacobian, jacobian)
    rows = np.arange(len(normal))
    normal[rows, rows] += damping
    solved = batch.solve(normal, missing[:, None])[:, 0]
    return np.asarray(np.einsum("ain,an->in", jacobian, solved))


def row_scales(model: RobotModel, task: Task) -> Array:
    """1 for angles, 1 / extent for lengths: (r, 1)."""
    return np.array([1.0 / extent(model) if i < 3 else 1.0 for i in task.rows])[:, None]


def extent(model: RobotModel) -> float:
    """How far the robot reaches at most, in m: its fixed offsets and the travel of its slides (1 m without limits)."""
    slides = [m.limits or (0.0, 1.0) for m in model.motions if m.kind == "prismatic"]
    return model.size + sum(max(abs(low), abs(high)) for low, high in slides)


def newton(model: RobotModel, frame: str, task: Task, position: Array, rotation: Array, start: Array) -> Found:
    """Joint values of the unloaded nominal robot for positions (3, N) and rotations (3, 3, N), from (n, N)."""
    q = start.copy()
    total = q.shape[1]
    reached = np.zeros(total, dtype=bool)
    rows = np.arange(total)
    scale = row_scales(model, task)
    for _ in range(STEPS):
        place, turn, jacobian = nominal_motion(model, frame, q[:, rows])
        gap = missing(position[:, rows], rotation[:, :, rows], place, turn)[list(task.rows)] * scale
        step = damped_step(jacobian[list(task.rows)] * scale[:, None], gap, 0.5 * (gap**2).sum(axis=0) + _TINY)
        longest = np.abs(step * _joint_scale(model)).max(axis=0)
        step *= np.minimum(1.0, LONGEST_STEP / np.maximum(longest, LONGEST_STEP))
        q[:, rows] += step
        close = np.abs(gap).max(axis=0) < TOLERANCE
        reached[rows[close]] = True
        rows = rows[~close]
        if not len(rows):
            break
    return Found(q, reached)


def along_path(model: RobotModel, frame: str, task: Task, position: Array, rotation: Array, before: Array) -> Found:
    """The same along a path that starts near joint values (n,).

    Up to five hundred anchors evenly along the path are solved one after the other, each from the last one reached; all
    others start between their two anchors, in one batch.
    """
    total = position.shape[1]
    every = -(-total // ANCHORS)
    at = np.unique(np.append(np.arange(0, total, every), total - 1))
    anchors, good = np.empty((model.n, len(at))), np.zeros(len(at), dtype=bool)
    last = before
    for i, row in enumerate(at):
        one = slice(row, row + 1)
        found = newton(model, frame, task, position[:, one], rotation[:, :, one], last[:, None])
        anchors[:, i], good[i] = found.q[:, 0], found.reached[0]
        last = anchors[:, i] if good[i] else last
    if every == 1:
        return Found(anchors, good)
    base = np.where(good.any(), good, True)
    start = np.stack([np.interp(np.arange(total), at[base], row[base]) for row in anchors])
    return newton(model, frame, task, position, rotation, start)


def missing(position: Array, rotation: Array, place: Array, turn: Array) -> Array:
    """What brings a pose to the desired one: shift and rotation vector in base axes, (6, N)."""
    return np.concatenate([position - place, rotation_vector(np.einsum("ijn,kjn->ikn", rotation, turn))])


def _joint_scale(model: RobotModel) -> Array:
    return np.array([1.0 if m.kind == "revolute" else 1.0 / extent(model) for m in model.motions])[:, None]
