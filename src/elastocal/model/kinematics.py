"""Where a frame is and how the joints move it, for a batch of configurations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elastocal.model.chain import ChainState
from elastocal.model.posture import Posture
from elastocal.model.robot import Robot
from elastocal.spatial.entries import Array

CHUNK = 10_000


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
    at = model.posture(q)
    state = rigid_state(at, moved_dofs(at))
    jacobian = np.empty((6, model.n, at.size))
    _jacobian_into(state, at, frame, jacobian)
    return state.origin(frame), state.rotation(frame), jacobian


def kinematics(model: Robot, q: object, frame: str | None = None) -> Kinematics:
    """Pose and Jacobian of a frame (default: the tool) at joint values (N, n)."""
    at = frame or model.tool
    model.tree.frame(at)
    configurations = model.configurations(q)
    total = len(configurations)
    position, rotation = np.empty((3, total)), np.empty((3, 3, total))
    jacobian = np.empty((6, model.n, total))
    for start in range(0, total, CHUNK):
        rows = slice(start, min(start + CHUNK, total))
        posture = model.posture(configurations[rows])
        state = rigid_state(posture, moved_dofs(posture))
        turn, origin = state.pose(at)
        for i in range(3):
            position[i, rows] = origin[i]
            for j in range(3):
                rotation[i, j, rows] = turn[i][j]
        _jacobian_into(state, posture, at, jacobian[:, :, rows])
    return Kinematics(at, position.T, np.moveaxis(rotation, -1, 0), np.moveaxis(jacobian, -1, 0))


def moved_dofs(at: Posture) -> tuple[int, ...]:
    """Degrees of freedom that move with the joint values: the joints, and what is off by another amount elsewhere."""
    joints = at.model.joint_dofs
    return joints if not at.slopes else (*joints, *(i for i in at.slopes if i not in joints))


def _jacobian_into(state: ChainState, at: Posture, frame: str, out: Array) -> None:
    """(6, n, N): dx/dq = J_joints, followers included, plus J dtheta/dq of offsets that move."""
    dofs, leads = moved_dofs(at), at.model.leads
    if leads is None and not at.slopes:
        state.jacobian_into(frame, dofs, out)
        return
    columns = state.jacobian(frame, dofs)
    by_joints = columns[:, : len(at.model.joint_dofs)]
    out[:] = by_joints if leads is None else np.einsum("adn,dj->ajn", by_joints, leads)
    at.add_slopes(columns, dofs, out)
