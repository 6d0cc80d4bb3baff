"""Tables in text: where the titles stand, what separates, which lines are rows.

Comma, semicolon, tab or blanks separate; numbers are written as ``numerals`` tells.  Lines starting with # or // are
skipped, a spreadsheet's line sep=;, empty rows, titles that stand again, and means, sums and remarks below the last
reading.  Units may stand in a line of their own below the titles, or above them over groups of columns.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from elastocal.errors import InputError, MissingError
from elastocal.files.tables.raw import RawTable
from elastocal.files.tables.rows import Cut, Lines, Text, TextRows, lines_of, split_line
from elastocal.files.tables.spelling import (
    Numerals,
    ends_table,
    is_bare,
    is_remark,
    numerals_of,
    title_unit,
    unit_cells,
    unit_word,
)
from elastocal.untrusted import finite_number

_TOLD = re.compile(r'\s*"?sep=.?"?\s*', re.IGNORECASE)
"""What a spreadsheet puts before the header to tell the separator."""
_SEPARATES = re.compile("[sS][eE][pP]=")
REMARK_SIGNS = ("#", "//")
"""What lines begin with that are remarks."""
REMARKS = 40
"""Lines in which titles are looked for."""


def read_csv(
    path: Path, encoding: str | None = None, header_line: int | None = None, sheet: str | None = None
) -> RawTable:
    """Header and cells of a CSV file or Excel sheet; ragged rows are refused, lines before ``header_line`` skipped.

    Titles of which the cell remembers what they are get these names.
    """
    from elastocal.files.tables.remembered import layouts_of, renamed_by

    stated = {
        k: v for k, v in (("header_line", header_line), ("encoding", encoding), ("sheet", sheet)) if v is not None
    }
    for layout in layouts_of(path):
        if layout.columns and not layout.files:
            try:
                raw = as_written(path, **{**layout.opened, **stated})
            except InputError:
                continue
            renamed = renamed_by(raw, layout)
            if renamed is not None:
                return with_units(renamed)
    return with_units(as_written(path, encoding, header_line, sheet))


def with_units(raw: RawTable) -> RawTable:
    """The table with its units in the titles that state none."""
    if not any(raw.units):
        return raw
    titles = tuple(f"{t} [{u}]" if u and is_bare(t) else t for t, u in zip(raw.header, raw.units, strict=True))
    origins = tuple(raw.origin(i) for i in range(len(titles)))
    return replace(raw, header=titles, origins=origins, named=raw.top, units=())


def as_written(
    path: Path, encoding: str | None = None, header_line: int | None = None, sheet: str | None = None
) -> RawTable:
    """The same under the file's own titles."""
    return next(csv_parts(path, encoding, header_line, sheet))


def csv_parts(
    path: Path, encoding: str | None = None, header_line: int | None = None, sheet: str | None = None,
    size: int | None = None,
) -> Iterator[RawTable]:  # fmt: skip
    """The same in tables of ``size`` rows each, one at least: cells of a long CSV file need not be held at once."""
    if path.suffix.lower() in (".xlsx", ".xlsm"):
        from elastocal.files.tables.excel import read_excel

        yield read_excel(path, header_line, sheet)
        return
    if path.suffix.lower() in (".yaml", ".yml", ".json"):
        from elastocal.files.tables.records import read_records

        yield read_records(path)
        return
    file = Text.of(path, encoding)
    text = file.whole()
    lines = _told(with_marked_titles(lines_of(text, REMARK_SIGNS), text), text, header_line)
    top = lines.some(slice(0, REMARKS + 2)).numbered(text)
    if not top:
        raise MissingError(
            f"{path}: is empty; the first line names the columns with their units, for example A1_deg,A2_deg"
        )
    if is_export(text):
        raise InputError(
            f"{path}: seems to be an ASCII export of SpatialAnalyzer, which knows no joint values; give a table of "
            "them beside it, with a column of the same names: elastocal calibrate ROBOT export.txt poses.csv; or name "
            "both in a campaign file, by format: spatial-analyzer and join",
            code="spatial-analyzer", file=str(path),
        )  # fmt: skip
    skipped = 0 if header_line else titles_below(_likely_cells(top[:REMARKS]))
    above, title, below = top[skipped - 1] if skipped else None, top[skipped], top[skipped + 1 : skipped + 2]
    separator = separator_of(title[1], below[0][1] if below else "")
    header = split_line(path, title, separator)
    names, units = whole_titles(header, split_line(path, above, separator) if above else ())
    first = split_line(path, below[0], separator) if below else ()
    own = unit_cells(first) if len(first) == len(names) else None
    lines = lines.some(slice(skipped + 1 + (own is not None), None))
    cut = Cut(path, header, separator)
    lines, again = _without_titles(lines, text, path, (title[1], below[0][1]) if own else (title[1],))
    lines, ended = _without_end(lines, text, cut)
    numerals, *seen = numerals_of(("\n".join(part.texts(text)) for part in lines.parts()), separator)
    said = (*(below_note(path, title[0]) if skipped else ()), *numeral_notes(path, numerals, *seen))
    lines, remarks = _full(lines, text, cut)
    notes = (*file.notes, *said, *again, *remarks, *ended)
    for at in range(0, max(len(lines), 1), size or max(len(lines), 1)):
        rows = TextRows(file, lines.some(slice(at, at + (size or len(lines)))), cut, numerals)
        yield RawTable(path.as_posix(), names, rows, numerals, title[0], notes=notes, units=own or units)


