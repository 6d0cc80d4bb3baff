"""The robot that commands compute with: calibrated, or as its file says.

Calibration files have two formats, which their word ``format`` tells apart: ``elastocal-calibration/2`` of readings
(``calibration.store``), ``elastocal-calibration/1`` of reductions and contacts (``files.calibration``).  Commands get
the same from both.
"""

from __future__ import annotations

from math import nan
from pathlib import Path
from typing import TYPE_CHECKING

from elastocal.errors import ConflictError, InputError, MissingError
from elastocal.files.robot.read import read_robot, robot_file
from elastocal.values import dataclass

if TYPE_CHECKING:
    from elastocal.calibration.calibration import Calibration
    from elastocal.files.calibration.record import CalibrationRecord, ParameterRecord
    from elastocal.model.robot import Robot
    from elastocal.reduction.prediction import IdentifiedModel
    from elastocal.spatial.entries import Array

SAME = 1e-6
"""m and rad by which frames of one robot may differ."""


@dataclass(frozen=True, eq=False)
class Calibrated:
    """``known`` is what a compensation takes, None where there is no calibration: nobody knows its accuracy then.

    ``parameters`` are all of the model with their accuracy, ``names`` and ``covariance`` those estimated; ``fixed`` are
    the names that count as exact where the file says so; ``warned`` is what speaks against trusting the calibration;
    ``mark`` tells the robot or the calibration from others.
    """

    word: str
    model: Robot
    known: IdentifiedModel | Calibration | None
    notes: tuple[str, ...]
    serial: str = ""
    mark: str = ""
    warned: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    parameters: tuple[ParameterRecord, ...] = ()
    names: tuple[str, ...] = ()
    covariance: Array | None = None
    discrepancy: float = nan
    fixed: tuple[str, ...] | None = None


def of_readings(path: Path) -> bool:
    """Whether a calibration file is of the format for readings; anything else is left to its reader to refuse."""
    from elastocal.calibration.store import FORMAT
    from elastocal.files.located import read_text
    from elastocal.files.plain_data import parse_json

    try:
        data = parse_json(read_text(path), path.as_posix())
    except InputError:
        return False
    return isinstance(data, dict) and data.get("format") == FORMAT


def calibrated(calibration: Path | None, robot: str | None, serial: str | None = None) -> Calibrated:
    """From a calibration file, which must be of this very robot, or from a robot alone; ``serial`` as it must be."""
    if calibration is None:
        if robot is None:
            raise MissingError("nothing says how the robot bends; give --calibration FILE or --robot ROBOT")
        model = read_robot(robot)
        _same_serial(model.serial, serial, f"robot {robot}")
        note = "There is no calibration: the robot is taken as its file says, and the accuracy of that is not known."
        return Calibrated(robot, model, None, (*model.notes, note), model.serial)
    if of_readings(calibration):
        return _by_readings(calibration, robot, serial)
    return _by_reduction(calibration, robot, serial)


def _by_readings(path: Path, robot: str | None, serial: str | None) -> Calibrated:
    from elastocal.calibration.store import read_calibration
    from elastocal.files.calibration.record import ParameterRecord
    from elastocal.files.opened import sha256_of

    known = read_calibration(path)
    model, own = known.robot, len(known.names)
    _same_serial(model.serial, serial, str(path))
    if robot is not None:
        _same_frames(known.nominal, read_robot(robot, model.tool), path, robot)
    sd = {e.name: e.sd for e in known.parameters.rows}
    rows = tuple(
        ParameterRecord(name=p.name, unit=p.unit, value=p.value, sd=sd[p.name])
        if p.name in sd
        else ParameterRecord(name=p.name, unit=p.unit, value=p.value, status="fixed", reason="not sought")
        for p in model.parameters
    )
    return Calibrated(
        robot or model.name, model, known, tuple(model.notes), model.serial, f"sha256:{sha256_of(path)}",
        tuple(f"WARNING {w.code.upper()}: {w.text}." for w in known.doubts),
        parameters=rows, names=known.names, covariance=known.covariance[:own, :own], discrepancy=known.discrepancy,
    )  # fmt: skip


def _same_frames(nominal: Robot, robot: Robot, calibration: Path, word: str) -> None:
    """Refuse a robot whose frames are not those of the calibrated one."""
    import numpy as np

    known = {f.name: f for f in nominal.tree.frames}
    for frame in robot.tree.frames:
        same = known.pop(frame.name, None)
        if same is None or same.parent != frame.parent or np.abs(same.pose.matrix() - frame.pose.matrix()).max() > SAME:
            raise ConflictError(
                f"{calibration}: is a calibration of robot {nominal.name}, in which frame {frame.name} of {word} is "
                "missing or stands elsewhere; use that robot"
            )
    if known:
        raise ConflictError(f"{calibration}: is a calibration of robot {nominal.name}, not of {word}; use that robot")


def _by_reduction(path: Path, robot: str | None, serial: str | None) -> Calibrated:
    from elastocal.app.calibration_files import exact_in
    from elastocal.files.calibration.read import identified_model, read_calibration

    record = read_calibration(path)
    word = record.robot_word(path)
    _same_serial(record.serial, serial, str(path))
    _same_robot(record, path, word if robot is None else robot)
    model = read_robot(word if robot is None else robot, record.tool)
    known, changes = identified_model(record, model)
    notes = (*model.notes, *(changes if robot is None else ()))
    if record.statics == "linear":
        notes += ("The calibration was made with linear statics; the correction solves the loaded equilibrium.",)
    return Calibrated(
        robot or word, known.model, known, notes, record.serial, record.mark, record.warned, record.without,
        record.parameters, record.names, record.covariance, record.discrepancy, exact_in(record),
    )  # fmt: skip


def _same_robot(record: CalibrationRecord, calibration: Path, word: str) -> None:
    """Refuse a robot that is not the one that was calibrated: another name, or a file with another mark."""
    from elastocal.files.robot.read import shipped_name
    from elastocal.files.run_record import robot_mark

    was, now = robot_file(record.robot), robot_file(word)
    if (was is None) != (now is None) or (was is None and shipped_name(record.robot) != shipped_name(word)):
        raise ConflictError(f"{calibration}: is a calibration of robot {record.robot}, not of {word}; use that robot")
    if now is None or not now.is_file():
        return
    mark = robot_mark(word)
    if mark != record.mark:
        raise ConflictError(
            f"{calibration}: is a calibration of another robot: {word} has the mark {mark[:19]}, the calibrated one "
            f"{record.mark[:19]}; restore the robot file or calibrate again"
        )


def _same_serial(known: str, asked: str | None, what: str) -> None:
    if asked is None or asked == known:
        return
    if not known:
        raise MissingError(
            f"{what}: has no serial number to compare with {asked}; put 'serial' into the robot file and calibrate "
            "again"
        )
    raise ConflictError(
        f"{what}: is of the robot with serial number {known}, not {asked}; use the calibration of that robot"
    )
