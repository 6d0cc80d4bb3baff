"""Commands that bring the LOADED tool to its targets, for one chunk of targets.

The fast steps first (``loaded_steps``), which need the rigid robot's joint values at the target and end after two or
three where bends are small.  Newton with the loaded Jacobian (``loaded_newton``) for what they leave: soft arms, loads
near the limit of stability, joints that follow others.  Both find the same command; neighbours decide nothing.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from elastocal.model.pose_status import PoseStatus
from elastocal.model.statics.loaded_goal import Goal, Settled
from elastocal.model.statics.loaded_newton import loaded_newton
from elastocal.model.statics.loaded_state import LoadedRobot
from elastocal.model.statics.loaded_steps import STOP, settle
from elastocal.model.task import Task
from elastocal.spatial.entries import Array, Bools


def loaded_inverse(
    robot: LoadedRobot, frame: str, task: Task, goal: Goal, start: Array, near: Bools, stop: float = STOP
) -> Settled:
    """From joint values (n, N) of the rigid robot; rows not ``near`` their target are out of reach and left alone.

    ``stop`` is what a target may miss, in m and rad, when the last of the fast steps is taken.
    """
    if robot.followers:
        lost = np.full(len(near), int(PoseStatus.OUT_OF_REACH), dtype=np.int64)
        out = Settled(np.full_like(start, np.nan), np.full((robot.flex.n, len(near)), np.nan), lost)
    else:
        out = settle(robot, frame, task, goal, start, stop)
    hard = near & ~out.done
    if hard.any():
        again = loaded_newton(robot, frame, task, goal.picked(hard), start[:, hard])
        out.q[:, hard], out.theta[:, hard], out.status[hard] = again.q, again.theta, again.status
    return replace(out, status=np.where(near, out.status, np.int64(PoseStatus.OUT_OF_REACH)))
