r"""Newton on the command itself, with the engine's own equilibrium and the loaded Jacobian: slower, for hard cases.

    dx/dq = J (I - k D)^-1 E        E: how commands move the joints, followers and moving offsets included

``pose_search`` on the loaded pose.  Each step solves the equilibrium at q anew, so soft arms, loads near the limit of
stability, joints that follow others and targets out of reach are ordinary.
"""

from __future__ import annotations

import numpy as np

from elastocal.model.kinematics import rigid_motion
from elastocal.model.pose_search import search
from elastocal.model.statics.equilibrium import Status, solve_chunk
from elastocal.model.statics.loaded_goal import Goal, Settled
from elastocal.model.statics.loaded_state import LoadedRobot
from elastocal.model.statics.observation import Marker, joint_columns, response
from elastocal.model.task import Task
from elastocal.spatial.entries import Array, Ints
from elastocal.spatial.gap import missing


def loaded_newton(robot: LoadedRobot, frame: str, task: Task, goal: Goal, start: Array) -> Settled:
    """Commands whose loaded tool is at the goal, from joint values (n, N)."""
    bends = np.full((robot.flex.n, start.shape[1]), np.nan)

    def look(q: Array, some: Ints) -> tuple[Array, Array]:
        bends[:, some], gap, jacobian = _look(robot, frame, task, goal.picked(some), q)
        return gap, jacobian

    found = search(robot.model, task.rows, look, start)
    return Settled(found.q, bends, found.status)


def _look(robot: LoadedRobot, frame: str, task: Task, goal: Goal, q: Array) -> tuple[Array, Array, Array]:
    """theta (m, N), what the task's rows miss (r, N) and their loaded Jacobian (r, n, N); nan without equilibrium."""
    model, flex = robot.model, robot.flex
    posture = model.posture(q)
    full, _, status, _, _ = solve_chunk(flex, posture, tuple(goal.applied))
    known = status == Status.CONVERGED
    theta = np.where(known, full[list(flex.dofs)], 0.0)
    held = response(flex, posture, theta, goal.applied, [Marker(frame, "pose")])
    jacobian = joint_columns(flex, held)
    gap = missing(goal.position, goal.rotation, held.state.origin(frame), held.state.rotation(frame))
    if task.aim == "position":
        place, told, rigid = rigid_motion(model.nominal, frame, q)
        gap[3:] = missing(goal.position, goal.rotation, place, told)[3:]
        jacobian[3:] = rigid[3:]
    rows = list(task.rows)
    return np.where(known, theta, np.nan), np.where(known, gap[rows], np.nan), jacobian[rows]
