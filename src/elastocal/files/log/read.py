"""Any log of a controller as values of the joints: its format is told by its content, and named in the notes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from elastocal.errors import ConflictError, FormatError, MissingError
from elastocal.files.bag import JOINTS, is_bag, joint_columns, one_topic, read_bag
from elastocal.files.located import UTF_16
from elastocal.files.log.given import Given
from elastocal.files.opened import unreadable
from elastocal.measure.joint_log import JointLog
from elastocal.model.robot import Robot

START = 1 << 16
RSI, RTDE, CSV = "KUKA RSI telegrams", "UR RTDE record, separated by spaces", "CSV"
BAG = "ROS bag"


def log_format(path: Path) -> str:
    """``RSI``, ``RTDE`` or ``CSV``, by how the file begins; ``BAG`` by its ending or folder."""
    if is_bag(path):
        return BAG
    try:
        with path.open("rb") as file:
            start = file.read(START)
    except OSError as error:
        raise unreadable(path, error) from None
    if not start.strip():
        raise MissingError(f"{path}: is empty; give a CSV file, a log of RSI telegrams or an RTDE record")
    wide = start[:2] in UTF_16
    start = start.decode("utf-16", "replace").encode() if wide else start
    if start.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<") or b"<Rob" in start:
        if wide:
            raise FormatError(
                f"{path}: its telegrams are in UTF-16, and no controller sends them so; save it as UTF-8",
                code="utf-16",
            )
        return RSI
    head = start.split(b"\n", 1)[0].decode("utf-8", "replace").split()
    if any(name.startswith("actual_q_") for name in head):
        return RTDE
    return CSV


def read_log(path: Path, model: Robot, given: Given | None = None) -> JointLog:
    """Joint values and torques of ``model``'s joints; what was assumed or left out is in the notes."""
    name = log_format(path)
    if given is None or not given.any:
        log = _reader(name)(path, model)
    elif name == CSV:
        from elastocal.files.log.csv import read_csv_log

        log = read_csv_log(path, model, given)
    else:
        raise ConflictError(f"{path} is a {name}, which has torques, units and times of its own; leave them out")
    return replace(log, notes=(f"{path.as_posix()} is read as {name}.", *log.notes))


def _reader(name: str) -> Callable[[Path, Robot], JointLog]:
    from elastocal.files.log.csv import read_csv_log
    from elastocal.files.log.read import read_bag_log
    from elastocal.files.log.rsi import read_rsi_log
    from elastocal.files.log.rtde import read_rtde_log

    return {RSI: read_rsi_log, RTDE: read_rtde_log, CSV: read_csv_log, BAG: read_bag_log}[name]


def read_bag_log(path: Path, model: Robot) -> JointLog:
    bag = read_bag(path)
    topic = one_topic(path, bag, (JOINTS,), None)
    if topic is None:
        raise MissingError(f"{path}: has no joint states, so that nothing is known of the joints")
    series = bag[topic]
    places, called = joint_columns(path, model, series)
    count = len(series.time)
    torque = np.full((count, model.n), np.nan) if series.effort is None else series.effort[:, places]
    velocity = None if series.velocity is None else series.velocity[:, places]
    notes = (f"joint values, velocities and efforts of {topic} are taken as those of the joints, in SI.", *called)
    return JointLog(
        path.as_posix(), model.joints, series.values[:, places], torque, np.arange(1, count + 1),
        series.time - series.time[0], velocity, None, notes,
    )  # fmt: skip
