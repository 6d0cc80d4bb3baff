"""Exported files as a report."""

from __future__ import annotations

from elastocal.app.commands.export import ExportResult
from elastocal.report.blocks import Column, Report, Section, Table


def page(result: ExportResult) -> Report:
    table = Table("exported", "", (Column("file", "file"), Column("holds", "holds")), result.words)
    files = f"{len(result.words)} file{'s' * (len(result.words) != 1)}"
    verdict = (*result.warned, f"The calibration of {result.robot} is written in {files} for others.")
    return Report("Exported calibration", verdict, (Section("", (table,)),), result.notes)
