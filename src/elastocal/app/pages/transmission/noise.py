"""How far the readings of a transmission scatter: tables compared, noise, residuals."""

from __future__ import annotations

from math import degrees, isnan
from typing import TYPE_CHECKING

from elastocal.app.pages.columns import or_reason
from elastocal.app.pages.transmission.tables import NO_SPARE, NO_TURNS
from elastocal.report.blocks import Cell, Column, Lines, Series, Table

if TYPE_CHECKING:
    from elastocal.app.commands.transmission import TransmissionResult
    from elastocal.encoders.identify import TransmissionFit


def compared_table(fit: TransmissionFit) -> Table:
    from elastocal.encoders.by_table import disagreement

    columns = (
        Column("motor", "motor"), Column("joint", "joint"), Column("table", "table"),
        Column("s_all", "S, every row", decimals=5), Column("s_all_sd", "sd", digits=2),
        Column("s", "S without gross errors", decimals=5), Column("s_sd", "sd", digits=2),
    )  # fmt: skip
    order = sorted(fit.tables, key=lambda e: fit.at(e.motor, e.joint))
    rows = tuple(
        (e.motor, e.joint, e.table, or_reason(e.all_rows, NO_TURNS), or_reason(e.all_rows_sd, NO_SPARE),
         or_reason(e.robust, NO_TURNS), or_reason(e.robust_sd, NO_SPARE))
        for e in order
    )  # fmt: skip
    notes = tuple(
        f"{a.motor} by {a.joint}: {a.table} and {b.table} differ by {sigmas:.2g} standard deviations."
        for a, b, sigmas in disagreement(fit.tables)
        if not isnan(sigmas)
    )
    return Table("by_table", "", columns, rows, ("Each table alone; sd of the counts per joint value only.", *notes))


def noise_table(result: TransmissionResult) -> Table:
    fit = result.fit
    columns = (
        Column("table", "table"), Column("relation", "counts against"), Column("angle_deg", "angle", "deg", digits=3),
        Column("length_mm", "length", "mm", digits=3), Column("count", "count", "counts", digits=3),
        Column("spare", "spare equations", digits=3),
    )  # fmt: skip
    rows = tuple(
        (table, f"{relation} values", *_input_noise(result, table, relation, level.angle), level.count, level.spare)
        for (table, relation), level in zip(fit.system.levels, fit.rest.levels, strict=True)
        if level is not None
    )
    return Table(
        "noise",
        "",
        columns,
        rows,
        ("Standard deviation of an angle (or a length) and of a count, without gross errors.",),
    )


def _input_noise(result: TransmissionResult, table: str, relation: str, sd: float) -> tuple[Cell, Cell]:
    """As an angle or as a length, whichever the table's inputs are; both where it has joints of both kinds."""
    joints = {j for s in result.fit.system.series if s.table == table for j in s.joints}
    kinds = {"revolute"} if relation == "motor" else {result.kinds.get(j, "revolute") for j in joints}
    return degrees(sd) if "revolute" in kinds else None, 1e3 * sd if "prismatic" in kinds else None


def residual_lines(fit: TransmissionFit) -> Lines:
    """Residuals of what was kept, in standard deviations, motor by motor."""
    series = []
    for relation in ("joint", "motor"):
        found = [b for b in fit.rest.blocks if b.block.relation == relation]
        y = [float(v) for b in found for v in (b.residuals / b.sd)[b.kept]]
        if y:
            x = [1.0 + fit.axes.index(b.block.axis) + 0.8 * n / max(len(b.kept), 1) - 0.4
                 for b in found for n, kept in enumerate(b.kept) if kept]  # fmt: skip
            series.append(Series(f"counts against {relation} values", tuple(x), tuple(y), points=True))
    return Lines("residuals", "Residuals without gross errors", f"motor ({', '.join(fit.axes)})", "", "residual",
                 "standard deviations", tuple(series))  # fmt: skip
