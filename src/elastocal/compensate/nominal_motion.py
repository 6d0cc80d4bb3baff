"""Pose and joint Jacobian of the robot as its controller knows it: nominal geometry, nothing bends."""

from __future__ import annotations

import numpy as np

from elastocal.model.chain import JOINT
from elastocal.model.kinematics import follower_map
from elastocal.model.robot import RobotModel
from elastocal.spatial.entries import Array, Entry


def nominal_pose(model: RobotModel, frame: str, q: Array) -> tuple[Array, Array]:
    """Origin (3, N) and rotation (3, 3, N) of a frame at joint values (n, N)."""
    state = model.chain.evaluate(_values(model, q), q.shape[1], screws=())
    return state.origin(frame), state.rotation(frame)


def nominal_motion(model: RobotModel, frame: str, q: Array) -> tuple[Array, Array, Array]:
    """Origin (3, N), rotation (3, 3, N) and joint Jacobian (6, n, N) of a frame of the robot without any error."""
    dofs = tuple(i for i, d in enumerate(model.chain.dofs) if d.axis == JOINT)
    state = model.chain.evaluate(_values(model, q), q.shape[1], screws=dofs)
    jacobian = state.jacobian(frame, dofs)
    leads = follower_map(model, dofs)
    if leads is not None:
        jacobian = np.einsum("adn,dj->ajn", jacobian, leads)
    return state.origin(frame), state.rotation(frame), jacobian


def _values(model: RobotModel, q: Array) -> list[Entry]:
    return model.chain.values(q, [0.0] * len(model.chain.dofs))
