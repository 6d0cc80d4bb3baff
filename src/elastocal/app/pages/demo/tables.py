"""What the demonstration gained, and what it found against what is true."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elastocal.app.pages.compensate.promise import expected
from elastocal.quantities import concise
from elastocal.report.blocks import Cell, Column, Table, Unknown

if TYPE_CHECKING:
    from elastocal.app.commands.demo import DemoResult
    from elastocal.compensate.verification import Residual


def summary_table(result: DemoResult) -> Table:
    """Position errors on the true robot, over the targets, and those that the calibration expected."""
    columns = (
        Column("program", "program"),
        Column("rms_mm", "off by, rms", "mm", 3),
        Column("max_mm", "at most", "mm", 3),
        Column("share_percent", "compensated", "%", 1),
    )
    assert result.corrected.on_truth is not None
    assert result.stated.on_truth is not None
    before, after = result.corrected.on_truth
    first, hoped = before.distances().rms, expected(result.corrected)

    def row(name: str, off: Residual) -> tuple[Cell, ...]:
        size = off.distances()
        return name, 1e3 * size.rms, 1e3 * size.largest, 100 * (1 - size.rms / first)

    rows = (
        row("as it was", before),
        row("corrected by the robot file, not calibrated", result.stated.on_truth[1]),
        row("corrected by the calibration", after),
        (
            "what the calibration itself expected, before anyone looked",
            1e3 * hoped,
            Unknown("an expectation is a mean square; it has no largest value"),
            100 * (1 - hoped / first),
        ),
    )
    note = (
        "Of the loaded tool on the robot taken for true, over all targets; the last row is by the calibration alone, "
        "over corrected targets."
    )
    return Table("summary", "", columns, rows, (note,))


def truth_table(result: DemoResult) -> Table:
    """Every parameter sought: file, truth, estimate and how far it is off in standard deviations."""
    columns = (
        Column("parameter", "parameter"),
        Column("unit", "unit"),
        Column("file", "robot file", digits=4),
        Column("truth", "truth", digits=4),
        Column("concise", "found (sd)"),
        Column("value", "found", shown=False),
        Column("sd", "sd", shown=False),
        Column("off_sd", "off by [sd]", decimals=1),
    )
    fit, wide = result.found.study.fit, result.found.study.wide
    file, truth = result.found.model.parameters, result.measured.truth.parameters
    known = dict(zip(fit.names, fit.values, strict=True))
    rows: list[tuple[Cell, ...]] = []
    for name in (n for n in wide.names if n in file.names):
        stated, true = (float(t.values[t.index(name)]) for t in (file, truth))
        unit = file.rows[file.index(name)].unit
        if name not in known:
            why = Unknown("not estimated: held at what the file says")
            rows.append((name, unit, stated, true, "held", why, why, why))
            continue
        value, sd = float(known[name]), wide.sd(name)
        rows.append((name, unit, stated, true, concise(value, sd), value, sd, (value - true) / sd))
    note = "sd: what is not estimated counts as unknown. Links are not sought; they are up to 30 % off."
    return Table("truth", "", columns, tuple(rows), (note,))


def gross_found(result: DemoResult) -> str:
    """Whether the planted errors are those that were left out."""
    campaign = result.measured.virtual.campaign
    planted = {campaign.place(p.reading, p.row) for p in result.measured.virtual.planted}
    left_out = {g.place for g in result.found.study.identification.gross}
    named, missed, wrong = planted & left_out, planted - left_out, left_out - planted
    said = f"The gross error was found and left out: {', '.join(sorted(named))}." if named else ""
    lost = f"NOT FOUND: {', '.join(sorted(missed))}." if missed else ""
    more = f"LEFT OUT THOUGH GOOD: {', '.join(sorted(wrong))}." if wrong else ""
    return " ".join(s for s in (said, lost, more) if s)
