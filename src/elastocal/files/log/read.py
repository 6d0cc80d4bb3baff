"""Any log of a controller: its format is told by its content, and named in the notes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from elastocal.errors import InputError
from elastocal.files.located import UTF_16
from elastocal.files.log.csv import read_csv_log
from elastocal.files.log.rsi import read_rsi_log
from elastocal.files.log.rtde import read_rtde_log
from elastocal.files.opened import unreadable
from elastocal.measure.joint_log import JointLog
from elastocal.model.robot import RobotModel

START = 1 << 16
FORMATS = {
    "KUKA RSI telegrams": read_rsi_log,
    "UR RTDE record, separated by spaces": read_rtde_log,
    "CSV": read_csv_log,
}


def log_format(path: Path) -> str:
    """One of ``FORMATS``, by how the file begins."""
    try:
        with path.open("rb") as file:
            start = file.read(START)
    except OSError as error:
        raise unreadable(path, error) from None
    if not start.strip():
        raise InputError(f"{path}: is empty; give a CSV file, a log of RSI telegrams or an RTDE record")
    wide = start[:2] in UTF_16
    start = start.decode("utf-16", "replace").encode() if wide else start
    if start.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<") or b"<Rob" in start:
        if wide:
            raise InputError(f"{path}: its telegrams are in UTF-16, and no controller sends them so; save it as UTF-8")
        return "KUKA RSI telegrams"
    head = start.split(b"\n", 1)[0].decode("utf-8", "replace").split()
    if any(name.startswith("actual_q_") for name in head):
        return "UR RTDE record, separated by spaces"
    return "CSV"


def read_log(path: Path, model: RobotModel) -> JointLog:
    """Joint values and torques of ``model``'s joints; what was assumed or left out is in the notes."""
    name = log_format(path)
    log = FORMATS[name](path, model)
    return replace(log, notes=(f"{path.as_posix()} is read as {name}.", *log.notes))
