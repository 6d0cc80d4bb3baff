"""Tables of any format: cells with the place where each stands, and the columns that are understood.

Axes may be called otherwise than the robot calls them: ``A1_deg``, ``J1 [deg]``, ``theta1`` for the axis ``joint_1``.
The number decides.  It is that of the axis' own name where most names are alike but for numbers that count from one
(``rail, joint_1, joint_2``), else its place in the robot (``S, L, U``; names that count from zero; an elbow, a shoulder
and ``wrist_1``, ``wrist_2``, ``wrist_3``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from elastocal.errors import DuplicateError, MissingError, NumberError, UnitError, UnknownNameError
from elastocal.files.tables.rows import Line, TextRows, floats
from elastocal.files.tables.spelling import Numerals, not_read, plain_title, split_title, unit_word
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
        numbered = (
            f", or number them {name}1, {name}2 if they are of several markers" if name in ("x", "y", "z") else ""
        )
        text = f"{raw.top}: column {column!r} gives {name} a second time; keep one{numbered}"
        raise DuplicateError(text, value=(column, name))
    fields[name] = field


def columns_of(
    raw: RawTable, units: Mapping[str, Mapping[str, float]], words: Sequence[str] = (), required: Sequence[str] = (),
    known: Callable[[str], tuple[str, float] | None] = lambda column: None,
) -> dict[str, Field]:  # fmt: skip
    """Every column by its quantity, as one of ``words``, which have no unit, or as what ``known`` says that it is."""
    fields: dict[str, Field] = {}
    for place, column in enumerate(raw.header):
        word = (column, 1.0) if column in words and column not in units else known(column)
        name, factor = word or quantity_of(raw, column, units, words)
        add_once(raw, fields, name, Field(place, factor))
    check_columns(raw, fields, required, units)
    return fields


def check_columns(
    raw: RawTable, fields: Mapping[str, Field], required: Sequence[str], units: Mapping[str, Mapping[str, float]]
) -> None:
    for name in required:
        if name not in fields:
            title = _title(name, units[name]) if name in units else name
            raise MissingError(f"{raw.top}: there is no column for {name}; add {title}", value=name)


def check_rows(raw: RawTable, what: str = "rows") -> None:
    if not raw.rows:
        raise MissingError(f"{raw.file}: has a header and no {what}; add some", code="no-rows")


def _title(name: str, units: Mapping[str, float]) -> str:
    return f"{name}_{next((word for word in ('deg', 'mm') if word in units), next(iter(units)))}"


def quantity_of(
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
        valid = [*(_title(name, units) for name, units in allowed.items()), *others]
        raise UnknownNameError("column", column, valid, where)
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
    out = _plain_columns(raw, fields)
    for i, j in _doubtful(out):
        out[i, j] = si_number(raw, raw.rows[i], fields[j])
    return out


def si_readings(raw: RawTable, fields: Sequence[Field], skip: bool) -> Array:
    """The same, nan where nothing was read: refused, unless such cells are to be skipped."""
    out = _plain_columns(raw, fields)
    for i, j in _doubtful(out):
        text, where = cell(raw, raw.rows[i], fields[j])
        if not not_read(text):
            out[i, j] = si_number(raw, raw.rows[i], fields[j])
        elif not skip:
            message = f"{repr(text) if text else 'an empty cell'} is no reading"
            raise NumberError(f"{where}: {message}; give a number, or leave it out by missing: skip", code="no-reading")
    return out


def _plain_columns(raw: RawTable, fields: Sequence[Field]) -> Array:
    import numpy as np

    out = np.empty((len(raw.rows), len(fields)))
    for j, column in enumerate(fields):
        np.multiply(raw.numbers(column.place), column.factor, out=out[:, j])
    return out


def _doubtful(numbers: Array) -> list[list[int]]:
    """Cells that hold no plain number."""
    import numpy as np

    made: list[list[int]] = np.argwhere(np.isnan(numbers)).tolist()
    return made


def si_number(raw: RawTable, row: Line, field: Field) -> float:
    """The number in a cell, in SI."""
    text, where = cell(raw, row, field)
    plain = raw.numerals.plain(text)
    value = finite_number(plain)
    if value is None and (match := _WITH_UNIT.fullmatch(text)) is not None and (unit := unit_word(match[2])):
        value = finite_number(raw.numerals.plain(match[1]))
        if value is not None and (LENGTH | ANGLE | FORCE | MOMENT).get(unit, 1.0) != field.factor:
            raise UnitError(f"{where}: {text!r} is in another unit than its title says; give all in one", value=text)
    if value is None:
        message = f"{text!r} {why_no_number(plain)}" if text else "is empty"
        raise NumberError(f"{where}: {message}; give a number")
    return value * field.factor


_CALLED = r"(?:a|q|j|joint|joint_a|axis|theta|\u03b8|achse|gelenk|axe|eje|asse)[ _.]?([1-9]\d?)"
_WHOLE = re.compile(_CALLED, re.IGNORECASE)
_BEGUN = re.compile(rf"{_CALLED}(?=_|\Z)", re.IGNORECASE)
_LAST = re.compile(r"(\d+)\D*\Z")


def numbered_axis(word: str, axes: Sequence[str]) -> str | None:
    """The axis that ``A1`` or ``Joint 1`` is by its number; None for any other word, and where there is none."""
    match = _WHOLE.fullmatch(word.strip())
    return None if match is None else _of_number(int(match[1]), axes)


def _of_number(number: int, axes: Sequence[str]) -> str | None:
    own = {int(m[1]): axis for axis in axes if (m := _LAST.search(axis))}
    stems = {_LAST.sub("", axis) for axis in own.values()}
    if len(stems) == 1 and 2 * len(own) > len(axes) and sorted(own) == list(range(1, len(own) + 1)):
        return own.get(number)
    return axes[number - 1] if number <= len(axes) else None


def by_numbers(words: Iterable[str], axes: Sequence[str]) -> dict[str, str]:
    """Axes by the words that stand for them, where the words are as many numbered axes as the robot has; else none."""
    counted = [word for word in words if _WHOLE.fullmatch(word.strip())]
    axes_by_title = {word: axis for word in counted if (axis := numbered_axis(word, axes)) is not None}
    return (
        axes_by_title if sorted(axes_by_title.values()) == sorted(axes) and len(axes_by_title) == len(counted) else {}
    )


def with_axis_titles(raw: RawTable, axes: Sequence[str]) -> RawTable:
    """The table with the robot's names in its titles, where it has all axes by number and none by name; a note says so.

    ``A1_deg`` becomes ``joint_1_deg``, and ``A1_torque_Nm`` goes with it.
    """
    own = [t for t in raw.header if any(t == a or t.startswith(f"{a}_") for a in axes)]
    if own or not axes:
        return raw
    plain = {title: _plain(title) for title in raw.header}
    begun = {title: m[0] for title, p in plain.items() if (m := _BEGUN.match(p))}
    called = by_numbers(dict.fromkeys(begun.values()), axes)
    if not called:
        return raw
    new = {t: called[w] + plain[t][len(w) :] for t, w in begun.items()}
    note = f"{Path(raw.file).name}: {', '.join(f'{w} is axis {a}' for w, a in called.items())}."
    origins = raw.origins or tuple(Origin(raw.file, title) for title in raw.header)
    header = tuple(new.get(title, title) for title in raw.header)
    return replace(raw, header=header, origins=origins, notes=(*raw.notes, note))


def _plain(title: str) -> str:
    """``J1 [deg]`` as ``J1_deg``."""
    before, stated = split_title(title)
    unit = unit_word(stated) if stated else None
    return f"{before}_{unit}" if unit else title
