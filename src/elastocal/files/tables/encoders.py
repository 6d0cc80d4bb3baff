"""CSV files of encoder counts against motor angles and joint values, one row per stop.

Joints that move together, one column for each number (A4 and so on are names of axes):

    A4_deg,A5_deg,A4_counts,A5_counts
    10,10,25410,14033

One joint at a time, with the axis that moved in a column of its own:

    axis,motor_deg,counts,joint_deg
    A1,360,16419,2.89

Motor angles (deg, rad, turns) and joint values (deg, rad, mm, m) are optional, counts are not.  A joint without a
column stood still.  In the second form a motor's angles, or a joint's values, may all be empty for an axis.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from elastocal.errors import DuplicateError, FormatError, MissingError, UnitError
from elastocal.files.tables.configurations import COUNTS, MOTOR, MOTOR_UNITS
from elastocal.files.tables.csv_file import read_csv
from elastocal.files.tables.raw import Field, RawTable, cell, check_rows, columns_of, si_number
from elastocal.files.tables.spelling import plain_title
from elastocal.files.units import ANGLE, LENGTH
from elastocal.procedures.transmission.equations import AxisColumn, EncoderSeries
from elastocal.values import dataclass

AXIS, JOINT = "axis", "joint"
Row = tuple[int, tuple[str, ...]]


@dataclass(frozen=True, eq=False)
class EncoderTables:
    """The series of all files, and what kind of joint each axis is ("revolute" or "prismatic")."""

    series: tuple[EncoderSeries, ...]
    kinds: Mapping[str, str]


def read_encoder_tables(paths: Sequence[Path]) -> EncoderTables:
    """All tables; an axis must be of one kind in all of them."""
    if len({p.resolve() for p in paths}) < len(paths):
        raise DuplicateError(f"{paths[0]}: a table is given twice; name every file once", code="table-twice")
    series: list[EncoderSeries] = []
    kinds: dict[str, str] = {}
    for path in paths:
        raw = read_csv(path)
        check_rows(raw)
        tables = _long(raw) if AXIS in raw.header else _wide(raw)
        series += tables.series
        for axis, kind in tables.kinds.items():
            if kinds.setdefault(axis, kind) != kind:
                raise UnitError(
                    f"{raw.top}: {axis} has a unit of {'an angle' if kind == 'revolute' else 'a length'} here and not "
                    "in the tables before; give all tables the same units"
                )
    return EncoderTables(tuple(series), kinds)


def _wide(raw: RawTable) -> EncoderTables:
    counts, motors, joints, kinds = dict[str, Field](), dict[str, Field](), dict[str, Field](), dict[str, str]()
    for place, heading in enumerate(raw.header):
        stem, _, unit = heading.rpartition("_")
        target, axis, factor = _of_heading(raw, heading, stem, unit)
        group = {COUNTS: counts, MOTOR: motors, JOINT: joints}[target]
        if axis in group:
            raise DuplicateError(f"{raw.top}: column {heading!r} gives the {target} of {axis} a second time; keep one")
        group[axis] = Field(place, factor)
        if target == JOINT:
            kinds[axis] = "revolute" if unit in ANGLE else "prismatic"
    _check_counted(raw, counts, motors)
    columns = [{a: _column(raw, raw.rows, f) for a, f in group.items()} for group in (counts, joints, motors)]
    lines = tuple(raw.lines.tolist())
    return EncoderTables((EncoderSeries(_name(raw), lines, columns[0], columns[1], columns[2], "line"),), kinds)


def _of_heading(raw: RawTable, heading: str, stem: str, unit: str) -> tuple[str, str, float]:
    """What a column of the first form holds: kind of number, axis, factor to SI."""
    if stem and unit == COUNTS:
        return COUNTS, stem, 1.0
    if stem.endswith(f"_{MOTOR}") and unit in MOTOR_UNITS:
        return MOTOR, stem.removesuffix(f"_{MOTOR}"), MOTOR_UNITS[unit]
    if stem and unit in (ANGLE | LENGTH):
        return JOINT, stem, (ANGLE | LENGTH)[unit]
    raise FormatError(
        f"{raw.top}: column {heading!r} is not understood; name columns like A1_counts, A1_deg (or _rad, _mm, _m) and "
        "A1_motor_deg (or _rad, _turns), with the names of the axes"
    )


def _check_counted(raw: RawTable, counts: Mapping[str, Field], motors: Mapping[str, Field]) -> None:
    if not counts:
        raise MissingError(f"{raw.top}: there is no column of counts; add one such as A1_counts")
    for axis in motors:
        if axis not in counts:
            raise MissingError(f"{raw.top}: motor {axis} has angles and no counts; add a column {axis}_counts")


def _long(raw: RawTable) -> EncoderTables:
    fields, kinds = _long_fields(raw)
    groups: dict[str, list[Row]] = {}
    for row in raw.rows:
        axis, where = cell(raw, row, fields[AXIS])
        if not axis:
            raise MissingError(f"{where}: is empty; name the axis that moved")
        groups.setdefault(axis, []).append(row)
    series = [_one_axis(raw, fields, axis, rows) for axis, rows in groups.items()]
    return EncoderTables(tuple(series), {a: kinds for a in groups if kinds})


def _long_fields(raw: RawTable) -> tuple[dict[str, Field], str]:
    """Columns of the second form, and the kind of its joints ("" where it has no joint values)."""
    units = {MOTOR: MOTOR_UNITS, JOINT: ANGLE | LENGTH}
    fields = columns_of(raw, units, (AXIS, COUNTS), (COUNTS,))
    if JOINT not in fields:
        return fields, ""
    unit = plain_title(raw.header[fields[JOINT].place], units).rpartition("_")[2]
    return fields, "revolute" if unit in ANGLE else "prismatic"


def _one_axis(raw: RawTable, fields: Mapping[str, Field], axis: str, rows: Sequence[Row]) -> EncoderSeries:
    there = {
        name: {axis: _column(raw, rows, field)}
        for name, field in fields.items()
        if name != AXIS and (name == COUNTS or any(cell(raw, row, field)[0] for row in rows))
    }
    lines = tuple(line for line, _ in rows)
    return EncoderSeries(_name(raw), lines, there[COUNTS], there.get(JOINT, {}), there.get(MOTOR, {}), "line")


def _column(raw: RawTable, rows: Sequence[Row], field: Field) -> AxisColumn:
    texts = (cell(raw, row, field)[0] for row in rows)
    points = tuple(raw.numerals.plain(t) for t in texts)
    values = np.array([si_number(raw, row, field) for row in rows])
    return AxisColumn(raw.header[field.place], values, field.factor, points)


def _name(raw: RawTable) -> str:
    return Path(raw.file).name
