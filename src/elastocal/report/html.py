"""A report as an HTML file that opens from disk without a network.

Curves, maps and bars are SVG in the file, wide and narrow.  A scene is a still picture in the file, that Plotly
replaces by one that can be turned: its script lies once beside the reports of a folder, or inside the file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import cache
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
from elastocal.report.drawing.bars import bars, forest
from elastocal.report.drawing.curves import curves
from elastocal.report.drawing.maps import heatmap
from elastocal.report.drawing.solid import still
from elastocal.report.scene import scene
from elastocal.untrusted import shown_plainly
from elastocal.values import dataclass

MOST_ROWS = 400
WIDE, NARROW = 780.0, 350.0
"""Of a drawing, px."""
FEW_ROWS = 12
"""A longer table is folded."""
FEW_WORDS = 22
"""Longer notes are folded."""
LABEL = 5
"""Columns that name a folded table."""
LISTED = 4
"""Sections from which on a report lists them."""
_TAG = re.compile(r"<(?!br>|/?extra>)")


def as_html(report: Report, *, standalone: bool = False) -> str:
    scenes: list[dict[str, Any]] = []
    panes = _panes(report, scenes)
    tabbed = any(s.step for s in report.sections)
    page = _template(_own("blocks.html.jinja") + _own("page.html.jinja"))
    text: str = page.render(
        report=report,
        verdict=_not_repeated(report),
        certificate=None if report.certificate is None else typeset(report.certificate.html()),
        footer=_css_string(report.title if report.certificate is None else report.certificate.footer),
        loud_notes=[n for n in report.notes if loud(n)],
        quiet_notes=[n for n in report.notes if not loud(n)],
        panes=panes,
        tabbed=tabbed,
        listed=len(panes) > 1 if tabbed else len(panes) >= LISTED,
        scenes=_for_script(scenes) if scenes else "",
        standalone=standalone,
        plotly=plotly_script() if standalone and scenes else "",
        bundle=bundle_name() if scenes else "",
        colours=style_sheet(),
        sheet=_own("page.css"),
        script=_own("page.js"),
        version=__version__,
    )
    return text


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
    made = [_block(p, scenes) for p in _parts(tuple(blocks))]
    each = "{% for block in blocks %}{{ shown(block) }}{% endfor %}"
    return Fragment(_template(_own("blocks.html.jinja") + each).render(blocks=made), scenes)


@cache
def _template(source: str) -> Any:
    import jinja2

    environment = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined, finalize=_plain
    )
    environment.tests["loud"] = loud
    environment.filters["warned"] = _warned
    return environment.from_string(source)


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


def _plain(value: Any) -> Any:
    return typeset(plainly(value)) if type(value) is str else value


_CODE = re.compile(r"WARNING ([A-Z][A-Z-]+):")


def _warned(sentence: str) -> str:
    """WARNING OMITTED-EFFECT: as people write it."""
    return _CODE.sub(lambda m: f"Warning ({m[1].lower().replace('-', ' ')}):", sentence, count=1)


def sentence(text: str) -> str:
    """A sentence of a verdict as a page shows it; to be escaped."""
    return typeset(shown_plainly(_warned(text)))


def _panes(report: Report, scenes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One for every step; without steps one for every section."""
    groups: dict[str, list[Section]] = {}
    for i, s in enumerate(report.sections):
        groups.setdefault(s.step or f"#{i}", []).append(s)
    return [_pane(sections, scenes) for sections in groups.values()]


def _pane(sections: list[Section], scenes: list[dict[str, Any]]) -> dict[str, Any]:
    made = []
    for s in sections:
        blocks = [_block(p, scenes) for p in _parts(s.blocks)]
        if blocks and blocks[0].get("title") == s.title:
            blocks[0]["title"] = ""
        made.append({"title": s.title, "folded": s.folded and bool(s.title), "blocks": blocks})
    return {"title": sections[0].step or sections[0].title or "Summary", "sections": made}


def _parts(blocks: tuple[Block, ...]) -> list[Block]:
    return [part for b in blocks for part in (parted(b) if isinstance(b, Table) else (b,))]


def _block(block: Block, scenes: list[dict[str, Any]]) -> dict[str, Any]:
    if isinstance(block, Paragraphs):
        return {"kind": "text", "paragraphs": block.paragraphs}
    if isinstance(block, Code):
        return {"kind": "code", "title": block.key.replace("_", " ").capitalize(), "text": _as_it_is(block.text)}
    if isinstance(block, Table):
        made = displayed(block, MOST_ROWS)
        folded = len(made.rows) > FEW_ROWS
        common = {"title": block.title, "label": block.title or _label(made.header), "shown": made}
        return {**common, "kind": "table", "folded": folded, "long_notes": _long(made.notes)}
    title = block.title
    if isinstance(block, Heatmap) and block.unit:
        title = f"{title}: {block.name} [{block.unit}]"
    common = {"title": title, "notes": block.notes, "long_notes": _long(block.notes)}
    drawn = {size: _drawn(block, width) for size, width in (("wide", WIDE), ("narrow", NARROW))}
    if isinstance(block, Scene):
        scenes.append(_harmless(scene(block)))
        return {
            **common,
            "kind": "scene",
            "number": len(scenes) - 1,
            **drawn,
        }
    return {**common, "kind": "figure", **drawn}


def _label(header: Sequence[str]) -> str:
    """Of a table without a title: what its columns are."""
    named = [name.partition(" [")[0] for name in header if name]
    return ", ".join(named[:LABEL]) + (" ..." if len(named) > LABEL else "")


def _as_it_is(text: str) -> Any:
    """Lines that a reader copies."""
    from markupsafe import escape

    return escape(shown_plainly(text))


def _drawn(block: Figure, width: float) -> str:
    return typeset(shown_plainly(as_svg(block, width, on_page)))


def _long(notes: tuple[str, ...]) -> bool:
    return sum(len(n.split()) for n in notes) > FEW_WORDS


@cache
def _own(name: str) -> str:
    return resources.files("elastocal.report").joinpath(name).read_text(encoding="utf-8")


def _harmless(data: Any) -> Any:
    """Figures understand tags in their texts: those of names are spelled out, ours stay."""
    if isinstance(data, dict):
        return {key: _harmless(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_harmless(value) for value in data]
    if isinstance(data, str) and "<" in data:
        data = _TAG.sub("&lt;", data)
    return typeset(shown_plainly(data)) if isinstance(data, str) else data


def _for_script(data: Any) -> str:
    """JSON that cannot end the script element it stands in."""
    return json.dumps(data, allow_nan=False).replace("<", "\\u003c").replace("\u2028", "\\u2028")
