"""What a controller logs of its axes, as values of the joints: one place for all formats of logs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from elastocal.measure.joint_log import JointLog, joint_torques
from elastocal.model.robot import RobotModel
from elastocal.spatial.entries import Array


def axes_log(
    model: RobotModel,
    source: str,
    values: Array,
    lines: NDArray[np.int64],
    *,
    torque: Array | None = None,
    velocity: Array | None = None,
    current: Array | None = None,
    time: Array | None = None,
    notes: tuple[str, ...] = (),
) -> JointLog:
    """Values, torques and velocities (N, n) of the controller's axes in SI; time from its first value."""
    controller = model.controller
    return JointLog(
        source,
        model.joints,
        controller.to_joints(values),
        np.full(values.shape, np.nan) if torque is None else joint_torques(model, torque),
        lines,
        None if time is None else time - time[0],
        None if velocity is None else velocity @ controller.matrix.T,
        current,
        notes,
    )
