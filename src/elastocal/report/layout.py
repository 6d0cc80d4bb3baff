"""Tables as lines of text that fit a terminal: texts break between words, numbers never, and where that is not
enough each row becomes a list of its own."""

from __future__ import annotations

from textwrap import wrap

from elastocal.report.display import Shown
from elastocal.values import dataclass

GAP = 2
FEW_ROWS = 3
RULE = "\N{BOX DRAWINGS LIGHT HORIZONTAL}"


@dataclass(frozen=True)
class Laid:
    """``head`` (with its rule) and ``body`` as lines without trailing blanks; no head where rows are lists."""

    head: tuple[str, ...]
    body: tuple[str, ...]


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
    return (Laid((), tuple(_stacked(shown, width))),)


def _table(shown: Shown, widths: list[int]) -> Laid:
    head = [*_lines(shown.header, shown.numeric, widths, wrap_all=True), (RULE * GAP).join(RULE * w for w in widths)]
    body = [line for row in shown.rows for line in _lines(row, shown.numeric, widths)]
    return Laid(tuple(head), tuple(body))


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
        for head, cell, number in zip(shown.header, row, shown.numeric, strict=True):
            first, *rest = [cell] if number else words(cell, width - name - GAP)
            out.append(f"{head.ljust(name)}{' ' * GAP}{first}".rstrip())
            out += [" " * (name + GAP) + line for line in rest]
    return out
