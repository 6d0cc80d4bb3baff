"""Tables of contacts as numbers in SI: which object, at which joint values, and the force that was felt.

    object,J1_deg,J2_deg,fx_N,fy_N            what was read; fz_N too where the robot works in space
    object,angle_deg,force_N                  planned: a place on a disc, and how hard to press
    object,x_mm,y_mm,z_mm,force_N             planned: a point near the object; the nearest of its surface is meant

A column ``name`` is optional.  Planned joint values are columns of axes, as in what was read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from elastocal.errors import ConflictError, DuplicateError, MissingError, RangeError, UnknownNameError
from elastocal.files.tables.configurations import NAME, by_motors, configurations, motor_column
from elastocal.files.tables.raw import Field, RawTable, cell, check_rows, columns_of, si_readings
from elastocal.files.units import ANGLE, FORCE, LENGTH
from elastocal.model.transmission import Drives
from elastocal.spatial.entries import Array
from elastocal.values import dataclass

OBJECT, SIZE, TURN = "object", "force", "angle"
FELT, POINT = ("fx", "fy", "fz"), ("x", "y", "z")


@dataclass(frozen=True)
class ContactColumns:
    """Axes with their joint kinds, names of objects; a ``plan`` may lack forces, ``skip`` lets cells be empty."""

    axes: Mapping[str, str]
    objects: tuple[str, ...]
    plan: bool
    skip: bool
    drives: Drives | None = None


@dataclass(frozen=True, eq=False)
class ContactTable:
    """Rows of one file; what its columns do not give is None, a force (N, 3) that was not read is nan.

    ``values`` (N, n) of the controller; ``points`` (N, 3) with nan for a height that is not given, ``angles`` and
    ``sizes`` (N,) of a plan; ``axes`` are the components of the force that have columns.
    """

    word: str
    raw: RawTable
    fields: Mapping[str, Field]
    objects: tuple[str, ...]
    values: Array | None
    axes: str
    felt: Array
    points: Array | None
    angles: Array | None
    sizes: Array | None

    def name(self, row: int) -> str:
        names = self.fields.get(NAME)
        return self.raw.rows[row][1][names.place].strip() if names is not None else ""

    def place(self, row: int) -> str:
        """``contacts.csv line 3 (left side)``"""
        name = self.name(row)
        return f"{self.word} line {self.raw.rows[row][0]}" + (f" ({name})" if name else "")

    def spot(self, row: int, column: str = "") -> str:
        """File and line, and the column of a quantity where one is named."""
        line = f"{self.raw.file}, line {self.raw.rows[row][0]}"
        return f"{line}, column {self.raw.header[self.fields[column].place]}" if column in self.fields else line


def read_contact_table(raw: RawTable, word: str, wanted: ContactColumns) -> ContactTable:
    """One table, every column understood."""
    fields = _fields(raw, wanted)
    check_rows(raw, "contacts")
    targets = [c for c in (TURN, *POINT, SIZE) if c in fields]
    driven = any(a in fields for a in wanted.axes) or bool(by_motors(raw, fields, wanted.axes))
    _check_ways(raw, fields, targets, driven, wanted)
    axes = "".join(f[1] for f in FELT if f in fields)
    felt = np.full((len(raw.rows), 3), np.nan)
    felt[:, ["xyz".index(a) for a in axes]] = _numbers(raw, fields, [f"f{a}" for a in axes], wanted.skip)
    return ContactTable(
        word,
        raw,
        fields,
        _objects(raw, fields[OBJECT], wanted.objects),
        _joints(raw, fields, wanted) if driven or not wanted.plan else None,
        axes,
        felt,
        _points(raw, fields) if any(c in fields for c in POINT) else None,
        _numbers(raw, fields, [TURN], False)[:, 0] if TURN in fields else None,
        _sizes(raw, fields) if SIZE in fields else None,
    )


def _fields(raw: RawTable, wanted: ContactColumns) -> dict[str, Field]:
    units: dict[str, Mapping[str, float]] = {a: ANGLE if k == "revolute" else LENGTH for a, k in wanted.axes.items()}
    units |= {f: FORCE for f in FELT if f not in units}
    if wanted.plan:
        more = {TURN: ANGLE, SIZE: FORCE, **dict.fromkeys(POINT, LENGTH)}
        units = {**more, **units}
    motor = partial(motor_column, raw, axes=wanted.axes)
    return columns_of(raw, units, (OBJECT, NAME), (OBJECT,), known=motor)


def _check_ways(
    raw: RawTable, fields: Mapping[str, Field], targets: Sequence[str], driven: bool, wanted: ContactColumns
) -> None:
    """Contacts are given by joint values or by places, and what was read has forces."""
    if not wanted.plan:
        absent = [f for f in FELT[:2] if f not in fields]
        if absent:
            raise MissingError(
                f"{raw.top}: there is no column of {absent[0]}; add {absent[0]}_N, the force in base axes (fz_N too "
                "where the robot works in space)"
            )
        return
    if driven and targets:
        raise ConflictError(
            f"{raw.top}: joint values decide where and how hard is pressed, so that {targets[0]} says it again; keep "
            "columns of one kind"
        )
    if driven:
        return
    if TURN in fields and any(c in fields for c in POINT[:2]):
        raise DuplicateError(f"{raw.top}: angle and x, y give the place in two ways; keep one")
    absent = [] if TURN in fields else [c for c in POINT[:2] if c not in fields]
    if absent or SIZE not in fields:
        what = "force_N, how hard to press" if not absent else "angle_deg on a disc, or x_mm, y_mm and z_mm, or axes"
        raise MissingError(f"{raw.top}: a planned contact needs {what}; add the column")


def _joints(raw: RawTable, fields: Mapping[str, Field], wanted: ContactColumns) -> Array:
    """Controller values; a force that was not read must not spoil them."""
    own = {name: field for name, field in fields.items() if name not in FELT}
    return configurations(raw, own, wanted.axes, wanted.drives).values


def _objects(raw: RawTable, field: Field, objects: Sequence[str]) -> tuple[str, ...]:
    out = []
    for row in raw.rows:
        text, where = cell(raw, row, field)
        if text not in objects:
            raise UnknownNameError("object", text, objects, where)
        out.append(text)
    return tuple(out)


def _numbers(raw: RawTable, fields: Mapping[str, Field], names: Sequence[str], skip: bool) -> Array:
    """Columns (N, names)."""
    return si_readings(raw, [fields[name] for name in names], skip)


def _points(raw: RawTable, fields: Mapping[str, Field]) -> Array:
    there = [i for i, name in enumerate(POINT) if name in fields]
    out = np.full((len(raw.rows), 3), np.nan)
    out[:, there] = _numbers(raw, fields, [POINT[i] for i in there], False)
    return out


def _sizes(raw: RawTable, fields: Mapping[str, Field]) -> Array:
    sizes = _numbers(raw, fields, [SIZE], False)[:, 0]
    for i in np.flatnonzero(~(sizes > 0)):
        text, where = cell(raw, raw.rows[int(i)], fields[SIZE])
        raise RangeError(f"{where}: {text} does not press on anything; give a positive force")
    return sizes
