"""CSV files of configurations: a header with units, one configuration per row, every complaint with its place.

    A1_deg,A2_deg,A3_deg,A4_deg,A5_deg,A6_deg,fz_N
    0,-90,90,0,30,0,-2500

Axes are the controller's, or all of them by their motors: A1_counts, A1_motor_deg (``elastocal.files.motor_columns``).
Wrench columns (fx fy fz mx my mz) and a column ``name`` are optional.  Comma, semicolon or tab separate; between
semicolons or tabs a decimal comma is a decimal point.  Lines starting with # are skipped.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING

from elastocal.errors import InputError, UnknownNameError
from elastocal.files.located import read_text
from elastocal.files.units import ANGLE, FORCE, LENGTH, MOMENT

if TYPE_CHECKING:
    from elastocal.model.drives import Drives
    from elastocal.spatial.entries import Array

WRENCH = ("fx", "fy", "fz", "mx", "my", "mz")
NAME = "name"


@dataclass(frozen=True)
class RawTable:
    """Cells as text, with the line of the header and of each row."""

    file: str
    header: tuple[str, ...]
    rows: tuple[tuple[int, tuple[str, ...]], ...]
    decimal_comma: bool
    header_line: int = 1

    @property
    def top(self) -> str:
        """``poses.csv, line 1``: where the columns are named."""
        return f"{self.file}, line {self.header_line}"


@dataclass(frozen=True, eq=False)
class ConfigurationTable:
    """Controller values (N, n) in rad and m, wrenches (N, 6) in SI or None, names, and each row's line."""

    file: str
    values: Array
    wrenches: Array | None
    names: tuple[str, ...] | None
    lines: tuple[int, ...]


@dataclass(frozen=True)
class Field:
    """One column that is understood: its place in the row, and its factor to SI."""

    place: int
    factor: float


def read_configurations(path: Path, axes: Mapping[str, str], drives: Drives | None = None) -> ConfigurationTable:
    """Configurations for controller ``axes``, each "revolute" or "prismatic", in the controller's order."""
    raw = read_csv(path)
    return configurations(raw, _fields(raw, axes), axes, drives)


def configurations(
    raw: RawTable, fields: Mapping[str, Field], axes: Mapping[str, str], drives: Drives | None = None
) -> ConfigurationTable:
    """The columns of axes (or of their ``drives``), wrenches and names among ``fields``."""
    import numpy as np

    from elastocal.files.motor_columns import by_motors, motor_values

    driven = by_motors(raw, fields, axes)
    missing = [a for a in axes if a not in (*fields, *driven)]
    if missing:
        wanted = f"{missing[0]}_{'counts' if driven else 'deg' if axes[missing[0]] == 'revolute' else 'mm'}"
        raise InputError(f"{raw.top}: there is no column for axis {missing[0]}; add {wanted}")
    if not raw.rows:
        raise InputError(f"{raw.file}: has a header and no configurations; add a row")
    if driven:
        values = motor_values(raw, driven, axes, drives)
    else:
        values = np.array([[number(raw, row, fields[a]) for a in axes] for row in raw.rows]).reshape(
            len(raw.rows), len(axes)
        )
    wrenches = None
    if any(w in fields for w in WRENCH):
        at = [fields.get(w) for w in WRENCH]
        wrenches = np.array([[0.0 if f is None else number(raw, row, f) for f in at] for row in raw.rows])
    names = tuple(cells[fields[NAME].place].strip() for _, cells in raw.rows) if NAME in fields else None
    return ConfigurationTable(raw.file, values, wrenches, names, tuple(line for line, _ in raw.rows))


def read_csv(path: Path) -> RawTable:
    """Header and cells of a CSV file; ragged rows are refused."""
    text = read_text(path)
    lines = [(n, s) for n, s in enumerate(text.splitlines(), start=1) if s.strip() and not s.lstrip().startswith("#")]
    if not lines:
        raise InputError(
            f"{path}: is empty; the first line names the columns with their units, for example A1_deg,A2_deg"
        )
    separator = next((c for c in ";\t" if c in lines[0][1]), ",")
    header = _split(path, lines[0], separator)
    rows = []
    for line, content in lines[1:]:
        cells = _split(path, (line, content), separator)
        while len(cells) > len(header) and not cells[-1].strip():
            cells = cells[:-1]
        if len(cells) != len(header):
            hint = _ragged(cells, header, separator)
            raise InputError(f"{path}, line {line}: {len(cells)} cells for {len(header)} columns; {hint}")
        rows.append((line, cells))
    return RawTable(str(path), tuple(h.strip() for h in header), tuple(rows), separator != ",", lines[0][0])


