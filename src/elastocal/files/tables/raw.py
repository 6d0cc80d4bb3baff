"""Tables of any format: cells with the place where each stands, and the columns that are understood."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from elastocal.errors import DuplicateError, NumberError, UnitError, UnknownNameError
from elastocal.files.tables.numerals import Numerals
from elastocal.files.tables.rows import Line, TextRows, floats
from elastocal.files.tables.titles import plain_title, unit_word
from elastocal.files.units import ANGLE, FORCE, LENGTH, MOMENT
from elastocal.untrusted import finite_number, why_no_number
from elastocal.values import dataclass

if TYPE_CHECKING:
    from elastocal.spatial.entries import Array, Ints

_WITH_UNIT = re.compile(r"(.*\d[.,]?)\s*([^\d\s.,]\S*)")
"""A number with its unit in the same cell."""


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
    rows: Sequence[Line]
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

    def spot(self, line: int, place: int) -> tuple[str, int]:
        """File and line where the cell of a row was read, which stands in ``line`` of the table."""
        origin = self.origin(place)
        return origin.file, line if origin.lines is None else origin.lines[line]

    @property
    def lines(self) -> Ints:
        """The line (N,) of every row."""
        import numpy as np

        if isinstance(self.rows, TextRows):
            return self.rows.lines.numbers
        return np.array([line for line, _ in self.rows], dtype=np.int64)

    def texts(self, place: int) -> list[str]:
        """The words of a column."""
        if isinstance(self.rows, TextRows):
            return self.rows.texts(place)
        return [cells[place].strip() for _, cells in self.rows]

    def numbers(self, place: int) -> Array:
        """The numbers (N,) of a column as they stand there, nan where a cell is more than a number."""
        if isinstance(self.rows, TextRows):
            return self.rows.numbers[:, place]
        return floats([cells[place] for _, cells in self.rows], self.numerals)

    def picked(self, places: Sequence[int]) -> Sequence[Line]:
        """The rows with some of the columns."""
        if isinstance(self.rows, TextRows):
            return self.rows.picked(places)
        return tuple((line, tuple(cells[p] for p in places)) for line, cells in self.rows)

    def released(self) -> RawTable:
        """The same without a long text: what is asked of it once more is read again."""
        return replace(self, rows=self.rows.released()) if isinstance(self.rows, TextRows) else self


@dataclass(frozen=True)
class Field:
    """One column that is understood: its place in the row, and its factor to SI."""

    place: int
    factor: float


def add_once(raw: RawTable, fields: dict[str, Field], name: str, field: Field) -> None:
    if name in fields:
        column = raw.header[field.place]
        raise DuplicateError(f"{raw.top}: column {column!r} gives {name} a second time; keep one", value=(column, name))
    fields[name] = field


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
    file, line = raw.spot(row[0], field.place)
    return row[1][field.place].strip(), f"{file}, line {line}, column {raw.origin(field.place).title}"


def si_columns(raw: RawTable, fields: Sequence[Field]) -> Array:
    """The numbers (N, len) of columns, in SI."""
    import numpy as np

    out = np.empty((len(raw.rows), len(fields)))
    for j, column in enumerate(fields):
        np.multiply(raw.numbers(column.place), column.factor, out=out[:, j])
    for i, j in np.argwhere(np.isnan(out)).tolist():
        out[i, j] = si_number(raw, raw.rows[i], fields[j])
    return out


def si_number(raw: RawTable, row: Line, field: Field) -> float:
    """The number in a cell, in SI."""
    text, where = cell(raw, row, field)
    plain = raw.numerals.plain(text)
    value = finite_number(plain)
    if value is None and (match := _WITH_UNIT.fullmatch(text)) is not None and (unit := unit_word(match[2])):
        value = finite_number(raw.numerals.plain(match[1]))
        if value is not None and (LENGTH | ANGLE | FORCE | MOMENT)[unit] != field.factor:
            raise UnitError(f"{where}: {text!r} is in another unit than its title says; give all in one", value=text)
    if value is None:
        message = f"{text!r} {why_no_number(plain)}" if text else "is empty"
        raise NumberError(f"{where}: {message}; give a number")
    return value * field.factor
