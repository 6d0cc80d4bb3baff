"""Where a frame is and how the joints move it, for a batch of configurations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elastocal.model.chain import JOINT, ChainState
from elastocal.model.robot import RobotModel
from elastocal.spatial.entries import Array

CHUNK = 10_000


@dataclass(frozen=True, eq=False)
class Kinematics:
    """Unloaded pose of one frame and its joint Jacobian.

    ``position`` (N, 3), ``rotation`` (N, 3, 3), ``jacobian`` (N, 6, n): twist of the frame's origin in
    base axes, translation first.  Arrays are views with the configurations stored last.
    """

    frame: str
    position: Array
    rotation: Array
    jacobian: Array


def rigid_state(model: RobotModel, q: Array, screws: tuple[int, ...] | None = None) -> ChainState:
    """Chain state at joint values (n, N) with geometric errors and without any load."""
    values = model.chain.values(q, [float(b) for b in model.constants])
    return model.chain.evaluate(values, q.shape[1], screws=screws)


def rigid_pose(model: RobotModel, frame: str, q: Array) -> tuple[Array, Array]:
    """Origin (3, N) and rotation (3, 3, N) of a frame at joint values (n, N); for one chunk, configurations last."""
    state = rigid_state(model, q, ())
    return state.origin(frame), state.rotation(frame)


def rigid_motion(model: RobotModel, frame: str, q: Array) -> tuple[Array, Array, Array]:
    """The same with the joint Jacobian (6, n, N)."""
    dofs = tuple(i for i, d in enumerate(model.chain.dofs) if d.axis == JOINT)
    state = rigid_state(model, q, dofs)
    jacobian, leads = state.jacobian(frame, dofs), follower_map(model, dofs)
    if leads is not None:
        jacobian = np.einsum("adn,dj->ajn", jacobian, leads)
    return state.origin(frame), state.rotation(frame), jacobian


def kinematics(model: RobotModel, q: object, frame: str | None = None) -> Kinematics:
    """Pose and Jacobian of a frame (default: the tool) at joint values (N, n)."""
    at = frame or model.tool
    model.tree.frame(at)
    configurations = model.joint_values(q)
    total = len(configurations)
    position, rotation = np.empty((3, total)), np.empty((3, 3, total))
    jacobian = np.empty((6, model.n, total))
    dofs = tuple(i for i, d in enumerate(model.chain.dofs) if d.axis == JOINT)
    leads = follower_map(model, dofs)
    for start in range(0, total, CHUNK):
        rows = slice(start, min(start + CHUNK, total))
        state = rigid_state(model, np.ascontiguousarray(configurations[rows].T), dofs)
        turn, origin = state.pose(at)
        for i in range(3):
            position[i, rows] = origin[i]
            for j in range(3):
                rotation[i, j, rows] = turn[i][j]
        if leads is None:
            state.jacobian_into(at, dofs, jacobian[:, :, rows])
        else:
            jacobian[:, :, rows] = np.einsum("adn,dj->ajn", state.jacobian(at, dofs), leads)
    return Kinematics(at, position.T, np.moveaxis(rotation, -1, 0), np.moveaxis(jacobian, -1, 0))


def follower_map(model: RobotModel, dofs: tuple[int, ...]) -> Array | None:
    """(len(dofs), n): how joint values move the joint axes; None when no joint follows another."""
    motions = [model.tree.joint(model.chain.dofs[i].frame) for i in dofs]
    if all(m.follows is None for m in motions):
        return None
    column = {name: i for i, name in enumerate(model.joints)}
    out = np.zeros((len(dofs), model.n))
    for row, (i, m) in enumerate(zip(dofs, motions, strict=True)):
        leader = model.chain.dofs[i].frame if m.follows is None else m.follows
        out[row, column[leader]] = 1.0 if m.follows is None else m.ratio
    return out
