"""A report as an HTML file that opens from disk without a network.

Curves, maps and bars are SVG in the file, wide and narrow.  A scene is a still picture in the file, that Plotly
replaces by one that can be turned: its script lies once beside the reports of a folder, or inside the file.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from elastocal import __version__
from elastocal.quantities import typeset
from elastocal.report.blocks import Report, Scene, Section, loud
from elastocal.report.colours import style_sheet
from elastocal.report.elements import (
    block_texts,
    each,
    facts,
    folded,
    for_script,
    heading,
    of_class,
    paragraph,
    tile,
    words,
)
from elastocal.untrusted import shown_plainly

LISTED = 4
"""Sections from which on a report lists them."""
Pane = tuple[str, list[tuple[Section, str]]]
"""Title, and sections that stand together, each with its blocks as text."""


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
            drawings=for_script(scenes),
            bundle=for_script(bundle),
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
        f'<button type="button" aria-controls="pane-{i}" aria-selected="{"false" if i else "true"}">{words(title)}'
        "</button>\n"
        if tabbed
        else f'<a href="#pane-{i}">{words(title)}</a>\n'
        for i, (title, _) in enumerate(panes)
    ]
    return f"<nav>\n{''.join(lines)}</nav>\n"


def _pane(pane: Pane, number: int, tabbed: bool, front: str) -> str:
    """Behind a tab, the first begins with the front of the report."""
    head = f'<section class="pane" id="pane-{number}"{" data-later" if tabbed and number else ""}>\n'
    if tabbed:
        head += heading(pane[0], 2, "" if number else "sr") + ("" if number else front)
    return f"{head}{''.join(_section(s, tabbed) for s in pane[1])}</section>\n"


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


def has_scene(report: Report) -> bool:
    return any(isinstance(b, Scene) for s in report.sections for b in s.blocks)


def bundle_name() -> str:
    from elastocal.installed import version

    return f"plotly-{version('plotly')}.min.js"


def plotly_script() -> str:
    """As ``plotly.offline.get_plotlyjs`` gives it; importing plotly takes as long as a report."""
    from importlib.util import find_spec

    package = find_spec("plotly")
    assert package is not None
    assert package.origin is not None
    return (Path(package.origin).parent / "package_data" / "plotly.min.js").read_bytes().decode()


def _panes(report: Report, scenes: list[dict[str, Any]]) -> list[Pane]:
    """One for every step; without steps one for every section."""
    groups: dict[str, list[Section]] = {}
    for i, s in enumerate(report.sections):
        groups.setdefault(s.step or f"#{i}", []).append(s)
    return [
        (
            some[0].step or some[0].title or "Summary",
            [(s, "".join(f"{text}\n" for text in block_texts(s.blocks, scenes, s.title))) for s in some],
        )
        for some in groups.values()
    ]


@cache
def _own(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")
