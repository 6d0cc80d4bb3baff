"""What a report says as elements of a page: tables, figures and words; every text is escaped on its way, by ``words``.

Curves, maps and bars are SVG, wide and narrow; a scene is a still picture, and data for one that can be turned.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

from elastocal.quantities import typeset
from elastocal.report.blocks import (
    Bars,
    Block,
    Code,
    Fact,
    Figure,
    Forest,
    Heatmap,
    Paragraphs,
    Scene,
    Table,
    Tile,
    loud,
)
from elastocal.report.colours import Paint, on_page, printed
from elastocal.report.display import Shown, displayed, parted
from elastocal.report.drawing.charts import bars, curves, forest
from elastocal.report.drawing.maps import heatmap
from elastocal.report.drawing.solid import still
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
LONG = 40
"""Letters of a cell from which on it may break."""
FEW_WORDS = 22
"""Longer notes are folded."""
_ESCAPED = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "'": "&#39;", '"': "&#34;"})
_TAG = re.compile(r"<(?!br>|/?extra>)")
_CODE = re.compile(r"WARNING ([A-Z][A-Z-]+):")


def escaped(text: str) -> str:
    """Lines that a reader copies: as they are, but for what would steer a page."""
    return shown_plainly(text).translate(_ESCAPED)


def words(text: str) -> str:
    return typeset(shown_plainly(text)).translate(_ESCAPED)


def warned(sentence: str) -> str:
    """WARNING OMITTED-EFFECT: as people write it."""
    return _CODE.sub(lambda m: f"Warning ({m[1].lower().replace('-', ' ')}):", sentence, count=1)


def of_class(name: str) -> str:
    return f' class="{name}"'


def paragraph(sentence: str) -> str:
    return f"<p{of_class('loud') if loud(sentence) else ''}>{words(warned(sentence))}</p>\n"


def each(element: str, texts: Iterable[str], kind: str = "") -> str:
    """An element for every text, a line each."""
    start = f"{element}{of_class(kind) if kind else ''}"
    return "".join(f"<{start}>{words(t)}</{element}>\n" for t in texts)


def heading(title: str, level: int = 3, kind: str = "") -> str:
    return f"<h{level}{of_class(kind) if kind else ''}>{words(title)}</h{level}>\n" if title else ""


def folded(title: str, inside: str, kind: str = "") -> str:
    """Shown where a reader opens it."""
    return f"<details{of_class(kind) if kind else ''}><summary>{words(title)}</summary>{inside}</details>\n"


def notes_below(notes: Sequence[str]) -> str:
    if sum(len(n.split()) for n in notes) > FEW_WORDS:
        return folded("Notes", f"\n{each('p', notes)}", "notes")
    return each("p", notes, "notes")


def table(shown: Shown) -> str:
    number = [of_class("n") if n else "" for n in shown.numeric]
    header = "".join(f"<th{n}>{words(name)}</th>\n" for n, name in zip(number, shown.header, strict=True))
    rows = "".join(f"<tr>\n{''.join(map(_cell, row, number))}</tr>\n" for row in shown.rows)
    body = f'<div class="scroll"><table>\n<thead><tr>\n{header}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table></div>\n'
    if shown.footnotes:
        listed = f'\n<ol class="footnotes">\n{each("li", shown.footnotes)}</ol>'
        body += folded(f"Footnotes ({len(shown.footnotes)})", listed, "notes")
    return f"{body}{notes_below(shown.notes)}\n"


def _cell(text: str, kind: str) -> str:
    return f"<td{kind or (of_class('long') if len(text) > LONG else '')}>{words(text)}</td>\n"


def tile(of: Tile) -> str:
    unit = f" <small>{words(of.unit)}</small>" if of.unit else ""
    note = f"<i>{words(of.note)}</i>" if of.note else ""
    return f'<li class="{of.role} {of.state}"><span>{words(of.name)}</span><b>{words(of.value)}{unit}</b>{note}</li>\n'


def facts(inputs: Sequence[Fact]) -> str:
    """What a result rests on, for those who want to have it again."""
    if not inputs:
        return ""
    rows = "".join(f"<dt>{words(f.name)}</dt><dd>{words(f.words)}</dd>\n" for f in inputs if f.words)
    return folded("Inputs and versions", f'\n<dl class="inputs">\n{rows}</dl>\n', "section inputs-and-versions")


def block_texts(blocks: Sequence[Block], scenes: list[dict[str, Any]], above: str | None = None) -> list[str]:
    """Each block; scenes are added to those that there are.  The first stands under the title ``above``."""
    parts = [part for b in blocks for part in (parted(b) if isinstance(b, Table) else (b,))]
    return [_block(part, scenes, None if i else above) for i, part in enumerate(parts)]


def _block(block: Block, scenes: list[dict[str, Any]], above: str | None) -> str:
    """``above`` is the title that it stands under, which it does not repeat."""
    if isinstance(block, Paragraphs):
        return "".join(f"{paragraph(p)}\n" for p in block.paragraphs)
    if isinstance(block, Code):
        title = block.key.replace("_", " ").capitalize()
        return folded("" if title == above else title, f"<pre>{escaped(block.text)}</pre>")
    if isinstance(block, Table):
        made = displayed(block, MOST_ROWS, page=True)
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


def as_svg(block: Figure, width: float = WIDE, paint: Paint = printed) -> str:
    """A figure that stands alone, in colours for paper."""
    if isinstance(block, Scene):
        return still(block, width, paint)
    if isinstance(block, Heatmap):
        return heatmap(block, width, paint)
    if isinstance(block, Bars):
        return bars(block, width, paint)
    return forest(block, width, paint) if isinstance(block, Forest) else curves(block, width, paint)


@dataclass(frozen=True)
class Fragment:
    """Blocks as a part of somebody else's page, and the scenes that ``page.js`` turns, by number."""

    html: str
    scenes: list[dict[str, Any]]

    @property
    def script(self) -> str:
        """The scenes as JSON that cannot end the element it stands in."""
        return for_script(self.scenes)


def as_fragment(blocks: Sequence[Block]) -> Fragment:
    scenes: list[dict[str, Any]] = []
    return Fragment("".join(block_texts(blocks, scenes)), scenes)


def plainly(value: Any) -> Any:
    """What a template fills in: names come from files of others; what is not to be escaped is ours."""
    return shown_plainly(value) if type(value) is str else value


def sentence(text: str) -> str:
    """A sentence of a verdict as a page shows it; to be escaped."""
    return typeset(shown_plainly(warned(text)))


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


def for_script(data: Any) -> str:
    """JSON that cannot end the script element it stands in."""
    return json.dumps(data, allow_nan=False).replace("<", "\\u003c").replace("\u2028", "\\u2028")
