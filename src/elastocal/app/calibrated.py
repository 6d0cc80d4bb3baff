"""The robot that a compensation computes with: calibrated, or as its file says."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from elastocal.errors import InputError
from elastocal.files.robot.read import read_robot, robot_file

if TYPE_CHECKING:
    from elastocal.files.calibration.record import CalibrationRecord
    from elastocal.model.robot import Robot
    from elastocal.uncertainty.prediction import IdentifiedModel


@dataclass(frozen=True, eq=False)
class Calibrated:
    """``known`` is None where there is no calibration: then nobody knows how accurate the model is."""

    word: str
    model: Robot
    record: CalibrationRecord | None
    known: IdentifiedModel | None
    notes: tuple[str, ...]


def calibrated(calibration: Path | None, robot: str | None, serial: str | None = None) -> Calibrated:
    """From a calibration file, which must be of this very robot, or from a robot alone; ``serial`` as it must be."""
    from elastocal.files.calibration.read import identified_model, read_calibration

    if calibration is None:
        if robot is None:
            raise InputError("nothing says how the robot bends; give --calibration FILE or --robot ROBOT")
        found = read_robot(robot)
        _same_serial(found.serial, serial, f"robot {robot}")
        note = "There is no calibration: the robot is taken as its file says, and the accuracy of that is not known."
        return Calibrated(robot, found, None, None, (*found.notes, note))
    record = read_calibration(calibration)
    word = record.robot_word(calibration)
    _same_serial(record.serial, serial, str(calibration))
    _same_robot(record, calibration, word if robot is None else robot)
    found = read_robot(word if robot is None else robot, record.tool)
    known, said = identified_model(record, found)
    notes = (*found.notes, *(said if robot is None else ()))
    if record.statics == "linear":
        notes += ("The calibration was made with linear statics; the correction solves the loaded equilibrium.",)
    return Calibrated(robot or word, known.model, record, known, notes)


def _same_robot(record: CalibrationRecord, calibration: Path, word: str) -> None:
    """Refuse a robot that is not the one that was calibrated: another name, or a file with another mark."""
    from elastocal.files.robot.read import shipped_name
    from elastocal.files.run_record import robot_mark

    was, now = robot_file(record.robot), robot_file(word)
    if (was is None) != (now is None) or (was is None and shipped_name(record.robot) != shipped_name(word)):
        raise InputError(f"{calibration}: is a calibration of robot {record.robot}, not of {word}; use that robot")
    if now is None or not now.is_file():
        return
    mark = robot_mark(word)
    if mark != record.mark:
        raise InputError(
            f"{calibration}: is a calibration of another robot: {word} has the mark {mark[:19]}, the calibrated one "
            f"{record.mark[:19]}; restore the robot file or calibrate again"
        )


def _same_serial(known: str, asked: str | None, what: str) -> None:
    if asked is None or asked == known:
        return
    if not known:
        raise InputError(
            f"{what}: has no serial number to compare with {asked}; put 'serial' into the robot file and identify again"
        )
    raise InputError(
        f"{what}: is of the robot with serial number {known}, not {asked}; use the calibration of that robot"
    )
