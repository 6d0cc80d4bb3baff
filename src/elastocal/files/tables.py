"""CSV files of configurations: a header with units, one configuration per row, every complaint with its place.

    A1_deg,A2_deg,A3_deg,A4_deg,A5_deg,A6_deg,fz_N
    0,-90,90,0,30,0,-2500

Axes are the controller's; wrench columns (fx fy fz mx my mz) and a column ``name`` are optional.  Comma, semicolon
or tab separate; between semicolons or tabs a decimal comma is a decimal point.  Lines starting with # are skipped.
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
    from elastocal.spatial.entries import Array

WRENCH = ("fx", "fy", "fz", "mx", "my", "mz")
NAME = "name"


@dataclass(frozen=True)
class RawTable:
    """Cells as text, with the line of each row."""

    file: str
    header: tuple[str, ...]
    rows: tuple[tuple[int, tuple[str, ...]], ...]
    decimal_comma: bool


@dataclass(frozen=True, eq=False)
class ConfigurationTable:
    """Controller values (N, n) in rad and m, wrenches (N, 6) in SI or None, names, and each row's line."""

    file: str
    values: Array
    wrenches: Array | None
    names: tuple[str, ...] | None
    lines: tuple[int, ...]


@dataclass(frozen=True)
class _Field:
    """One column that is understood: which quantity, and its factor to SI."""

    place: int
    factor: float


def read_configurations(path: Path, axes: Mapping[str, str]) -> ConfigurationTable:
    """Configurations for controller ``axes``, each "revolute" or "prismatic", in the controller's order."""
    import numpy as np

    raw = read_csv(path)
    fields = _fields(raw, axes)
    missing = [a for a in axes if a not in fields]
    if missing:
        wanted = f"{missing[0]}_{'deg' if axes[missing[0]] == 'revolute' else 'mm'}"
        raise InputError(f"{raw.file}, line 1: there is no column for axis {missing[0]}; add {wanted}")
    if not raw.rows:
        raise InputError(f"{raw.file}: has a header and no configurations; add a row")
    values = np.array([[_number(raw, row, fields[a]) for a in axes] for row in raw.rows]).reshape(
        len(raw.rows), len(axes)
    )
    wrenches = None
    if any(w in fields for w in WRENCH):
        wrenches = np.array([[_number(raw, row, fields.get(w)) for w in WRENCH] for row in raw.rows])
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
    return RawTable(str(path), tuple(h.strip() for h in header), tuple(rows), separator != ",")


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


def _fields(raw: RawTable, axes: Mapping[str, str]) -> dict[str, _Field]:
    allowed: dict[str, Mapping[str, float]] = {a: ANGLE if k == "revolute" else LENGTH for a, k in axes.items()}
    allowed |= {w: FORCE if w[0] == "f" else MOMENT for w in WRENCH if w not in axes}
    found: dict[str, _Field] = {}
    for place, column in enumerate(raw.header):
        name, factor = (NAME, 1.0) if column == NAME and NAME not in axes else _understood(raw, column, allowed)
        if name in found:
            raise InputError(f"{raw.file}, line 1: column {column!r} gives {name} a second time; keep one")
        found[name] = _Field(place, factor)
    return found


def _understood(raw: RawTable, column: str, allowed: Mapping[str, Mapping[str, float]]) -> tuple[str, float]:
    where = f"{raw.file}, line 1"
    if column in allowed:
        choices = " or ".join(f"{column}_{u}" for u in allowed[column])
        raise InputError(f"{where}: column {column!r} has no unit; write {choices}")
    name, _, unit = column.rpartition("_")
    if name not in allowed:
        valid = [f"{a}_{next(iter(u)) if a in WRENCH else 'deg' if 'deg' in u else 'mm'}" for a, u in allowed.items()]
        raise UnknownNameError("column", column, [*valid, NAME], where)
    if unit not in allowed[name]:
        raise InputError(
            f"{where}: column {column!r}: unit {unit!r} does not fit {name}; use {', '.join(allowed[name])}"
        )
    return name, allowed[name][unit]


def _number(raw: RawTable, row: tuple[int, tuple[str, ...]], field: _Field | None) -> float:
    if field is None:
        return 0.0
    text = row[1][field.place].strip()
    plain = text.replace(",", ".") if raw.decimal_comma and text.count(",") == 1 and "." not in text else text
    where = f"{raw.file}, line {row[0]}, column {raw.header[field.place]}"
    try:
        value = float(plain.replace("_", "no digit"))
    except ValueError:
        said = "is empty" if not text else f"{text!r} is not a number"
        raise InputError(f"{where}: {said}; give a number") from None
    if not isfinite(value):
        raise InputError(f"{where}: {text!r} is not finite; give a number")
    return value * field.factor
