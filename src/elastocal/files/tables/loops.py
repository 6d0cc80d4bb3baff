"""CSV files of force-deflection loops: one row per reading of a dial gauge, in the order of reading.

    direction_deg,cycle,force_N,displacement_um
    30,1,10,488.2

``force`` and ``displacement`` along the same direction, with units.  Optional: ``direction`` as an angle (from x
towards y) or as a vector ``dx``, ``dy``, ``dz`` without unit; ``cycle``; ``joint`` with ``lever`` where the loop is
that of a joint.  Rows of one joint and one direction are one loop; their order says how each force was reached.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from elastocal.errors import ConflictError, DuplicateError, MissingError, RangeError
from elastocal.files.tables.csv_file import read_csv
from elastocal.files.tables.raw import Field, RawTable, cell, check_rows, columns_of, si_number
from elastocal.files.units import ANGLE, FORCE, LENGTH
from elastocal.procedures.loops.loop import Loop, NamedLoop
from elastocal.values import dataclass

VECTOR = ("dx", "dy", "dz")
WORDS = ("joint", "cycle", *VECTOR)
_UNITS = {"direction": ANGLE, "force": FORCE, "displacement": LENGTH, "lever": LENGTH}
_Row = tuple[int, tuple[str, ...]]


@dataclass(frozen=True)
class _Key:
    """What the rows of one loop share."""

    joint: str | None
    direction: tuple[float, ...] | None
    name: str


def read_loops(path: Path, threshold: float = 0.0) -> tuple[NamedLoop, ...]:
    """``threshold`` in N: forces and changes of force up to it are not told from zero."""
    raw = read_csv(path)
    fields = _fields(raw)
    check_rows(raw, "readings")
    groups: dict[_Key, list[_Row]] = {}
    for row in raw.rows:
        groups.setdefault(_key(raw, row, fields), []).append(row)
    return tuple(_record(raw, fields, k, rows, threshold) for k, rows in groups.items())


def _fields(raw: RawTable) -> dict[str, Field]:
    fields = columns_of(raw, _UNITS, WORDS, required=("force", "displacement"))
    vector = [v for v in VECTOR if v in fields]
    if vector and "direction" in fields:
        raise DuplicateError(f"{raw.top}: direction and {vector[0]} both give the direction; keep one", value=vector[0])
    if vector and vector != list(VECTOR[: max(2, len(vector))]):
        missing = next(v for v in VECTOR if v not in fields)
        raise MissingError(
            f"{raw.top}: the direction has {' and '.join(vector)} but no {missing}; add the column", value=missing
        )
    if "lever" in fields and "joint" not in fields:
        raise MissingError(f"{raw.top}: a lever is that of a joint; add the column joint", code="lever-without-joint")
    return fields


def _key(raw: RawTable, row: _Row, fields: Mapping[str, Field]) -> _Key:
    joint = (cell(raw, row, fields["joint"])[0] or None) if "joint" in fields else None
    if "direction" in fields:
        if not cell(raw, row, fields["direction"])[0] and joint:
            return _Key(joint, None, joint)
        degrees = round(float(np.degrees(si_number(raw, row, fields["direction"]))), 9) % 360.0
        angle = np.radians(degrees)
        unit: tuple[float, ...] = (float(np.cos(angle)), float(np.sin(angle)))
        message = f"{degrees:g} deg"
    elif "dx" in fields:
        at = [fields[v] for v in VECTOR if v in fields]
        if joint and not any(cell(raw, row, f)[0] for f in at):
            return _Key(joint, None, joint)
        given = np.array([si_number(raw, row, f) for f in at])
        if not np.any(given):
            raise RangeError(
                f"{raw.file}, line {row[0]}: dx, dy, dz are all zero, which is no direction; correct them",
                code="no-direction",
            )
        unit = tuple(float(round(v, 12)) for v in given / np.linalg.norm(given))
        message = f"({', '.join(f'{v:.3g}' for v in unit)})"
    else:
        return _Key(joint, None, joint or "all readings")
    return _Key(joint, unit, f"{joint}, {message}" if joint else message)


def _record(raw: RawTable, fields: Mapping[str, Field], key: _Key, rows: list[_Row], threshold: float) -> NamedLoop:
    force, way = (np.array([si_number(raw, row, fields[k]) for row in rows]) for k in ("force", "displacement"))
    numbers: dict[str, int] = {}
    cycle = [numbers.setdefault(_cycle(raw, row, fields), len(numbers) + 1) for row in rows]
    loop = Loop(force, way, np.array(cycle, dtype=np.int64), threshold)
    direction = None if key.direction is None else np.array(key.direction)
    lines = np.array([row[0] for row in rows], dtype=np.int64)
    return NamedLoop(key.name, loop, key.joint, direction, _lever(raw, fields, key, rows), lines, raw.file)


def _cycle(raw: RawTable, row: _Row, fields: Mapping[str, Field]) -> str:
    if "cycle" not in fields:
        return ""
    text, where = cell(raw, row, fields["cycle"])
    if not text:
        raise MissingError(f"{where}: is empty; give the number of the cycle, or remove the column", code="no-cycle")
    return text


def _lever(raw: RawTable, fields: Mapping[str, Field], key: _Key, rows: list[_Row]) -> float | None:
    if "lever" not in fields or key.joint is None:
        return None
    given = [(si_number(raw, row, fields["lever"]), row) for row in rows if cell(raw, row, fields["lever"])[0]]
    for value, row in given:
        where = cell(raw, row, fields["lever"])[1]
        if not value > 0:
            raise RangeError(f"{where}: {1e3 * value:g} mm is no lever; give a positive length")
        if value != given[0][0]:
            raise ConflictError(
                f"{where}: differs from the lever on line {given[0][1][0]}; a loop has one lever", code="two-levers"
            )
    return given[0][0] if given else None
