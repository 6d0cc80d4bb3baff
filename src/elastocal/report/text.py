"""A report on a terminal.  Lines are laid out here, so that no number and no word is ever broken.

Texts of a table break between words, numbers never; where that is not enough, many rows become several tables and a
few become lists.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from math import floor, isfinite, log10, nan
from textwrap import wrap
from typing import Any, Protocol

from elastocal.quantities import number, significant
from elastocal.report.blocks import (
    Axis,
    Bars,
    Block,
    Code,
    Fact,
    Forest,
    Heatmap,
    Lines,
    Paragraphs,
    Report,
    Scene,
    Table,
    Tile,
    titled,
)
from elastocal.report.display import Shown, displayed, parted
from elastocal.untrusted import shown_plainly

GAP = 2
FEW_ROWS = 3
RULE = "\N{BOX DRAWINGS LIGHT HORIZONTAL}"


Laid = tuple[list[str], list[str]]
"""Head (with its rule) and body as lines without trailing blanks; no head where rows are lists."""


def words(text: str, width: int) -> list[str]:
    """Lines of at most ``width``, longer only where a single word is."""
    return wrap(text, max(width, 1), break_long_words=False, break_on_hyphens=False) or [""]


def laid_out(shown: Shown, width: int) -> tuple[Laid, ...]:
    """A table no wider than ``width`` where words and numbers allow it.

    Where they do not, many rows become several tables that repeat the first column; a few become lists.
    """
    widths = _fitted(shown, width)
    if _total(widths) <= width or len(widths) < 3:
        return (_table(shown, widths),)
    if len(shown.rows) > FEW_ROWS and widths[0] <= width // 2:
        return tuple(_table(part, _fitted(part, width)) for part in _parts(shown, width))
    return (([], _stacked(shown, width)),)


def _table(shown: Shown, widths: list[int]) -> Laid:
    head = [*_lines(shown.header, shown.numeric, widths, wrap_all=True), (RULE * GAP).join(RULE * w for w in widths)]
    return head, [line for row in shown.rows for line in _lines(row, shown.numeric, widths)]


def _parts(shown: Shown, width: int) -> list[Shown]:
    """The columns in runs that fit, each behind the first column."""
    runs: list[list[int]] = [[0]]
    for i in range(1, len(shown.header)):
        longer = [*runs[-1], i]
        if len(longer) > 2 and _total(_fitted(_picked(shown, longer), width)) > width:
            runs.append([0, i])
        else:
            runs[-1] = longer
    return [_picked(shown, run) for run in runs]


def _picked(shown: Shown, columns: list[int]) -> Shown:
    header, numeric, *rows = ([line[i] for i in columns] for line in (shown.header, shown.numeric, *shown.rows))
    return Shown(tuple(map(str, header)), tuple(map(bool, numeric)), tuple(tuple(map(str, r)) for r in rows), (), ())


def _total(widths: list[int]) -> int:
    return sum(widths) + GAP * (len(widths) - 1)


def columns_that_fit(cells: list[list[str]], width: int) -> int:
    """How many columns of a table stand side by side; the first always does."""
    left = width
    for n, column in enumerate(zip(*cells, strict=True)):
        left -= max(len(c) for c in column) + (GAP if n else 0)
        if left < 0:
            return max(n, 2)
    return len(cells[0])


def _fitted(shown: Shown, width: int) -> list[int]:
    """Column widths: as wide as the cells, the widest narrowed first, down to their longest word."""
    columns = list(zip(shown.header, *shown.rows, strict=True))
    widths = [max(len(c) for c in column) for column in columns]
    least = [_least(column, number) for column, number in zip(columns, shown.numeric, strict=True)]
    while _total(widths) > width:
        slack = [(w, i) for i, w in enumerate(widths) if w > least[i]]
        if not slack:
            break
        widths[max(slack)[1]] -= 1
    return widths


def _least(column: tuple[str, ...], number: bool) -> int:
    """A header may break between words, a text too; a number is whole."""
    head, *cells = column
    whole = [max((len(w) for w in head.split()), default=0)]
    if number:
        return max(whole + [len(c) for c in cells])
    return max(whole + [max((len(w) for w in c.split()), default=0) for c in cells] + [min(max(map(len, column)), 16)])


def _lines(row: tuple[str, ...], numeric: tuple[bool, ...], widths: list[int], wrap_all: bool = False) -> list[str]:
    parts = [
        [cell] if number and not wrap_all else words(cell, w)
        for cell, number, w in zip(row, numeric, widths, strict=True)
    ]
    out = []
    for n in range(max(map(len, parts), default=0)):
        cells = [p[n] if n < len(p) else "" for p in parts]
        padded = [c.rjust(w) if r else c.ljust(w) for c, r, w in zip(cells, numeric, widths, strict=True)]
        out.append((" " * GAP).join(padded).rstrip())
    return out


def _stacked(shown: Shown, width: int) -> list[str]:
    """Each row as lines of name and value, rows parted by an empty line."""
    name = max(map(len, shown.header))
    out: list[str] = []
    for row in shown.rows:
        if out:
            out.append("")
        for head, cell, numeric in zip(shown.header, row, shown.numeric, strict=True):
            first, *rest = [cell] if numeric else words(cell, width - name - GAP)
            out.append(f"{head.ljust(name)}{' ' * GAP}{first}".rstrip())
            out += [" " * (name + GAP) + line for line in rest]
    return out


MOST_ROWS = 100
MOST_COLUMNS = 13


class Paper(Protocol):
    """What lines are printed on: a console of rich, or something that counts them."""

    @property
    def width(self) -> int: ...

    def print(self, *text: Any, **how: Any) -> None: ...


def print_report(report: Report, console: Paper) -> None:
    _print(report.title, console, "bold")
    _print_inputs(report.inputs, console)
    if report.certificate is not None:
        _line("", console)
        for line in report.certificate.text():
            _print(line.strip(), console, indent="  " if line.startswith(" ") else "")
    _print_tiles(report.tiles, console)
    for section in report.sections:
        if section.title:
            _line("", console)
            _print(section.title, console, "bold")
        for block in section.blocks:
            named = isinstance(block, Table | Bars | Forest) and block.title == section.title
            _print_block(replace(block, title="") if named else block, console)  # type: ignore[arg-type]
    for note in report.notes:
        _print(f"note: {note}", console, "yellow")
    if report.hint:
        _print(report.hint, console, "dim")
    if report.verdict:
        _line("", console)
    for sentence in report.verdict:
        _print(sentence, console, "bold")


def _print_inputs(inputs: tuple[Fact, ...], console: Paper) -> None:
    wide = max((len(f.name) for f in inputs), default=0)
    for fact in (f for f in inputs if f.words):
        for n, line in enumerate(words(fact.words, console.width - wide - 4)):
            _line(f"  {('' if n else fact.name).ljust(wide)}  {line}", console, "dim")


def _print_tiles(tiles: tuple[Tile, ...], console: Paper) -> None:
    wide = max((len(t.name) for t in tiles), default=0)
    if tiles:
        _line("", console)
    for t in tiles:
        note = f"  ({t.note})" if t.note else ""
        _print(f"{t.name.ljust(wide)}  {' '.join(w for w in (t.value, t.unit) if w)}{note}", console, indent="  ")


def _print_block(block: Block, console: Paper) -> None:
    if isinstance(block, Paragraphs):
        for paragraph in block.paragraphs:
            _print(paragraph, console)
    elif isinstance(block, Code):
        for line in ("", *block.text.rstrip("\n").split("\n"), ""):
            _line(line, console)
    elif isinstance(block, Table):
        for part in parted(block):
            shown = displayed(part, MOST_ROWS)
            _grid(part.title, shown, console)
            _print_below([f"[{n}] {text}" for n, text in enumerate(shown.footnotes, start=1)], console, "dim")
            _print_below(shown.notes, console)
    elif isinstance(block, Heatmap):
        _print_map(block, console)
    elif isinstance(block, Scene):
        _print_scene(block, console)
    else:
        title, header, rows = _curve_rows(block) if isinstance(block, Lines) else _named_rows(block)
        _grid(title, Shown(header, (False, *(True for _ in header[1:])), tuple(rows), (), ()), console)
        _print_below(block.notes, console)


def _print_map(block: Heatmap, console: Paper) -> None:
    header, rows = _map_cells(block, _thinned(len(block.x.values), MOST_COLUMNS))
    fits = columns_that_fit([["", *header[1:]], *rows], console.width - len(block.y.name) - len(block.y.unit) - 3)
    if fits < len(header):
        header, rows = _map_cells(block, _thinned(len(block.x.values), fits - 1))
    shown = Shown(tuple(header), (True,) * len(header), tuple(map(tuple, rows)), (), ())
    _grid(f"{block.title}: {titled(block.name, block.unit)}", shown, console)
    _print_below(block.notes, console)
    columns, wide, high = len(header) - 1, len(block.x.values), len(block.y.values)
    if len(rows) * columns < high * wide:
        points = f"{len(rows)} x {columns} of {high} x {wide} points are shown here"
        _print_below((f"{points}; a report or JSON holds all of them.",), console)


def _map_cells(block: Heatmap, columns: list[int]) -> tuple[list[str], list[list[str]]]:
    named = [titled(a.name, a.unit) for a in (block.y, block.x)]
    rows = [
        [_place(block.y, j), *(significant(block.values[j][i]) for i in columns)]
        for j in _thinned(len(block.y.values), MOST_COLUMNS)
    ]
    return [" \\ ".join(n for n in named if n), *(_place(block.x, i) for i in columns)], rows


def _place(axis: Axis, at: int) -> str:
    return axis.labels[at] if axis.labels else number(axis.values[at], _decimals(axis.values))


def _decimals(values: tuple[float, ...]) -> int:
    """One format for all places: as few as state them, at most those that show a hundredth of the smallest step."""
    steps = [abs(b - a) for a, b in pairwise(values) if b != a]
    most = max(0, 1 - floor(log10(min(steps)))) if steps else 6
    return next((d for d in range(most) if all(abs(round(v, d) - v) < 1e-9 for v in values)), most)


Named = tuple[str, tuple[str, ...], list[tuple[str, ...]]]
"""Title, header and rows of a table, each with its name first."""


def _curve_rows(block: Lines) -> Named:
    """A terminal has no curves: their ends and extremes say most."""
    rows: list[tuple[str, ...]] = []
    for s in block.series:
        known = [(y, x) for y, x in zip(s.y, s.x, strict=True) if isfinite(y)] or [(nan, nan)]
        ends = (known[0], min(known), max(known), known[-1])
        rows.append((s.name, *(f"{number(y, 4)} at {number(x, 1)}" for y, x in ends)))
    header = ("curve", "at the start", "smallest", "largest", "at the end")
    title = f"{block.title}: {titled(block.y_name, block.y_unit)} over {titled(block.x_name, block.x_unit)}"
    return title, header, rows


def _named_rows(block: Bars | Forest) -> Named:
    if isinstance(block, Forest):
        header: tuple[str, ...] = ("", f"file [{block.unit}]", "estimate", "95 % +-")
        named = [(r.name, (r.file, r.value, r.half)) for r in block.rows]
    else:
        header = (titled(block.name, block.unit), *block.parts)
        named = list(zip(block.rows, block.values, strict=True))  # type: ignore[arg-type]
    return block.title, header, [(name, *map(significant, values)) for name, values in named]


def _print_scene(block: Scene, console: Paper) -> None:
    """A terminal cannot be turned: what there is to see, and how much of it."""
    counts: dict[str, int] = {}
    for part in block.parts:
        counts[part.name] = counts.get(part.name, 0) + len(part)
    _print(f"{block.title}: a picture in three dimensions, in the HTML report", console, "italic")
    drawn = ", ".join(f"{name} ({count})" for name, count in counts.items())
    views = (f"Views: {', '.join(block.views)}.",) if block.views else ()
    _print_below((f"Drawn: {drawn}.", *views, *block.notes), console)


def _grid(title: str, shown: Shown, console: Paper) -> None:
    if title:
        _print(title, console, "italic")
    _line("", console)
    for head, body in laid_out(shown, console.width):
        for line in head:
            _line(line, console, "bold" if line is not head[-1] else "")
        for line in body:
            _line(line, console)
        _line("", console)


def _print_below(lines: Sequence[str], console: Paper, style: str = "") -> None:
    for line in lines:
        _print(line, console, style, "  ")


def _print(text: str, console: Paper, style: str = "", indent: str = "") -> None:
    for line in words(text, console.width - len(indent)):
        _line(indent + line, console, style)


def _line(text: str, console: Paper, style: str = "") -> None:
    """As it is: a line too long is left to the terminal."""
    console.print(shown_plainly(text.rstrip()), markup=False, emoji=False, style=style or None, soft_wrap=True)


def _thinned(count: int, most: int) -> list[int]:
    """At most ``most`` indices, ends included."""
    if count <= most:
        return list(range(count))
    if most < 2:
        return [0]
    steps = [round(i * (count - 1) / (most - 1)) for i in range(most)]
    return steps[:1] + [b for a, b in pairwise(steps) if b != a]
