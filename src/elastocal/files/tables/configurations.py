"""CSV files of configurations: a header with units, one configuration per row, every complaint with its place.

    A1_deg,A2_deg,A3_deg,A4_deg,A5_deg,A6_deg,fz_N
    0,-90,90,0,30,0,-2500

Axes are the controller's, or all of them by their motors: A1_counts, or A1_motor_deg, A1_motor_rad, A1_motor_turns.
Motors may be coupled, so a table gives all axes by their motors or none.  What counts and motor angles mean is said by
the robot file: ``structure``, ``counts_per_turn`` and ``counts_at_zero`` of its controller.  Wrench columns
(fx fy fz mx my mz) and a column ``name`` are optional; ``tables.raw`` says how lines are split into cells.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from elastocal.errors import ConflictError, DuplicateError, MissingError, RangeError, UnitError, UnknownNameError
from elastocal.files.tables.csv_file import read_csv
from elastocal.files.tables.raw import Field, RawTable, check_rows, columns_of, si_columns, with_axis_titles
from elastocal.files.units import ANGLE, FORCE, LENGTH, MOMENT
from elastocal.values import dataclass

if TYPE_CHECKING:
    from elastocal.model.transmission import Drives
    from elastocal.spatial.entries import Array, Ints


COUNTS, MOTOR, MOTOR_TORQUE = "counts", "motor", "motor_torque"
MOTOR_UNITS = {**ANGLE, "turns": 360 * ANGLE["deg"]}
"""Units of motor angles, in rad."""


def motor_column(raw: RawTable, column: str, axes: Mapping[str, object]) -> tuple[str, float] | None:
    """Quantity (A1_counts, A1_motor) and factor to SI of a column that is of a motor; None for any other."""
    axis, _, unit = column.rpartition("_")
    if column in axes or column.endswith(f"_{MOTOR_TORQUE}"):
        return None
    if axis in axes and unit == COUNTS:
        return column, 1.0
    if column.endswith(f"_{MOTOR}") and axis in axes:
        raise UnitError(f"{raw.top}: column {column!r} has no unit; write {column}_deg, _rad or _turns")
    if not axis.endswith(f"_{MOTOR}") or axis.removesuffix(f"_{MOTOR}") not in axes:
        return None
    if unit not in MOTOR_UNITS:
        raise UnitError(
            f"{raw.top}: column {column!r}: unit {unit!r} does not fit a motor's angle; use {', '.join(MOTOR_UNITS)}"
        )
    return axis, MOTOR_UNITS[unit]


def by_motors(raw: RawTable, fields: Mapping[str, Field], axes: Mapping[str, str]) -> dict[str, tuple[str, Field]]:
    """Kind (counts or motor) and column of each axis that is given by its motor."""
    out: dict[str, tuple[str, Field]] = {}
    for axis in axes:
        kinds = [k for k in (COUNTS, MOTOR) if f"{axis}_{k}" in fields]
        if len(kinds) > 1 or (kinds and axis in fields):
            raise DuplicateError(f"{raw.top}: axis {axis} is given in two ways; keep one column of it")
        if kinds:
            out[axis] = kinds[0], fields[f"{axis}_{kinds[0]}"]
    plain = [a for a in axes if a in fields]
    if out and plain:
        column = raw.header[next(iter(out.values()))[1].place]
        raise ConflictError(
            f"{raw.top}: column {column!r} gives an axis by its motor and {raw.header[fields[plain[0]].place]!r} gives "
            "one by its own value; give all axes in one way, since motors may be coupled"
        )
    return out


def motor_values(
    raw: RawTable, driven: Mapping[str, tuple[str, Field]], axes: Mapping[str, str], drives: Drives | None
) -> Array:
    """Controller values (N, n) in rad and m of all axes, given by their motors."""

    values = si_columns(raw, [driven[a][1] for a in axes])
    kinds = tuple("counts" if driven[a][0] == COUNTS else "motor_rad" for a in axes)
    return motors_to_axes(values, kinds, tuple(axes), drives, raw.top)


def motors_to_axes(
    values: Array, kinds: Sequence[str], axes: Sequence[str], drives: Drives | None, where: str
) -> Array:
    """Controller values (N, n) in rad and m; ``kinds`` are ``counts`` or ``motor_<unit>``, one for each axis."""
    import numpy as np

    valid = (COUNTS, *(f"{MOTOR}_{u}" for u in MOTOR_UNITS))
    for kind in kinds:
        if kind not in valid:
            raise UnknownNameError("way to give axes", kind, valid, where)
    if drives is None:
        raise MissingError(
            f"{where}: the robot file does not say how motors move the axes; add structure and counts_per_turn under "
            "its controller ('elastocal transmission' writes them)",
            code="no-structure",
        )
    counted = np.array([kind == COUNTS for kind in kinds])
    unknown = [a for a, c, n in zip(axes, counted, drives.counts_per_turn, strict=True) if c and np.isnan(n)]
    if unknown:
        raise MissingError(
            f"{where}: the robot file gives no counts_per_turn of {unknown[0]}; add it under controller",
            value=unknown[0],
        )
    factors = np.array([1.0 if kind == COUNTS else MOTOR_UNITS[kind.removeprefix(f"{MOTOR}_")] for kind in kinds])
    motors = np.where(counted, np.nan_to_num(drives.motors_of_counts(values)), values * factors)
    return drives.from_motors(motors)


WRENCH = ("fx", "fy", "fz", "mx", "my", "mz")
NAME, PAYLOAD = "name", "payload"


@dataclass(frozen=True, eq=False)
class ConfigurationTable:
    """Controller values (N, n) in rad and m, wrenches (N, 6) in SI or None, names, and each row's line."""

    file: str
    values: Array
    wrenches: Array | None
    names: tuple[str, ...] | None
    lines: Ints
    notes: tuple[str, ...] = ()