def with_marked_titles(lines: Lines, text: str) -> Lines:
    """With the titles that stand as a remark (# A1_deg,...) right above rows of numbers, as NumPy writes them."""
    if not len(lines):
        return lines
    (number, first), *_ = lines.some(slice(0, 1)).numbered(text)
    above = text[: int(lines.starts[0])].splitlines()
    title = above[-1].strip().lstrip("# \t") if above and above[-1].lstrip().startswith("#") else ""
    sign = separator_of(first, first)
    rows = [[c.strip() for c in s.split(None if sign == " " else sign)] for s in (first, title)]
    numbers = [[finite_number(c.replace(",", ".")) is not None for c in row] for row in rows]
    alike = title and 2 * sum(numbers[0]) > len(rows[0]) == len(rows[1]) > 1
    if not alike or any(numbers[1]):
        return lines
    start = text.rindex(title, 0, int(lines.starts[0]))
    own = ((lines.numbers, number - 1), (lines.starts, start), (lines.ends, start + len(title)))
    return Lines(*(np.insert(values, 0, value) for values, value in own))


def _told(lines: Lines, text: str, header_line: int | None) -> Lines:
    """Without lines above the titles, where that is known, and without those that tell a spreadsheet the separator."""
    lines = lines.some(slice(int(np.searchsorted(lines.numbers, header_line or 0)), None))
    if "=" not in text or not _SEPARATES.search(text):
        return lines
    kept = [i for i, (_, s) in enumerate(lines.numbered(text)) if not _TOLD.fullmatch(s)]
    return lines.some(np.array(kept, dtype=np.int64))


def is_export(text: str) -> bool:
    """Whether a text begins as SpatialAnalyzer begins its exports: with remarks, and numbers below them, not titles."""
    if not text.lstrip().startswith("//"):
        return False
    first = next((s for s in text.splitlines() if s.strip() and not s.lstrip().startswith(REMARK_SIGNS)), "")
    words = re.split(r"[;\t,]" if re.search(r"[;\t,]", first) else r"\s+", first)
    return not first or any(finite_number(word.strip()) is not None for word in words)


def _without_titles(lines: Lines, text: str, path: Path, heads: tuple[str, ...]) -> tuple[Lines, tuple[str, ...]]:
    """The lines without titles and units that stand again between them, and a note on it."""
    alike = np.flatnonzero(np.isin(lines.ends - lines.starts, [len(head) for head in heads]))
    again = alike[[s in heads for s in lines.some(alike).texts(text)]] if len(alike) else alike
    kept = lines.some(np.setdiff1d(np.arange(len(lines)), again)) if len(again) else lines
    return kept, again_note(path, lines.numbers[again].tolist())


def _without_end(lines: Lines, text: str, cut: Cut) -> tuple[Lines, tuple[str, ...]]:
    """The lines without what stands below the readings, and a note on it."""
    end, left = len(lines), list[tuple[int, str]]()
    while end > 1:
        last = lines.some(slice(end - 1, end)).numbered(text)
        if not ends_table(split_line(cut.path, last[0], cut.separator), len(cut.header)):
            break
        end -= 1
        left += last
    words = [(n, s.split(cut.separator)[0]) for n, s in reversed(left) if s.strip(cut.separator + " ")]
    return lines.some(slice(0, end)), end_note(cut.path, words)


def _full(lines: Lines, text: str, cut: Cut) -> tuple[Lines, tuple[str, ...]]:
    """Lines with as many cells as there are columns, which the others are refused for, without those of empty cells and
    without remarks between them, and a note on these."""
    kept, width, sign = list[bool](), len(cut.header), cut.separator
    remarks, waiting = list[tuple[int, str]](), list[tuple[int, tuple[int, str]]]()

    def keep(line: tuple[int, str]) -> bool:
        if _is_remark(line, cut):
            waiting.append((len(kept), line))
            return False
        full = any(c.strip() for c in cut.cells(*line))
        if full:  # what follows a remark fits
            remarks.extend(remark for _, remark in waiting)
            waiting.clear()
        return full

    for part in lines.parts():
        cells = part.texts(text)
        counts = {len(s.split()) if sign == " " else s.count(sign) + 1 for s in cells}
        plain = cut.plainly(cells) is not None and counts == {width}
        several = (sign in s.strip(f"{sign} ") and s.replace(sign, " ").strip() for s in cells)
        if plain and not waiting and all(several):
            kept += [True] * len(cells)
        else:
            for line in part.numbered(text):
                kept.append(keep(line))
    for place, line in waiting:
        kept[place] = any(c.strip() for c in cut.cells(*line))
    return (lines if all(kept) else lines.some(np.flatnonzero(kept))), remarks_note(cut.path, remarks)


