"""A calibration file read again, and the robot that it stands for with its covariance."""

from __future__ import annotations

from math import inf, nan
from pathlib import Path
from typing import Any

import numpy as np

from elastocal.errors import InputError
from elastocal.files import schema
from elastocal.files.calibration.entry import CalibrationEntry, LoadFrameEntry, NoiseEntry, ParameterEntry, RobotEntry
from elastocal.files.calibration.record import FORMAT, CalibrationRecord, ParameterRecord
from elastocal.files.digest import robot_mark
from elastocal.files.format_word import read_json
from elastocal.files.located import Located, Path_
from elastocal.files.robot.read import robot_file
from elastocal.model.descriptions import in_form
from elastocal.model.robot import RobotModel
from elastocal.uncertainty.prediction import IdentifiedModel


def read_calibration(path: Path) -> CalibrationRecord:
    """The record that ``calibration_text`` wrote."""
    located = read_json(path, FORMAT, "a calibration file")
    top = schema.construct(CalibrationEntry, located, (), located.data, {})
    robot = schema.construct(RobotEntry, located, ("robot",), top.robot, {})
    load = schema.construct(LoadFrameEntry, located, ("load",), top.load, {})
    noise = schema.construct(NoiseEntry, located, ("noise",), top.noise, {})
    parameters = tuple(_parameter(located, ("parameters", i), entry) for i, entry in enumerate(top.parameters))
    if len({len(row) for row in top.covariance}) > 1:
        raise located.error(("covariance",), "its rows differ in length; make the file again")
    try:
        return CalibrationRecord(
            robot=robot.word, mark=robot.mark, serial=robot.serial, tool=robot.tool,
            without=robot.without, form=robot.form, statics=top.statics, load_frame=load.frame, follows=load.follows,
            parameters=parameters, names=top.names,
            covariance=np.array(top.covariance, dtype=np.float64).reshape(len(top.covariance), -1),
            discrepancy=_number(top.discrepancy_m), discrepancy_reason=top.discrepancy_reason,
            noise_stated=noise.stated, scatter=_number(noise.scatter), freedom=noise.freedom, warnings=top.warnings,
            inputs=top.inputs, seed=top.seed, version=top.created_by.removeprefix("elastocal "), folder=path.parent,
        )  # fmt: skip
    except InputError as error:
        raise located.error((), str(error).removeprefix("calibration: ")) from None


def _parameter(located: Located, path: Path_, entry: Any) -> ParameterRecord:
    e = schema.construct(ParameterEntry, located, path, entry, {})
    return ParameterRecord(
        name=e.name, unit=e.unit, value=e.value, sd=_number(e.sd), status=e.status, group=e.group, reason=e.reason
    )


def _number(known: float | None) -> float:
    return nan if known is None else known


def identified_model(record: CalibrationRecord, model: RobotModel) -> tuple[IdentifiedModel, tuple[str, ...]]:
    """The robot with all values of the calibration, the covariance of the estimated ones, and notes.

    ``model`` is the robot as ``record.robot_word`` gives it; a note tells where its file has changed since.
    """
    described = in_form(model.without(*record.without), record.form)
    there = {p.name: p.unit for p in described.parameters}
    for p in record.parameters:
        if there.get(p.name) != p.unit:
            what = f"no parameter {p.name}" if p.name not in there else f"{p.name} in {there[p.name]}, not in {p.unit}"
            raise InputError(
                f"robot {model.name} has {what}; the calibration is of robot {record.robot} with springs described as "
                f"{record.form}: use that robot"
            )
    values = {p.name: p.value for p in record.parameters}
    sure = record.noise_stated and not record.scatter > 1
    known = IdentifiedModel(
        described.with_parameters(values),
        record.names,
        record.covariance,
        record.discrepancy,
        record.statics,
        inf if sure else float(record.freedom),
    )
    return known, _changes(record)


def _changes(record: CalibrationRecord) -> tuple[str, ...]:
    """A note where the robot's file is not the one that was calibrated."""
    file = robot_file(record.robot)
    if file is not None and not (record.folder / file).is_file():
        return (f"The robot file {record.folder / file} is not there: whether it is still the same is not known.",)
    now = robot_mark(record.robot, record.folder)
    if now == record.mark:
        return ()
    note = (
        f"The robot {record.robot} has changed since it was calibrated ({record.mark[:19]} then, {now[:19]} now): the "
        "calibration gives all parameters, the rest is as it is now."
    )
    return (note,)
