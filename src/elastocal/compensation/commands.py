"""Commands whose loaded equilibrium pose is the desired pose, target by target.

nominal   IK(T): what the controller would do by itself
solve     v with the loaded tool at T;  q = v - theta_J       (``statics.loaded_inverse``)
commanded pose that the controller's own nominal model has at q: the target to write into a Cartesian program
status    reach, singularities, flips, limits, backlash, stability; what is named first hides what comes after
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from functools import lru_cache

import numpy as np

from elastocal.compensation.loads import PathLoads
from elastocal.compensation.spherical_wrist import NominalJoints, branch_of
from elastocal.compensation.targets import Nominal, Targets, TargetStatus
from elastocal.errors import InputError, MissingError, ShapeError
from elastocal.model.inverse_kinematics import Aim, row_scales, task
from elastocal.model.kinematics import rigid_motion, rigid_pose
from elastocal.model.robot import Robot
from elastocal.model.statics import stability
from elastocal.model.statics.equilibrium import LARGEST_BEND
from elastocal.model.statics.forces import Bends, chunk_size
from elastocal.model.statics.loaded_inverse import Goal, LoadedJoints, loaded_inverse
from elastocal.model.statics.loaded_state import LoadedRobot
from elastocal.model.statics.newton import States
from elastocal.spatial.entries import Array, Bools, Ints
from elastocal.spatial.rotation import rotation_vector
from elastocal.values import dataclass

FEW_COORDINATES_CHUNK = 16_000


SINGULAR = 1e-3
"""Margin below which a bend of a milliradian may turn a joint by a radian."""
BLAMED = 0.05
"""Margin below which a search that failed is blamed on the singularity."""
_NEAR = (
    TargetStatus.NEAR_SHOULDER_SINGULARITY,
    TargetStatus.NEAR_ELBOW_SINGULARITY,
    TargetStatus.NEAR_WRIST_SINGULARITY,
)
_LOST = (
    TargetStatus.OUT_OF_REACH,
    TargetStatus.NOT_CONVERGED,
    TargetStatus.UNSTABLE,
    TargetStatus.UNDETERMINED_BACKLASH,
)
"""Where there is no command."""


@dataclass(frozen=True, eq=False, repr=False)
class Commands:
    """What to command instead of N targets.

    ``nominal`` and ``command`` (N, n) are joint values without and with correction; ``position`` (N, 3) and
    ``rotation`` (N, 3, 3) the pose to command where a controller knows the nominal geometry only.  Everything is nan
    where no command was found; where the status names a limit, a singularity or a flip, the command is given but not
    to be used.  ``bends`` (N, m) are all coordinates of the chain under load there, nan where nobody solved for them.
    """

    nominal: Array
    command: Array
    position: Array
    rotation: Array
    status: Ints
    bends: Array

    @classmethod
    def joined(cls, parts: Sequence[Commands]) -> Commands:
        return cls(*(np.concatenate([getattr(p, f.name) for p in parts]) for f in fields(cls)))

    def picked(self, rows: Bools | Ints | slice) -> Commands:
        return Commands(*(getattr(self, f.name)[rows] for f in fields(self)))

    def counts(self) -> dict[str, int]:
        return {s.name.lower(): int(np.sum(self.status == s)) for s in TargetStatus if np.any(self.status == s)}

    def __repr__(self) -> str:
        counts = ", ".join(f"{n} {k.replace('_', ' ')}" for k, n in self.counts().items())
        return f"<Commands for {len(self.status)} targets: {counts}>"

    def moved(self, targets: Targets) -> Array:
        """How far the commanded poses are from the desired ones: shift and rotation vector in base axes, (N, 6)."""
        turn = np.einsum("nij,nkj->ikn", self.rotation, targets.rotation)
        known = np.where(np.isnan(turn[0, 0]), np.eye(3)[:, :, None], turn)
        vector = np.where(np.isnan(turn[0, 0]), np.nan, rotation_vector(known))
        return np.concatenate([self.position - targets.position, vector.T], axis=1)


def correct(
    model: Robot,
    targets: Targets,
    loads: PathLoads | None = None,
    aim: Aim | None = None,
    controller: Robot | None = None,
) -> Commands:
    """Commands for all targets; ``aim`` None is the pose where the joints suffice for it, else the position.

    ``controller`` is the model that the controller computes with, where it is not this one without any error: its
    transmission and its geometry give the commanded pose.
    """
    parts = [part for _, part in correction_chunks(model, targets, loads, aim, controller)]
    if not parts:
        raise MissingError("there are no targets to correct", code="no-targets")
    return Commands.joined(parts)


def correction_chunks(
    model: Robot,
    targets: Targets,
    loads: PathLoads | None = None,
    aim: Aim | None = None,
    controller: Robot | None = None,
) -> Iterator[tuple[slice, Commands]]:
    """The same in pieces, so that memory does not grow with the path: rows and their correction, in order."""
    model.tree.frame(targets.frame)
    if targets.reference.shape[-1] != model.n:
        raise ShapeError(
            f"robot {model.name} has {model.n} joints ({', '.join(model.joints)}), "
            f"but the reference has {targets.reference.shape[-1]} values",
            value=(model.name, model.n, tuple(model.joints)),
        )
    what = task(model, targets.frame, aim)
    push = loads or PathLoads()
    push.check(model, len(targets))
    inverse = Nominal(model, targets.frame, what)
    robots = [_loaded(m) for m in push.models(model)]
    for rows, position, rotation, nominal in inverse.chunks(targets, _chunk(robots[0])):
        out = []
        for some, number, applied in push.pieces(rows):
            goal, robot = Goal(position[:, some], rotation[:, :, some], applied), robots[number]
            start = NominalJoints(
                nominal.q[:, some], nominal.reached[some], None if nominal.margins is None else nominal.margins[:, some]
            )
            solved = loaded_inverse(robot, targets.frame, what, goal, start.q, start.reached)
            status = _target_status(robot, inverse, goal, start, solved)
            out.append(_commanded(robot, targets.frame, controller, start.q, solved, status))
        yield rows, Commands.joined(out)


def _commanded(
    robot: LoadedRobot, frame: str, controller: Robot | None, nominal: Array, solved: LoadedJoints, status: Ints
) -> Commands:
    lost = np.isin(status, _LOST) | ~solved.done
    q = sent = solved.q
    if controller is not None:
        sent = controller.controller.to_joints(robot.model.controller.to_controller(q.T)).T
    position, rotation = rigid_pose((controller or robot.model).nominal, frame, sent)
    q, position, rotation = (np.where(lost, np.nan, a) for a in (q, position, rotation))
    bends = np.zeros((q.shape[1], len(robot.model.chain.dofs)))
    bends[:, list(robot.flex.dofs)] = solved.theta.T
    return Commands(nominal.T, q.T, position.T, np.moveaxis(rotation, -1, 0), status, bends)


def _chunk(robot: LoadedRobot) -> int:
    """Targets at a time: many where little is kept of each, so that numpy's cost per call is small."""
    return FEW_COORDINATES_CHUNK if robot.flex.n <= 12 else chunk_size(robot.flex.n)


