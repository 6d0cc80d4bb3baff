r"""Newton on the command itself, with the engine's own equilibrium and the loaded Jacobian: slower, for hard cases.

    dx/dq = J (I - k D)^-1 E        E: how commands move the joints, followers included

Each step solves the equilibrium at q anew, so soft arms, loads near the limit of stability and joints that follow
others are ordinary.
"""

from __future__ import annotations

import numpy as np

from elastocal.compensate.inverse_kinematics import damped_step, missing, row_scales
from elastocal.compensate.loaded_inverse import STOP, Goal, Settled
from elastocal.compensate.loaded_state import LoadedRobot
from elastocal.compensate.nominal_motion import nominal_motion
from elastocal.compensate.task import Task
from elastocal.model.chain import JOINT
from elastocal.model.kinematics import follower_map
from elastocal.model.statics import sweep
from elastocal.model.statics.equilibrium import Status, solve_chunk
from elastocal.model.statics.newton import forces_at
from elastocal.model.statics.state import state_at
from elastocal.spatial.entries import Array

STEPS = 30
LONGEST_STEP = 0.1
_TINY = 1e-15


def loaded_newton(robot: LoadedRobot, frame: str, task: Task, goal: Goal, start: Array) -> Settled:
    """Commands whose loaded tool is at the goal, from joint values (n, N)."""
    total = start.shape[1]
    q, bends = start.copy(), np.full((robot.flex.n, total), np.nan)
    done = np.zeros(total, dtype=bool)
    rows = np.arange(total)
    scale = row_scales(robot.model, task)
    for _ in range(STEPS):
        theta, gap, jacobian = _look(robot, frame, task, goal, q[:, rows])
        bends[:, rows] = theta
        close = np.abs(gap).max(axis=0) < STOP * 1e-2
        done[rows[close]] = True
        step = damped_step(jacobian * scale[:, None], gap * scale, _TINY)
        longest = np.abs(step).max(axis=0)
        step *= np.minimum(1.0, LONGEST_STEP / np.maximum(longest, LONGEST_STEP))
        left = ~close & np.isfinite(longest)
        q[:, rows[left]] += step[:, left]
        rows, goal = rows[left], goal.picked(left)
        if not len(rows):
            break
    return Settled(np.where(done, q, np.nan), bends, done)


def _look(robot: LoadedRobot, frame: str, task: Task, goal: Goal, q: Array) -> tuple[Array, Array, Array]:
    """theta (m, N), what the task's rows miss (r, N) and their loaded Jacobian (r, n, N); nan without equilibrium."""
    model, flex = robot.model, robot.flex
    full, _, status, _, _ = solve_chunk(model, flex, q, tuple(goal.applied))
    known = status == Status.CONVERGED
    theta = np.where(known, full[list(flex.dofs)], 0.0)
    state, _ = state_at(model, flex, q, theta)
    forces = forces_at(model, flex, q, theta, goal.applied)
    joints = tuple(i for i, d in enumerate(model.chain.dofs) if d.axis == JOINT)
    leads = follower_map(model, joints)
    moved = np.zeros((flex.n, model.n, q.shape[1]))
    moved[[flex.dofs.index(i) for i in joints]] = (np.eye(model.n) if leads is None else leads)[:, :, None]
    play = flex.play(forces.q)[1] if flex.plays else None
    reach = sweep.solve(flex, forces, moved, play)[0]
    jacobian = np.einsum("ain,ijn->ajn", state.jacobian(frame, flex.dofs), reach)
    gap = missing(goal.position, goal.rotation, state.origin(frame), state.rotation(frame))
    if task.aim == "position":
        place, told, rigid = nominal_motion(model, frame, q)
        gap[3:] = missing(goal.position, goal.rotation, place, told)[3:]
        jacobian[3:] = rigid[3:]
    rows = list(task.rows)
    gap[:, ~known] = np.nan
    return np.where(known, theta, np.nan), gap[rows], jacobian[rows]
