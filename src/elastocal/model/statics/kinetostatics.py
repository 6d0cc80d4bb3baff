"""Kinetostatics of a robot that bends (002 eq. 4): joint values and drive torques to pose and force, and back.

The drives hold what the loads put on the joints, tau = -Q(q, theta, f), at the loaded equilibrium.  ``direct`` finds
the force f at the frame by Gauss-Newton with dQ/df = (I + D A^-1 k) J^T there.  Fewer joints than components of the
force leave some untold; more joints over-determine it, and what no force explains is left.  Compliance and backlash
both push the frame along the force, which is the reaction of what it presses on.

``inverse`` brings the rigid robot to the target first, from wherever the search starts; ``loaded_inverse`` leads from
there to the command whose *loaded* frame is at the target.  Where the rigid robot does not get there, Newton with the
loaded Jacobian seeks on from its nearest pose.  What the drives hold follows from the engine's own equilibrium at the
command, which also judges it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Self

import numpy as np

from elastocal.errors import NumberError, ShapeError
from elastocal.model.inverse_kinematics import (
    REACHED,
    PoseStatus,
    Task,
    inverse_kinematics,
    moved_rows,
    unmoved_directions,
)
from elastocal.model.limits import extent
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.posture import Configurations
from elastocal.model.robot import Robot
from elastocal.model.statics import sweep
from elastocal.model.statics.deflection import frame_pose
from elastocal.model.statics.equilibrium import Equilibrium, Status, equilibrium
from elastocal.model.statics.flexibility import Flexibility, flexible
from elastocal.model.statics.forces import CHUNK, chunk_size
from elastocal.model.statics.loaded_inverse import Goal, loaded_inverse, loaded_newton
from elastocal.model.statics.loaded_state import LoadedRobot
from elastocal.model.statics.newton import States, newton_equilibrium
from elastocal.model.statics.observation import Marker, Response, joint_columns, response
from elastocal.spatial.entries import Array, Ints
from elastocal.spatial.pose import missing
from elastocal.values import dataclass

MAX_STEPS = 60
SETTLED = 1e-11
"""N, and share of the force, below which a step ends the search."""

BLIND = 1e-8
"""A direction is untold where its singular value is this share of the largest."""

TOLD = 1e-3
"""A component is told where untold directions have no larger part of it."""


@dataclass(frozen=True, eq=False)
class Direct:
    """``position`` (N, 3), ``rotation`` (N, 3, 3) and ``force`` (N, 3) on the robot at the frame, in base axes.

    A component of the force that the torques do not tell is nan and is taken as zero for the pose; ``left`` (N,) in N m
    is the part of the torques that no force at the frame explains (forces of slides times the robot's length).
    """

    frame: str
    position: Array
    rotation: Array
    force: Array
    left: Array
    status: Ints


def direct(model: Robot, q: object, torque: object, frame: str | None = None) -> Direct:
    """Pose and force of joint values (N, n) whose drives give ``torque`` (N, n) in N m, or N of slides."""
    at = frame or model.tool
    model.tree.frame(at)
    values = model.configurations(q)
    wanted = -matching(model, torque, (len(values), model.n), "drive torques")
    rows = (slice(first, first + CHUNK) for first in range(0, max(len(values), 1), CHUNK))
    parts = [_direct(model, at, values[some], wanted[some]) for some in rows]
    return Direct(at, *(np.concatenate([getattr(p, f.name) for p in parts]) for f in fields(Direct)[1:]))


def _direct(model: Robot, at: str, values: Configurations, wanted: Array) -> Direct:
    rule = np.array([1.0 if m.kind == "revolute" else model.size for m in model.motions])
    flex = flexible(model)
    force = np.zeros((len(values), 3))
    blind = np.zeros((len(values), 3, 3))
    left = np.zeros((len(values), model.n))
    for _ in range(MAX_STEPS):
        held = held_at(model, flex, values, force, at)
        now, slope = joint_loads(flex, held)
        left = (wanted - now) * rule
        inverse, seen = pseudoinverse(slope * rule[:, None])
        step = np.einsum("nij,nj->ni", inverse, left)
        blind = np.eye(3) - seen
        force = force + np.nan_to_num(step)
        if np.all(np.abs(step) <= SETTLED * (1.0 + np.abs(force))):
            break
    bent = equilibrium(model, values, [wrench_at(at, force)])
    position, rotation = frame_pose(model, values, bent, at)
    unseen = np.sqrt(np.abs(np.einsum("nii->ni", blind))) > TOLD
    lost = bent.status != Status.CONVERGED
    force = np.where(unseen | lost[:, None], np.nan, force)
    rest = np.where(lost, np.nan, np.linalg.norm(left, axis=1))
    return Direct(at, position.T, np.moveaxis(rotation, -1, 0), force, rest, bent.status)


def matching(model: Robot, given: object, shape: tuple[int | None, int], what: str) -> Array:
    array = np.atleast_2d(np.asarray(given, dtype=np.float64))
    count, width = shape
    if array.ndim != 2 or array.shape[1] != width or (count is not None and len(array) != count):
        rows = "N" if count is None else str(count)
        raise ShapeError(
            f"robot {model.name}: {what} must be ({rows}, {width}), but {array.shape} was given",
            value=(what, array.shape),
        )
    bad = np.argwhere(~np.isfinite(array))
    if len(bad):
        raise NumberError(
            f"robot {model.name}: {what}: row {bad[0][0] + 1} is not finite; give finite numbers",
            value=(what, int(bad[0][0]) + 1),
        )
    return array


def wrench_at(frame: str, force: Array) -> AppliedWrenches:
    return AppliedWrenches(frame, np.concatenate([force, np.zeros_like(force)], axis=1))


def held_at(
    model: Robot,
    flex: Flexibility,
    q: object,
    force: Array,
    frame: str,
    marker: Marker | None = None,
    bent: Equilibrium | None = None,
) -> Response:
    """The equilibrium under a force at the frame; where a gap's side is unknown, one of them."""
    posture = model.posture(model.configurations(q))
    wrench = (wrench_at(frame, force),)
    if bent is None:
        theta = newton_equilibrium(States.unloaded(flex, posture, wrench))[0]
    else:
        theta = bent.theta.T[list(flex.dofs)]
    return response(flex, posture, np.nan_to_num(theta), wrench, [marker or Marker(frame)])


def joint_loads(flex: Flexibility, held: Response) -> tuple[Array, Array]:
    """What the loads put on the joints (N, n), and its derivative (N, n, 3) by the force at the marker."""
    model = held.posture.model
    at = [flex.dofs.index(i) for i in model.joint_dofs]
    back = held.direct[:3].swapaxes(0, 1)
    backlash = flex.backlash(held.forces.q)[1] if flex.backlashes else None
    give = flex.bend(slice(0, flex.n), back, backlash)
    slope = (back + sweep.solve(flex, held.forces, give, backlash)[1])[at]
    lever = np.eye(len(at)) if model.leads is None else model.leads
    return (lever.T @ held.forces.q[at]).T, np.einsum("ij,ikn->njk", lever, slope)


def pseudoinverse(matrix: Array) -> tuple[Array, Array]:
    """Pseudoinverses (N, c, r) and projectors (N, c, c) onto what the rows see."""
    known = np.nan_to_num(matrix)
    inverse: Array = np.linalg.pinv(known, rcond=BLIND).astype(np.float64)
    return inverse, np.asarray(inverse @ known)


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

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        return cls(parts[0].frame, *(np.concatenate([getattr(p, f.name) for p in parts]) for f in fields(cls)[1:]))


def inverse(
    model: Robot,
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
    size = chunk_size(robot.flex.n)
    parts = []
    for first in range(0, max(count, 1), size):
        some = np.arange(first, min(first + size, count))
        part = goal.picked(some)
        q = _commanded(robot, at, Task("pose", rows), part, start[:, some])
        parts.append(_answer(robot, at, part, push[some], q.T))
    return Inverse.joined(parts)


def _commanded(robot: LoadedRobot, at: str, task: Task, goal: Goal, start: Array) -> Array:
    """Joint values (n, N), the nearest that were found where the target is not reached."""
    rigid = inverse_kinematics(robot.model.nominal, at, task, goal.position, goal.rotation, start)
    far = ~rigid.reached
    solution = loaded_inverse(robot, at, task, goal, rigid.q, rigid.reached, STOP)
    if far.any():
        solution.q[:, far] = loaded_newton(robot, at, task, goal.picked(far), rigid.q[:, far]).q
    return solution.q


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
