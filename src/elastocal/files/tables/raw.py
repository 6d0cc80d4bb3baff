"""Tables as text: cells with the place where each stands, and the columns that are understood.

Comma, semicolon, tab or blanks separate; numbers are written as ``numerals`` tells.  Lines starting with # are skipped,
a spreadsheet's line sep=;, empty rows, and means, sums and remarks below the last reading.  Units may stand in a line
of their own below the titles, or above them over groups of columns.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from elastocal.errors import (
    DuplicateError,
    FormatError,
    InputError,
    MissingError,
    NumberError,
    ShapeError,
    UnitError,
    UnknownNameError,
)
from elastocal.files.located import read_text
from elastocal.files.tables.numerals import Numerals, numerals_of
from elastocal.files.tables.titles import ends_table, plain_title, title_unit, unit_cells, unit_word
from elastocal.files.units import ANGLE, FORCE, LENGTH, MOMENT
from elastocal.untrusted import finite_number, finite_numbers, from_spreadsheet, why_no_number

if TYPE_CHECKING:
    from elastocal.spatial.entries import Array

_TOLD = re.compile(r'\s*"?sep=.?"?\s*', re.IGNORECASE)
"""What a spreadsheet puts before the header to tell the separator."""
Line = tuple[int, tuple[str, ...]]
"""A row: its line in the file, and its cells."""
WINDOWS = "cp1252"
_WITH_UNIT = re.compile(r"(.*\d[.,]?)\s*([^\d\s.,]\S*)")
"""A number with its unit in the same cell."""
REMARKS = 40
"""Lines in which titles are looked for."""


@dataclass(frozen=True)
class Origin:
    """Where a column was read, if not under its own name in the table's file.

    ``lines`` leads from a line of the table to the line there, where the two differ; ``top`` is where the column gets
    its name, if not where the table's own columns do.
    """

    file: str
    title: str
    lines: Mapping[int, int] | None = None
    top: str = ""


@dataclass(frozen=True)
class RawTable:
    """Cells as text, with the line of the header and of each row.

    ``named`` is the place where the columns get their names, if not the header; ``notes`` say what was assumed or left
    out, ``more`` are files that were read beside ``file``; ``called`` are the names that files give their points, by
    file and line; ``units`` are those of a line of units, by column.
    """

    file: str
    header: tuple[str, ...]
    rows: tuple[Line, ...]
    numerals: Numerals = Numerals()
    header_line: int = 1
    named: str = ""
    origins: tuple[Origin, ...] = ()
    notes: tuple[str, ...] = ()
    more: tuple[Path, ...] = ()
    called: Mapping[tuple[str, int], str] = field(default_factory=dict)
    units: tuple[str, ...] = ()

    @property
    def top(self) -> str:
        """``poses.csv, line 1``: where the columns are named."""
        return self.named or f"{self.file}, line {self.header_line}"

    def origin(self, place: int) -> Origin:
        return self.origins[place] if self.origins else Origin(self.file, self.header[place])

    def spot(self, row: Line, place: int) -> tuple[str, int]:
        """File and line where the cell of a row was read."""
        origin = self.origin(place)
        return origin.file, row[0] if origin.lines is None else origin.lines[row[0]]


@dataclass(frozen=True)
class Field:
    """One column that is understood: its place in the row, and its factor to SI."""

    place: int
    factor: float


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
            found = renamed_by(raw, layout)
            if found is not None:
                return with_units(found)
    return with_units(as_written(path, encoding, header_line, sheet))


def with_units(raw: RawTable) -> RawTable:
    """The table with its units in the titles that state none."""
    if not any(raw.units):
        return raw
    titles = tuple(f"{t} [{u}]" if u and _bare(t) else t for t, u in zip(raw.header, raw.units, strict=True))
    origins = tuple(raw.origin(i) for i in range(len(titles)))
    return replace(raw, header=titles, origins=origins, named=raw.top, units=())


def _bare(title: str) -> bool:
    return unit_word(title_unit(title) or "") is None and unit_word(title.rpartition("_")[2]) is None


def as_written(
    path: Path, encoding: str | None = None, header_line: int | None = None, sheet: str | None = None
) -> RawTable:
    """The same under the file's own titles."""
    return next(csv_parts(path, encoding, header_line, sheet))


