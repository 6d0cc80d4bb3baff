"""CSV files of configurations: a header with units, one configuration per row, every complaint with its place.

    A1_deg,A2_deg,A3_deg,A4_deg,A5_deg,A6_deg,fz_N
    0,-90,90,0,30,0,-2500

Axes are the controller's, or all of them by their motors: A1_counts, A1_motor_deg (``tables.motor_columns``).
Wrench columns (fx fy fz mx my mz) and a column ``name`` are optional; ``tables.raw`` says how lines are
split into cells.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from elastocal.errors import InputError
from elastocal.files.tables.raw import Field, RawTable, add_once, read_csv, si_number, understood
from elastocal.files.units import ANGLE, FORCE, LENGTH, MOMENT

if TYPE_CHECKING:
    from elastocal.model.drives import Drives
    from elastocal.spatial.entries import Array

WRENCH = ("fx", "fy", "fz", "mx", "my", "mz")
NAME = "name"


@dataclass(frozen=True, eq=False)
class ConfigurationTable:
    """Controller values (N, n) in rad and m, wrenches (N, 6) in SI or None, names, and each row's line."""

    file: str
    values: Array
    wrenches: Array | None
    names: tuple[str, ...] | None
    lines: tuple[int, ...]


def read_configurations(path: Path, axes: Mapping[str, str], drives: Drives | None = None) -> ConfigurationTable:
    """Configurations for controller ``axes``, each "revolute" or "prismatic", in the controller's order."""
    raw = read_csv(path)
    return configurations(raw, _fields(raw, axes), axes, drives)


def configurations(
    raw: RawTable, fields: Mapping[str, Field], axes: Mapping[str, str], drives: Drives | None = None
) -> ConfigurationTable:
    """The columns of axes (or of their ``drives``), wrenches and names among ``fields``."""
    import numpy as np

    from elastocal.files.tables.motor_columns import by_motors, motor_values

    driven = by_motors(raw, fields, axes)
    missing = [a for a in axes if a not in (*fields, *driven)]
    if missing:
        wanted = f"{missing[0]}_{'counts' if driven else 'deg' if axes[missing[0]] == 'revolute' else 'mm'}"
        top = _top_of_axes(raw, fields, axes)
        raise InputError(f"{top}: there is no column for axis {missing[0]}; add {wanted}")
    if not raw.rows:
        raise InputError(f"{raw.file}: has a header and no configurations; add a row")
    if driven:
        values = motor_values(raw, driven, axes, drives)
    else:
        values = np.array([[si_number(raw, row, fields[a]) for a in axes] for row in raw.rows]).reshape(
            len(raw.rows), len(axes)
        )
    wrenches = None
    if any(w in fields for w in WRENCH):
        at = [fields.get(w) for w in WRENCH]
        wrenches = np.array([[0.0 if f is None else si_number(raw, row, f) for f in at] for row in raw.rows])
    names = tuple(cells[fields[NAME].place].strip() for _, cells in raw.rows) if NAME in fields else None
    return ConfigurationTable(raw.file, values, wrenches, names, tuple(line for line, _ in raw.rows))


def _top_of_axes(raw: RawTable, fields: Mapping[str, Field], axes: Mapping[str, str]) -> str:
    """Where columns of axes are named: beside those that are there, else in the table that was joined."""
    there = [raw.origin(fields[a].place).top for a in axes if a in fields]
    joined = [origin.top for origin in raw.origins if origin.top]
    return next((top for top in (*there, *([] if there else joined)) if top), raw.top)


def allowed_units(axes: Mapping[str, str]) -> dict[str, Mapping[str, float]]:
    """Units of the columns of axes and wrenches."""
    units: dict[str, Mapping[str, float]] = {a: ANGLE if k == "revolute" else LENGTH for a, k in axes.items()}
    return units | {w: FORCE if w[0] == "f" else MOMENT for w in WRENCH if w not in axes}


def _fields(raw: RawTable, axes: Mapping[str, str]) -> dict[str, Field]:
    from elastocal.files.tables.motor_columns import motor_column

    allowed = allowed_units(axes)
    found: dict[str, Field] = {}
    for place, column in enumerate(raw.header):
        motor = motor_column(raw, column, axes)
        named = (NAME, 1.0) if column == NAME and NAME not in axes else motor
        known = named or understood(raw, column, allowed, (NAME,))
        add_once(raw, found, known[0], Field(place, known[1]))
    return found
