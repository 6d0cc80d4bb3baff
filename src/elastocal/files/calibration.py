"""Results of a reduction as JSON for the commands that use them: written, read again, and as the robot they stand for.

Numbers are in SI with all their digits.  Whatever is unknown is null, with a reason beside it.  The file says nothing
of the time or the machine: the same inputs give the same bytes.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import field
from math import inf, isfinite, nan
from os.path import normpath
from pathlib import Path
from typing import Any, Literal

import numpy as np

from elastocal import __version__
from elastocal.errors import ConflictError, DuplicateError, InputError, NumberError, RangeError, ShapeError
from elastocal.files import schema
from elastocal.files.located import Located, Path_, read_json
from elastocal.files.robot.read import robot_file
from elastocal.files.run_record import robot_mark
from elastocal.files.typed import schema_text, value_of
from elastocal.measure.kind import Statics
from elastocal.model.descriptions import Form, in_form
from elastocal.model.robot import Robot
from elastocal.reduction.prediction import IdentifiedModel
from elastocal.spatial.entries import Array
from elastocal.values import dataclass

FORMAT = "elastocal-calibration/1"
Status = Literal["estimated", "fixed"]


@dataclass(frozen=True, kw_only=True)
class ParameterRecord:
    """One parameter in SI; ``sd`` is nan where it is fixed; ``group`` and ``reason`` say why it is what it is."""

    name: str
    unit: str
    value: float
    sd: float = nan
    status: Status = "estimated"
    group: str = ""
    reason: str = ""


@dataclass(frozen=True, kw_only=True, eq=False)
class CalibrationRecord:
    """``parameters`` are all of the model as it was calibrated; ``names`` and ``covariance`` those sought:
    what was not estimated is known to within its size only (``reduction.reduction_cost``).

    ``robot`` is the word that names it, ``mark`` its fingerprint (``digest.robot_mark``), ``serial`` its serial number
    where its file has one.  ``form`` is how its springs
    were described at most.  ``scatter`` is the size of the residuals in units of the noise (nan without spare readings,
    in units of 10 um where no noise was stated), ``discrepancy`` the model's own error in m per axis (nan if unknown).
    ``warnings`` are what identification said against trusting it, for whoever uses it.
    ``folder`` is where the file was read from; it is not written.
    """

    robot: str
    mark: str
    serial: str = ""
    tool: str
    without: tuple[str, ...] = ()
    form: Form = "beam"
    statics: Statics = "loaded"
    load_frame: str
    follows: bool = False
    parameters: tuple[ParameterRecord, ...]
    names: tuple[str, ...]
    covariance: Array
    discrepancy: float
    discrepancy_reason: str
    noise_stated: bool
    scatter: float
    freedom: int
    warnings: tuple[str, ...] = ()
    inputs: Mapping[str, str] = field(default_factory=dict)
    seed: int | None = None
    version: str = __version__
    folder: Path = Path()

    def robot_word(self, calibration: Path | None = None) -> str:
        """The word for the robot as seen from here: files are named from the folder of the calibration file."""
        folder = self.folder if calibration is None else calibration.parent
        own = robot_file(self.robot)
        return self.robot if own is None else Path(normpath(folder / own)).as_posix()

    @property
    def warned(self) -> tuple[str, ...]:
        """The warnings as commands show them that use the calibration."""
        return tuple(f"THE CALIBRATION IS IN DOUBT. {text}" for text in self.warnings)

    def __post_init__(self) -> None:
        object.__setattr__(self, "covariance", np.asarray(self.covariance, dtype=np.float64))
        _check(self)


def _check(record: CalibrationRecord) -> None:
    wild = [p.name for p in record.parameters if not isfinite(p.value)]
    if wild:
        raise NumberError(f"calibration: the value of {wild[0]} is not a finite number; leave it out", value=wild[0])
    given = [p.name for p in record.parameters]
    if len(set(given)) != len(given):
        twice = next(name for i, name in enumerate(given) if name in given[:i])
        raise DuplicateError(f"calibration: parameter {twice} is listed twice; keep one", value=twice)
    estimated = {p.name for p in record.parameters if p.status == "estimated"}
    if not estimated <= set(record.names) <= set(given) or len(set(record.names)) != len(record.names):
        odd = sorted(estimated - set(record.names) or set(record.names) - set(given)) or ["a name"]
        raise ConflictError(
            f"calibration: the covariance lacks or adds {odd[0]}; it holds all estimated parameters, none unlisted",
            value=odd[0],
        )
    c, p = record.covariance, len(record.names)
    if c.shape != (p, p) or not np.all(np.isfinite(c)):
        raise ShapeError(
            f"calibration: the covariance of {p} parameters must be {p} x {p} finite numbers", value=c.shape
        )
    sd = np.sqrt(np.abs(np.diag(c)))
    if not np.all(np.diag(c) > 0) or np.any(np.abs(c - c.T) > 1e-9 * np.outer(sd, sd)):
        raise RangeError(
            "calibration: the covariance is not symmetric with positive variances; make it again", code="covariance"
        )


def calibration_text(record: CalibrationRecord) -> str:
    """The file's text; one parameter and one row of the covariance per line."""
    spare = isfinite(record.scatter)
    noise = {"stated": record.noise_stated, "scatter": _known(record.scatter), "freedom": record.freedom}
    document = {
        "format": FORMAT,
        "created_by": f"elastocal {record.version}",
        "robot": {
            "word": record.robot, "mark": record.mark, "serial": record.serial, "tool": record.tool,
            "without": list(record.without),
            "form": record.form,
        },
        "statics": record.statics,
        "load": {"frame": record.load_frame, "follows": record.follows},
        "noise": noise | ({} if spare else {"reason": "no readings to spare: the residuals do not tell their scatter"}),
        "discrepancy_m": _known(record.discrepancy),
        "discrepancy_reason": record.discrepancy_reason,
        "seed": record.seed,
        "inputs": dict(record.inputs),
        "warnings": list(record.warnings),
        "parameters": [_parameter_entry(p) for p in record.parameters],
        "names": list(record.names),
        "covariance": record.covariance.tolist(),
    }  # fmt: skip
    return "\n".join(["{", *_lines(document), "}", ""])