def csv_parts(
    path: Path,
    encoding: str | None = None,
    header_line: int | None = None,
    sheet: str | None = None,
    size: int | None = None,
) -> Iterator[RawTable]:
    """The same in tables of ``size`` rows each, one at least: cells of a long CSV file need not be held at once."""
    if path.suffix.lower() in (".xlsx", ".xlsm"):
        from elastocal.files.tables.excel import read_excel

        yield read_excel(path, header_line, sheet)
        return
    if path.suffix.lower() in (".yaml", ".yml", ".json"):
        from elastocal.files.tables.records import read_records

        yield read_records(path)
        return
    text, letters = table_text(path, encoding)
    lines = [(n, s) for n, s in _lines(text, "#") if n >= (header_line or 0) and not _TOLD.fullmatch(s)]
    if not lines:
        raise MissingError(
            f"{path}: is empty; the first line names the columns with their units, for example A1_deg,A2_deg"
        )
    if lines[0][1].startswith("//"):
        raise InputError(
            f"{path}: seems to be an ASCII export of SpatialAnalyzer, which knows no joint values; give a table of "
            "them beside it, with a column of the same names: elastocal calibrate ROBOT export.txt poses.csv; or name "
            "both in a campaign file, by format: spatial-analyzer and join",
            code="spatial-analyzer", file=str(path),
        )  # fmt: skip
    skipped = 0 if header_line else titles_below(_likely_cells(lines))
    above = lines[skipped - 1] if skipped else None
    lines = lines[skipped:]
    separator = separator_of(lines[0][1], lines[1][1] if len(lines) > 1 else "")
    header = split_line(path, lines[0], separator)
    names, units = whole_titles(header, split_line(path, above, separator) if above else ())
    first = split_line(path, lines[1], separator) if len(lines) > 1 else ()
    own = unit_cells(first) if len(first) == len(names) else None
    top, lines = lines[0][0], lines[1 + (own is not None) :]
    lines, ended = _without_end(path, lines, separator, len(names))
    numerals, *seen = numerals_of("\n".join(s for _, s in lines), separator)
    notes = (*letters, *(below_note(path, top) if skipped else ()), *numeral_notes(path, numerals, *seen), *ended)
    for at in range(0, max(len(lines), 1), size or max(len(lines), 1)):
        some = (_cells(path, line, header, separator) for line in lines[at : at + (size or len(lines))])
        rows = tuple(row for row in some if any(c.strip() for c in row[1]))
        yield RawTable(path.as_posix(), names, rows, numerals, top, notes=notes, units=own or units)


