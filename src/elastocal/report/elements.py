"""What a report says as elements of a page; every text of it is escaped on its way, by ``words``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from elastocal.quantities import typeset
from elastocal.report.blocks import Fact, Tile, loud
from elastocal.report.display import Shown
from elastocal.untrusted import shown_plainly

LONG = 40
"""Letters of a cell from which on it may break."""
FEW_WORDS = 22
"""Longer notes are folded."""
_ESCAPED = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "'": "&#39;", '"': "&#34;"})
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
