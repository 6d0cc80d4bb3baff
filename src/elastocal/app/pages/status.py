"""The state of a cell on one page."""

from __future__ import annotations

from elastocal.app.commands.status import StatusResult
from elastocal.report.blocks import Column, Report, Section, Table


def page(result: StatusResult) -> Report:
    columns = (
        Column("step", "step"),
        Column("state", "state"),
        Column("because", "because"),
        Column("repeat", "to have it again"),
        Column("time", "made at (UTC)"),
        Column("elastocal", "by elastocal", shown=False),
    )
    rows = tuple((n.step, n.state, "; ".join(n.reasons), n.repeat, n.time, n.version) for n in result.lines)
    notes = ("Commands are to be typed in the folder of the cell.",) if rows else ()
    stale = result.stale
    ran = sum(line.state in ("up to date", "stale") for line in result.lines)
    taken = tuple(f"{r[0].upper()}{r[1:]}." for n in result.lines if n.state == "replaced" for r in n.reasons)
    if stale:
        verdict = f"STALE: {', '.join(line.step for line in stale)}, {len(stale)} of {ran} results."
    else:
        verdict = f"All {ran} results are up to date." if ran else "Nothing has been run yet."
    sections = (
        (Section("Results", (Table("results", "Compared with what they were made from", columns, rows, notes),)),)
        if rows
        else ()
    )
    return Report(f"Cell {result.cell.name}", (verdict, *taken, f"Next: {result.next_step}."), sections, result.notes)