def _parameter_entry(p: ParameterRecord) -> dict[str, Any]:
    words = {"group": p.group, "reason": p.reason}
    stated = {key: word for key, word in words.items() if word}
    return {"name": p.name, "unit": p.unit, "value": p.value, "sd": _known(p.sd), "status": p.status, **stated}


def _known(number: float) -> float | None:
    return float(number) if isfinite(number) else None


def _lines(document: Mapping[str, Any]) -> Iterator[str]:
    """JSON with a line for every key, and one for every item of a long list."""
    last = len(document) - 1
    for i, (key, value) in enumerate(document.items()):
        comma = "" if i == last else ","
        if key in ("warnings", "parameters", "covariance") and value:
            yield f'  "{key}": ['
            yield ",\n".join(f"    {_text(item)}" for item in value)
            yield f"  ]{comma}"
        else:
            yield f'  "{key}": {_text(value)}{comma}'


def _text(value: Any) -> str:
    return json.dumps(value, allow_nan=False, ensure_ascii=False)


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
    parameters = tuple(_parameter_record(located, ("parameters", i), entry) for i, entry in enumerate(top.parameters))
    if len({len(row) for row in top.covariance}) > 1:
        raise located.error(("covariance",), "its rows differ in length; make the file again", ShapeError)
    try:
        return CalibrationRecord(
            robot=robot.word, mark=robot.mark, serial=robot.serial, tool=robot.tool,
            without=robot.without, form=robot.form, statics=top.statics, load_frame=load.frame, follows=load.follows,
            parameters=parameters, names=top.names,
            covariance=np.array(top.covariance, dtype=np.float64).reshape(len(top.covariance), -1),
            discrepancy=value_of(float, top.discrepancy_m), discrepancy_reason=top.discrepancy_reason,
            noise_stated=noise.stated, scatter=value_of(float, noise.scatter), freedom=noise.freedom,
            warnings=top.warnings, inputs=top.inputs,
            seed=top.seed, version=top.created_by.removeprefix("elastocal "), folder=path.parent,
        )  # fmt: skip
    except InputError as error:
        raise located.error((), str(error).removeprefix("calibration: "), error) from None


def _parameter_record(located: Located, path: Path_, entry: Any) -> ParameterRecord:
    e = schema.construct(ParameterEntry, located, path, entry, {})
    return ParameterRecord(**{**vars(e), "sd": value_of(float, e.sd)})


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
        described.with_estimates(values), record.names, record.covariance, record.discrepancy, record.statics,
        inf if sure else float(record.freedom),
    )  # fmt: skip
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
    parts = {"robot": RobotEntry, "load": LoadFrameEntry, "noise": NoiseEntry, "parameters": list[ParameterEntry]}
    return schema_text(CalibrationEntry, FORMAT, known=True, **parts)
