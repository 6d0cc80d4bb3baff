"""A calibration as one JSON document, and back: everything that predictions need, the robot itself included."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from math import inf, isnan
from os import PathLike
from pathlib import Path
from typing import Any, Literal

import numpy as np

from elastocal.arguments import checked
from elastocal.calibration.accuracy import Validation
from elastocal.calibration.calibration import Calibration
from elastocal.calibration.campaigns import Seen
from elastocal.calibration.estimates import Estimate, Estimates, Outlier, Residuals, Shrinkage
from elastocal.calibration.ladder import Ladder, Rung
from elastocal.calibration.noise import Instrument
from elastocal.calibration.placing import Placing
from elastocal.calibration.posterior import Compliances
from elastocal.errors import FormatError
from elastocal.files.located import read_json
from elastocal.files.robot.read import robot_from_text
from elastocal.files.robot.write import robot_text
from elastocal.files.typed import packed, schema_text, value_of
from elastocal.files.write import write_files
from elastocal.measure.sources.instrument import Tracker
from elastocal.results import Finding, as_json
from elastocal.solve.summary import ErrorSummary
from elastocal.spatial.entries import Array, Ints
from elastocal.values import dataclass

FORMAT = "elastocal-calibration/2"


@dataclass(frozen=True)
class InstrumentEntry:
    sd_m: float | None
    turn_sd_rad: float | None
    tracker: Tracker | None
    axes: tuple[float, ...] | None


@dataclass(frozen=True, eq=False)
class CalibrationEntry:
    """The keys of a document: fields of a ``Calibration`` but for those of ``OWN``, some by a name with a unit."""

    format: str
    verdict: Finding
    warnings: tuple[Finding, ...]
    words: tuple[str, ...]
    leave_one_out_m: ErrorSummary
    leave_one_out_all_m: ErrorSummary
    nominal_m: ErrorSummary
    outliers: tuple[Outlier, ...]
    parameters: tuple[Estimate, ...]
    noise: Mapping[str, float]
    instrument: InstrumentEntry
    repeatability_m: float
    discrepancy_m: float
    freedom: float
    inflation: float
    length: Literal["m", "mm"]
    angle: Literal["rad", "deg"]
    load_frame: str
    reference_temperature: float
    stations: tuple[str, ...]
    markers: tuple[str, ...]
    placing: Placing
    nominal_placing: Placing
    names: tuple[str, ...]
    values: tuple[float, ...]
    covariance: Array
    compliances: Compliances | None
    robot_yaml: str
    ladder: Mapping[str, Any]
    residuals: Residuals
    seen: Seen
    shrinkage: Shrinkage
    validation: Validation | None


NAMED = {
    "leave_one_out_m": "leave_one_out", "leave_one_out_all_m": "leave_one_out_all", "nominal_m": "before",
    "repeatability_m": "repeatability", "discrepancy_m": "discrepancy",
}  # fmt: skip
OWN = ("format", "verdict", "parameters", "instrument", "freedom", "values", "robot_yaml", "ladder", "validation")
"""What a ``Calibration`` has otherwise, or not as a field."""


def save_calibration(calibration: Calibration, path: str | PathLike[str]) -> Path:
    """Write the document; SI throughout."""
    target = Path(path)
    write_files({target: document_text(calibration)})
    return target


def document_text(calibration: Calibration, validation: Validation | None = None) -> str:
    return as_json(to_document(calibration, validation)) + "\n"


@checked()
def read_calibration(path: str | PathLike[str]) -> Calibration:
    """Read it again: it predicts, validates, compensates, draws and reports as the one that was saved."""
    file = Path(path)
    data = read_json(file, FORMAT, "a calibration file").data
    try:
        return from_document(data, str(file))
    except (KeyError, TypeError, ValueError) as error:
        raise FormatError(f"{file}: the calibration is damaged ({error!r}); make it again", file=str(file)) from None


def read_validation(path: str | PathLike[str]) -> Validation | None:
    """The validation that was made with the calibration of a file, None where there was none."""
    file = Path(path)
    return validation_of(read_json(file, FORMAT, "a calibration file").data, str(file))


def validation_of(document: Mapping[str, Any], where: str) -> Validation | None:
    try:
        made: Validation | None = value_of(Validation | None, document["validation"])
        return made
    except (KeyError, TypeError, ValueError) as error:
        raise FormatError(f"{where}: the validation in it is damaged ({error!r}); calibrate again") from None


def to_document(c: Calibration, validation: Validation | None = None) -> dict[str, Any]:
    """What a file holds; nan is what is not known, and null there."""
    i, table = c.instrument, c.robot.parameters
    own = {
        "format": FORMAT,
        "parameters": c.parameters.rows,
        "instrument": InstrumentEntry(i.sd, i.turn_sd, i.tracker, i.axes),
        "values": [table.values[table.index(n)].item() for n in c.names],
        "robot_yaml": robot_text(c.uncalibrated),
        "ladder": _ladder(c.ladder),
        "residuals": _short(vars(c.residuals)),
        "seen": {k: None if v is None else packed(v) for k, v in vars(c.seen).items()},
        "shrinkage": {k: packed(v) if isinstance(v, np.ndarray) else v for k, v in vars(c.shrinkage).items()},
        "validation": None if validation is None else _short(vars(validation)),
    }
    keys = [f.name for f in fields(CalibrationEntry)]
    return {k: own[k] if k in own else getattr(c, NAMED.get(k, k)) for k in keys}


def from_document(data: dict[str, Any], where: str) -> Calibration:
    entry: CalibrationEntry = value_of(CalibrationEntry, data)
    robot, i = robot_from_text(entry.robot_yaml, where), entry.instrument
    values = dict(zip(entry.names, entry.values, strict=True))
    same: dict[str, Any] = {NAMED.get(k, k): v for k, v in vars(entry).items() if k not in OWN}
    return Calibration(
        robot=robot.with_estimates(values) if values else robot,
        uncalibrated=robot,
        parameters=Estimates(entry.parameters),
        instrument=Instrument(i.sd_m, i.tracker, i.turn_sd_rad, axes=i.axes),
        freedom=inf if isnan(entry.freedom) else entry.freedom,
        ladder=_read_ladder(entry.ladder, entry.residuals.pose),
        **same,
    )


def _ladder(ladder: Ladder) -> dict[str, Any]:
    """Every model with its errors; their fits are not kept."""
    kept = ("words", "family", "multiple", "errors", "evidence", "effective", "remark")
    number = {id(r): i for i, r in enumerate(ladder.rungs)}
    return {
        "rungs": [_short({k: getattr(r, k) for k in kept}) for r in ladder.rungs],
        "chosen": number[id(ladder.chosen)],
        "nominal": number[id(ladder.nominal)],
        "gain_m": ladder.gain,
        "gain_se_m": ladder.gain_se,
        "before": None
        if ladder.before is None
        else _ladder(ladder.before) | {"pose": ladder.before.chosen.pose.tolist()},
    }


def _read_ladder(data: Mapping[str, Any], pose: Ints) -> Ladder:
    rungs = tuple(
        Rung(**{**r, "words": tuple(r["words"]), "errors": value_of(Array, r["errors"]), "pose": pose})
        for r in data["rungs"]
    )
    gain, se, before = value_of(float, data["gain_m"]), value_of(float, data["gain_se_m"]), data["before"]
    return Ladder(
        rungs, rungs[data["chosen"]], rungs[data["nominal"]], gain, se,
        None if before is None else _read_ladder(before, np.array(before["pose"])),
    )  # fmt: skip


def _short(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Numbers of arrays to seven digits: they are drawn and averaged, not computed with."""
    return {k: _digits(v) if isinstance(v, np.ndarray) and v.dtype.kind == "f" else v for k, v in fields.items()}


def _digits(values: Array) -> Any:
    return np.array([float(f"{v:.7g}") for v in values.ravel().tolist()]).reshape(values.shape).tolist()


def calibration_schema() -> str:
    """JSON schema of the document as text."""
    return schema_text(CalibrationEntry, FORMAT)