def _ragged(cells: Sequence[str], header: Sequence[str], separator: str) -> str:
    if len(cells) < len(header):
        return f"the cell for {header[len(cells)].strip()} is missing"
    if separator == ",":
        return f"extra cell {cells[len(header)].strip()!r} (decimal commas need ; between the cells)"
    return f"extra cell {cells[len(header)].strip()!r}"


def _split(path: Path, line: tuple[int, str], separator: str) -> tuple[str, ...]:
    try:
        return tuple(next(csv.reader([line[1]], delimiter=separator, strict=True)))
    except csv.Error as error:
        raise InputError(f"{path}, line {line[0]}: not readable as CSV ({error}); check the quotes") from None


def allowed_units(axes: Mapping[str, str]) -> dict[str, Mapping[str, float]]:
    """Units of the columns of axes and wrenches."""
    units: dict[str, Mapping[str, float]] = {a: ANGLE if k == "revolute" else LENGTH for a, k in axes.items()}
    return units | {w: FORCE if w[0] == "f" else MOMENT for w in WRENCH if w not in axes}


def _fields(raw: RawTable, axes: Mapping[str, str]) -> dict[str, Field]:
    from elastocal.files.motor_columns import motor_column

    allowed = allowed_units(axes)
    found: dict[str, Field] = {}
    for place, column in enumerate(raw.header):
        motor = motor_column(raw, column, axes)
        named = (NAME, 1.0) if column == NAME and NAME not in axes else motor
        known = named or understood(raw, column, allowed, (NAME,))
        add_once(raw, found, known[0], Field(place, known[1]))
    return found


def add_once(raw: RawTable, found: dict[str, Field], name: str, field: Field) -> None:
    if name in found:
        column = raw.header[field.place]
        raise InputError(f"{raw.top}: column {column!r} gives {name} a second time; keep one")
    found[name] = field


def understood(
    raw: RawTable, column: str, allowed: Mapping[str, Mapping[str, float]], others: Sequence[str]
) -> tuple[str, float]:
    """Quantity and factor to SI of a column ``quantity_unit``; ``others`` are columns without a unit, for advice."""
    where = raw.top
    if column in allowed:
        choices = " or ".join(f"{column}_{u}" for u in allowed[column])
        raise InputError(f"{where}: column {column!r} has no unit; write {choices}")
    name, _, unit = column.rpartition("_")
    if name not in allowed:
        valid = [f"{a}_{next((w for w in ('deg', 'mm') if w in u), next(iter(u)))}" for a, u in allowed.items()]
        raise UnknownNameError("column", column, [*valid, *others], where)
    if unit not in allowed[name]:
        raise InputError(
            f"{where}: column {column!r}: unit {unit!r} does not fit {name}; use {', '.join(allowed[name])}"
        )
    return name, allowed[name][unit]


def cell(raw: RawTable, row: tuple[int, tuple[str, ...]], field: Field) -> tuple[str, str]:
    """The text of a cell, and where it stands."""
    return row[1][field.place].strip(), f"{raw.file}, line {row[0]}, column {raw.header[field.place]}"


def number(raw: RawTable, row: tuple[int, tuple[str, ...]], field: Field) -> float:
    """The number in a cell, in SI."""
    text, where = cell(raw, row, field)
    plain = text.replace(",", ".") if raw.decimal_comma and text.count(",") == 1 and "." not in text else text
    try:
        value = float(plain.replace("_", "no digit"))
    except ValueError:
        said = "is empty" if not text else f"{text!r} is not a number"
        raise InputError(f"{where}: {said}; give a number") from None
    if not isfinite(value):
        raise InputError(f"{where}: {text!r} is not finite; give a number")
    return value * field.factor
