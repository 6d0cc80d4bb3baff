"""Deflections that a calibrated robot model predicts, with their accuracy."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from elastocal.app.cells.roles import WHERE, Uses
from elastocal.app.cli import options as o
from elastocal.app.cli.command import command
from elastocal.errors import InputError

if TYPE_CHECKING:
    from elastocal.app.applied_load import AppliedLoad
    from elastocal.app.configurations import Configurations
    from elastocal.app.inputs import Inputs
    from elastocal.files.calibration.record import CalibrationRecord
    from elastocal.model.robot import Robot
    from elastocal.uncertainty.prediction import Prediction


@dataclass(frozen=True, eq=False)
class PredictResult:
    """``bend`` is the largest deflection of the linear model and ``size`` the robot's, in m."""

    inputs: Inputs
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


@command("daily", 6, Uses({"calibration": "calibration"}, either=WHERE), csv=True)
def predict(
    calibration: Annotated[
        Path, typer.Argument(metavar="CALIBRATION.json", help="What 'elastocal calibrate --out' wrote.")
    ],
    at: o.At = None,
    configurations: o.File = None,
    force: o.Force = None,
    moment: o.Moment = None,
    load_frame: o.LoadFrame = None,
    frame: o.Frame = None,
    follow: o.Follow = False,
    ignore_limits: o.IgnoreLimits = False,
) -> PredictResult:
    """Deflection by a calibrated model, with its accuracy.

    95 % intervals and the error ellipsoid of the compensated point, model discrepancy included.

    \b
    Example:
      elastocal predict calibration.json --at "0,-90,90,0,30,0" --force "0,0,-900"
    """
    from elastocal.app.applied_load import LoadRequest, applied_load
    from elastocal.app.calibration_files import exact_in, exact_note
    from elastocal.app.configurations import chosen_configurations
    from elastocal.app.inputs import configurations_text, inputs_of
    from elastocal.app.workers import one_thread
    from elastocal.files.calibration.read import identified_model, read_calibration
    from elastocal.files.robot.read import read_robot
    from elastocal.model.statics.deflection import linear_deflection
    from elastocal.uncertainty.prediction import predict_from_rest

    record = read_calibration(calibration)
    robot = read_robot(record.robot_word(calibration), record.tool)
    known, said = identified_model(record, robot)
    where = chosen_configurations(known.model, tuple(at or ()), configurations, ignore_limits)
    load = applied_load(known.model, LoadRequest(force, moment, load_frame, follow), where)
    if load.applied is None or not load.applied.wrench.any():
        raise InputError("no load, so nothing bends; give --force or --moment, or a file with wrench columns")
    with one_thread():
        prediction = predict_from_rest(known, where.q, load.applied, frame)
        linear = linear_deflection(known.model, where.q, [load.applied]).translation
    bend = float((linear**2).sum(axis=1).max() ** 0.5)
    words = configurations_text(tuple(at or ()), configurations)
    state = f"{known.statics} statics, calibrated"
    inputs = inputs_of(record.robot, known.model, load, prediction.frame, state, record.without, words)
    notes = (*robot.notes, *said, *exact_note(exact_in(record)), *where.notes, *load.notes, *_floating(prediction))
    size = max(known.model.size, _reach(known.model, where))
    return PredictResult(inputs, record, known.model, where, load, prediction, known.discrepancy, bend, size, notes)


def _reach(model: Robot, at: Configurations) -> float:
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
