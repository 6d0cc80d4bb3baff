"""Corrections on a grid of the workspace, as a table for controllers and CAM systems."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from elastocal.app.cells.roles import REPORT, Uses
from elastocal.app.cli import options as o
from elastocal.app.cli.command import command
from elastocal.app.pages.result_columns import or_reason
from elastocal.errors import MissingError, RangeError
from elastocal.report.blocks import Column, Report, Row, Rows, Section, Table
from elastocal.values import dataclass

if TYPE_CHECKING:
    from elastocal.app.calibrated import Calibrated
    from elastocal.compensation.grid import CorrectionGrid


@dataclass(frozen=True, eq=False)
class GridResult:
    robot: Calibrated
    tool: str
    grid: CorrectionGrid

    @property
    def notes(self) -> tuple[str, ...]:
        return (*self.robot.notes, *(warning.text for warning in self.grid.warnings))


@command("daily", 11, Uses({"robot": "calibration"}, (REPORT,)), csv=True)
def grid(
    robot: Annotated[str, o.argument("CALIBRATION.json|ROBOT", "What 'elastocal calibrate --out' wrote, or a robot.")],
    box: Annotated[
        str | None, o.option("X0,Y0,Z0,X1,Y1,Z1", "Opposite corners in mm, in axes of the robot's base.")
    ] = None,
    step_mm: Annotated[float, o.option("MM", "Distance of the grid points.")] = 100.0,
    orientation: Annotated[str, o.option("A,B,C", "Of the tool, in deg about z, y, x in turn.")] = "0,0,180",
    tool: o.Tool = None,
    flange: Annotated[str | None, o.option("FRAME", "Frame that tools are mounted on.")] = None,
    near: Annotated[str | None, o.option("VALUES", "Controller values near it (default: far from the limits).")] = None,
    force: o.Force = None,
    moment: o.Moment = None,
    payload: o.Payload = None,
) -> GridResult:
    """Corrections on a grid of the workspace, as a table.

    At every point of a box the command is solved whose loaded pose is the desired one. Written by --csv (or .xlsx):
    point, correction in mm and mrad, predicted residual error, axis values. A controller or CAM system interpolates
    it, where the arm reaches the box in the same configuration: --near chooses it.

    \b
    Example:
      elastocal grid kuka-kr270 --box "1200,-300,600,1800,300,900" --step-mm 150 --csv grid.csv
    """
    import numpy as np

    from elastocal.app.applied_load import LoadRequest
    from elastocal.app.calibrated import calibrated
    from elastocal.app.cli.progress import stage
    from elastocal.app.configurations import numbers, typed_near
    from elastocal.app.typed_program import typed_orientation
    from elastocal.compensation.grid import correction_grid
    from elastocal.compensation.process import ProcessLoad

    stage(0, 2, "reading")
    file = Path(robot) if Path(robot).suffix.lower() == ".json" else None
    known = calibrated(file, None if file is not None else robot, None)
    if box is None:
        raise MissingError("--box is missing: two opposite corners in mm, such as 1200,-300,600,1800,300,900")
    corners = 1e-3 * np.array(numbers(box, 6, f"--box {box!r}", "X0, Y0, Z0, X1, Y1, Z1")).reshape(2, 3)
    if not step_mm > 0:
        raise RangeError.of("step_mm", step_mm, "must be positive")
    typed = LoadRequest(force, moment, None, False)
    load = ProcessLoad(wrench=typed.wrench() if typed.given else None, air_moves=True, payload=payload)
    rotation = typed_orientation(orientation)
    assert rotation is not None
    stage(1, 2, "loaded poses and predicted residual error")
    made = correction_grid(
        known.known or known.model, known.model, corners.min(axis=0), corners.max(axis=0),
        np.full(3, 1e-3 * step_mm), rotation, tool=tool, load=load, near=typed_near(known.model, near), flange=flange,
    )  # fmt: skip
    return GridResult(known, tool or known.model.tool, made)


_UNSURE = "no calibration: the accuracy is not known"
SHOWN = 8
"""Configurations that are listed."""


def page(result: GridResult) -> Report:
    grid = result.grid
    shape = " x ".join(str(len(a)) for a in grid.axes)
    verdict = [f"{grid.reached} of {len(grid.points)} points ({shape}) have a correction."]
    if grid.reached:
        verdict.append(f"The largest is {1e3 * grid.sizes.max:.3f} mm, the mean {1e3 * grid.sizes.mean:.3f} mm.")
        verdict.append(configuration(result))
    ways = (Section("Configurations", (ways_table(result),)),) if len(grid.ways) > 1 else ()
    return Report(
        f"Correction grid of {result.robot.model.name}, {result.tool}",
        tuple(verdict),
        (Section("Corrections", (table(result),)), *ways),
        result.notes,
    )


def configuration(result: GridResult) -> str:
    """How the arm reaches the grid, and who chose that."""
    from elastocal.app.configurations import axes_of

    grid, axes = result.grid, axes_of(result.robot.model)
    values = zip(axes.names, (grid.command[grid.central] / axes.factors).round(1), axes.units, strict=True)
    place = ", ".join(f"{1e3 * v:g}" for v in grid.points[grid.central])
    stands = f"At ({place}) mm the arm stands at {', '.join(f'{a} {v + 0.0:.1f} {u}' for a, v, u in values)}"
    if not len(grid.ways):
        return f"{stands}, as --near says."
    others = len(grid.ways) - 1
    if not others:
        return f"{stands}; no other way to reach the grid within the joint limits was seen."
    return (
        f"{stands}. NOBODY SAID WHICH CONFIGURATION TO TAKE: this one is farthest from the joint limits; {others} "
        f"other{'s' * (others > 1)} reach the middle of the grid too and need other corrections. Choose by --near."
    )


def ways_table(result: GridResult) -> Table:
    """Configurations that reach the middle of the grid, as --near takes them."""
    from elastocal.app.configurations import axes_of
    from elastocal.app.pages.result_columns import axis_columns

    axes = axes_of(result.robot.model)
    rows = [tuple(round(float(v), 2) for v in way / axes.factors) for way in result.grid.ways[:SHOWN]]
    taken = ["taken", *["by --near"] * (len(rows) - 1)]
    title = "Configurations that reach the middle of the grid"
    columns = (Column("taken", "configuration"), *axis_columns(axes))
    return Table("ways", title, columns, tuple((word, *row) for word, row in zip(taken, rows, strict=True)))


def table(result: GridResult) -> Table:
    from elastocal.app.configurations import axes_of
    from elastocal.app.pages.result_columns import axis_columns

    axes = axes_of(result.robot.model)
    columns = (
        *(Column(f"{c}_mm", c, "mm") for c in "xyz"),
        *(Column(f"d{c}_mm", f"correction {c}", "mm", decimals=4) for c in "xyz"),
        *(Column(f"dr{c}_mrad", f"turn {c}", "mrad", decimals=4) for c in "xyz"),
        Column("predicted_um", "predicted residual error", "um", decimals=1),
        Column("status", "status"),
        *axis_columns(axes),
    )
    rows = Rows(len(result.grid.points), lambda part: _rows(result, part))
    return Table("grid", "Corrections", columns, rows)


def _rows(result: GridResult, part: slice) -> list[Row]:
    from elastocal.app.configurations import axes_of
    from elastocal.compensation.targets import TargetStatus

    grid, rows = result.grid, list[Row]()
    shown = grid.command[part] / axes_of(result.robot.model).factors
    each = zip(grid.points[part], grid.shift[part], grid.status[part], grid.predicted[part], shown, strict=True)
    for point, shift, code, predicted, values in each:
        status = TargetStatus(int(code))
        lost = status.text
        rows.append(
            (
                *(round(float(v), 6) for v in 1e3 * point),
                *(or_reason(float(v), lost) for v in 1e3 * shift),
                or_reason(float(1e6 * predicted), _UNSURE),
                status.name.lower(),
                *(or_reason(float(v), lost) for v in values),
            )
        )
    return rows
