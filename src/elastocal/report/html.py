"""A report as an HTML file that opens from disk without a network.

Curves, maps and bars are SVG in the file, wide and narrow.  A scene is a still picture in the file, that Plotly
replaces by one that can be turned: its script lies once beside the reports of a folder, or inside the file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import cache, lru_cache
from importlib import resources
from typing import Any

from elastocal import __version__
from elastocal.quantities import typeset
from elastocal.report.blocks import (
    Bars,
    Block,
    Code,
    Figure,
    Forest,
    Heatmap,
    Paragraphs,
    Report,
    Scene,
    Section,
    Table,
    loud,
)
from elastocal.report.colours import Paint, on_page, printed, style_sheet
from elastocal.report.display import displayed, parted
from elastocal.report.drawing.charts import bars, curves, forest
from elastocal.report.drawing.maps import heatmap
from elastocal.report.drawing.solid import still
from elastocal.report.elements import (
    each,
    escaped,
    facts,
    folded,
    heading,
    notes_below,
    of_class,
    paragraph,
    table,
    tile,
    warned,
    words,
)
from elastocal.report.figures import scene_figure
from elastocal.untrusted import shown_plainly
from elastocal.values import dataclass

MOST_ROWS = 400
WIDE, NARROW = 780.0, 350.0
"""Of a drawing, px."""
FEW_ROWS = 12
"""A longer table is folded."""
LABEL = 5
"""Columns that name a folded table."""
LISTED = 4
"""Sections from which on a report lists them."""
_TAG = re.compile(r"<(?!br>|/?extra>)")


def as_html(report: Report, *, standalone: bool = False) -> str:
    from string import Template

    scenes: list[dict[str, Any]] = []
    panes = _panes(report, scenes)
    tabbed = any(s.step for s in report.sections)
    listed = len(panes) > 1 if tabbed else len(panes) >= LISTED
    bundle = bundle_name() if scenes else ""
    plotly = f'<script id="plotly">{plotly_script()}' if standalone and scenes else f'<script src="{bundle}">'
    front = _front(report)
    return (
        Template(_own("page.html"))
        .substitute(
            title=words(report.title),
            colours=style_sheet(),
            sheet=_own("page.css"),
            footer=_css_string(report.title if report.certificate is None else report.certificate.footer),
            kind=of_class("listed") if listed else "",
            front="" if tabbed else front,
            contents=_contents(panes, tabbed) if listed else "",
            panes="".join(_pane(pane, i, tabbed, front) for i, pane in enumerate(panes)),
            inputs=facts(report.inputs),
            version=words(__version__),
            plotly=f"{plotly}</script>\n" if scenes else "",
            drawings=_for_script(scenes),
            bundle=_for_script(bundle),
            script=_own("page.js"),
        )
        .removesuffix("\n")
    )


def _front(report: Report) -> str:
    """What decides, before the details."""
    loud_notes, quiet_notes = ([f"Note: {n}" for n in report.notes if loud(n) == so] for so in (True, False))
    verdict = "".join(f"{paragraph(s)}\n" for s in _not_repeated(report))
    tiles = "".join(map(tile, report.tiles))
    parts = (
        "" if report.certificate is None else f"{typeset(report.certificate.html())}\n",
        f'<div class="verdict">\n{verdict}</div>\n' if verdict else "",
        f'<ul class="tiles">\n{tiles}</ul>\n' if tiles else "",
        each("p", [report.hint] if report.hint else [], "hint"),
        f'<div class="notes">\n{each("p", loud_notes)}</div>\n' if loud_notes else "",
        folded(f"Notes ({len(quiet_notes)})", f"\n{each('p', quiet_notes)}", "notes") if quiet_notes else "",
    )
    return f"{''.join(parts)}\n"


def _contents(panes: Sequence[Pane], tabbed: bool) -> str:
    lines = [
        f'<button type="button" aria-controls="pane-{i}" aria-selected="{"false" if i else "true"}">{words(p.title)}'
        "</button>\n"
        if tabbed
        else f'<a href="#pane-{i}">{words(p.title)}</a>\n'
        for i, p in enumerate(panes)
    ]
    return f"<nav>\n{''.join(lines)}</nav>\n"


def _pane(pane: Pane, number: int, tabbed: bool, front: str) -> str:
    """Behind a tab, the first begins with the front of the report."""
    head = f'<section class="pane" id="pane-{number}"{" data-later" if tabbed and number else ""}>\n'
    if tabbed:
        head += heading(pane.title, 2, "" if number else "sr") + ("" if number else front)
    return f"{head}{''.join(_section(s, tabbed) for s in pane.sections)}</section>\n"


def _section(made: tuple[Section, str], tabbed: bool) -> str:
    section, blocks = made
    if section.folded and section.title:
        return folded(section.title, f"\n{blocks}", "section")
    return heading(section.title, 3 if tabbed else 2, "section") + blocks


def _css_string(text: str) -> str:
    """A text for a style sheet: whatever could end it, or the element, and every letter beyond ASCII by its number."""
    plain = typeset(shown_plainly(text))
    return "".join(c if c.isascii() and (c.isalnum() or c in " .,:()-/") else f"\\{ord(c):x} " for c in plain)


def _not_repeated(report: Report) -> list[str]:
    """The verdict without warnings that stand on the certificate above it."""
    above = () if report.certificate is None else report.certificate.main_warnings
    return [s for s in report.verdict if not (loud(s) and any(s.endswith(f": {w}.") for w in above))]


@dataclass(frozen=True)
class Fragment:
    """Blocks as a part of somebody else's page, and the scenes that ``page.js`` turns, by number."""

    html: str
    scenes: list[dict[str, Any]]

    @property
    def script(self) -> str:
        """The scenes as JSON that cannot end the element it stands in."""
        return _for_script(self.scenes)


