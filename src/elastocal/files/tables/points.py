"""CSV files of tracked points: one row per point, with its marker, its pose and the joint angle where they are known.

    marker,pose,q_deg,x_mm,y_mm
    P1,1,-0.01,-31.84,183.86

Coordinates x y (and z) in any unit of length.  Optional: ``marker``, ``pose`` (default: the order of the rows of each
marker), and one column with an angle unit, such as q_deg or A2_deg.  A row without coordinates was not seen.
A file of another program is named by a YAML file (``elastocal.files.tables.named``).

Sweeps for circle-point analysis are such points of all joints in one file, or one file per sweep:

    sweep,marker,A1_deg,A2_deg,...,x_mm,y_mm,z_mm
    A1,smr1,-40,-60,...,1520.11,330.2,880.4

``sweep`` names the joint that is moved (or its axis); a file without that column is one sweep, of the joint that moves
most.  Every row has the values of all axes of the controller; rows with the same values are one pose.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from elastocal.errors import (
    ConflictError,
    DuplicateError,
    InputError,
    MissingError,
    NumberError,
    UnitError,
    UnknownNameError,
)
from elastocal.files.tables.named import read_table
from elastocal.files.tables.raw import (
    Field,
    RawTable,
    add_once,
    cell,
    check_rows,
    columns_of,
    quantity_of,
    si_columns,
    si_number,
    with_axis_titles,
)
from elastocal.files.units import ANGLE, LENGTH
from elastocal.values import dataclass

if TYPE_CHECKING:
    from elastocal.model.robot import Robot
    from elastocal.procedures.circle_points.axis import Sweep
    from elastocal.spatial.entries import Array, Ints


COORDINATES = ("x", "y", "z")
MARKER, POSE = "marker", "pose"
ONLY = "point"
"""The marker's name where the file has no such column."""


@dataclass(frozen=True, eq=False)
class PointTable:
    """Points in m by marker, row i being pose i for all of them; nan and line 0 where a marker was not seen.

    ``angles`` (poses,) in rad for each marker, nan where the file gives none; ``angle`` and ``angle_unit`` name their
    column, if any.
    ``numbered`` tells that poses are counted by the order of rows, because the file has no column for them; ``notes``
    say how the file of another program was read.
    """

    file: str
    points: Mapping[str, Array]
    lines: Mapping[str, Ints]
    angles: Mapping[str, Array]
    poses: tuple[str, ...]
    angle: str | None
    angle_unit: str | None
    numbered: bool
    notes: tuple[str, ...] = ()

    @property
    def markers(self) -> tuple[str, ...]:
        return tuple(self.points)

    @property
    def dimension(self) -> int:
        return int(next(iter(self.points.values())).shape[1])

    def seen(self, marker: str) -> int:
        return int(np.sum(~np.isnan(self.points[marker][:, 0])))

    def place(self, marker: str, pose: int) -> str:
        return f"{self.file}, line {self.lines[marker][pose]}"


@dataclass(frozen=True, eq=False)
class _Row:
    """One line as read; ``angle`` is nan where its cell is empty."""

    line: int
    marker: str
    pose: str
    point: Array
    angle: float


def read_points(path: Path) -> PointTable:
    """The file's points, sorted by marker and pose."""
    raw = read_table(path)
    fields, angle = _fields(raw)
    dimension = 3 if "z" in fields else 2
    check_rows(raw, "points")
    return _sorted(raw, _rows(raw, fields, dimension), dimension, angle, POSE not in fields)


def _fields(raw: RawTable) -> tuple[dict[str, Field], str | None]:
    """Columns by meaning, the angle's under ``angle``, and the name of that column."""
    names: list[str] = []

    def known(column: str) -> tuple[str, float] | None:
        name, _, unit = column.rpartition("_")
        if unit in ANGLE and name and name not in COORDINATES:
            if names:
                raise DuplicateError(f"{raw.top}: columns {names[0]} and {column} both give an angle; keep one")
            names.append(column)
            return "angle", ANGLE[unit]
        if column.lower() in ("q", "angle"):
            raise UnitError(f"{raw.top}: column {column!r} has no unit; write {column}_deg or {column}_rad")
        return None

    units = {**dict.fromkeys(COORDINATES, LENGTH), "q": ANGLE}
    return columns_of(raw, units, (MARKER, POSE), COORDINATES[:2], known), names[0] if names else None


