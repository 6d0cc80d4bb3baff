"""``{published-cases}``: all published cases as sections with tables, recomputed when the documentation is built.

Beside the page stands the gallery itself with the redrawn figures, one HTML file.  A run is kept: ``kept_cases``.
A printed number that is not reproduced and not explained is a warning, so that the build fails.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import kept_cases
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from elastocal.app.pages.reproduce import gallery_page
from elastocal.report.blocks import Block, Heatmap, Lines, Paragraphs, Report, Section, Table
from elastocal.report.display import displayed, parted
from elastocal.report.html import as_html

DRAWN = "published-cases.html"
log = logging.getLogger(__name__)


def report_nodes(report: Report) -> list[nodes.Node]:
    verdict = nodes.admonition("", nodes.title("", "In short"), *(nodes.paragraph("", v) for v in report.verdict))
    return [verdict, *(_section(s) for s in report.sections)]


def _section(section: Section) -> nodes.section:
    out = nodes.section(ids=[nodes.make_id(section.title)], names=[nodes.fully_normalize_name(section.title)])
    out += nodes.title("", section.title)
    for block in section.blocks:
        out += _block(block)
    drawn = [b.title for b in section.blocks if isinstance(b, Lines | Heatmap)]
    if drawn:
        listed = nodes.bullet_list("", *(nodes.list_item("", nodes.paragraph("", title)) for title in drawn))
        out += [nodes.paragraph("", "", *_link("Drawn in the gallery"), nodes.Text(":")), listed]
    return out


def _block(block: Block) -> list[nodes.Node]:
    if isinstance(block, Paragraphs):
        return [nodes.paragraph("", text) for text in block.paragraphs]
    if isinstance(block, Table):
        return [node for part in parted(block) for node in _table(part)]
    return []


def _table(table: Table) -> list[nodes.Node]:
    shown = displayed(table)
    group = nodes.tgroup(cols=len(shown.header))
    group += [nodes.colspec(colwidth=1) for _ in shown.header]
    group += nodes.thead("", _row(shown.header))
    group += nodes.tbody("", *(_row(row) for row in shown.rows))
    out: list[nodes.Node] = [nodes.rubric("", table.title)] if table.title else []
    out.append(nodes.table("", group, classes=["colwidths-auto", "published-case"]))
    if shown.footnotes:
        notes = (nodes.list_item("", nodes.paragraph("", text)) for text in shown.footnotes)
        out.append(nodes.enumerated_list("", *notes, enumtype="arabic", prefix="", suffix="."))
    return [*out, *(nodes.paragraph("", note) for note in shown.notes if note)]


def _row(cells: tuple[str, ...]) -> nodes.row:
    return nodes.row("", *(nodes.entry("", nodes.paragraph("", cell)) for cell in cells))


def _link(text: str) -> list[nodes.Node]:
    return [nodes.reference("", text, refuri=DRAWN)]


class PublishedCases(SphinxDirective):
    """``{published-cases}``"""

    option_spec: ClassVar[dict[str, Any]] = {}

    def run(self) -> list[nodes.Node]:
        self.env.note_reread()  # the sources of the package may have changed, not this page
        made = kept_cases.computed(lambda done, total, *_: log.info("published cases: %d of %d", done, total))
        for result in made.results:
            for figure in result.outcome.unexplained:
                log.warning("%s: %s is not reproduced and not explained", result.outcome.case, figure.name)
        out = Path(self.env.app.outdir)
        out.mkdir(parents=True, exist_ok=True)
        page = gallery_page(made)
        (out / DRAWN).write_text(as_html(page), encoding="utf-8")
        first = nodes.paragraph("", "", *_link("The gallery with all figures redrawn"), nodes.Text(" (one HTML file)."))
        return [first, *report_nodes(page)]


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("published-cases", PublishedCases)
    return {"parallel_read_safe": True}