def as_fragment(blocks: Sequence[Block]) -> Fragment:
    scenes: list[dict[str, Any]] = []
    return Fragment("".join(_block(p, scenes) for p in _parts(tuple(blocks))), scenes)


def as_svg(block: Figure, width: float = WIDE, paint: Paint = printed) -> str:
    """A figure that stands alone, in colours for paper."""
    if isinstance(block, Scene):
        return still(block, width, paint)
    if isinstance(block, Heatmap):
        return heatmap(block, width, paint)
    if isinstance(block, Bars):
        return bars(block, width, paint)
    return forest(block, width, paint) if isinstance(block, Forest) else curves(block, width, paint)


def has_scene(report: Report) -> bool:
    return any(isinstance(b, Scene) for s in report.sections for b in s.blocks)


def bundle_name() -> str:
    from importlib.metadata import version

    return f"plotly-{version('plotly')}.min.js"


def plotly_script() -> str:
    from plotly.offline import get_plotlyjs

    return str(get_plotlyjs())


def plainly(value: Any) -> Any:
    """What a template fills in: names come from files of others; what is not to be escaped is ours."""
    return shown_plainly(value) if type(value) is str else value


def sentence(text: str) -> str:
    """A sentence of a verdict as a page shows it; to be escaped."""
    return typeset(shown_plainly(warned(text)))


@dataclass(frozen=True)
class Pane:
    """Sections that stand together, each with its blocks as text."""

    title: str
    sections: list[tuple[Section, str]]


def _panes(report: Report, scenes: list[dict[str, Any]]) -> list[Pane]:
    """One for every step; without steps one for every section."""
    groups: dict[str, list[Section]] = {}
    for i, s in enumerate(report.sections):
        groups.setdefault(s.step or f"#{i}", []).append(s)
    return [
        Pane(first.step or first.title or "Summary", [(s, _blocks(s, scenes)) for s in (first, *more)])
        for first, *more in groups.values()
    ]


def _blocks(section: Section, scenes: list[dict[str, Any]]) -> str:
    first, *more = _parts(section.blocks)
    return "".join(f"{b}\n" for b in (_block(first, scenes, section.title), *(_block(p, scenes) for p in more)))


def _parts(blocks: tuple[Block, ...]) -> list[Block]:
    return [part for b in blocks for part in (parted(b) if isinstance(b, Table) else (b,))]


def _block(block: Block, scenes: list[dict[str, Any]], above: str | None = None) -> str:
    """``above`` is the title that it stands under, which it does not repeat."""
    if isinstance(block, Paragraphs):
        return "".join(f"{paragraph(p)}\n" for p in block.paragraphs)
    if isinstance(block, Code):
        title = block.key.replace("_", " ").capitalize()
        return folded("" if title == above else title, f"<pre>{escaped(block.text)}</pre>")
    if isinstance(block, Table):
        made = displayed(block, MOST_ROWS)
        if len(made.rows) > FEW_ROWS:
            label = f"{block.title or _label(made.header)} ({len(made.rows)} rows)"
            return folded(label, f"\n{table(made)}\n", "table")
        return f"{heading('' if block.title == above else block.title)}{table(made)}\n"
    title = block.title
    if isinstance(block, Heatmap) and block.unit:
        title = f"{title}: {block.name} [{block.unit}]"
    drawn = "".join(
        f'<div class="{size}">{_drawn(block, width)}</div>' for size, width in (("wide", WIDE), ("narrow", NARROW))
    )
    if isinstance(block, Scene):
        scenes.append(_harmless(scene_figure(block)))
        still_one = f'<div class="live"></div><div class="still">{drawn}</div>'
        drawn = f'<div class="scene" data-number="{len(scenes) - 1}">{still_one}</div>'
    head = heading("" if title == above else title)
    return f"<figure>\n{head}{drawn}\n{notes_below(block.notes)}\n</figure>\n"


def _label(header: Sequence[str]) -> str:
    """Of a table without a title: what its columns are."""
    named = [name.partition(" [")[0] for name in header if name]
    return ", ".join(named[:LABEL]) + (" ..." if len(named) > LABEL else "")


def _drawn(block: Figure, width: float) -> str:
    return typeset(shown_plainly(as_svg(block, width, on_page)))


@cache
def _own(name: str) -> str:
    return resources.files("elastocal.report").joinpath(name).read_text(encoding="utf-8")


def _harmless(data: Any) -> Any:
    """Figures understand tags in their texts: those of names are spelled out, ours stay."""
    if isinstance(data, dict):
        return {key: _harmless(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [value if type(value) is float else _harmless(value) for value in data]
    return _harmless_words(data) if isinstance(data, str) else data


@lru_cache(maxsize=1024)
def _harmless_words(words: str) -> str:
    return typeset(shown_plainly(_TAG.sub("&lt;", words)))


def _for_script(data: Any) -> str:
    """JSON that cannot end the script element it stands in."""
    return json.dumps(data, allow_nan=False).replace("<", "\\u003c").replace("\u2028", "\\u2028")
