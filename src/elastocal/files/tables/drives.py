"""CSV files for kinetostatics: what the drives say, or what the tool should do; the header tells which.

J1_deg,J2_deg,torque_J1_Nm,torque_J2_Nm          controller values and the torques of the same axes; J1_counts or
                                                 J1_motor_deg for the values, where the robot file gives its drives
x_mm,y_mm,z_mm,fx_N,fy_N,fz_N                    position and force; roll_deg,pitch_deg,yaw_deg may be added
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from elastocal.files.tables.configurations import configurations, motor_column
from elastocal.files.tables.csv_file import read_csv
from elastocal.files.tables.raw import RawTable, check_columns, check_rows, columns_of, si_columns
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
    check_rows(raw)
    driven = any(column.startswith((TORQUE, *(f"{a}_" for a in axes))) for column in raw.header)
    return _drives(raw, axes, drives) if driven else _targets(raw)


def _drives(raw: RawTable, axes: Mapping[str, str], drives: Drives | None) -> DriveTable:
    units: dict[str, Mapping[str, float]] = {a: ANGLE if k == "revolute" else LENGTH for a, k in axes.items()}
    torques = {f"{TORQUE}{a}": MOMENT if k == "revolute" else FORCE for a, k in axes.items()}
    fields = columns_of(raw, units | torques, known=partial(motor_column, raw, axes=axes))
    values = configurations(raw, fields, axes, drives).values
    check_columns(raw, fields, tuple(torques), torques)
    return DriveTable(raw.file, values, si_columns(raw, [fields[t] for t in torques]), _lines(raw))


def _targets(raw: RawTable) -> TargetTable:
    units = {**dict.fromkeys(POSITION, LENGTH), **dict.fromkeys(TURN, ANGLE), **dict.fromkeys(PUSH, FORCE)}
    fields = columns_of(raw, units, required=(*POSITION, *PUSH))
    turned = any(t in fields for t in TURN)
    check_columns(raw, fields, TURN if turned else (), units)
    position, rpy, force = (
        si_columns(raw, [fields[n] for n in names]) for names in (POSITION, TURN if turned else (), PUSH)
    )
    return TargetTable(raw.file, position, rpy if turned else None, force, _lines(raw))


def _lines(raw: RawTable) -> tuple[int, ...]:
    return tuple(raw.lines.tolist())
