"""A calibration as one JSON document, and back: everything that predictions need, the robot itself included."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

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
from elastocal.files.write import write_files
from elastocal.measure.sources.tracker import Tracker
from elastocal.model.robot import Robot
from elastocal.results import Finding, as_json
from elastocal.solve.summary import ErrorSummary
from elastocal.spatial.entries import Array

FORMAT = "elastocal-calibration/2"


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
    data = document.get("validation")
    try:
        return None if data is None else Validation(**{k: _validated(k, v) for k, v in data.items()})
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise FormatError(f"{where}: the validation in it is damaged ({error!r}); calibrate again") from None


def _validated(key: str, value: Any) -> Any:
    if key in ("before", "after"):
        return _errors(value)
    if key == "orientation":
        return None if value is None else tuple(_errors(e) for e in value)
    if key == "cause":
        return None if value is None else Finding(**value)
    if key in ("places", "markers", "lost", "known"):
        return tuple(value)
    return np.array(value, dtype=np.float64) if isinstance(value, list) else _number(key, value)


def to_document(c: Calibration, validation: Validation | None = None) -> dict[str, Any]:
    """What a file holds; nan is what is not known, and null there."""
    return {
        "format": FORMAT,
        "verdict": vars(c.verdict) | {"data": dict(c.verdict.data)},
        "warnings": [vars(w) | {"data": dict(w.data)} for w in c.warnings],
        "words": list(c.words),
        "leave_one_out_m": vars(c.leave_one_out),
        "leave_one_out_all_m": vars(c.leave_one_out_all),
        "nominal_m": vars(c.before),
        "outliers": [vars(o) for o in c.outliers],
        "parameters": [vars(e) for e in c.parameters.rows],
        "noise": dict(c.noise),
        "instrument": {
            "sd_m": c.instrument.sd,
            "turn_sd_rad": c.instrument.turn_sd,
            "tracker": vars(c.instrument.tracker) if c.instrument.tracker else None,
            **({} if c.instrument.axes is None else {"axes": list(c.instrument.axes)}),
        },
        "repeatability_m": c.repeatability,
        "discrepancy_m": c.discrepancy,
        "freedom": c.freedom,
        "inflation": c.inflation,
        "length": c.length,
        "angle": c.angle,
        "load_frame": c.load_frame,
        "reference_temperature": c.reference_temperature,
        "stations": list(c.stations),
        "markers": list(c.markers),
        "placing": _placing(c.placing),
        "nominal_placing": _placing(c.nominal_placing),
        "names": list(c.names),
        "values": [c.robot.parameters.values[c.robot.parameters.index(n)].item() for n in c.names],
        "covariance": c.covariance.tolist(),
        "compliances": None
        if c.compliances is None
        else {"names": list(c.compliances.names), "covariance": c.compliances.covariance.tolist()},
        "robot_yaml": robot_text(c.uncalibrated),
        "ladder": _ladder(c.ladder),
        "residuals": {k: _short(v) for k, v in vars(c.residuals).items()},
        "seen": {k: None if v is None else _packed(v) for k, v in vars(c.seen).items()},
        "shrinkage": None if c.shrinkage is None else _shrinkage(c.shrinkage),
        "validation": None if validation is None else _validation(validation),
    }


def _shrinkage(s: Shrinkage) -> dict[str, Any]:
    return {k: _packed(getattr(s, k)) for k in ("mean", "prior", "share")}


def _validation(v: Validation) -> dict[str, Any]:
    own = {k: vars(x) if isinstance(x, ErrorSummary) else _short(x) for k, x in vars(v).items()}
    turned = None if v.orientation is None else [vars(e) for e in v.orientation]
    return own | {
        "orientation": turned,
        "cause": None if v.cause is None else vars(v.cause) | {"data": dict(v.cause.data)},
    }


def from_document(data: dict[str, Any], where: str) -> Calibration:
    robot = robot_from_text(data["robot_yaml"], where)
    values = dict(zip(data["names"], data["values"], strict=True))
    calibrated: Robot = robot.with_estimates(values) if values else robot
    return Calibration(
        robot=calibrated,
        uncalibrated=robot,
        names=tuple(data["names"]),
        covariance=np.array(data["covariance"], dtype=np.float64),
        placing=Placing(**{k: np.array(v) for k, v in data["placing"].items()}),
        nominal_placing=Placing(**{k: np.array(v) for k, v in data["nominal_placing"].items()}),
        stations=tuple(data["stations"]),
        markers=tuple(data["markers"]),
        noise={k: float(v) for k, v in data["noise"].items()},
        instrument=_instrument(data["instrument"]),
        discrepancy=float(data["discrepancy_m"]),
        freedom=float("inf") if data["freedom"] is None else float(data["freedom"]),
        inflation=float(data["inflation"]),
        length=data["length"],
        angle=data["angle"],
        load_frame=data["load_frame"],
        reference_temperature=float("nan") if data["reference_temperature"] is None else data["reference_temperature"],
        parameters=Estimates(tuple(Estimate(**{k: _number(k, v) for k, v in e.items()}) for e in data["parameters"])),
        outliers=tuple(Outlier(**o | {"deviations": _number("deviations", o["deviations"])}) for o in data["outliers"]),
        warnings=tuple(_finding(w, data["leave_one_out_m"]) for w in data["warnings"]),
        words=tuple(data["words"]),
        leave_one_out=_errors(data["leave_one_out_m"]),
        leave_one_out_all=_errors(data["leave_one_out_all_m"]),
        before=_errors(data["nominal_m"]),
        ladder=_read_ladder(data["ladder"], data["residuals"]["pose"]),
        residuals=Residuals(**{k: _array(v) for k, v in data["residuals"].items()}),
        seen=_seen(data),
        shrinkage=_read_shrinkage(data),
        compliances=_compliances(data.get("compliances")),
        repeatability=_number("repeatability", data.get("repeatability_m")),
    )


def _read_shrinkage(data: dict[str, Any]) -> Shrinkage | None:
    """Earlier documents do not have it."""
    known = data.get("shrinkage")
    return None if known is None else Shrinkage(tuple(data["names"]), **{k: _array(v) for k, v in known.items()})


def _compliances(data: dict[str, Any] | None) -> Compliances | None:
    """Earlier documents have none."""
    return None if data is None else Compliances(tuple(data["names"]), np.array(data["covariance"], dtype=np.float64))


def _finding(data: dict[str, Any], errors: dict[str, Any]) -> Finding:
    """Earlier documents state the mean alone of errors of refits: the rest of them is not known."""
    refitted = data["data"].get("refitted")
    if isinstance(refitted, float):
        sizes = dict.fromkeys(("rms", "p95", "max"), float("nan"))
        data = data | {"data": data["data"] | {"refitted": errors | sizes | {"mean": refitted}}}
    return Finding(**data)


def _ladder(ladder: Ladder) -> dict[str, Any]:
    """Every model with its errors; their fits are not kept."""
    kept = ("words", "family", "multiple", "errors", "evidence", "effective", "remark")
    number = {id(r): i for i, r in enumerate(ladder.rungs)}
    return {
        "rungs": [{k: _short(getattr(r, k)) for k in kept} for r in ladder.rungs],
        "chosen": number[id(ladder.chosen)],
        "nominal": number[id(ladder.nominal)],
        "gain_m": ladder.gain,
        "gain_se_m": ladder.gain_se,
        "before": None
        if ladder.before is None
        else _ladder(ladder.before) | {"pose": ladder.before.chosen.pose.tolist()},
    }


def _read_ladder(data: dict[str, Any], pose: list[int]) -> Ladder:
    where = np.array(pose)
    rungs = tuple(
        Rung(**{**r, "words": tuple(r["words"]), "errors": _array(r["errors"]), "pose": where}) for r in data["rungs"]
    )
    gain, se = (float("nan") if data[k] is None else float(data[k]) for k in ("gain_m", "gain_se_m"))
    before = data.get("before")
    return Ladder(
        rungs, rungs[data["chosen"]], rungs[data["nominal"]], gain, se,
        None if before is None else _read_ladder(before, before["pose"]),
    )  # fmt: skip


def _short(value: Any) -> Any:
    """Arrays as lists, numbers to seven digits: they are drawn and averaged, not computed with."""
    if not isinstance(value, np.ndarray):
        return value
    if value.dtype.kind != "f":
        return value.tolist()
    return np.array([float(f"{v:.7g}") for v in value.ravel().tolist()]).reshape(value.shape).tolist()


def _packed(values: Array) -> dict[str, Any]:
    """Numbers that no person reads, however many they are: their bytes (float64, the lowest first) in base 64."""
    return {"shape": list(values.shape), "float64": b64encode(values.astype("<f8").tobytes()).decode()}


def _array(rows: Any) -> Any:
    """Lists with null where nothing was read, or null where no list was; or what ``_packed`` has made."""
    if rows is None:
        return None
    if isinstance(rows, dict):
        return np.frombuffer(b64decode(rows["float64"], validate=True), "<f8").reshape(rows["shape"])
    made = np.array(rows)
    return made if made.dtype.kind in "biuf" else np.array(rows, dtype=np.float64)


def calibration_schema() -> str:
    """JSON schema of the document as text (draft 2020-12)."""
    from pydantic import TypeAdapter

    def of(kind: Any, *, nullable: bool = False) -> dict[str, Any]:
        made = {k: v for k, v in TypeAdapter(kind).json_schema().items() if k != "title"}
        if nullable:  # what is not known is null
            for row in made["properties"].values():
                if row.get("type") == "number":
                    row["type"] = ["number", "null"]
        return made

    number, text, texts = {"type": "number"}, {"type": "string"}, {"type": "array", "items": {"type": "string"}}
    numbers = {"type": "array", "items": number}
    rows = {"type": "array", "items": numbers}
    many = {"type": "array", "items": rows}
    placing = {
        "type": "object",
        "properties": {"turn": many, "shift": rows, "markers": rows, "tool_turn": rows, "centres": rows},
    }
    errors = of(ErrorSummary, nullable=True)
    known: dict[str, Any] = {
        "format": {"const": FORMAT}, "verdict": of(Finding), "warnings": {"type": "array", "items": of(Finding)},
        "words": texts, "leave_one_out_m": errors, "leave_one_out_all_m": errors, "nominal_m": errors,
        "outliers": {"type": "array", "items": of(Outlier, nullable=True)},
        "parameters": {"type": "array", "items": of(Estimate, nullable=True)},
        "noise": {"type": "object", "additionalProperties": number}, "instrument": {"type": "object"},
        "repeatability_m": {"type": ["number", "null"]},
        "discrepancy_m": number, "inflation": number, "freedom": {"type": ["number", "null"]},
        "reference_temperature": {"type": ["number", "null"]},
        "length": {"enum": ["m", "mm"]},
        "angle": {"enum": ["rad", "deg"]}, "load_frame": text, "stations": texts, "markers": texts,
        "placing": placing, "nominal_placing": placing, "names": texts, "values": numbers, "covariance": rows,
        "robot_yaml": text, "ladder": {"type": "object"}, "residuals": {"type": "object"},
        "seen": {"type": "object"}, "compliances": {"type": ["object", "null"]},
        "shrinkage": {"type": ["object", "null"]},
        "validation": {"type": ["object", "null"]},
    }  # fmt: skip
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": FORMAT, "type": "object"}
    return json.dumps(head | {"properties": known, "required": list(known)}, indent=2) + "\n"


def _seen(data: dict[str, Any]) -> Seen:
    """Of an earlier document the poses alone are known: read again they are no new ones, whatever was read."""
    known = data.get("seen") or {k: data["residuals"][k] for k in ("q", "wrench")}
    return Seen(**{k: _array(v) for k, v in known.items()})


def _instrument(data: dict[str, Any]) -> Instrument:
    tracker = data["tracker"]
    if tracker is not None and tracker["at"] is not None:
        tracker = tracker | {"at": tuple(tracker["at"])}
    axes = None if data.get("axes") is None else tuple(data["axes"])
    made = None if tracker is None else Tracker(**tracker)
    return Instrument(data["sd_m"], made, data["turn_sd_rad"], axes=axes)


def _placing(p: Placing) -> dict[str, Any]:
    return {k: np.asarray(v).tolist() for k, v in vars(p).items()}


def _errors(data: dict[str, Any]) -> ErrorSummary:
    return ErrorSummary(**{k: _number(k, v) for k, v in data.items()})


def _number(key: str, value: Any) -> Any:
    return float("nan") if value is None and key not in ("name", "unit", "group") else value
