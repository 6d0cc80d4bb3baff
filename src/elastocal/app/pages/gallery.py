"""All published cases on one page: what comes back, what does not and why, the documents' figures redrawn."""

from __future__ import annotations

from elastocal.app.commands.gallery import Gallery, printed, tally
from elastocal.app.commands.reproduce import ReproduceResult
from elastocal.app.pages.reproduce import listings, number_tables
from elastocal.cases.documents import ITEMS
from elastocal.report.blocks import Column, Report, Section, Table, Text, Unknown


def page(gallery: Gallery) -> Report:
    sections = (overview(gallery), *(_case(r) for r in gallery.results), documents())
    return Report("Published cases, recomputed", verdict(gallery), sections, contents=True)


def short(gallery: Gallery) -> Report:
    """For a terminal."""
    return Report("Published cases, recomputed", verdict(gallery), (overview(gallery),))


def verdict(gallery: Gallery) -> tuple[str, ...]:
    t, own = tally(gallery.printed), tally(gallery.from_print)
    explained = "each with its reason" if not t.unexplained else f"{t.unexplained} of them WITHOUT AN EXPLANATION"
    reasons = "; ".join(f"{count} because {why.value}" for why, count in gallery.reasons.items())
    return (
        f"{len(gallery.results)} cases compare {t.compared} times with a printed number: {t.agree} times to the last "
        f"printed digit (or within the printed bound), {t.close} times within 1 %; {t.compared - t.agree} differ in a "
        f"printed digit, {explained}.",
        f"{own.compared} of them follow from what the documents print: {own.agree} agree to the last digit, "
        f"{own.close} within 1 %. The others need readings or inputs that are not published: virtual experiments and "
        "chosen inputs stand for them, so that sizes compare, not digits.",
        *((f"Of those that differ: {reasons}.",) if reasons else ()),
    )


def overview(gallery: Gallery) -> Section:
    columns = (
        Column("case", "case"),
        Column("compared", "comparisons"),
        Column("agree", "to the last digit"),
        Column("close", "within 1 %"),
        Column("differ", "differ, explained"),
        Column("unexplained", "not explained"),
        Column("drawings", "drawings"),
    )
    rows = []
    for r in gallery.results:
        t = tally(printed(r))
        differ = t.compared - t.agree - t.unexplained
        rows.append((r.outcome.case, t.compared, t.agree, t.close, differ, t.unexplained, len(r.outcome.curves)))
    reasons = (Column("why", "why recomputed numbers differ from print"), Column("count", "numbers"))
    return Section(
        "Overview",
        (
            Table("overview", "", columns, tuple(rows)),
            Table("reasons", "", reasons, tuple((why.value, count) for why, count in gallery.reasons.items())),
        ),
    )


def _case(result: ReproduceResult) -> Section:
    said = Text((f"Source: {result.source}. Case: {result.outcome.case}.", result.outcome.verdict))
    return Section(result.title, (said, *number_tables(result), *listings(result), *result.outcome.curves))


def documents() -> Section:
    """Every table and figure of the documents, and what became of it."""
    columns = (
        Column("document", "document"), Column("item", "item"), Column("case", "case"), Column("said", "what is done"),
    )  # fmt: skip
    rows = tuple((i.document, i.item, i.case or Unknown("nothing to recompute"), i.said) for i in ITEMS)
    return Section("Tables and figures of the documents", (Table("documents", "", columns, rows),))
