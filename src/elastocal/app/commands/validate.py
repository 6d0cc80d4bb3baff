"""A calibration against readings that took no part in it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from elastocal.app.cells.roles import REPORT, Uses
from elastocal.app.cli import options as o
from elastocal.app.cli.command import command
from elastocal.errors import UnsupportedError
from elastocal.report.blocks import Block, Cell, Column, Fact, Report, Rows, Section, Table
from elastocal.values import dataclass

if TYPE_CHECKING:
    from elastocal.calibration.accuracy import Validation
    from elastocal.calibration.calibration import Calibration
    from elastocal.spatial.entries import Ints


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
    calibration: o.Calibration,
    measured: Annotated[Path, o.argument("CAMPAIGN.yaml|TABLE", "Positions read of the same robot and markers since.")],
    refit: o.Refit = False,
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
    from elastocal.app.cli.progress import stage
    from elastocal.app.predictor import typed_keys
    from elastocal.calibration.readings import readings_for
    from elastocal.calibration.store import read_calibration

    if not of_readings(calibration):
        from elastocal.files.calibration import read_calibration as read_reduction

        read_reduction(calibration)  # refuses what is no calibration at all
        raise UnsupportedError(
            f"{calibration}: is a calibration of single parameters, which predicts no positions; calibrate without "
            "seek, or judge it by predict"
        )
    stage(0, 3, "reading the calibration")
    known = read_calibration(calibration)
    stage(1, 3, "reading the readings")
    readings, fitted = readings_for(known, measured, typed_keys(units, None, euler, True))
    stage(2, 3, "predicting every reading")
    validation = known.validate(readings, refit=refit or fitted)
    notes = tuple(n.text for n in readings.notes)
    if validation.stations_fitted:
        notes = (*notes, "Where the instrument stands was fitted to these readings: errors are of shape, not of place.")
    return ValidateResult(calibration, measured, known, validation, notes)


_FIGURES = (("mean", "mean"), ("rms", "RMS"), ("p95", "95th percentile"), ("max", "max"))


def page(result: ValidateResult) -> Report:
    v, name = result.validation, result.calibration.robot.name
    from elastocal.app.cells.trace import current
    from elastocal.calibration.figures import validation_lines

    cell = current().cell
    lines = validation_lines(v, None if cell is None else cell.certificate.tolerance)
    blocks: tuple[Block, ...] = (replace(lines, key="by_pose"), *summary_tables(result))
    sections = (Section("Errors", blocks), Section("Readings", (table(result),), folded=True))
    findings = [vars(f) | {"data": dict(f.data)} for f in (v.verdict, *v.warnings)]
    title = f"Validation of the calibration of {name}"
    return Report(title, verdict(result), sections, result.notes, facts(result), data={"findings": findings})


def verdict(result: ValidateResult) -> tuple[str, ...]:
    v = result.validation
    warned = tuple(f"WARNING {w.code.upper()}: {w.text}." for w in v.warnings)
    held = f"95 % intervals of readings hold {100 * v.coverage:.1f} % of the coordinates."
    again = ("Judge the shape alone with --refit, which places the instrument by these readings.",)
    return (v.verdict.text, *(again if v.verdict.code == "moved" else ()), *warned, held)


def summary_tables(result: ValidateResult) -> tuple[Table, ...]:
    from elastocal.calibration.tables import orientation_tables

    return (_distances(result), *orientation_tables(None, result.validation))


def _distances(result: ValidateResult) -> Table:
    v = result.validation
    gain = f"{1e3 * v.gain:.4f} +- {1e3 * v.gain_half_width:.4f} mm"
    return Table.of("errors", (("nominal", v.before), ("calibrated", v.after)), {
        Column("robot", "robot"): lambda row: row[0],
        Column("points", "points"): lambda row: row[1].count,
        tuple(Column(f"{key}_mm", word, "mm", 4) for key, word in _FIGURES):
            lambda row: [1e3 * getattr(row[1], key) for key, _ in _FIGURES],
    }, f"Paired gain over poses: {gain} (95 %).")  # fmt: skip


def table(result: ValidateResult) -> Table:
    """One row for every reading and marker; --csv writes it."""
    import numpy as np

    columns = (
        Column("place", "reading"), Column("marker", "marker"), Column("nominal_mm", "nominal", "mm", 4),
        Column("calibrated_mm", "calibrated", "mm", 4),
    )  # fmt: skip
    read = np.argwhere(np.isfinite(result.validation.errors))
    return Table("readings", "", columns, Rows(len(read), lambda part: _rows(result.validation, read[part])))


def _rows(v: Validation, read: Ints) -> list[tuple[Cell, ...]]:
    """Of these states and markers (N, 2)."""
    at = tuple(read.T)
    errors = zip((1e3 * v.nominal_errors[at]).tolist(), (1e3 * v.errors[at]).tolist(), strict=True)
    names = ((v.places[state], v.markers[marker]) for state, marker in read.tolist())
    return [(*name, *pair) for name, pair in zip(names, errors, strict=True)]


def screen(result: ValidateResult, whole: Report) -> Report:
    """For a terminal: without the rows of all readings."""
    return Report(whole.title, whole.verdict, (Section("Errors", summary_tables(result)),), whole.notes, whole.inputs)


def facts(result: ValidateResult) -> tuple[Fact, ...]:
    v, calibration, measured = result.validation, result.path.as_posix(), result.measured.as_posix()
    words = " + ".join(result.calibration.words) or "nominal"
    return (
        Fact("calibration", "calibration", calibration, f"{calibration} ({words})"),
        Fact("measured", "measured", measured),
        Fact("stations_fitted", "stations", v.stations_fitted, "fitted" if v.stations_fitted else "as calibrated"),
        Fact("coverage", "coverage", v.coverage, f"{v.coverage:.1%}"),
        Fact("gain_m", "", v.gain),
        Fact("gain_half_width_m", "", v.gain_half_width),
    )
