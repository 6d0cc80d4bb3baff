"""Inverse kinetostatics of a robot that bends (002 eq. 4): pose and force to joint values and drive torques.

Gauss-Newton on q with dx/dq at the loaded equilibrium (``observation``), so that the *loaded* frame is at the target;
what the drives hold there follows.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from elastocal.model.configurations import starts
from elastocal.model.kinematics import kinematics
from elastocal.model.robot import RobotModel
from elastocal.model.statics.contact import flexible
from elastocal.model.statics.equilibrium import Status, equilibrium
from elastocal.model.statics.flexibility import Flexibility
from elastocal.model.statics.kinetostatics import at_frame, held_at, joint_loads, matching, pseudoinverse
from elastocal.model.statics.observation import Marker, Response, joint_columns
from elastocal.spatial.entries import Array, Ints
from elastocal.spatial.rotation import rotation_vector

MAX_STEPS = 60
SETTLED = 1e-12
LONGEST = 0.3  # rad or m that a joint moves in a step
REACHED = 1e-9
"""m per m of the robot's length, and rad, within which a pose is reached."""

SAMPLES = 16
STILL = 1e-9
"""Configurations in which joints are tried, and the share of the largest motion that is none."""


class PoseStatus(IntEnum):
    """Outcome of the inverse problem; ``text`` is the help."""

    REACHED = 0
    OUT_OF_REACH = 1
    NO_EQUILIBRIUM = 2
    OFF_THE_PLANE = 3

    @property
    def text(self) -> str:
        return {
            PoseStatus.REACHED: "reached",
            PoseStatus.OUT_OF_REACH: "out of reach: no joint values near the start bring the loaded frame there; see "
            "what is left, start elsewhere, or check the target",
            PoseStatus.NO_EQUILIBRIUM: "no determined equilibrium there: a backlash carries no force, or the load is "
            "too large; change the force",
            PoseStatus.OFF_THE_PLANE: "off the plane: the target is beside the plane or line in which the joints move "
            "the frame, so that no start helps; change the target, see what is left",
        }[self]


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
    """
    at = frame or model.tool
    model.tree.frame(at)
    target = matching(model, position, (None, 3), "positions")
    count = len(target)
    push = np.broadcast_to(matching(model, force, (None, 3), "forces"), (count, 3))
    turn = None if rotation is None else np.asarray(rotation, dtype=np.float64).reshape(count, 3, 3)
    q = np.array(np.broadcast_to(model.joint_values(near), (count, model.n)))
    flex, marker = flexible(model), Marker(at, "position" if turn is None else "pose")
    rule = np.array([1.0 / model.size] * 3 + [1.0] * 3)[: marker.rows]
    for _ in range(MAX_STEPS):
        held = held_at(model, flex, q, push, at, marker)
        left = _missing(held, at, target, turn)
        columns = np.moveaxis(joint_columns(model, flex, held), -1, 0)
        reach, _ = pseudoinverse(columns * rule[:, None])
        step = np.nan_to_num(np.einsum("nij,nj->ni", reach, left * rule))
        size = np.max(np.abs(step), axis=1, initial=0.0)
        q = q + step * np.minimum(1.0, LONGEST / np.maximum(size, LONGEST))[:, None]
        if np.all(size < SETTLED):
            break
    return _answer(model, flex, q, push, at, marker, target, turn)


def _answer(
    model: RobotModel,
    flex: Flexibility,
    q: Array,
    push: Array,
    at: str,
    marker: Marker,
    target: Array,
    turn: Array | None,
) -> Inverse:
    bent = equilibrium(model, q, [at_frame(at, push)])
    lost = bent.status != Status.CONVERGED
    held = held_at(model, flex, q, push, at, marker, bent)
    left = _missing(held, at, target, turn)
    torque = -joint_loads(model, flex, held)[0]
    columns = np.moveaxis(joint_columns(model, flex, held), -1, 0)
    rank = np.linalg.matrix_rank(np.nan_to_num(columns), rtol=1e-6)
    far = (np.linalg.norm(left[:, :3], axis=1) > REACHED * model.size) | np.any(np.abs(left[:, 3:]) > REACHED, axis=1)
    beside = np.linalg.norm(left[:, :3] @ _unmoved(model, at), axis=1) > REACHED * model.size
    status = np.select(
        [lost, beside, far], [PoseStatus.NO_EQUILIBRIUM, PoseStatus.OFF_THE_PLANE, PoseStatus.OUT_OF_REACH], 0
    )
    torque[status != PoseStatus.REACHED] = np.nan
    return Inverse(at, q, torque, left, model.n - rank, status)


def _unmoved(model: RobotModel, frame: str) -> Array:
    """Unit vectors (3, d) along which no joint moves the frame, wherever it is: one for an arm in a plane."""
    columns = np.moveaxis(kinematics(model, starts(model, SAMPLES), frame).jacobian[:, :3], 1, 0).reshape(3, -1)
    axes, sizes, _ = np.linalg.svd(columns)
    moved = int(np.sum(sizes > STILL * np.max(sizes, initial=0.0)))
    return np.asarray(axes[:, moved:])


def _missing(held: Response, frame: str, target: Array, turn: Array | None) -> Array:
    """Target minus pose: (N, 3) in m, or (N, 6) with the turn still to go in base axes."""
    shift = target - held.state.origin(frame).T
    if turn is None:
        return shift
    back = np.einsum("nij,kjn->ikn", turn, held.state.rotation(frame))
    return np.concatenate([shift, rotation_vector(back).T], axis=1)
