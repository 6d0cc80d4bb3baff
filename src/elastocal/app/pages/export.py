"""Exported files as a report."""

from __future__ import annotations

from elastocal.app.commands.export import ExportResult
from elastocal.report.blocks import Column, Report, Section, Table


def page(result: ExportResult) -> Report:
    table = Table("exported", "", (Column("file", "file"), Column("holds", "holds")), result.words)
    verdict = (f"The calibration of {result.robot} is written in {len(result.words)} file(s) for others.",)
    return Report("Exported calibration", verdict, (Section("", (table,)),), result.notes)
