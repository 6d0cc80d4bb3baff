"""Deflections that a calibrated robot model predicts, with their accuracy."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from elastocal.app.configurations import Configurations, chosen_configurations
from elastocal.app.inputs import Inputs, configurations_text, inputs_of
from elastocal.app.pushing import LoadRequest, Pushing, pushing
from elastocal.app.taken_as_exact import exact_in, exact_note
from elastocal.app.threads import one_thread
from elastocal.errors import InputError
from elastocal.files.robot.read import read_robot

if TYPE_CHECKING:
    from elastocal.files.calibration.record import CalibrationRecord
    from elastocal.model.robot import RobotModel
    from elastocal.uncertainty.prediction import Prediction


@dataclass(frozen=True)
class PredictRequest:
    calibration: Path
    at: tuple[str, ...] = ()
    configurations: Path | None = None
    load: LoadRequest = field(default_factory=LoadRequest)
    frame: str | None = None
    ignore_limits: bool = False


@dataclass(frozen=True, eq=False)
class PredictResult:
    """``bend`` is the largest deflection of the linear model and ``size`` the robot's, in m."""

    inputs: Inputs
    record: CalibrationRecord
    model: RobotModel
    at: Configurations
    load: Pushing
    prediction: Prediction
    discrepancy: float
    bend: float
    size: float
    notes: tuple[str, ...]

    @property
    def beyond(self) -> bool:
        """Whether the linear model bends by more than a tenth of the robot, which no arm survives."""
        from elastocal.files.campaign.checks import SOFT

        return self.bend > SOFT * self.size


def run(request: PredictRequest) -> PredictResult:
    from elastocal.files.calibration.read import identified_model, read_calibration
    from elastocal.model.statics.deflection import linear_deflection
    from elastocal.uncertainty.prediction import predict_from_rest

    record = read_calibration(request.calibration)
    robot = read_robot(record.robot_word(request.calibration), record.tool)
    known, said = identified_model(record, robot)
    at = chosen_configurations(known.model, request.at, request.configurations, request.ignore_limits)
    load = pushing(known.model, request.load, at)
    if load.applied is None or not load.applied.wrench.any():
        raise InputError("no load, so nothing bends; give --force or --moment, or a file with wrench columns")
    with one_thread():
        found = predict_from_rest(known, at.q, load.applied, request.frame)
        linear = linear_deflection(known.model, at.q, [load.applied]).translation
    bend = float((linear**2).sum(axis=1).max() ** 0.5)
    words = configurations_text(request.at, request.configurations)
    inputs = inputs_of(
        record.robot, known.model, load, found.frame, f"{known.statics} statics, calibrated", record.without, words
    )
    notes = (*robot.notes, *said, *exact_note(exact_in(record)), *at.notes, *load.notes, *_floating(found))
    size = max(known.model.size, _reach(known.model, at))
    return PredictResult(inputs, record, known.model, at, load, found, known.discrepancy, bend, size, notes)


def _reach(model: RobotModel, at: Configurations) -> float:
    """The farthest that the tool is from the base."""
    from elastocal.model.kinematics import kinematics

    return float((kinematics(model, at.q).position ** 2).sum(axis=1).max() ** 0.5)


def _floating(found: Prediction) -> tuple[str, ...]:
    """Where there is no unloaded state to measure from."""
    rows = [i + 1 for i, floats in enumerate(found.floats if found.floats is not None else ()) if floats]
    if not rows:
        return ()
    shown = ", ".join(str(i) for i in rows[:8]) + (" ..." if len(rows) > 8 else "")
    return (
        f"Without the load the arm floats in its play (configuration {shown}), so that there is no unloaded state: the "
        "deflection there is from the middle of every play, and the arm may start anywhere within it.",
    )
