"""Inverse kinetostatics of a robot that bends (002 eq. 4): pose and force to joint values and drive torques.

The rigid robot is brought to the target first, from wherever the search starts; ``loaded_inverse`` leads from there to
the command whose *loaded* frame is at the target.  Where the rigid robot does not get there, Newton with the loaded
Jacobian seeks on from its nearest pose.  What the drives hold follows from the engine's own equilibrium at the command,
which also judges it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elastocal.model.inverse_kinematics import inverse_kinematics
from elastocal.model.limits import extent
from elastocal.model.pose_search import REACHED
from elastocal.model.pose_status import PoseStatus
from elastocal.model.robot import RobotModel
from elastocal.model.statics.equilibrium import Status, equilibrium
from elastocal.model.statics.kinetostatics import held_at, joint_loads, matching, wrench_at
from elastocal.model.statics.loaded_goal import Goal
from elastocal.model.statics.loaded_inverse import loaded_inverse
from elastocal.model.statics.loaded_newton import loaded_newton
from elastocal.model.statics.loaded_state import LoadedRobot
from elastocal.model.statics.observation import Marker, joint_columns
from elastocal.model.statics.state import chunk_size
from elastocal.model.task import Task, moved_rows, unmoved_directions
from elastocal.spatial.entries import Array, Ints
from elastocal.spatial.gap import missing

STOP = 1e-10
"""m and rad that a target may miss when the last of the fast steps is taken."""


@dataclass(frozen=True, eq=False)
class Inverse:
    """``q`` and ``torque`` (N, n); ``left`` (N, 3 or 6) what is missing of the pose; ``free`` (N,) unused freedoms."""

    frame: str
    q: Array
    torque: Array
    left: Array
    free: Ints
    status: Ints


def inverse(
    model: RobotModel,
    position: object,
    force: object,
    near: object,
    frame: str | None = None,
    rotation: object | None = None,
) -> Inverse:
    """Joint values that bring the loaded frame to ``position`` (N, 3), and to ``rotation`` (N, 3, 3) where given.

    ``near`` (n,) or (N, n) is where the search starts; what the pose leaves free stays as near to it as the steps do.
    Joint limits are not judged.
    """
    at = frame or model.tool
    model.tree.frame(at)
    target = matching(model, position, (None, 3), "positions")
    count = len(target)
    push = np.broadcast_to(matching(model, force, (None, 3), "forces"), (count, 3))
    turn = None if rotation is None else np.moveaxis(np.asarray(rotation, dtype=np.float64).reshape(count, 3, 3), 0, -1)
    start = np.broadcast_to(model.joint_values(near), (count, model.n)).T
    goal = Goal(target.T, turn, [wrench_at(at, push)])
    robot = LoadedRobot(model)
    rows = tuple(i for i in moved_rows(model.nominal, at) if i < 3 or turn is not None)
    q = np.empty((model.n, count))
    size = chunk_size(robot.flex.n)
    for first in range(0, count, size):
        some = np.arange(first, min(first + size, count))
        q[:, some] = _commanded(robot, at, Task("pose", rows), goal.picked(some), start[:, some])
    return _answer(robot, at, goal, push, q.T)


def _commanded(robot: LoadedRobot, at: str, task: Task, goal: Goal, start: Array) -> Array:
    """Joint values (n, N), the nearest that were found where the target is not reached."""
    rigid = inverse_kinematics(robot.model.nominal, at, task, goal.position, goal.rotation, start)
    far = ~rigid.reached
    found = loaded_inverse(robot, at, task, goal, rigid.q, rigid.reached, STOP)
    if far.any():
        found.q[:, far] = loaded_newton(robot, at, task, goal.picked(far), rigid.q[:, far]).q
    return found.q


def _answer(robot: LoadedRobot, at: str, goal: Goal, push: Array, q: Array) -> Inverse:
    model = robot.model
    bent = equilibrium(model, q, goal.applied)
    held = held_at(model, robot.flex, q, push, at, Marker(at, "position" if goal.rotation is None else "pose"), bent)
    left = missing(goal.position, goal.rotation, held.state.origin(at), held.state.rotation(at)).T
    torque = -joint_loads(robot.flex, held)[0]
    columns = np.moveaxis(joint_columns(robot.flex, held), -1, 0)
    rank = np.linalg.matrix_rank(np.nan_to_num(columns), rtol=1e-6)
    lost = bent.status != Status.CONVERGED
    least = REACHED * extent(model)
    far = (np.linalg.norm(left[:, :3], axis=1) > least) | np.any(np.abs(left[:, 3:]) > REACHED, axis=1)
    beside = np.linalg.norm(left[:, :3] @ unmoved_directions(model, at), axis=1) > least
    status = np.select(
        [lost, beside, far], [PoseStatus.NO_EQUILIBRIUM, PoseStatus.OFF_THE_PLANE, PoseStatus.OUT_OF_REACH], 0
    )
    torque[status != PoseStatus.REACHED] = np.nan
    return Inverse(at, q, torque, left, model.n - rank, status)
