"""A correction grid as a report and as a table."""

from __future__ import annotations

from elastocal.app.commands.grid import GridResult
from elastocal.app.pages.result_columns import or_reason
from elastocal.compensation.targets import TargetStatus
from elastocal.report.blocks import Column, Report, Section, Table

_UNSURE = "no calibration: the accuracy is not known"


def page(result: GridResult) -> Report:
    grid = result.grid
    shape = " x ".join(str(len(a)) for a in grid.axes)
    said = f"{grid.reached} of {len(grid.points)} points ({shape}) have a correction."
    verdict = [said]
    if grid.reached:
        verdict.append(f"The largest is {1e3 * grid.sizes.max:.3f} mm, the mean {1e3 * grid.sizes.mean:.3f} mm.")
    return Report(
        f"Correction grid of {result.robot.model.name}, {result.tool}",
        tuple(verdict),
        (Section("Corrections", (table(result),)),),
        result.notes,
    )


def table(result: GridResult) -> Table:
    columns = (
        *(Column(f"{c}_mm", c, "mm") for c in "xyz"),
        *(Column(f"d{c}_mm", f"correction {c}", "mm", decimals=4) for c in "xyz"),
        *(Column(f"dr{c}_mrad", f"turn {c}", "mrad", decimals=4) for c in "xyz"),
        Column("predicted_um", "predicted residual error", "um", decimals=1),
        Column("status", "status"),
    )
    grid = result.grid
    rows = []
    for point, shift, code, predicted in zip(grid.points, grid.shift, grid.status, grid.predicted, strict=True):
        status = TargetStatus(int(code))
        lost = status.text
        rows.append(
            (
                *(round(float(v), 6) for v in 1e3 * point),
                *(or_reason(float(v), lost) for v in 1e3 * shift),
                or_reason(float(1e6 * predicted), _UNSURE),
                status.name.lower(),
            )
        )
    return Table("grid", "Corrections", columns, tuple(rows))
