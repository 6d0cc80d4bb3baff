"""Excel workbooks (.xlsx, .xlsm) as tables, in and out, by openpyxl.

A sheet is read like a text table: the first row that is not empty and no remark names the columns, and rows count as
the spreadsheet counts them.  Values count, not formulas; numbers that are typed as text are understood by each other,
as ``numerals`` tells, cells that are numbers are what they are.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

from elastocal.errors import ExtraMissingError, InputError, MissingError, UnknownNameError
from elastocal.files.opened import read_bytes
from elastocal.files.tables.csv_file import (
    REMARK_SIGNS,
    REMARKS,
    again_note,
    below_note,
    end_note,
    numeral_notes,
    remarks_note,
    titles_below,
    whole_titles,
)
from elastocal.files.tables.raw import RawTable
from elastocal.files.tables.rows import Line
from elastocal.files.tables.spelling import FAULTS, Numerals, ends_table, is_remark, numerals_of, unit_cells
from elastocal.untrusted import spreadsheet_cell

LARGEST = 512 << 20
"""Bytes of a workbook when unpacked."""
LONGEST = 10_000
"""Rows that one merged cell may stand for."""
WHOLE = 64 << 20
"""Up to so many a workbook is held as a whole, with what is known of merged cells."""
Rows = list[tuple[int, list[str]]]
_LONE = re.compile(r"\A-?[1-9]\d{0,2}\.\d{3}\Z", re.A)
_JOINT = re.compile(r"(?:achse|gelenk|axis|joint|theta|[ajq])[ _.]?\d(?!\d)", re.I)
_NUMBER = re.compile(r"[-+]?\d+(?:[.,]\d*)?(?:e[-+]?\d+)?", re.I | re.A)
STAMP = datetime(2000, 1, 1)
"""Workbooks hold the time of their making; the same table shall make the same bytes."""


class Typed(str):
    """A cell that is text, whatever it looks like."""


def read_excel(path: Path, header_line: int | None = None, sheet: str | None = None) -> RawTable:
    """One sheet, by default the only one with joints, or with numbers, else the first that is not empty.

    Rows before ``header_line`` are skipped.
    """
    book = _book(path)
    try:
        names = book.sheetnames
        if sheet is not None and sheet not in names:
            raise UnknownNameError("sheet", sheet, names, str(path))
        read = {name: _rows(book[name], header_line or 0) for name in ([sheet] if sheet is not None else names)}
        tables = {name: _from_titles(rows, header_line) for name, rows in read.items() if rows}
        if tables:
            name = _chosen(tables)
            below = len(read[name]) - len(tables[name])
            above = read[name][below - 1][1] if below else ()
            table = _table(path, tables[name], above, name, names)
            return replace(table, notes=(*table.notes, *below_note(path, table.header_line))) if below else table
    finally:
        book.close()
    raise MissingError(
        f"{path}: {f'sheet {sheet!r}' if sheet else 'every sheet'} is empty; the first row names the columns with "
        "their units, for example A1_deg, A2_deg",
        file=str(path),
    )


def _from_titles(rows: Rows, header_line: int | None) -> Rows:
    return rows if header_line else rows[titles_below([cells for _, cells in rows[:REMARKS]]) :]


def _chosen(tables: Mapping[str, Rows]) -> str:
    """The only sheet with joints in its titles, else with rows of numbers: covers are passed over; else the first."""
    jointed = [name for name, rows in tables.items() if sum(bool(_JOINT.match(c)) for c in rows[0][1]) > 1]
    numbers = [name for name, rows in tables.items() if any(_numbers(cells) > 2 for _, cells in rows[1:])]
    sheets = jointed or numbers
    return sheets[0] if len(sheets) == 1 else next(iter(tables))


def _numbers(cells: Sequence[str]) -> int:
    return sum(bool(_NUMBER.fullmatch(c)) for c in cells)


def _book(path: Path) -> Any:
    data = read_bytes(path)
    try:
        from openpyxl import load_workbook
    except ImportError:
        raise ExtraMissingError.needed(
            f"{path}: reading Excel needs openpyxl", "formats", "save the sheet as .csv", file=str(path)
        ) from None
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            size = sum(entry.file_size for entry in packed.infolist())
        if size > LARGEST:
            raise InputError(f"{path}: unpacks to more than {LARGEST >> 20} MiB; split it", code="too-large")
        return load_workbook(io.BytesIO(data), read_only=size > WHOLE, data_only=True)
    except InputError:
        raise
    except Exception as error:
        raise InputError(
            f"{path}: is no readable Excel workbook ({type(error).__name__}); save it as .xlsx again, or as .csv",
            code="not-excel",
            file=str(path),
        ) from None


def _rows(sheet: Any, first: int) -> list[tuple[int, list[str]]]:
    out, merged = [], _merged(sheet)
    for number, cells in enumerate(sheet.iter_rows(values_only=True), start=1):
        words = [_text(merged.get((number, i), value)) for i, value in enumerate(cells, start=1)]
        while words and not words[-1]:
            words.pop()
        remark = bool(words) and words[0].startswith(REMARK_SIGNS) and not words[0].startswith(FAULTS)
        if number >= first and any(words) and not remark:
            out.append((number, words))
    return out


def _merged(sheet: Any) -> dict[tuple[int, int], Any]:
    """Values of cells that are merged with one above them, by row and column; one over several columns is a title."""
    ranges = getattr(getattr(sheet, "merged_cells", None), "ranges", ())
    return {
        (row, area.min_col): sheet.cell(area.min_row, area.min_col).value
        for area in ranges
        if area.min_col == area.max_col and area.max_row - area.min_row < LONGEST
        for row in range(area.min_row + 1, area.max_row + 1)
    }


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    return Typed(str(value).strip())


def _numerals(path: Path, body: list[Line]) -> tuple[list[Line], Numerals, tuple[str, ...]]:
    """How numbers are written that were typed as text, and what is said of those that may mean two things.

    Cells that are numbers get a further zero where they look like thousands beside such texts.
    """
    numerals, *seen = numerals_of(["\n".join(c for _, cells in body for c in cells if isinstance(c, Typed))], ";")
    notes = numeral_notes(path, numerals, *seen)
    odd = [(n, c) for n, cells in body for c in cells if not isinstance(c, Typed) and _LONE.fullmatch(c)]
    if not numerals.dots or not odd:
        return body, numerals, notes
    row, number = odd[0]
    message = f"texts have points between thousands; {number} in row {row} is a number, which is taken as it is"
    rows = [(n, tuple(c if isinstance(c, Typed) else _LONE.sub(r"\g<0>0", c) for c in cells)) for n, cells in body]
    return rows, numerals, (*notes, f"{path.name}: {message}: check that thousands were not meant.")


def _table(path: Path, rows: Rows, above: Sequence[str], sheet: str, names: Sequence[str]) -> RawTable:
    (header_line, titles), rest = rows[0], list(rows[1:])
    header, units = whole_titles(titles, above)
    width = len(header)
    own = unit_cells([*rest[0][1], *[""] * (width - len(rest[0][1]))]) if rest and len(rest[0][1]) <= width else None
    heads = [list(titles), rest[0][1]] if own is not None else [list(titles)]
    again = [n for n, words in rest[own is not None :] if words in heads]
    rest = [(n, words) for n, words in rest[own is not None :] if words not in heads]
    body: list[Line] = []
    left: list[tuple[int, str]] = []
    while len(rest) > 1 and ends_table(rest[-1][1], width):
        number, words = rest.pop()
        left.insert(0, (number, next(w for w in words if w)))
    last = rest[-1][0] if rest else 0
    remarks = [(n, " ".join(words).strip()) for n, words in rest if n < last and is_remark(words, width)]
    for number, words in rest:
        if number in dict(remarks):
            continue
        if len(words) > width:
            message = f"row {number} of sheet {sheet!r} has {len(words)} cells for {width} columns"
            raise MissingError(
                f"{path}: {message}; give the last ones a title, or empty them", code="ragged", file=str(path),
                line=number, value=len(words),
            )  # fmt: skip
        body.append((number, (*words, *[""] * (width - len(words)))))
    body, numerals, told = _numerals(path, body)
    notes = (f"{path.name}: sheet {sheet!r} is read, of {', '.join(names)}.",) if len(names) > 1 else ()
    notes = (*notes, *told, *again_note(path, again), *remarks_note(path, remarks), *end_note(path, left))
    return RawTable(path.as_posix(), header, tuple(body), numerals, header_line, notes=notes, units=own or units)


def excel_bytes(header: Sequence[str], rows: Sequence[Sequence[object]]) -> bytes:
    """A workbook with one sheet; numbers stay numbers, texts never become formulas, equal tables are equal bytes."""
    try:
        from openpyxl import Workbook
    except ImportError:
        raise ExtraMissingError.needed("writing Excel needs openpyxl", "formats", "name a .csv file") from None
    book = Workbook()
    page = book.active
    page.title = "table"
    for row in (header, *rows):
        page.append([_value(cell) for cell in row])
    page.freeze_panes = "A2"
    book.properties.created = book.properties.modified = STAMP
    out = io.BytesIO()
    book.save(out)
    return _same_times(out.getvalue())


def _value(cell: object) -> object:
    if isinstance(cell, str):
        try:
            return float(cell) if cell.strip() and "_" not in cell else cell
        except ValueError:
            return spreadsheet_cell(cell)
    return cell


def _same_times(data: bytes) -> bytes:
    """The workbook with the times of its parts, and of its saving, set to ``STAMP``."""
    out = io.BytesIO()
    stamp = STAMP.strftime("%Y-%m-%dT%H:%M:%SZ").encode()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for entry in old.infolist():
            content = old.read(entry.filename)
            if entry.filename == "docProps/core.xml":
                content = re.sub(rb"\d{4}-\d\d-\d\dT[\d:]+Z", stamp, content)
            new.writestr(zipfile.ZipInfo(entry.filename, STAMP.timetuple()[:6]), content)
    return out.getvalue()
