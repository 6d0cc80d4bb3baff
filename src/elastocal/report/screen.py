"""A report on one screen of a terminal: what decides first, then what fits; the rest is named, not printed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from elastocal.report.blocks import Block, Fact, Heatmap, Paragraphs, Report, Section, Table, loud
from elastocal.report.display import parted
from elastocal.report.text import MOST_ROWS, print_report

LINES = 40
FEW = 4
"""Rows below which the beginning of a table says nothing."""
NOTES = 12
"""Lines that notes may take."""
NAMED = 6
"""Sections left out that are named."""
LISTED = 4
"""Files read that are named."""
FIRST = ("Outliers", "Targets that are not corrected", "Lines that are left as they are")
"""Sections that come before all others, and take some lines however long the verdict is."""
SURE = 12
"""Lines that each of them may take."""


def shortened(report: Report, width: int, lines: int = LINES) -> tuple[Report, str]:
    """The report within so many lines, and what it leaves out by name, empty where it is whole.

    One of a single section is a list of what there is, and is shown as it is.
    """
    report = replace(report, inputs=tuple(_brief(fact) for fact in report.inputs))
    if len(report.sections) < 2 or _within(report, width, lines):
        return report, ""
    notes = _notes(report, width)
    short = replace(report, inputs=(), sections=(), notes=notes)
    kept: dict[int, Section] = {}
    room = lines - 1 - _height(short, width)
    order = sorted(range(len(report.sections)), key=lambda i: report.sections[i].title not in FIRST)
    for i in order:
        section = report.sections[i]
        own = max(room, SURE) if section.title in FIRST else room
        fitted = None if section.folded else _fitted(section, own, width)
        if fitted is not None:
            kept[i] = fitted
            room -= _height(fitted, width)
    short = replace(short, sections=tuple(kept[i] for i in sorted(kept)))
    return short, _left_out(report, short)


def _brief(fact: Fact) -> Fact:
    """A list of many files by its first ones."""
    many = fact.value if isinstance(fact.value, tuple) else ()
    if len(many) <= LISTED or fact.words != "; ".join(many):
        return fact
    return replace(fact, words=f"{'; '.join(many[:LISTED])}; and {len(many) - LISTED} more")


def _fitted(section: Section, room: int, width: int) -> Section | None:
    """The tables of a section, the last one cut where that makes it fit."""
    blocks: tuple[Block, ...] = ()
    for block in section.blocks:
        plain = _plain(block)
        if plain is None:
            continue
        longer = replace(section, blocks=(*blocks, plain))
        over = _height(longer, width) - room
        if over <= 0:
            blocks = longer.blocks
        elif isinstance(plain, Table) and len(plain.rows) - over - 1 >= FEW:
            cut = len(plain.rows) - over - 1
            message = f"The first {cut} of {len(block.rows)} rows." if isinstance(block, Table) else ""
            return replace(section, blocks=(*blocks, replace(plain, rows=plain.rows[:cut], notes=(message,))))
        else:
            break
    return replace(section, blocks=blocks) if blocks else None


def _plain(block: Block) -> Block | None:
    """What a terminal can show: the first columns of a table that has rows, without its notes; a map; words."""
    if isinstance(block, Table):
        rows = block.rows[:MOST_ROWS]
        return replace(parted(replace(block, rows=rows))[0], notes=()) if rows else None
    return block if isinstance(block, Heatmap | Paragraphs) else None


def _notes(report: Report, width: int) -> tuple[str, ...]:
    """Those that warn, and others while there is room for them."""
    kept = [n for n in report.notes if loud(n)]
    for note in report.notes:
        if note not in kept and _height(Report(report.title, (), (), (*kept, note)), width) <= NOTES + 1:
            kept.append(note)
    return tuple(n for n in report.notes if n in kept)


def _height(shown: Report | Section, width: int) -> int:
    report = shown if isinstance(shown, Report) else Report("", (), (shown,))
    paper = _Lines(width)
    print_report(report, paper)
    return paper.count - (0 if isinstance(shown, Report) else 1)


def _within(report: Report, width: int, lines: int) -> bool:
    """Whether it takes so many lines or fewer; a long one is not laid out to its end."""
    try:
        print_report(report, _Lines(width, most=lines))
    except _FullError:
        return False
    return True


class _FullError(Exception):
    pass


@dataclass
class _Lines:
    """Counts lines in place of printing them, up to the ``most`` there may be."""

    width: int
    count: int = 0
    most: int | None = None

    def print(self, *text: Any, **how: Any) -> None:
        self.count += 1
        if self.most is not None and self.count > self.most:
            raise _FullError


def _left_out(whole: Report, short: Report) -> str:
    titles = [s.title for s in short.sections]
    missing = [s.title for s in whole.sections if s.title and s.title not in titles]
    more = len(missing) - NAMED
    if more > 1:
        missing = [*missing[:NAMED], f"{more} more sections"]
    notes = len(whole.notes) - len(short.notes)
    if notes:
        missing.append("a note" if notes == 1 else f"{notes} notes")
    return ", ".join(missing) or "inputs and versions"