@lru_cache(maxsize=16)
def _loaded(model: Robot) -> LoadedRobot:
    """An estimated model that obeys physics may be judged by the cheap bound of its stability."""
    try:
        return LoadedRobot(replace(model, estimated=False))
    except InputError:
        return LoadedRobot(model)


def _target_status(robot: LoadedRobot, inverse: Nominal, goal: Goal, nominal: NominalJoints, out: LoadedJoints) -> Ints:
    """Status (N,); what is named first hides what comes after."""
    status = np.full(len(nominal.reached), int(TargetStatus.CORRECTED), dtype=np.int64)
    model, known = robot.model, np.where(out.done, out.q, 0.0)
    beyond = [row for row, _, _ in model.beyond_limits(known.T)]
    status[beyond] = TargetStatus.JOINT_LIMIT
    if nominal.margins is None:
        margins = _margin(inverse, nominal.q)
        names: tuple[TargetStatus, ...] = (TargetStatus.NEAR_SINGULARITY,)
    else:
        margins, names = nominal.margins, _NEAR
        status[_flipped(inverse, nominal.q, known, margins) & out.done] = TargetStatus.CONFIGURATION_FLIP
    posture = model.posture(known)
    unloaded = posture.unloaded(robot.flex.dofs)
    theta = np.where(out.done, out.theta, unloaded)
    states = States(
        robot.flex, posture, tuple(goal.applied), theta, Bends.of(robot.flex, posture, goal.applied).at(theta)[0]
    )
    unstable, _ = stability.judge_stability(states, np.ones_like(out.done))
    status[out.done & stability.undetermined(states)] = TargetStatus.UNDETERMINED_BACKLASH
    bend = np.abs(theta - unloaded)[robot.flex.rotates].max(axis=0, initial=0.0)
    status[out.done & (unstable | (bend > LARGEST_BEND))] = TargetStatus.UNSTABLE
    status[~out.done] = TargetStatus.NOT_CONVERGED
    least = margins.min(axis=0)
    close = np.flatnonzero((least < SINGULAR) | (~out.done & (least < BLAMED)))
    status[close] = np.array(names)[np.argmin(margins[:, close], axis=0)]
    status[~nominal.reached] = TargetStatus.OUT_OF_REACH
    return status


def _flipped(inverse: Nominal, nominal: Array, command: Array, margins: Array) -> Bools:
    """Whether nominal and command lie on two branches; only a change larger than the margin can do that."""
    arm = inverse.arm
    assert arm is not None
    out = np.zeros(nominal.shape[1], dtype=bool)
    change = np.abs(command - nominal).max(axis=0)
    rows = np.flatnonzero(margins.min(axis=0) < 3 * change)
    if len(rows):
        out[rows] = branch_of(arm, nominal[:, rows]) != branch_of(arm, command[:, rows])
    return out


def _margin(inverse: Nominal, q: Array) -> Array:
    """Smallest over largest singular value of the task's Jacobian, lengths divided by the robot's extent: (1, N)."""
    rows = list(inverse.task.rows)
    finite = np.isfinite(q[0])
    jacobian = rigid_motion(inverse.model.nominal, inverse.frame, np.where(finite, q, 0.0))[2][rows]
    values = np.linalg.svd(
        np.moveaxis(jacobian * row_scales(inverse.model, inverse.task.rows)[:, None], -1, 0), False, False
    )
    return np.asarray(np.where(finite, values[:, -1] / values[:, 0], 0.0)[None])
