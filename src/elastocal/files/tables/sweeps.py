"""Tables of sweeps for circle-point analysis: all joints, targets and poses in one file, or one file per sweep.

    sweep,marker,A1_deg,A2_deg,...,x_mm,y_mm,z_mm
    A1,smr1,-40,-60,...,1520.11,330.2,880.4

``sweep`` names the joint that is moved (or its axis); a file without that column is one sweep, of the joint that moves
most.  Every row has the values of all axes of the controller; rows with the same values are one pose.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from elastocal.errors import DuplicateError, InputError, UnknownNameError
from elastocal.files.tables.named import read_table
from elastocal.files.tables.raw import Field, RawTable, add_once, check_rows, quantity_of, si_columns, with_axis_titles
from elastocal.files.units import ANGLE, LENGTH
from elastocal.model.robot import Robot
from elastocal.procedures.circle_points.axis import Sweep
from elastocal.spatial.entries import Array

COORDINATES = ("x", "y", "z")
SWEEP, MARKER = "sweep", "marker"


def read_sweeps(paths: Sequence[Path], robot: Robot) -> tuple[list[Sweep], tuple[str, ...]]:
    """The sweeps of some files, in their order, and notes: columns that are not used."""
    raws = [with_axis_titles(read_table(path), robot.controller.axes) for path in paths]
    both = [_sweeps(raw, robot) for raw in raws]
    pairs = ((Path(raw.file).name, left) for raw, (_, left) in zip(raws, both, strict=True))
    unused = [f"{name}: not used: {', '.join(left)}." for name, left in pairs if left]
    return [s for sweeps, _ in both for s in sweeps], (*(n for raw in raws for n in raw.notes), *unused)


def _sweeps(raw: RawTable, robot: Robot) -> tuple[list[Sweep], list[str]]:
    axes = {a: m.kind for a, m in zip(robot.controller.axes, robot.motions, strict=True)}
    units = {a: ANGLE if k == "revolute" else LENGTH for a, k in axes.items()} | dict.fromkeys(COORDINATES, LENGTH)
    fields: dict[str, Field] = {}
    unused: list[str] = []
    for place, column in enumerate(raw.header):
        plain = column.lower() in (SWEEP, MARKER)
        try:
            name, factor = (column.lower(), 1.0) if plain else quantity_of(raw, column, units, (SWEEP, MARKER))
        except UnknownNameError:
            unused.append(column)
            continue
        add_once(raw, fields, name, Field(place, factor))
    lacking = [n for n in (*axes, *COORDINATES) if n not in fields]
    if lacking:
        raise InputError(
            f"{raw.top}: there is no column for {lacking[0]}; a sweep needs all axes ({', '.join(axes)}) and x, y, z"
            + (f"; it has {', '.join(raw.header)}" if unused else ""),
            code="sweep-column", file=raw.file, value=lacking[0],
        )  # fmt: skip
    check_rows(raw, "points")
    numbers = si_columns(raw, [fields[n] for n in (*axes, *COORDINATES)])
    q = robot.controller.to_joints(numbers[:, : robot.n])
    points = numbers[:, robot.n :]
    named = raw.texts(fields[MARKER].place) if MARKER in fields else ["point"] * len(raw.rows)
    swept = raw.texts(fields[SWEEP].place) if SWEEP in fields else [""] * len(raw.rows)
    sweeps = [
        _one(raw, robot, word, q[rows], points[rows], [named[i] for i in rows])
        for word in dict.fromkeys(swept)
        for rows in [[i for i, s in enumerate(swept) if s == word]]
    ]
    return sweeps, unused


def _one(raw: RawTable, robot: Robot, word: str, q: Array, points: Array, named: list[str]) -> Sweep:
    joint = word or robot.joints[int(np.argmax(np.ptp(q, axis=0)))]
    if joint in robot.controller.axes and joint not in robot.joints:
        joint = robot.joints[robot.controller.axes.index(joint)]
    if joint not in robot.joints:
        raise UnknownNameError("joint", joint, robot.joints, f"{raw.file}, column sweep")
    poses, which = np.unique(np.round(q, 9), axis=0, return_inverse=True)
    markers = tuple(dict.fromkeys(named))
    table = {m: np.full((len(poses), 3), np.nan) for m in markers}
    for row, (marker, pose) in enumerate(zip(named, which.ravel(), strict=True)):
        if not np.isnan(table[marker][pose, 0]):
            raise DuplicateError(
                f"{raw.file}, line {raw.lines[row]}: sweep of {joint} has {marker} twice at the same axis values; "
                "keep one, or give their mean",
                file=raw.file,
            )
        table[marker][pose] = points[row]
    return Sweep(joint, table, poses)
