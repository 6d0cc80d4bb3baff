"""Where a frame is and how the joints move it, for a batch of configurations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elastocal.model.chain import ChainState
from elastocal.model.posture import Configurations, Posture
from elastocal.model.robot import Robot
from elastocal.spatial.entries import Array

CHUNK = 5_000


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


def rigid_state(at: Posture, screws: tuple[int, ...] | None = None) -> ChainState:
    """Chain state with geometric errors and without any load."""
    chain = at.model.chain
    return chain.evaluate(chain.values(at.q, at.offsets), at.size, screws=screws)


def rigid_pose(model: Robot, frame: str, q: Array) -> tuple[Array, Array]:
    """Origin (3, N) and rotation (3, 3, N) of a frame at joint values (n, N); for one chunk, configurations last."""
    state = rigid_state(model.posture(q), ())
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
    total, joints = len(configurations), 12 + 6 * len(model.joint_dofs)
    out = np.empty((joints, total))
    jacobian = (
        out[12:].reshape(len(model.joint_dofs), 6, total).swapaxes(0, 1)
        if model.leads is None
        else np.empty((6, model.n, total))
    )
    for start in range(0, total, CHUNK):
        rows = slice(start, min(start + CHUNK, total))
        posture = model.posture(configurations[rows])
        dofs = moved_dofs(posture)
        plain = len(dofs) == len(model.joint_dofs)
        some = out[:, rows] if plain else np.empty((12 + 6 * len(dofs), posture.size))
        model.chain.motion(model.chain.values(posture.q, posture.offsets), frame, dofs, some)
        if not plain:
            out[:, rows] = some[:joints]
        _add_led(posture, dofs, some[12:].reshape(len(dofs), 6, posture.size).swapaxes(0, 1), jacobian[:, :, rows])
    rotation = out[3:12].reshape(3, 3, total)
    return Kinematics(frame, out[:3].T, np.moveaxis(rotation, -1, 0), np.moveaxis(jacobian, -1, 0))


def _add_led(at: Posture, dofs: tuple[int, ...], twists: Array, jacobian: Array) -> None:
    """dx/dq = J_joints, followers included, plus J dtheta/dq of offsets that move."""
    leads = at.model.leads
    if leads is not None:
        np.einsum("adn,dj->ajn", twists[:, : len(leads)], leads, out=jacobian)
    if at.slopes:
        at.add_slopes(twists, dofs, jacobian)


def moved_dofs(at: Posture) -> tuple[int, ...]:
    """Degrees of freedom that move with the joint values: the joints, and what is off by another amount elsewhere."""
    joints = at.model.joint_dofs
    return joints if not at.slopes else (*joints, *(i for i in at.slopes if i not in joints))
