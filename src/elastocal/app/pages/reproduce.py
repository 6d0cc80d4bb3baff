"""Published cases as reports."""

from __future__ import annotations

from elastocal.app.commands.reproduce import CaseLine, ReproduceResult
from elastocal.cases.case import Listing
from elastocal.report.blocks import Column, Report, Section, Table, Text, Unknown


def list_page(cases: tuple[CaseLine, ...]) -> Report:
    columns = (Column("case", "case"), Column("title", "what it repeats"), Column("source", "source"))
    rows = tuple((c.case, c.title, c.source) for c in cases)
    notes = ("Run one with: elastocal reproduce CASE",)
    return Report("Published cases", (), (Section("", (Table("cases", "", columns, rows, notes),)),))


def page(result: ReproduceResult) -> Report:
    columns = (
        Column("name", "figure"),
        Column("published", "published"),
        Column("recomputed", "recomputed"),
        Column("unit", "unit"),
        Column("note", "note", footnote=True),
    )
    rows = tuple(
        (f.name, _or_dash(f.published, "not printed"), _or_dash(f.recomputed, "not computed"), f.unit, f.note)
        for f in result.outcome.figures
    )
    figures = Table("figures", "", columns, rows)
    sections = [Section("Figures", (Text((f"Source: {result.source}",)), figures))]
    if result.outcome.listings:
        sections.append(Section("Lists", tuple(_listing(x) for x in result.outcome.listings)))
    if result.outcome.curves:
        sections.append(Section("Curves", result.outcome.curves))
    return Report(result.title, (result.outcome.verdict,), tuple(sections))


def _listing(listing: Listing) -> Table:
    keys = tuple(dict.fromkeys(key for row in listing.rows for key in row))
    rows = tuple(tuple(row.get(key) for key in keys) for row in listing.rows)
    return Table(listing.name, listing.name, tuple(Column(k, k) for k in keys), rows, (listing.note,))


def _or_dash(value: float | None, reason: str) -> float | Unknown:
    return Unknown(reason) if value is None else value
