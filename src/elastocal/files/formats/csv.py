"""Any table with titles, by a list of what its columns are.

    table: {file: log.csv, columns: {A1_deg: Achse 1, x: "X [mm]", fz_N: Kraft}}

The unit of a column stands with its name here (``A1_deg``), in its title (``X [mm]``), or in a line of units below.
Without ``columns`` the titles are the names.
"""

from __future__ import annotations

from dataclasses import field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import ClassVar

from elastocal.errors import DuplicateError, MissingError, RangeError, UnitError
from elastocal.files.formats.format import WORDS, Asked, TableFormat
from elastocal.files.tables.csv_file import as_written, read_csv
from elastocal.files.tables.raw import Origin, RawTable
from elastocal.files.tables.spelling import title_unit, unit_word
from elastocal.files.units import unit_is_of
from elastocal.values import dataclass

PLAIN = (*WORDS, "object")


@dataclass(frozen=True, kw_only=True)
class CsvTable(TableFormat):
    """``columns`` leads from Elastocal's names to titles of the file; lines count from 1; ``sheet`` is one of Excel."""

    kind: ClassVar[str] = "csv"
    columns: dict[str, str] = field(default_factory=dict)
    header_line: int | None = None
    units_line: int | None = None
    encoding: str | None = None
    sheet: str | None = None

    def read(self, file: Path, asked: Asked) -> RawTable:
        read = as_written if self.columns or self.units_line else read_csv
        raw = read(file, self.encoding, self.header_line, self.sheet)
        if self.header_line not in (None, raw.header_line):
            raise asked.error(("header_line",), f"line {self.header_line} of {file} is empty or a remark", MissingError)
        raw, stated = self._units(raw, asked)
        if not self.columns and self.units_line is None:
            return raw
        chosen = self.columns or {title: title for title in raw.header}
        places = {name: _place(raw, title, asked, name) for name, title in chosen.items()}
        header = tuple(_with_unit(name, raw.header[p], stated[p], asked) for name, p in places.items())
        unused = [title for i, title in enumerate(raw.header) if i not in places.values() and title]
        notes = (f"{file.name}: not used: {', '.join(unused)}.",) if unused else ()
        return replace(
            raw, units=(), header=header, rows=raw.picked(tuple(places.values())),
            named=asked.where("columns" if self.columns else "units_line"),
            origins=tuple(Origin(raw.file, raw.header[p]) for p in places.values()), notes=(*raw.notes, *notes),
        )  # fmt: skip

    def _units(self, raw: RawTable, asked: Asked) -> tuple[RawTable, tuple[str, ...]]:
        """The table without its line of units, and the units it states, "" where none."""
        below = raw.rows[0][0] if raw.rows else 0
        if self.units_line is None or (any(raw.units) and raw.header_line < self.units_line < below):
            return raw, raw.units or ("",) * len(raw.header)
        if not raw.rows or raw.rows[0][0] != self.units_line:
            raise asked.error(
                ("units_line",), f"{self.units_line} must be the line below the titles of {raw.file}", RangeError
            )
        stated = tuple(text.strip().strip("[]()").strip() for text in raw.rows[0][1])
        return replace(raw, rows=raw.rows[1:]), stated


def _place(raw: RawTable, title: str, asked: Asked, name: str) -> int:
    places = [i for i, t in enumerate(raw.header) if t == title.strip()]
    if len(places) == 1:
        return places[0]
    if places:
        raise asked.error(
            ("columns", name),
            f"{raw.top} has {len(places)} columns {title!r}; give them titles of their own",
            DuplicateError,
        )
    near = get_close_matches(title, raw.header, 1, 0.4)
    hint = f"did you mean {near[0]!r}? " if near else ""
    raise asked.error(
        ("columns", name), f"{raw.top} has no column {title!r}; {hint}it has {', '.join(raw.header)}", MissingError
    )


def _with_unit(name: str, title: str, stated: str, asked: Asked) -> str:
    """The name with its unit: its own, or that of the title or of the line of units; two must agree."""
    if name in PLAIN:
        return name
    unit = title_unit(title) or stated
    theirs = unit_word(unit) if unit else None
    own = name.rpartition("_")[2] if "_" in name else ""
    if unit_is_of(own) is None:
        return f"{name}_{theirs or unit}" if unit else name
    if theirs not in (None, own):
        raise asked.error(
            ("columns", name),
            f"{title!r} is in {unit}, as the file says, not in {own}; correct one of the two",
            UnitError,
        )
    return name