def read_configurations(path: Path, axes: Mapping[str, str], drives: Drives | None = None) -> ConfigurationTable:
    """Configurations for controller ``axes``, each "revolute" or "prismatic", in the controller's order."""
    raw = with_axis_titles(read_csv(path), tuple(axes))
    return configurations(raw, _fields(raw, axes), axes, drives)


def configurations(
    raw: RawTable, fields: Mapping[str, Field], axes: Mapping[str, str], drives: Drives | None = None,
    gravity: Array | None = None,
) -> ConfigurationTable:  # fmt: skip
    """The columns of axes (or of their ``drives``), wrenches and names among ``fields``.

    A column of payloads is their weight, by ``gravity`` (3,) in base axes.
    """
    import numpy as np

    driven = by_motors(raw, fields, axes)
    missing = [a for a in axes if a not in (*fields, *driven)]
    if missing:
        wanted = f"{missing[0]}_{'counts' if driven else 'deg' if axes[missing[0]] == 'revolute' else 'mm'}"
        top = _top_of_axes(raw, fields, axes)
        raise MissingError(f"{top}: there is no column for axis {missing[0]}; add {wanted}")
    check_rows(raw, "configurations")
    if driven:
        values = motor_values(raw, driven, axes, drives)
    else:
        values = si_columns(raw, [fields[a] for a in axes])
    wrenches = None
    if any(w in fields for w in WRENCH):
        there = [i for i, w in enumerate(WRENCH) if w in fields]
        wrenches = np.zeros((len(raw.rows), len(WRENCH)))
        wrenches[:, there] = si_columns(raw, [fields[WRENCH[i]] for i in there])
    if PAYLOAD in fields and gravity is not None:
        wrenches = _weights(raw, fields, gravity)
    names = tuple(raw.texts(fields[NAME].place)) if NAME in fields else None
    return ConfigurationTable(raw.file, values, wrenches, names, raw.lines, raw.notes)


def _weights(raw: RawTable, fields: Mapping[str, Field], gravity: Array) -> Array:
    """Wrenches (N, 6) of masses that hang at the frame of the load."""
    import numpy as np

    title, twice = raw.header[fields[PAYLOAD].place], [w for w in WRENCH if w in fields]
    if twice:
        raise ConflictError(
            f"{raw.top}: {title} and {raw.header[fields[twice[0]].place]} both give the load; keep one, with the "
            "weight of the payload in the force", column=title,
        )  # fmt: skip
    masses = si_columns(raw, [fields[PAYLOAD]])
    if np.any(masses < 0):
        line = int(raw.lines[int(np.argmax(masses[:, 0] < 0))])
        raise RangeError(
            f"{raw.file}, line {line}, column {title}: a mass is not below zero; give kg", column=title, line=line
        )
    return np.hstack([masses * gravity + 0.0, np.zeros((len(masses), 3))])


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
    return columns_of(raw, allowed_units(axes), (NAME,), known=partial(motor_column, raw, axes=axes))
