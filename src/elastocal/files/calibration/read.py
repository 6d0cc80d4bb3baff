"""A calibration file read again, its JSON schema, and the robot that it stands for with its covariance."""

from __future__ import annotations

import json
import os
from dataclasses import field
from math import inf, nan
from pathlib import Path
from typing import Any

import numpy as np

from elastocal.errors import ConflictError, InputError, ShapeError
from elastocal.files import schema
from elastocal.files.calibration.record import FORMAT, CalibrationRecord, ParameterRecord, Status
from elastocal.files.located import Located, Path_, read_json
from elastocal.files.robot.read import robot_file
from elastocal.files.run_record import robot_mark
from elastocal.measure.kind import Statics
from elastocal.model.descriptions import Form, in_form
from elastocal.model.robot import Robot
from elastocal.reduction.prediction import IdentifiedModel
from elastocal.values import dataclass


@dataclass(frozen=True, kw_only=True)
class CalibrationEntry:
    format: str
    created_by: str
    robot: dict[str, Any]
    statics: Statics
    load: dict[str, Any]
    noise: dict[str, Any]
    discrepancy_m: float | None
    discrepancy_reason: str
    warnings: tuple[str, ...] = ()
    seed: int | None = None
    inputs: dict[str, str] = field(default_factory=dict)
    parameters: list[Any]
    names: tuple[str, ...]
    covariance: list[list[float]]


@dataclass(frozen=True, kw_only=True)
class RobotEntry:
    word: str
    mark: str
    serial: str = ""
    tool: str
    without: tuple[str, ...] = ()
    form: Form


@dataclass(frozen=True, kw_only=True)
class LoadFrameEntry:
    frame: str
    follows: bool


@dataclass(frozen=True, kw_only=True)
class NoiseEntry:
    stated: bool
    scatter: float | None
    freedom: int
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class ParameterEntry:
    name: str
    unit: str
    value: float
    sd: float | None
    status: Status
    group: str = ""
    reason: str = ""


def read_calibration(path: Path) -> CalibrationRecord:
    """The record that ``calibration_text`` wrote."""
    located = read_json(path, FORMAT, "a calibration file")
    top = schema.construct(CalibrationEntry, located, (), located.data, {})
    robot = schema.construct(RobotEntry, located, ("robot",), top.robot, {})
    load = schema.construct(LoadFrameEntry, located, ("load",), top.load, {})
    noise = schema.construct(NoiseEntry, located, ("noise",), top.noise, {})
    parameters = tuple(_parameter(located, ("parameters", i), entry) for i, entry in enumerate(top.parameters))
    if len({len(row) for row in top.covariance}) > 1:
        raise located.error(("covariance",), "its rows differ in length; make the file again", ShapeError)
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
        raise located.error((), str(error).removeprefix("calibration: "), error) from None


def _parameter(located: Located, path: Path_, entry: Any) -> ParameterRecord:
    e = schema.construct(ParameterEntry, located, path, entry, {})
    return ParameterRecord(
        name=e.name, unit=e.unit, value=e.value, sd=_number(e.sd), status=e.status, group=e.group, reason=e.reason
    )


def _number(known: float | None) -> float:
    return nan if known is None else known


def identified_model(record: CalibrationRecord, model: Robot) -> tuple[IdentifiedModel, tuple[str, ...]]:
    """The robot with all values of the calibration, the covariance of the estimated ones, and notes.

    ``model`` is the robot as ``record.robot_word`` gives it; a note tells where its file has changed since.
    """
    described = in_form(model.without(*record.without), record.form)
    there = {p.name: p.unit for p in described.parameters}
    for p in record.parameters:
        if there.get(p.name) != p.unit:
            what = f"no parameter {p.name}" if p.name not in there else f"{p.name} in {there[p.name]}, not in {p.unit}"
            raise ConflictError(
                f"robot {model.name} has {what}; the calibration is of robot {record.robot} with springs described as "
                f"{record.form}: use that robot",
                value=(p.name, there.get(p.name), p.unit),
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
    if file is not None and not os.path.isfile(record.folder / file):
        return (f"The robot file {record.folder / file} is not there: whether it is still the same is not known.",)
    now = robot_mark(record.robot, record.folder)
    if now == record.mark:
        return ()
    note = (
        f"The robot {record.robot} has changed since it was calibrated ({record.mark[:19]} then, {now[:19]} now): the "
        "calibration gives all parameters, the rest is as it is now."
    )
    return (note,)


def calibration_schema() -> str:
    """The schema as text (JSON Schema, draft 2020-12)."""
    from pydantic import TypeAdapter

    def of(kind: Any) -> dict[str, Any]:
        return {k: v for k, v in TypeAdapter(kind).json_schema().items() if k != "title"}

    top = of(CalibrationEntry)
    parts = {"robot": RobotEntry, "load": LoadFrameEntry, "noise": NoiseEntry}
    top["properties"] |= {name: of(kind) for name, kind in parts.items()}
    top["properties"]["parameters"] = {"type": "array", "items": of(ParameterEntry)}
    top["properties"]["format"] = {"const": FORMAT}
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": FORMAT}
    return json.dumps(head | top, indent=2) + "\n"