def whole_titles(header: Sequence[str], above: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Titles, and the units that titles of groups state above them; a title above an empty cell is that column's."""
    names, group, units = [], "", []
    for i, title in enumerate(header):
        over = above[i].strip() if i < len(above) else ""
        group = over or group
        names.append(title.strip() or over)
        units.append(unit_word(title_unit(group) or "") or "" if names[-1] != over else "")
    return tuple(names), tuple(units)


def _without_end(
    path: Path, lines: list[tuple[int, str]], separator: str, width: int
) -> tuple[list[tuple[int, str]], tuple[str, ...]]:
    """The lines without what stands below the readings, and a note on it."""
    end = len(lines)
    while end > 1 and ends_table(split_line(path, lines[end - 1], separator), width):
        end -= 1
    left = [(n, s) for n, s in lines[end:] if s.strip(separator + " ")]
    return lines[:end], end_note(path, [(n, s.split(separator)[0]) for n, s in left])


def end_note(path: Path, left: Sequence[tuple[int, str]]) -> tuple[str, ...]:
    said = ", ".join(f"{n} ({word.strip()!r})" for n, word in left)
    return (f"{path.name}: below the readings, and not used: line {said}.",) if left else ()


def numeral_notes(path: Path, numerals: Numerals, lone: str, doubtful: str) -> tuple[str, ...]:
    if lone:
        return (f"{path.name}: {lone} is read as {numerals.plain(lone)}, by the other numbers of the table.",)
    if doubtful:
        said = f"{doubtful} is read as {numerals.plain(doubtful)}: the table has points and commas before decimals"
        return (f"{path.name}: {said}; check that thousands were not meant.",)
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


def _cells(path: Path, line: tuple[int, str], header: Sequence[str], separator: str) -> Line:
    cells = split_line(path, line, separator)
    while len(cells) > len(header) and not cells[-1].strip():
        cells = cells[:-1]
    if len(cells) != len(header):
        hint = _ragged(cells, header, separator)
        raise ShapeError(f"{path}, line {line[0]}: {len(cells)} cells for {len(header)} columns; {hint}")
    return line[0], cells


def table_text(path: Path, encoding: str | None = None) -> tuple[str, tuple[str, ...]]:
    """The text of a table; what is not UTF-8 is what Windows writes in Western Europe, with a note."""
    try:
        return read_text(path, encoding), ()
    except InputError as error:
        if error.code != "encoding" or encoding is not None:
            raise
        said = f"{path.name}: is not UTF-8; its letters are read as {WINDOWS}, unless encoding says otherwise."
        return read_text(path, WINDOWS), (said,)


def text_lines(path: Path, comment: str, encoding: str | None = None) -> list[tuple[int, str]]:
    """Numbered lines that are neither empty nor comments."""
    return _lines(table_text(path, encoding)[0], comment)


def _lines(text: str, comment: str) -> list[tuple[int, str]]:
    lines = enumerate(text.splitlines(), start=1)
    return [(n, s) for n, s in lines if s.strip() and not s.lstrip().startswith(comment)]


def separator_of(header: str, below: str = "") -> str:
    """Semicolon, tab or comma; blanks where none of these is there and both lines have as many words."""
    found = next((c for c in ";\t," if c in header), "")
    words = len(header.split())
    return found or (" " if words > 2 and words == len(below.split()) else ",")


def split_line(path: Path, line: tuple[int, str], separator: str) -> tuple[str, ...]:
    blanks = separator == " "
    text = line[1].strip() if blanks else line[1]
    try:
        cells = next(csv.reader([text], delimiter=separator, strict=True, skipinitialspace=blanks))
        return tuple(map(from_spreadsheet, cells))
    except csv.Error as error:
        raise FormatError(f"{path}, line {line[0]}: not readable as CSV ({error}); check the quotes") from None


def _ragged(cells: Sequence[str], header: Sequence[str], separator: str) -> str:
    if len(header) < 2:
        return "the titles seem to stand further down; 'elastocal columns ROBOT TABLE' finds them"
    if len(cells) < len(header):
        return f"the cell for {header[len(cells)].strip()} is missing; complete the line or leave it out"
    if separator == ",":
        return f"remove extra cell {cells[len(header)].strip()!r} (decimal commas need ; between the cells)"
    return f"remove extra cell {cells[len(header)].strip()!r}, or give its column a title"


def add_once(raw: RawTable, found: dict[str, Field], name: str, field: Field) -> None:
    if name in found:
        column = raw.header[field.place]
        raise DuplicateError(f"{raw.top}: column {column!r} gives {name} a second time; keep one", value=(column, name))
    found[name] = field


def understood(
    raw: RawTable, column: str, allowed: Mapping[str, Mapping[str, float]], others: Sequence[str]
) -> tuple[str, float]:
    """Quantity and factor to SI of a column ``quantity_unit`` or ``Quantity [unit]``.

    ``others`` are columns without a unit, for advice.
    """
    where, column = raw.top, plain_title(column, allowed)
    if column in allowed:
        choices = " or ".join(f"{column}_{u}" for u in allowed[column])
        raise UnitError(f"{where}: column {column!r} has no unit; write {choices}", value=column)
    name, _, unit = column.rpartition("_")
    if name not in allowed:
        valid = [f"{a}_{next((w for w in ('deg', 'mm') if w in u), next(iter(u)))}" for a, u in allowed.items()]
        raise UnknownNameError("column", column, [*valid, *others], where)
    if unit not in allowed[name]:
        raise UnitError(
            f"{where}: column {column!r}: unit {unit!r} does not fit {name}; use {', '.join(allowed[name])}",
            value=(column, unit, name),
        )
    return name, allowed[name][unit]


def cell(raw: RawTable, row: Line, field: Field) -> tuple[str, str]:
    """The text of a cell, and where it stands."""
    file, line = raw.spot(row, field.place)
    return row[1][field.place].strip(), f"{file}, line {line}, column {raw.origin(field.place).title}"


def si_columns(raw: RawTable, fields: Sequence[Field]) -> Array:
    """The numbers (N, len) of columns, in SI: column by column where all are plain numbers, else cell by cell."""
    import numpy as np

    out = np.empty((len(raw.rows), len(fields)))
    for j, column in enumerate(fields):
        numbers = plain_column(raw, column)
        if numbers is None:
            cells = [[si_number(raw, row, f) for f in fields] for row in raw.rows]
            return np.array(cells).reshape(len(raw.rows), len(fields))
        out[:, j] = numbers
    return out


def plain_column(raw: RawTable, field: Field) -> Array | None:
    """The numbers (N,) of a column, in SI; None where a cell says more than a number."""
    import numpy as np

    numbers = None if raw.numerals.dots else finite_numbers([cells[field.place] for _, cells in raw.rows])
    return None if numbers is None else np.array(numbers, dtype=np.float64) * field.factor


def si_number(raw: RawTable, row: Line, field: Field) -> float:
    """The number in a cell, in SI."""
    text, where = cell(raw, row, field)
    plain = raw.numerals.plain(text)
    value = finite_number(plain)
    if value is None and (found := _WITH_UNIT.fullmatch(text)) is not None and (unit := unit_word(found[2])):
        value = finite_number(raw.numerals.plain(found[1]))
        if value is not None and (LENGTH | ANGLE | FORCE | MOMENT)[unit] != field.factor:
            raise UnitError(f"{where}: {text!r} is in another unit than its title says; give all in one", value=text)
    if value is None:
        said = f"{text!r} {why_no_number(plain)}" if text else "is empty"
        raise NumberError(f"{where}: {said}; give a number")
    return value * field.factor
