"""A report on a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text as RichText

from elastocal.report.blocks import Block, Heatmap, Lines, Report, Table, Text
from elastocal.report.display import displayed, number

MOST_ROWS = 60
MOST_COLUMNS = 13


def print_report(report: Report, console: Console) -> None:
    console.print(f"[bold]{escape(report.title)}[/bold]")
    for section in report.sections:
        if section.title:
            console.print(f"\n[bold]{escape(section.title)}[/bold]")
        for block in section.blocks:
            _print_block(block, console)
    for note in report.notes:
        console.print(f"note: {note}", markup=False, style="yellow")
    if report.verdict:
        console.print()
    for sentence in report.verdict:
        console.print(sentence, markup=False, style="bold")


def _print_block(block: Block, console: Console) -> None:
    if isinstance(block, Text):
        for paragraph in block.paragraphs:
            console.print(paragraph, markup=False)
    elif isinstance(block, Table):
        _print_table(block, console)
    elif isinstance(block, Heatmap):
        _print_map(block, console)
    else:
        _print_lines(block, console)


def _print_table(block: Table, console: Console) -> None:
    shown = displayed(block, MOST_ROWS)
    table = _grid(block.title, console)
    for name, numeric in zip(shown.header, shown.numeric, strict=True):
        table.add_column(escape(name), justify="right" if numeric else "left", overflow="fold")
    for row in shown.rows:
        table.add_row(*(escape(cell) for cell in row))
    console.print(table)
    _print_below([f"[{n}] {text}" for n, text in enumerate(shown.footnotes, start=1)], console, "dim")
    _print_below(shown.notes, console)


def _print_map(block: Heatmap, console: Console) -> None:
    columns, rows = _thinned(len(block.x.values)), _thinned(len(block.y.values))
    table = _grid(f"{block.title}: {block.name} [{block.unit}]", console)
    table.add_column(escape(f"{block.y.name} [{block.y.unit}] \\ {block.x.name} [{block.x.unit}]"), justify="right")
    for i in columns:
        table.add_column(number(block.x.values[i]), justify="right")
    for j in rows:
        cells = [number(block.values[j][i], block.decimals) for i in columns]
        table.add_row(number(block.y.values[j]), *cells)
    console.print(table)
    _print_below(block.notes, console)


def _print_lines(block: Lines, console: Console) -> None:
    """A terminal has no curves: their ends and extremes say most."""
    table = _grid(f"{block.title}: {block.y_name} [{block.y_unit}] over {block.x_name} [{block.x_unit}]", console)
    for name in ("curve", "at the start", "smallest", "largest", "at the end"):
        table.add_column(name, justify="left" if name == "curve" else "right")
    for s in block.series:
        low, high = min(zip(s.y, s.x, strict=True)), max(zip(s.y, s.x, strict=True))
        ends = ((s.y[0], s.x[0]), low, high, (s.y[-1], s.x[-1]))
        table.add_row(escape(s.name), *(f"{number(y, 4)} at {number(x, 1)}" for y, x in ends))
    console.print(table)
    _print_below(block.notes, console)


def _print_below(lines: Sequence[str], console: Console, style: str = "") -> None:
    for line in lines:
        console.print(Padding(RichText(line, style), (0, 0, 0, 2)))


def _grid(title: str, console: Console) -> RichTable:
    if title:
        console.print(title, markup=False, style="italic")
    return RichTable(box=box.SIMPLE_HEAD, pad_edge=False)


def _thinned(count: int) -> list[int]:
    """At most ``MOST_COLUMNS`` indices, ends included."""
    if count <= MOST_COLUMNS:
        return list(range(count))
    steps = [round(i * (count - 1) / (MOST_COLUMNS - 1)) for i in range(MOST_COLUMNS)]
    return steps[:1] + [b for a, b in pairwise(steps) if b != a]
