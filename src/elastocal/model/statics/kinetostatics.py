"""Direct kinetostatics of a robot that bends (002 eq. 4): joint values and drive torques to pose and force.

The drives hold what the loads put on the joints, tau = -Q(q, theta, f), at the loaded equilibrium.  The force f at the
frame is found by Gauss-Newton with dQ/df = (I + D A^-1 k) J^T there.  Fewer joints than components of the force leave
some untold; more joints over-determine it, and what no force explains is left.  Compliance and backlash both push
the frame along the force, which is the reaction of what it presses on.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elastocal.errors import InputError
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.robot import RobotModel
from elastocal.model.statics import sweep
from elastocal.model.statics.deflection import frame_pose
from elastocal.model.statics.equilibrium import Equilibrium, Status, equilibrium
from elastocal.model.statics.flexibility import Flexibility, flexible
from elastocal.model.statics.newton import Batch, newton_equilibrium
from elastocal.model.statics.observation import Marker, Response, response
from elastocal.spatial.entries import Array, Ints

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


def direct(model: RobotModel, q: object, torque: object, frame: str | None = None) -> Direct:
    """Pose and force of joint values (N, n) whose drives give ``torque`` (N, n) in N m, or N of slides."""
    at = frame or model.tool
    model.tree.frame(at)
    values = model.configurations(q)
    wanted = -matching(model, torque, (len(values), model.n), "drive torques")
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


def matching(model: RobotModel, given: object, shape: tuple[int | None, int], what: str) -> Array:
    array = np.atleast_2d(np.asarray(given, dtype=np.float64))
    count, width = shape
    if array.ndim != 2 or array.shape[1] != width or (count is not None and len(array) != count):
        rows = "N" if count is None else str(count)
        raise InputError(f"robot {model.name}: {what} must be ({rows}, {width}), but {array.shape} was given")
    bad = np.argwhere(~np.isfinite(array))
    if len(bad):
        raise InputError(f"robot {model.name}: {what}: row {bad[0][0] + 1} is not finite; give finite numbers")
    return array


def wrench_at(frame: str, force: Array) -> AppliedWrenches:
    return AppliedWrenches(frame, np.concatenate([force, np.zeros_like(force)], axis=1))


def held_at(
    model: RobotModel,
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
        theta = newton_equilibrium(flex, Batch(posture, wrench, posture.start(flex.dofs)))[0]
    else:
        theta = bent.theta.T[list(flex.dofs)]
    return response(flex, posture, np.nan_to_num(theta), wrench, [marker or Marker(frame)])


def joint_loads(flex: Flexibility, held: Response) -> tuple[Array, Array]:
    """What the loads put on the joints (N, n), and its derivative (N, n, 3) by the force at the marker."""
    model = held.posture.model
    at = [flex.dofs.index(i) for i in model.joint_dofs]
    back = held.direct[:3].swapaxes(0, 1)
    play = flex.play(held.forces.q)[1] if flex.plays else None
    give = flex.linear(back) if play is None else flex.linear(back) + np.einsum("ijn,jkn->ikn", play, back)
    slope = (back + sweep.solve(flex, held.forces, give, play)[1])[at]
    lever = np.eye(len(at)) if model.leads is None else model.leads
    return (lever.T @ held.forces.q[at]).T, np.einsum("ij,ikn->njk", lever, slope)


def pseudoinverse(matrix: Array) -> tuple[Array, Array]:
    """Pseudoinverses (N, c, r) and projectors (N, c, c) onto what the rows see."""
    known = np.nan_to_num(matrix)
    found: Array = np.linalg.pinv(known, rcond=BLIND).astype(np.float64)
    return found, np.asarray(found @ known)
