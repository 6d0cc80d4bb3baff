"""Published cases as reports."""

from __future__ import annotations

from typing import Any

from elastocal.app.gallery import CaseList, Gallery, ReproduceResult
from elastocal.published.case import Listing
from elastocal.published.figure import Figure, Kind, Why
from elastocal.report.blocks import Block, Column, Paragraphs, Report, Section, Table, Unknown

AGREES, BOUND, UNEXPLAINED = "agrees", "bound kept", "NOT EXPLAINED"


def page(result: CaseList | Gallery | ReproduceResult) -> Report:
    """Of one case, of all of them, or their list."""
    from elastocal.app.pages import gallery

    if isinstance(result, CaseList):
        return list_page(result)
    return gallery.page(result) if isinstance(result, Gallery) else case_page(result)


def screen(result: CaseList | Gallery | ReproduceResult) -> Report:
    from elastocal.app.pages import gallery

    return gallery.screen(result) if isinstance(result, Gallery) else page(result)


def data(result: CaseList | Gallery | ReproduceResult) -> dict[str, Any]:
    """The object that ``--json`` prints."""
    from elastocal.app import gallery

    if isinstance(result, gallery.CaseList):
        return gallery.cases_data(result.cases)
    if isinstance(result, gallery.Gallery):
        return gallery.gallery_data(result)
    return gallery.outcome_data(result.outcome)


def list_page(listed: CaseList) -> Report:
    columns = (Column("case", "case"), Column("title", "what it repeats"), Column("source", "source"))
    rows = tuple((c.case, c.title, c.source) for c in listed.cases)
    notes = ("Run one with: elastocal reproduce CASE", "All of them: elastocal reproduce --report gallery.html")
    return Report("Published cases", (), (Section("", (Table("cases", "", columns, rows, notes),)),))


def case_page(result: ReproduceResult) -> Report:
    sections = [Section("Figures", (Paragraphs((f"Source: {result.source}",)), *number_tables(result)))]
    if result.outcome.listings:
        sections.append(Section("Lists", listings(result)))
    if result.outcome.curves:
        sections.append(Section("Curves", result.outcome.curves))
    return Report(result.title, (result.outcome.verdict,), tuple(sections))


def number_tables(result: ReproduceResult) -> tuple[Block, ...]:
    """What is printed beside what is recomputed, then what is only computed."""
    out, columns = list[Block](), tuple[Column, ...]()
    if compared := [f for f in result.outcome.figures if f.published is not None]:
        columns = (
            Column("name", "figure"),
            Column("place", "printed in"),
            Column("published", "published"),
            Column("recomputed", "recomputed"),
            Column("unit", "unit"),
            Column("difference_percent", "difference", "%", digits=2),
            Column("judgement", "agrees, or why not"),
            Column("note", "note", footnote=True),
        )
        rows = tuple(_compared(f) for f in compared)
        out.append(Table("figures", "Published against recomputed", columns, rows))
    if further := [f for f in result.outcome.figures if f.published is None]:
        columns = (
            Column("name", "figure"),
            Column("recomputed", "computed"),
            Column("unit", "unit"),
            Column("note", "note", footnote=True),
        )
        rows = tuple((f.name, _or_dash(f.recomputed), f.unit, f.note) for f in further)
        out.append(Table("further", "Computed here, not printed there", columns, rows))
    return tuple(out)


def judgement(f: Figure) -> str:
    """Only what is recomputed from printed data can agree; a number put in says how well it comes back."""
    if f.unexplained:
        return UNEXPLAINED
    why = "" if f.why is None else f.why.value
    if f.kind is Kind.PUT_IN:
        return _comes_back(f) if f.matches or f.why is Why.VIRTUAL else f"{_comes_back(f)}; {why}"
    if f.at_least:
        return BOUND if f.agrees else f"{BOUND}; {why}"
    return AGREES if f.agrees else why


def _comes_back(f: Figure) -> str:
    if not f.put_in or f.recomputed is None:
        return Kind.PUT_IN.value
    return f"{Kind.PUT_IN.value} to {100 * abs(f.recomputed / f.put_in - 1):.1g} %"


def listings(result: ReproduceResult) -> tuple[Block, ...]:
    return tuple(_listing(x) for x in result.outcome.listings)


def _compared(f: Figure) -> tuple[str | float | Unknown | None, ...]:
    off = None if f.difference is None else 100 * f.difference
    return f.name, f.place, f.published, _or_dash(f.recomputed), f.unit, off, judgement(f), f.note


def _listing(listing: Listing) -> Table:
    keys = tuple(dict.fromkeys(key for row in listing.rows for key in row))
    rows = tuple(tuple(row.get(key) for key in keys) for row in listing.rows)
    return Table(listing.name, listing.name, tuple(Column(k, k) for k in keys), rows, (listing.note,))


def _or_dash(value: float | None) -> float | Unknown:
    return Unknown("not computed") if value is None else value
