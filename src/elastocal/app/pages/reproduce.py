"""Published cases as reports: one case, their list, or all on one page with what agrees, what does not and why."""

from __future__ import annotations

from typing import Any

from elastocal.published.case import NOT_PRINTED, Figure, Kind, Listing, Why, printed_items
from elastocal.published.gallery import (
    CaseList,
    Gallery,
    ReproduceResult,
    cases_data,
    gallery_data,
    outcome_data,
    printed,
    tally,
)
from elastocal.report.blocks import Block, Column, Paragraphs, Report, Section, Table, Tile, Unknown

AGREES, BOUND, UNEXPLAINED = "agrees", "bound kept", "NOT EXPLAINED"


def page(result: CaseList | Gallery | ReproduceResult) -> Report:
    """Of one case, of all of them, or their list."""
    if isinstance(result, CaseList):
        return list_page(result)
    return gallery_page(result) if isinstance(result, Gallery) else case_page(result)


def screen(result: CaseList | Gallery | ReproduceResult, whole: Report) -> Report:
    """For a terminal: all cases as an overview."""
    if not isinstance(result, Gallery):
        return whole
    return Report("Published cases, recomputed", verdict(result), (overview(result),))


def data(result: CaseList | Gallery | ReproduceResult) -> dict[str, Any]:
    """The object that ``--json`` prints."""
    if isinstance(result, CaseList):
        return cases_data(result.cases)
    return gallery_data(result) if isinstance(result, Gallery) else outcome_data(result.outcome)


def list_page(listed: CaseList) -> Report:
    notes = ("Run one with: elastocal reproduce CASE", "All of them: elastocal reproduce --report gallery.html")
    table = Table.of("cases", listed.cases, {
        Column("case", "case"): lambda c: c.name,
        Column("title", "what it repeats"): lambda c: c.title,
        Column("source", "source"): lambda c: c.source,
    }, *notes)  # fmt: skip
    return Report("Published cases", (), (Section("", (table,)),))


def case_page(result: ReproduceResult) -> Report:
    sections = (
        Section("Figures", (Paragraphs((f"Source: {result.source}",)), *number_tables(result))),
        Section("Lists", listings(result) if result.outcome.listings else ()),
        Section("Curves", result.outcome.curves),
    )
    return Report(result.title, (result.outcome.verdict,), sections)


def number_tables(result: ReproduceResult) -> tuple[Block, ...]:
    """What is printed beside what is recomputed, then what is only computed."""
    out = list[Block]()
    if compared := [f for f in result.outcome.figures if f.published is not None]:
        out.append(Table.of("figures", compared, {
            Column("name", "figure"): lambda f: f.name,
            Column("place", "printed in"): lambda f: f.place,
            Column("published", "published"): lambda f: f.published,
            Column("recomputed", "recomputed"): lambda f: _or_dash(f.recomputed),
            Column("unit", "unit"): lambda f: f.unit,
            Column("difference_percent", "difference", "%", digits=2):
                lambda f: None if f.difference is None else 100 * f.difference,
            Column("judgement", "agrees, or why not"): judgement,
            Column("note", "note", footnote=True): lambda f: f.note,
        }, title="Published against recomputed"))  # fmt: skip
    if further := [f for f in result.outcome.figures if f.published is None]:
        out.append(Table.of("further", further, {
            Column("name", "figure"): lambda f: f.name,
            Column("recomputed", "computed"): lambda f: _or_dash(f.recomputed),
            Column("unit", "unit"): lambda f: f.unit,
            Column("note", "note", footnote=True): lambda f: f.note,
        }, title="Computed here, not printed there"))  # fmt: skip
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


def _listing(listing: Listing) -> Table:
    keys = tuple(dict.fromkeys(key for row in listing.rows for key in row))
    rows = tuple(tuple(row.get(key) for key in keys) for row in listing.rows)
    return Table(listing.name, listing.name, tuple(Column(k, k) for k in keys), rows, (listing.note,))


def _or_dash(value: float | None) -> float | Unknown:
    return Unknown("not computed") if value is None else value


