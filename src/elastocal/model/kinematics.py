"""Where a frame is and how the joints move it, for a batch of configurations."""

from __future__ import annotations

import numpy as np

from elastocal.model.chain import ChainState
from elastocal.model.posture import Configurations, Posture
from elastocal.model.robot import Robot
from elastocal.spatial.batch import room
from elastocal.spatial.entries import Array
from elastocal.values import dataclass


@dataclass(frozen=True, eq=False, repr=False)
class Kinematics:
    """Unloaded pose of one frame and its joint Jacobian.

    ``position`` (N, 3), ``rotation`` (N, 3, 3), ``jacobian`` (N, 6, n): twist of the frame's origin in
    base axes, translation first.  Arrays are views with the configurations stored last.
    """

    frame: str
    position: Array
    rotation: Array
    jacobian: Array

    def __repr__(self) -> str:
        return f"<Kinematics of {self.frame} at {len(self.position)} configurations>"


def rigid_state(posture: Posture) -> ChainState:
    """Chain state with geometric errors and without any load."""
    chain = posture.model.chain
    return chain.evaluate(chain.values(posture.q, posture.offsets), posture.size)


def rigid_pose(model: Robot, frame: str, q: Array) -> tuple[Array, Array]:
    """Origin (3, N) and rotation (3, 3, N) of a frame at joint values (n, N); for one chunk, configurations last."""
    state = rigid_state(model.posture(q))
    return state.origin(frame), state.rotation(frame)


def rigid_motion(model: Robot, frame: str, q: Array) -> tuple[Array, Array, Array]:
    """The same with the joint Jacobian (6, n, N)."""
    out = _motion(model, frame, Configurations(q.T))
    return out.position.T, np.moveaxis(out.rotation, 0, -1), np.moveaxis(out.jacobian, 0, -1)


def kinematics(model: Robot, q: object, frame: str | None = None) -> Kinematics:
    """Pose and Jacobian of a frame (default: the tool) at joint values (N, n)."""
    at = frame or model.tool
    model.tree.frame(at)
    return _motion(model, at, model.configurations(q))


def _motion(model: Robot, frame: str, configurations: Configurations) -> Kinematics:
    q = np.ascontiguousarray(configurations.q.T)
    total = q.shape[1]
    if model.as_commanded:
        out = room(12 + 6 * model.n, total)
        model.chain.motion(q, frame, model.joint_dofs, out)
        jacobian = out[12:].reshape(model.n, 6, total)
    else:
        posture = Posture(model, q, configurations.temperature)
        dofs = moved_dofs(posture)
        out = room(12 + 6 * len(dofs), total)
        model.chain.motion(model.chain.values(q, posture.offsets), frame, dofs, out)
        jacobian = _led(posture, dofs, out[12:].reshape(len(dofs), 6, total))
    return Kinematics(frame, out[:3].T, out[3:12].reshape(3, 3, total).transpose(2, 0, 1), jacobian.transpose(2, 1, 0))


def _led(posture: Posture, dofs: tuple[int, ...], twists: Array) -> Array:
    """dx/dq (n, 6, N) = J_joints, followers included, plus J dtheta/dq of offsets that move."""
    leads, columns = posture.model.leads, twists.swapaxes(0, 1)
    own = columns[:, : len(posture.model.joint_dofs)]
    jacobian = own.copy() if leads is None else np.einsum("adn,dj->ajn", own, leads)
    posture.add_slopes(columns, dofs, jacobian)
    return jacobian.swapaxes(0, 1)


def moved_dofs(posture: Posture) -> tuple[int, ...]:
    """Degrees of freedom that move with the joint values: the joints, and what is off by another amount elsewhere."""
    joints = posture.model.joint_dofs
    return joints if not posture.slopes else (*joints, *(i for i in posture.slopes if i not in joints))
