"""Positions and deflections that a calibrated robot lets expect, with their accuracy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from elastocal.app.cells.roles import WHERE, Uses
from elastocal.app.cli import options as o
from elastocal.app.cli.command import command
from elastocal.errors import ConflictError, MissingError, UnknownNameError
from elastocal.report.blocks import Fact
from elastocal.values import dataclass

if TYPE_CHECKING:
    from elastocal.app.applied_load import AppliedLoad, LoadRequest
    from elastocal.app.configurations import Configurations
    from elastocal.calibration.calibration import Calibration
    from elastocal.calibration.prediction import Prediction as Readings
    from elastocal.files.calibration import CalibrationRecord
    from elastocal.model.robot import Robot
    from elastocal.reduction.prediction import Prediction


@dataclass(frozen=True, eq=False)
class PredictResult:
    """By a calibration of compliances: ``bend`` is the largest deflection of the linear model and ``size`` the robot's,
    in m."""

    facts: tuple[Fact, ...]
    record: CalibrationRecord
    model: Robot
    at: Configurations
    load: AppliedLoad
    prediction: Prediction
    discrepancy: float
    bend: float
    size: float
    notes: tuple[str, ...]

    @property
    def beyond(self) -> bool:
        """Whether the linear model bends by more than a tenth of the robot, which no arm survives."""
        from elastocal.files.campaign.readings import SOFT

        return self.bend > SOFT * self.size


@dataclass(frozen=True, eq=False)
class ReadingsResult:
    """By a calibration of readings: what its instrument would read at ``station``; ``markers`` are those shown."""

    facts: tuple[Fact, ...]
    calibration: Calibration
    at: Configurations
    load: AppliedLoad
    station: str
    prediction: Readings
    markers: tuple[int, ...]
    notes: tuple[str, ...]


@command("daily", 6, Uses({"calibration": "calibration"}, either=WHERE), csv=True)
def predict(
    calibration: o.Calibration,
    table: Annotated[Path | None, o.argument("[TABLE]", "Poses, and loads: columns as in campaigns.")] = None,
    at: o.At = None,
    configurations: o.File = None,
    force: o.Force = None,
    moment: o.Moment = None,
    load_frame: Annotated[
        str | None, o.option("FRAME", "Where the load acts (default: the tool; as calibrated).")
    ] = None,
    frame: Annotated[
        str | None, o.option("MARKER|FRAME", "One marker; of a reduction a frame (default: all; the tool).")
    ] = None,
    axes: Annotated[
        str, o.option("instrument|base", "Axes of predicted positions (default: the instrument's).")
    ] = "instrument",
    station: Annotated[
        str | None, o.option("NAME", "Place of the instrument that would read (default: the first).")
    ] = None,
    follow: o.Follow = False,
    ignore_limits: o.IgnoreLimits = False,
    units: o.ColumnUnits = None,
) -> PredictResult | ReadingsResult:
    """Positions and deflections by a calibrated model, with their accuracy.

    95 % intervals of the mean and of a new reading, model discrepancy included. Positions are in the frame of the
    readings; a load adds the deflection that it makes. A calibration of deflections alone predicts deflections.

    \b
    Example:
      elastocal predict calibration.json --at "0,-90,90,0,30,0" --force "0,0,-900"
      elastocal predict calibration.json poses.csv --axes base --csv predicted.csv
    """
    from elastocal.app.applied_load import LoadRequest, configurations_text
    from elastocal.app.calibrated import of_readings
    from elastocal.app.predictor import typed_keys

    if table is not None and configurations is not None:
        raise ConflictError("a table and --configurations both give poses; keep one")
    poses = table or configurations
    words = configurations_text(tuple(at or ()), poses)
    keys = typed_keys(units, None, None, ignore_limits)
    request = _Request(tuple(at or ()), poses, ignore_limits, words, frame, station, axes, keys.get("units", {}))
    load = LoadRequest(force, moment, load_frame, follow)
    if of_readings(calibration):
        return _readings(calibration, request, load)
    return _deflections(calibration, request, load)


@dataclass(frozen=True)
class _Request:
    """Where to predict, and what."""

    at: tuple[str, ...]
    file: Path | None
    ignore_limits: bool
    words: str
    frame: str | None
    station: str | None
    axes: str = "instrument"
    units: Mapping[str, str] = field(default_factory=dict)


NO_LOAD = "no load, so nothing bends; give --force or --moment, or a file with wrench columns"


def _readings(path: Path, asked: _Request, typed: LoadRequest) -> ReadingsResult:
    from dataclasses import replace

    import numpy as np

    from elastocal.app.applied_load import applied_load, load_facts
    from elastocal.app.configurations import chosen_configurations
    from elastocal.calibration.store import read_calibration

    if asked.axes not in ("instrument", "base"):
        raise UnknownNameError("axes", asked.axes, ("instrument", "base"))
    known = read_calibration(path)
    where = chosen_configurations(known.robot, asked.at, asked.file, asked.ignore_limits, asked.units)
    load = applied_load(known.robot, replace(typed, frame=typed.frame or known.load_frame), where)
    if not known.placed and (load.applied is None or not load.applied.wrench.any()):
        raise MissingError(NO_LOAD)
    if asked.frame is not None and asked.frame not in known.markers:
        where_typed = f"{path}, --frame: a calibration predicts its markers"
        raise UnknownNameError("marker", asked.frame, known.markers, where_typed, parameter="frame")
    shown = range(len(known.markers)) if asked.frame is None else (known.markers.index(asked.frame),)
    prediction = known.predict_joints(
        where.q, None if load.applied is None else np.broadcast_to(load.applied.wrench, (len(where), 6)), asked.station,
        load.frame, follows=typed.follow, axes=asked.axes,
    )  # fmt: skip
    station = "base" if asked.axes == "base" else asked.station or known.stations[0]
    state = "loaded statics, calibrated: " + (" + ".join(known.words) or "nominal")
    watched = asked.frame or ", ".join(known.markers)
    facts = load_facts(known.robot.name, known.robot, load, watched, state, (), asked.words, path.as_posix())
    notes = (*known.robot.notes, *where.notes, *load.notes)
    return ReadingsResult(facts, known, where, load, station, prediction, tuple(shown), notes)


def _deflections(path: Path, asked: _Request, typed: LoadRequest) -> PredictResult:
    from elastocal.app.applied_load import applied_load, load_facts
    from elastocal.app.calibrated import exact_in, exact_note
    from elastocal.app.configurations import chosen_configurations
    from elastocal.files.calibration import identified_model, read_calibration
    from elastocal.files.robot.read import read_robot
    from elastocal.model.statics.deflection import linear_deflection
    from elastocal.reduction.prediction import predict_from_rest

    record = read_calibration(path)
    if asked.station is not None:
        raise ConflictError.of("station", asked.station, "the calibration is of deflections in base axes; leave it out")
    robot = read_robot(record.robot_word(path), record.tool)
    known, changes = identified_model(record, robot)
    where = chosen_configurations(known.model, asked.at, asked.file, asked.ignore_limits, asked.units)
    load = applied_load(known.model, typed, where)
    if load.applied is None or not load.applied.wrench.any():
        raise MissingError(NO_LOAD)
    prediction = predict_from_rest(known, where.q, load.applied, asked.frame)
    linear = linear_deflection(known.model, where.q, [load.applied]).translation
    bend = float((linear**2).sum(axis=1).max() ** 0.5)
    state = f"{known.statics} statics, calibrated"
    facts = load_facts(record.robot, known.model, load, prediction.frame, state, record.without, asked.words)
    notes = (*robot.notes, *changes, *exact_note(exact_in(record)), *where.notes, *load.notes, *_floating(prediction))
    size = max(known.model.size, _reach(known.model, where))
    return PredictResult(facts, record, known.model, where, load, prediction, known.discrepancy, bend, size, notes)


def _reach(model: Robot, configurations: Configurations) -> float:
    """The farthest that the tool is from the base."""
    from elastocal.model.kinematics import kinematics

    return float((kinematics(model, configurations.q).position ** 2).sum(axis=1).max() ** 0.5)


def _floating(prediction: Prediction) -> tuple[str, ...]:
    """Where there is no unloaded state to measure from."""
    floats = prediction.floats if prediction.floats is not None else ()
    rows = [i + 1 for i, float_ in enumerate(floats) if float_]
    if not rows:
        return ()
    shown = ", ".join(str(i) for i in rows[:8]) + (" ..." if len(rows) > 8 else "")
    return (
        f"Without the load the arm floats in its backlash (configuration {shown}), so that there is no unloaded state: "
        "the deflection there is from the middle of every backlash, and the arm may start anywhere within it.",
    )