def _is_remark(line: tuple[int, str], cut: Cut) -> bool:
    cells = split_line(cut.path, line, cut.separator)
    if cut.separator == " " and not any(finite_number(c.replace(",", ".")) is not None for c in cells):
        cells = (" ".join(cells),)
    return is_remark(cells, len(cut.header))


def text_lines(path: Path, comment: str) -> list[tuple[int, str]]:
    """Numbered lines that are neither empty nor comments."""
    text = Text.of(path, None).whole()
    return lines_of(text, comment).numbered(text)


def whole_titles(header: Sequence[str], above: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Titles, and the units that titles of groups state above them; a title above an empty cell is that column's."""
    names, group, units = [], "", []
    for i, title in enumerate(header):
        over = above[i].strip() if i < len(above) else ""
        group = over or group
        names.append(title.strip() or over)
        units.append(unit_word(title_unit(group) or "") or "" if names[-1] != over else "")
    return tuple(names), tuple(units)


def end_note(path: Path, left: Sequence[tuple[int, str]]) -> tuple[str, ...]:
    message = ", ".join(f"{n} ({word.strip()!r})" for n, word in left)
    return (f"{path.name}: below the readings, and not used: line {message}.",) if left else ()


def remarks_note(path: Path, remarks: Sequence[tuple[int, str]]) -> tuple[str, ...]:
    message = ", ".join(f"{n} ({words.strip(' ,;' + chr(9))!r})" for n, words in remarks)
    return (f"{path.name}: remarks between the readings, and not used: line {message}.",) if remarks else ()


def again_note(path: Path, numbers: Sequence[int]) -> tuple[str, ...]:
    message = ", ".join(map(str, numbers))
    return (f"{path.name}: titles that stand again, and are left out: line {message}.",) if message else ()


def numeral_notes(path: Path, numerals: Numerals, lone: str, doubtful: str) -> tuple[str, ...]:
    if lone:
        return (f"{path.name}: {lone} is read as {numerals.plain(lone)}, by the other numbers of the table.",)
    if doubtful:
        message = f"{doubtful} is read as {numerals.plain(doubtful)}: the table has points and commas before decimals"
        return (f"{path.name}: {message}; check that thousands were not meant.",)
    return ()


def titles_below(rows: Sequence[Sequence[str]]) -> int:
    """How many rows stand above the titles: remarks of one or two cells, where a table of three or more follows.

    Titles of groups, which leave cells empty that are full in the row of titles below, stand above them too.
    """
    if sum(bool(c.strip()) for c in rows[0]) > 2:
        return int(_grouped(rows))
    for i, cells in enumerate(rows[:-1]):
        full = [c for c in cells if c.strip()]
        words = all(finite_number(c.strip().replace(",", ".")) is None for c in full)
        if len(full) > 2 and words and 2 < len(rows[i + 1]) <= len(cells):
            return i + int(_grouped(rows[i:]))
    return 0


def _grouped(rows: Sequence[Sequence[str]]) -> bool:
    if len(rows) < 3 or unit_cells(rows[1]) is not None:
        return False
    first, second = ([c.strip() for c in cells] for cells in rows[:2])
    first += [""] * (len(second) - len(first))
    words = all(finite_number(c.replace(",", ".")) is None for c in second if c)
    covered = all(a or b for a, b in zip(first, second, strict=False))
    return words and covered and sum(map(bool, first)) < sum(map(bool, second))


def below_note(path: Path, line: int) -> tuple[str, ...]:
    return (f"{path.name}: the titles are taken to stand in line {line}; what is above is not used.",)


def _likely_cells(lines: Sequence[tuple[int, str]]) -> list[list[str]]:
    """The first lines as cells, by the separator that most of them have."""
    top = [s for _, s in lines[:REMARKS]]
    most = max(";\t,", key=lambda c: sum(c in s for s in top))
    cells = (next(csv.reader([s], delimiter=most), []) for s in (top[0].rstrip(most + " "), *top[1:]))
    return [list(map(str.strip, row)) for row in cells]


def separator_of(header: str, below: str = "") -> str:
    """Semicolon, tab or comma; blanks where none of these is there and both lines have as many words."""
    separator = next((c for c in ";\t," if c in header), "")
    words = len(header.split())
    return separator or (" " if words > 2 and words == len(below.split()) else ",")
