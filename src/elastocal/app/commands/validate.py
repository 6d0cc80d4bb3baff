"""A calibration against readings that took no part in it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from elastocal.app.cells.roles import REPORT, Uses
from elastocal.app.cli import options as o
from elastocal.app.cli.command import command
from elastocal.errors import InputError

if TYPE_CHECKING:
    from elastocal.calibration.accuracy import Validation
    from elastocal.calibration.calibration import Calibration


@dataclass(frozen=True, eq=False)
class ValidateResult:
    """``measured`` is the file with the readings; a calibration that does not help ends the command with 1."""

    path: Path
    measured: Path
    calibration: Calibration
    validation: Validation
    notes: tuple[str, ...]

    @property
    def failed(self) -> bool:
        return self.validation.verdict.code == "worse"


@command("daily", 7, Uses({"calibration": "calibration"}, (REPORT,)), csv=True)
def validate(
    calibration: Annotated[
        Path, typer.Argument(metavar="CALIBRATION.json", help="What 'elastocal calibrate --out' wrote.")
    ],
    measured: Annotated[
        Path,
        typer.Argument(metavar="CAMPAIGN.yaml|TABLE", help="Positions read of the same robot and markers since."),
    ],
    refit: Annotated[
        bool, typer.Option("--refit", help="The instrument was moved: fit where it stands to these readings.")
    ] = False,
    units: o.ColumnUnits = None,
    euler: o.Euler = None,
) -> ValidateResult:
    """A calibration against readings that took no part in it.

    Errors of the nominal and of the calibrated robot, the gain with its 95 % interval over poses, and whether the
    intervals of readings hold what they promise. Ends with 1 where the calibrated robot is worse.

    \b
    Example:
      elastocal validate calibration.json check/campaign.yaml
    """
    from elastocal.app.calibrated import of_readings
    from elastocal.app.predictor import typed_keys
    from elastocal.app.workers import one_thread
    from elastocal.calibration.readings import campaign_of, table_readings
    from elastocal.calibration.store import read_calibration
    from elastocal.files.campaign.observed import read_observed

    if not of_readings(calibration):
        from elastocal.files.calibration.read import read_calibration as read_reduction

        read_reduction(calibration)  # refuses what is no calibration at all
        raise InputError(
            f"{calibration}: is a calibration of single parameters, which predicts no positions; calibrate without "
            "seek, or judge it by predict"
        )
    known = read_calibration(calibration)
    if measured.suffix.lower() in (".yaml", ".yml"):
        file = read_observed(measured)
        robot, readings = campaign_of(file)
        notes = file.notes
        if robot.joints != known.robot.joints:
            raise InputError(
                f"{measured}: its robot has joints {', '.join(robot.joints)}, the calibrated one "
                f"{', '.join(known.robot.joints)}; give readings of the calibrated robot"
            )
        fitted = file.entry.tracker_frame == "fit"
    else:
        readings, notes = table_readings(measured, known, typed_keys(units, None, euler, True))
        fitted = False
    with one_thread():
        validation = known.validate(readings, refit=refit or fitted)
    if validation.stations_fitted:
        notes = (*notes, "Where the instrument stands was fitted to these readings: errors are of shape, not of place.")
    return ValidateResult(calibration, measured, known, validation, notes)