def _rows(raw: RawTable, fields: Mapping[str, Field], dimension: int) -> list[_Row]:
    out, counts = [], dict[str, int]()
    for row in raw.rows:
        marker, pose = (_name(raw, row, fields.get(key)) for key in (MARKER, POSE))
        counts[marker] = counts.get(marker, 0) + 1
        angle = _maybe(raw, row, fields.get("angle"))
        out.append(
            _Row(row[0], marker or ONLY, pose or str(counts[marker]), _point(raw, row, fields, dimension), angle)
        )
    return out


def _name(raw: RawTable, row: tuple[int, tuple[str, ...]], field: Field | None) -> str:
    if field is None:
        return ""
    text, where = cell(raw, row, field)
    if not text:
        raise MissingError(f"{where}: is empty; give a name or a number")
    return text


def _maybe(raw: RawTable, row: tuple[int, tuple[str, ...]], field: Field | None) -> float:
    if field is None or not cell(raw, row, field)[0]:
        return float("nan")
    return si_number(raw, row, field)


def _point(raw: RawTable, row: tuple[int, tuple[str, ...]], fields: Mapping[str, Field], dimension: int) -> Array:
    at = [fields[c] for c in COORDINATES[:dimension]]
    texts = [cell(raw, row, f) for f in at]
    if not any(text for text, _ in texts):
        return np.full(dimension, np.nan)
    for text, where in texts:
        if text.lower() == "nan":
            raise NumberError(f"{where}: {text!r} is not a number; leave all coordinates of a row empty if not seen")
    return np.array([si_number(raw, row, f) for f in at])


def _sorted(raw: RawTable, rows: list[_Row], dimension: int, angle: str | None, numbered: bool) -> PointTable:
    markers, poses = dict.fromkeys(r.marker for r in rows), tuple(dict.fromkeys(r.pose for r in rows))
    at = {pose: i for i, pose in enumerate(poses)}
    points = {m: np.full((len(poses), dimension), np.nan) for m in markers}
    lines = {m: np.zeros(len(poses), dtype=np.int64) for m in markers}
    angles = {m: np.full(len(poses), np.nan) for m in markers}
    for r in rows:
        i = at[r.pose]
        if lines[r.marker][i]:
            raise DuplicateError(
                f"{raw.file}, line {r.line}: marker {r.marker} has been read in pose {r.pose} on line "
                f"{lines[r.marker][i]} already; average repeats, or give them poses of their own"
            )
        points[r.marker][i], lines[r.marker][i], angles[r.marker][i] = r.point, r.line, r.angle
    name, _, unit = (angle or "").rpartition("_")
    table = PointTable(raw.file, points, lines, angles, poses, name or None, unit or None, numbered, raw.notes)
    _check_angles(table)
    return table


def _check_angles(table: PointTable) -> None:
    """One pose has one angle."""
    for i, pose in enumerate(table.poses):
        given = [(m, table.angles[m][i]) for m in table.markers if not np.isnan(table.angles[m][i])]
        for marker, angle in given[1:]:
            first, other = given[0]
            if abs(angle - other) > 1e-9:
                raise ConflictError(
                    f"{table.place(marker, i)}: pose {pose} stands at {np.degrees(angle):g} deg here and at "
                    f"{np.degrees(other):g} deg on line {table.lines[first][i]}; one pose has one angle, correct it"
                    + (" or add a column pose" if table.numbered else "")
                )


SWEEP = "sweep"


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
    from elastocal.procedures.circle_points.axis import Sweep

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
