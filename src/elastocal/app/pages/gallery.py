"""All published cases on one page: what agrees, what does not and why, the documents' figures redrawn."""

from __future__ import annotations

from elastocal.app.gallery import Gallery, ReproduceResult, printed, tally
from elastocal.app.pages.reproduce import listings, number_tables
from elastocal.published.figure import NOT_PRINTED, Kind, Why
from elastocal.published.printed import printed_items
from elastocal.report.blocks import Cell, Column, Paragraphs, Report, Section, Table, Unknown


def page(gallery: Gallery) -> Report:
    sections = (overview(gallery), *(_case(r) for r in gallery.results), documents())
    return Report("Published cases, recomputed", verdict(gallery), sections)


def screen(gallery: Gallery) -> Report:
    """For a terminal."""
    return Report("Published cases, recomputed", verdict(gallery), (overview(gallery),))


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
    said = (
        f"{len(sizes)} more comparisons need readings or inputs that are not published; virtual experiments and chosen "
        f"inputs stand for them, so only the size compares and digits that coincide are chance.{kept}{left}"
    )
    return (said,) if sizes else ()


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
    columns = (
        Column("case", "case"),
        Column("from_print", "from printed data"),
        Column("agree", "agree to the last digit"),
        Column("close", "within 1 %"),
        Column("sizes", "only sizes"),
        Column("put_in", "put in"),
        Column("unexplained", "not explained"),
        Column("drawings", "drawings"),
    )
    rows: list[tuple[Cell, ...]] = []
    for r in gallery.results:
        t = tally(printed(r))
        kinds = [sum(f.kind is kind for f in printed(r)) for kind in Kind]
        rows.append((r.outcome.case, kinds[0], t.agree, t.close, *kinds[1:], t.unexplained, len(r.outcome.curves)))
    reasons = (Column("why", "why recomputed numbers differ from print"), Column("count", "numbers"))
    return Section(
        "Overview",
        (
            Table("overview", "", columns, tuple(rows)),
            Table("reasons", "", reasons, tuple((why.value, count) for why, count in gallery.reasons.items())),
        ),
    )


def _case(result: ReproduceResult) -> Section:
    said = Paragraphs((f"Source: {result.source}. Case: {result.outcome.case}.", result.outcome.verdict))
    return Section(result.title, (said, *number_tables(result), *listings(result), *result.outcome.curves))


def documents() -> Section:
    """Every table and figure of the documents, and what became of it."""
    columns = (
        Column("document", "document"), Column("item", "item"), Column("case", "case"), Column("said", "what is done"),
    )  # fmt: skip
    rows = tuple((i.document, i.item, i.case or Unknown("nothing to recompute"), i.done) for i in printed_items())
    return Section("Tables and figures of the documents", (Table("documents", "", columns, rows),))
