"""Log as a ROS bag: joint states with efforts in N m or N."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from elastocal.errors import InputError
from elastocal.files.bag import JOINTS, joint_columns, one_topic, read_bag
from elastocal.measure.joint_log import JointLog
from elastocal.model.robot import Robot


def read_bag_log(path: Path, model: Robot) -> JointLog:
    bag = read_bag(path)
    topic = one_topic(path, bag, (JOINTS,), None)
    if topic is None:
        raise InputError(f"{path}: has no joint states, so that nothing is known of the joints")
    series = bag[topic]
    places = joint_columns(path, model, series)
    count = len(series.time)
    torque = np.full((count, model.n), np.nan) if series.effort is None else series.effort[:, places]
    velocity = None if series.velocity is None else series.velocity[:, places]
    notes = (f"joint values, velocities and efforts of {topic} are taken as those of the joints, in SI.",)
    return JointLog(
        path.as_posix(), model.joints, series.values[:, places], torque, np.arange(1, count + 1),
        series.time - series.time[0], velocity, None, notes,
    )  # fmt: skip
