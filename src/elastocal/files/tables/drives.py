"""CSV files for kinetostatics: what the drives say, or what the tool should do; the header tells which.

J1_deg,J2_deg,torque_J1_Nm,torque_J2_Nm          controller values and the torques of the same axes; J1_counts or
                                                 J1_motor_deg for the values, where the robot file gives its drives
x_mm,y_mm,z_mm,fx_N,fy_N,fz_N                    position and force; roll_deg,pitch_deg,yaw_deg may be added
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from elastocal.errors import MissingError
from elastocal.files.tables.configurations import configurations, motor_column
from elastocal.files.tables.csv_file import read_csv
from elastocal.files.tables.raw import Field, RawTable, add_once, si_columns, understood
from elastocal.files.units import ANGLE, FORCE, LENGTH, MOMENT
from elastocal.values import dataclass

if TYPE_CHECKING:
    from elastocal.model.transmission import Drives
    from elastocal.spatial.entries import Array

TORQUE = "torque_"
POSITION, TURN, PUSH = ("x", "y", "z"), ("roll", "pitch", "yaw"), ("fx", "fy", "fz")


@dataclass(frozen=True, eq=False)
class DriveTable:
    """Controller values and torques (N, n) in SI, and the line of each row."""

    file: str
    values: Array
    torques: Array
    lines: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class TargetTable:
    """Positions (N, 3) in m, roll, pitch, yaw (N, 3) in rad or None, forces (N, 3) in N, and the line of each row."""

    file: str
    position: Array
    rpy: Array | None
    force: Array
    lines: tuple[int, ...]


def read_drives_or_targets(
    path: Path, axes: Mapping[str, str], drives: Drives | None = None
) -> DriveTable | TargetTable:
    """``axes`` are the controller's, each "revolute" or "prismatic"; ``drives`` lead to them from counts."""
    raw = read_csv(path)
    if not raw.rows:
        raise MissingError(f"{raw.file}: has a header and no rows; add one")
    driven = any(column.startswith((TORQUE, *(f"{a}_" for a in axes))) for column in raw.header)
    return _drives(raw, axes, drives) if driven else _targets(raw)


def _drives(raw: RawTable, axes: Mapping[str, str], drives: Drives | None) -> DriveTable:
    units: dict[str, Mapping[str, float]] = {a: ANGLE if k == "revolute" else LENGTH for a, k in axes.items()}
    units |= {f"{TORQUE}{a}": MOMENT if k == "revolute" else FORCE for a, k in axes.items()}
    fields = _fields(raw, units, axes)
    values = configurations(raw, fields, axes, drives).values
    return DriveTable(raw.file, values, _columns(raw, fields, [f"{TORQUE}{a}" for a in axes]), _lines(raw))


def _targets(raw: RawTable) -> TargetTable:
    units: dict[str, Mapping[str, float]] = {
        **dict.fromkeys(POSITION, LENGTH),
        **dict.fromkeys(TURN, ANGLE),
        **dict.fromkeys(PUSH, FORCE),
    }
    fields = _fields(raw, units, {})
    rpy = _columns(raw, fields, TURN) if any(t in fields for t in TURN) else None
    return TargetTable(raw.file, _columns(raw, fields, POSITION), rpy, _columns(raw, fields, PUSH), _lines(raw))


def _fields(raw: RawTable, units: Mapping[str, Mapping[str, float]], axes: Mapping[str, str]) -> dict[str, Field]:
    fields: dict[str, Field] = {}
    for place, column in enumerate(raw.header):
        name, factor = motor_column(raw, column, axes) or understood(raw, column, units, ())
        add_once(raw, fields, name, Field(place, factor))
    return fields


def _columns(raw: RawTable, fields: Mapping[str, Field], names: Sequence[str]) -> Array:

    missing = [n for n in names if n not in fields]
    if missing:
        raise MissingError(f"{raw.top}: there is no column for {missing[0]}; add it with its unit")
    return si_columns(raw, [fields[n] for n in names])


def _lines(raw: RawTable) -> tuple[int, ...]:
    return tuple(raw.lines.tolist())
