"""Commands that bring the LOADED tool to its targets, for one chunk of targets.

The fast steps first (``fixed_point``), from the rigid robot's joint values at the target.  At actual joint values v and
bends theta_V let e be what the pose misses and d = c + k Q - theta_V what the bends are about to change.  The step

    theta_V += d,     v += J^+ (e - J_V d)

is Newton's without dQ/d(v, theta): each step leaves a share of about |k dQ/dtheta| of the error, some 1e-3 for an
industrial arm, so that two steps end below a nanometre.

For what they leave (soft arms, loads near the limit of stability, joints that follow others) Newton on the command
itself (``loaded_newton``), which solves the equilibrium at q anew in each step, with the loaded Jacobian

    dx/dq = J (I - k D)^-1 E        E: how commands move the joints, followers and moving offsets included.

Both find the same command; neighbours decide nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from elastocal.model.inverse_kinematics import PoseStatus, Task, damped_step, search
from elastocal.model.kinematics import rigid_motion, rigid_pose
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.posture import Posture
from elastocal.model.statics.equilibrium import Status, solve_chunk
from elastocal.model.statics.loaded_state import Bent, LoadedRobot
from elastocal.model.statics.observation import Marker, joint_columns, response
from elastocal.spatial import entries as en
from elastocal.spatial.entries import Array, Bools, Ints
from elastocal.spatial.pose import missing
from elastocal.values import dataclass

STOP = 1e-7
"""m and rad that a target may miss when the last step is taken; the step leaves about a thousandth of it."""
BENDING = 10.0
"""How many times that the bends may still move the tool then: what they do beside the task is not missed there."""
STEPS = 8
_DAMPING = 1e-16


@dataclass(frozen=True, eq=False)
class Goal:
    """Where the tool is to be, (3, N) and (3, 3, N), under external wrenches; no rotation: its place alone."""

    position: Array
    rotation: Array | None
    applied: Sequence[AppliedWrenches]

    def picked(self, rows: Bools | Ints) -> Goal:
        rotation = None if self.rotation is None else self.rotation[:, :, rows]
        return Goal(self.position[:, rows], rotation, [w.picked(rows) for w in self.applied])


@dataclass(frozen=True, eq=False)
class LoadedJoints:
    """Commands (n, N), bends of all flexible coordinates (m, N) and status (N,).

    Where the status is not reached, the commands are the nearest that were found, or nan.
    """

    q: Array
    theta: Array
    status: Ints

    @property
    def done(self) -> Bools:
        return np.asarray(self.status == PoseStatus.REACHED)


def loaded_inverse(
    robot: LoadedRobot, frame: str, task: Task, goal: Goal, start: Array, near: Bools, stop: float = STOP
) -> LoadedJoints:
    """From joint values (n, N) of the rigid robot; rows not ``near`` their target are out of reach and left alone.

    ``stop`` is what a target may miss, in m and rad, when the last of the fast steps is taken.
    """
    if robot.followers:
        lost = np.full(len(near), int(PoseStatus.OUT_OF_REACH), dtype=np.int64)
        out = LoadedJoints(np.full_like(start, np.nan), np.full((robot.flex.n, len(near)), np.nan), lost)
    else:
        out = fixed_point(robot, frame, task, goal, start, stop)
    hard = near & ~out.done
    if hard.any():
        again = loaded_newton(robot, frame, task, goal.picked(hard), start[:, hard])
        out.q[:, hard], out.theta[:, hard], out.status[hard] = again.q, again.theta, again.status
    return replace(out, status=np.where(near, out.status, np.int64(PoseStatus.OUT_OF_REACH)))


def loaded_newton(robot: LoadedRobot, frame: str, task: Task, goal: Goal, start: Array) -> LoadedJoints:
    """Commands whose loaded tool is at the goal, from joint values (n, N)."""
    bends = np.full((robot.flex.n, start.shape[1]), np.nan)

    def residual(q: Array, some: Ints) -> tuple[Array, Array]:
        bends[:, some], gap, jacobian = _residual(robot, frame, task, goal.picked(some), q)
        return gap, jacobian

    match = search(robot.model, task.rows, residual, start)
    return LoadedJoints(match.q, bends, match.status)


def _residual(robot: LoadedRobot, frame: str, task: Task, goal: Goal, q: Array) -> tuple[Array, Array, Array]:
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
        place, turn, rigid = rigid_motion(model.nominal, frame, q)
        gap[3:] = missing(goal.position, goal.rotation, place, turn)[3:]
        jacobian[3:] = rigid[3:]
    rows = list(task.rows)
    return np.where(known, theta, np.nan), np.where(known, gap[rows], np.nan), jacobian[rows]


def fixed_point(
    robot: LoadedRobot, frame: str, task: Task, goal: Goal, start: Array, stop: float = STOP
) -> LoadedJoints:
    """Commands whose loaded tool is at the goal, from joint values (n, N) of the rigid robot at the goal.

    Offsets that move with the command are those at the last one found, which is sought again until it stays: each time
    leaves a share |dc/dq| of the change, some 1e-3.
    """
    out = _fixed_point(robot, frame, task, goal, start, stop, robot.model.posture(start))
    rows = np.flatnonzero(out.done) if robot.model.varying else np.arange(0)
    for _ in range(STEPS):
        if not len(rows):
            break
        q = out.q[:, rows]
        actual = q + out.theta[robot.joints][:, rows]
        again = _fixed_point(robot, frame, task, goal.picked(rows), actual, stop, robot.model.posture(q))
        out.q[:, rows], out.theta[:, rows], out.status[rows] = again.q, again.theta, again.status
        rows = rows[again.done & (np.abs(again.q - q).max(axis=0, initial=0.0) > stop)]
    out.status[rows] = PoseStatus.OUT_OF_REACH
    return out


def _fixed_point(
    robot: LoadedRobot, frame: str, task: Task, goal: Goal, start: Array, stop: float, posture: Posture
) -> LoadedJoints:
    """The same with offsets as they are ``posture`` some command."""
    v, virtual = start, None
    if robot.rigid_geometry and (task.aim == "pose" or all(i < 3 for i in task.rows)):
        bent = robot.state(v, None, goal.applied, posture)
        bend = robot.joint_bends(bent)
        return LoadedJoints(v - bend, bend[np.argsort(robot.joints)], _status(np.isfinite(v[0])))
    total = start.shape[1]
    q, bends = np.full_like(start, np.nan), np.full((robot.flex.n, total), np.nan)
    done = np.zeros(total, dtype=bool)
    rows = np.arange(total)
    for _ in range(STEPS):
        with np.errstate(invalid="ignore", over="ignore"):
            bent, step, close = _step(robot, frame, task, goal, v, virtual, stop, posture)
        v = v + step
        if close.any():
            bend = robot.joint_bends(bent)
            bent.theta[robot.joints] = bend
            if close.all() and len(rows) == total:
                return LoadedJoints(v - bend, bent.theta, _status(close))
            q[:, rows[close]] = (v - bend)[:, close]
            bends[:, rows[close]] = bent.theta[:, close]
            done[rows[close]] = True
        virtual = bent.theta[robot.virtual]
        left = ~close & np.isfinite(v[0])
        if not left.any():
            break
        if not left.all():
            rows, v, virtual = rows[left], v[:, left], virtual[:, left]
            goal, posture = goal.picked(left), posture.take(left)
    return LoadedJoints(q, bends, _status(done))


def _step(
    robot: LoadedRobot,
    frame: str,
    task: Task,
    goal: Goal,
    v: Array,
    virtual: Array | None,
    stop: float,
    posture: Posture,
) -> tuple[Bent, Array, Bools]:
    """The bent state at (v, theta_V), the step of v, and whether what is missing there is small."""
    bent = robot.state(v, virtual, goal.applied, posture)
    joint_dofs = [robot.flex.dofs[i] for i in robot.joints]
    jacobian = bent.state.jacobian(frame, joint_dofs)
    place = bent.state.origin(frame)
    gap = np.zeros((6, place.shape[1]))
    gap[:3] = goal.position - place
    if goal.rotation is not None:
        gap[3:] = small_turn(bent.state.rotation(frame), goal.rotation)
    still = True
    if robot.virtual:
        change = bent.theta.copy()
        change[robot.joints] = 0.0
        change[robot.virtual] -= bent.unloaded[robot.virtual] if virtual is None else virtual
        ahead = np.einsum("ain,in->an", bent.screws, change)
        gap[:3] -= ahead[:3] + np.cross(ahead[3:], place, axis=0)
        gap[3:] -= ahead[3:]
        still = np.abs(ahead).max(axis=0) < BENDING * stop
    if task.aim == "position" and goal.rotation is not None:
        turn = rigid_pose(robot.model.nominal, frame, v - robot.joint_bends(bent))[1]
        gap[3:] = small_turn(turn, goal.rotation)
    rows = list(task.rows)
    if len(rows) < 6:
        jacobian, gap = jacobian[rows], gap[rows]
    return bent, damped_step(jacobian, gap, _DAMPING), (np.abs(gap).max(axis=0, initial=0.0) < stop) & still


def _status(done: Bools) -> Ints:
    return np.where(done, np.int64(PoseStatus.REACHED), np.int64(PoseStatus.OUT_OF_REACH))


def small_turn(turn: Array, rotation: Array) -> Array:
    """Rotation vector (3, N) in base axes from one rotation (3, 3, N) to one near it: half the sum of r_i x r'_i."""
    out = np.zeros((3, turn.shape[2]))
    for j in range(3):
        a, b = turn[:, j], rotation[:, j]
        for row, part in zip(out, en.cross((a[0], a[1], a[2]), (b[0], b[1], b[2])), strict=True):
            row += part
    return np.asarray(0.5 * out)