def gallery_page(gallery: Gallery) -> Report:
    """One tab for every case, so that a reader sees one at a time."""
    own, kinds = tally(gallery.of(Kind.FROM_PRINT)), len(gallery.of(Kind.SIZE))
    tiles = (
        Tile("from printed data", str(own.compared), "numbers", f"{len(gallery.results)} cases"),
        Tile("agree to the last digit", str(own.agree), f"of {own.compared}", "", "after"),
        Tile("within 1 %", str(own.close), f"of {own.compared}", "those that agree included"),
        Tile("only sizes compare", str(kinds), "", "inputs are not published"),
        Tile("not explained", str(tally(gallery.printed).unexplained), "", "", "outlier"),
    )
    sections = (overview(gallery), *(_case(r) for r in gallery.results), documents())
    return Report("Published cases, recomputed", verdict(gallery), sections, tiles=tiles)


def verdict(gallery: Gallery) -> tuple[str, ...]:
    """First what is recomputed from printed data alone; the rest proves less, and is never counted with it."""
    own, missing = tally(gallery.of(Kind.FROM_PRINT)), tally(gallery.printed).unexplained
    reasons = "; ".join(f"{n} because {why.value}" for why, n in gallery.reasons.items() if why not in NOT_PRINTED)
    return (
        f"{len(gallery.results)} cases compare {own.compared} times with a number that must follow from what the "
        f"documents print: {own.agree} agree to the last printed digit, {own.close} (these included) within 1 %"
        f"{f'; of those that differ, {reasons}' if reasons else ''}.",
        *_sizes(gallery),
        *_come_back(gallery),
        *((f"{missing} printed numbers differ WITHOUT AN EXPLANATION.",) if missing else ()),
    )


def _sizes(gallery: Gallery) -> tuple[str, ...]:
    sizes = gallery.of(Kind.SIZE)
    bounds = [f for f in sizes if f.at_least]
    kept = f" Printed bounds are kept {sum(f.matches for f in bounds)} times out of {len(bounds)}." if bounds else ""
    still = gallery.reasons.get(Why.OPEN, 0)
    left = f" {still} times the size differs and the cause is open." if still else ""
    message = (
        f"{len(sizes)} more comparisons need readings or inputs that are not published; virtual experiments and chosen "
        f"inputs stand for them, so only the size compares and digits that coincide are chance.{kept}{left}"
    )
    return (message,) if sizes else ()


def _come_back(gallery: Gallery) -> tuple[str, ...]:
    from statistics import median

    count, errors = len(gallery.of(Kind.PUT_IN)), gallery.come_back
    if not errors:
        return ()
    return (
        f"{count} times a printed number is itself put in as the truth of virtual readings and comes back, to "
        f"{100 * median(errors):.1g} % in the median and {100 * max(errors):.1g} % at worst: that tests the programs, "
        "not the document, and counts as no agreement.",
    )


def overview(gallery: Gallery) -> Section:
    rows = [(r, tally(printed(r)), [sum(f.kind is kind for f in printed(r)) for kind in Kind]) for r in gallery.results]
    cases = Table.of("overview", rows, {
        Column("case", "case"): lambda r: r[0].outcome.case,
        Column("from_print", "from printed data"): lambda r: r[2][0],
        Column("agree", "agree to the last digit"): lambda r: r[1].agree,
        Column("close", "within 1 %"): lambda r: r[1].close,
        (Column("sizes", "only sizes"), Column("put_in", "put in")): lambda r: r[2][1:],
        Column("unexplained", "not explained"): lambda r: r[1].unexplained,
        Column("drawings", "drawings"): lambda r: len(r[0].outcome.curves),
    })  # fmt: skip
    reasons = Table.of("reasons", gallery.reasons.items(), {
        Column("why", "why recomputed numbers differ from print"): lambda r: r[0].value,
        Column("count", "numbers"): lambda r: r[1],
    })  # fmt: skip
    return Section("Overview", (cases, reasons), step="Overview")


def _case(result: ReproduceResult) -> Section:
    paragraphs = Paragraphs((f"Source: {result.source}. Case: {result.outcome.case}.", result.outcome.verdict))
    blocks = (paragraphs, *number_tables(result), *listings(result), *result.outcome.curves)
    return Section(result.title, blocks, step=result.outcome.case)


def documents() -> Section:
    """Every table and figure of the documents, and what became of it."""
    table = Table.of("documents", printed_items(), {
        Column("document", "document"): lambda i: i.document,
        Column("item", "item"): lambda i: i.item,
        Column("case", "case"): lambda i: i.case or Unknown("nothing to recompute"),
        Column("done", "what is done"): lambda i: i.done,
    })  # fmt: skip
    return Section("Tables and figures of the documents", (table,), step="Documents")
