"""The folder of a cell: where its robot, plan, campaign, calibration, programs, results stand.  See docs/cells.md.

Two of its keys are values of their own: ``certificate``, what people must state for a certificate (or keywords of the
library), and ``workpiece``, where the cell works: a plane or a box in base or work-object coordinates.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import field, fields
from datetime import date as Day
from pathlib import Path, PureWindowsPath
from typing import Any, Literal

import numpy as np

from elastocal.errors import FileError, InputError, RangeError, UnknownNameError, WrongTypeError
from elastocal.files import schema
from elastocal.files.located import Located, read_formatted
from elastocal.files.opened import path_of
from elastocal.model.parameters import quantity
from elastocal.model.places import Plane
from elastocal.spatial.pose import Pose
from elastocal.values import dataclass

Statistic = Literal["mean", "rms", "p95", "max"]


@dataclass(frozen=True, kw_only=True)
class Stated:
    """Every field may be missing; a certificate then says "not stated".

    ``tolerance`` is the largest error allowed of ``statistic`` over the validation points.
    """

    tolerance: float | None = quantity("length", default=None)
    statistic: Statistic = "max"
    number: str | None = None
    customer: str | None = None
    place: str | None = None
    operator: str | None = None
    authorised_by: str | None = None
    date: Day | None = None
    issued: Day | None = None
    robot_make: str | None = None
    robot_type: str | None = None
    robot_serial: str | int | None = None
    robot_controller: str | None = None
    robot_software: str | None = None
    robot_mastered: Day | None = None
    accuracy_option: str | None = None
    instrument_type: str | None = None
    instrument_serial: str | int | None = None
    instrument_certificate: str | None = None
    instrument_due: Day | None = None
    target: str | None = None
    temperature_C: float | None = None
    warm_up: str | None = None
    payload: float | None = quantity("mass", default=None)
    payload_centre: str | None = None
    tool: str | None = None
    procedure: str | None = None
    traceability: str | None = None

    def __post_init__(self) -> None:
        if self.tolerance is not None and not self.tolerance > 0:
            raise RangeError(f"tolerance {self.tolerance:g} m must be positive", value=self.tolerance)
        if self.payload is not None and self.payload < 0:
            raise RangeError(f"payload {self.payload:g} kg must not be negative", value=self.payload)

    @property
    def asked_for(self) -> bool:
        """Whether anything is stated: somebody wants a certificate."""
        return self != Stated()

    @property
    def missing(self) -> tuple[str, ...]:
        """Keys to fill in."""
        return tuple(f.name + UNITS.get(f.name, "") for f in fields(self) if getattr(self, f.name) is None)


UNITS = {"tolerance": "_mm", "payload": "_kg"}
"""How keys of quantities are usually written."""


def read_stated(located: Located, data: Any) -> Stated:
    """Of a cell file, with the place of what is wrong."""
    return schema.construct(Stated, located, ("certificate",), {} if data is None else data, {})


def stated_of(values: Mapping[str, Any]) -> Stated:
    """Of keywords, in SI; dates as such or as text."""
    from pydantic import TypeAdapter, ValidationError

    known = [f.name for f in fields(Stated)]
    for name in values:
        if name not in known:
            raise UnknownNameError("field of a certificate", name, known)
    try:
        made: Stated = TypeAdapter(Stated).validate_python(dict(values))
    except ValidationError as error:
        first = error.errors()[0]
        name = str(first["loc"][0])
        message = f"certificate: {name} {values.get(name)!r}: {first['msg'].lower()}"
        raise WrongTypeError(message, value=values.get(name), parameter=name) from None
    return made


Corner = tuple[float, float, float]
COUNTS = (25, 17)


@dataclass(frozen=True, kw_only=True)
class WorkArea:
    """Corners ``low`` and ``high`` in the axes of the work object; a plane where they agree along one axis.

    ``object`` is where the work object lies in base, ``turn`` its angles A, B, C about z, y, x in turn; without them
    the corners are in base.
    """

    low: Corner = quantity("length")
    high: Corner = quantity("length")
    object: Corner = quantity("length", default=(0.0, 0.0, 0.0))
    turn: Corner = quantity("angle", default=(0.0, 0.0, 0.0))

    def __post_init__(self) -> None:
        sides = np.subtract(self.high, self.low)
        if not (sides >= 0).all() or np.count_nonzero(sides > 0) < 2:
            message = "workpiece: high must not be below low, and two sides need some length"
            raise RangeError(message, value=[float(v) for v in sides])

    def planes(self) -> tuple[Plane, ...]:
        """The plane, or the two largest faces of the box, the lower one first."""
        from elastocal.spatial.rotation import Rotation

        low, high = np.array(self.low), np.array(self.high)
        frame = Pose(Rotation.from_euler("ZYX", self.turn).as_matrix(), np.array(self.object))
        normal = int(np.argmin(high - low))
        first, second = (i for i in range(3) if i != normal)
        spans = (np.linspace(low[first], high[first], COUNTS[0]), np.linspace(low[second], high[second], COUNTS[1]))
        heights = dict.fromkeys((float(low[normal]), float(high[normal])))
        return tuple(Plane((first, second), spans, height, frame) for height in heights)


def read_work_area(located: Located, data: Any) -> WorkArea | None:
    """Of a cell file, with the place of what is wrong."""
    return None if data is None else schema.construct(WorkArea, located, ("workpiece",), data, {})


FORMAT = "elastocal-cell/1"
NAME = "cell.yaml"
Options = Mapping[str, Mapping[str, Any]]
TABLES = (".csv", ".tsv", ".xlsx", ".xlsm", ".bag", ".mcap", ".db3")
"""Endings of tables in a folder."""


@dataclass(frozen=True, kw_only=True)
class CellEntry:
    """The keys of cell.yaml: places are seen from its folder; ``options`` are of commands, by their names.

    ``certificate`` is what people state for a certificate (``elastocal.files.cell.Stated``), ``workpiece`` where
    maps are drawn (``elastocal.files.cell.WorkArea``).
    """

    format: str
    name: str
    robot: str = "robot/robot.yaml"
    plan: str = "plan/plan.yaml"
    planned: str = "plan/campaign.yaml"
    campaign: str = "campaign/campaign.yaml"
    calibration: str = "calibration/calibration.json"
    programs: str = "programs"
    corrected: str = "programs/corrected"
    reports: str = "reports"
    records: str = "records"
    points: str = "tables/points.csv"
    counts: str = "tables/counts"
    loops: str = "tables/loops.csv"
    validation: str = "tables/validation.csv"
    log: str = "logs/log.xml"
    options: dict[str, dict[str, Any]] = field(default_factory=dict)
    certificate: dict[str, Any] | None = None
    workpiece: dict[str, Any] | None = None


PLACES = tuple(f.name for f in fields(CellEntry) if f.type == "str" and f.name not in ("format", "name"))
"""Keys of cell.yaml that are files or folders."""


@dataclass(frozen=True, eq=False)
class CellFolder:
    """``folder`` holds cell.yaml, as it was named, ``root`` is the same from anywhere; ``places`` are seen from it."""

    folder: Path
    root: Path
    name: str
    places: Mapping[str, Path]
    options: Options
    certificate: Stated
    workpiece: WorkArea | None
    located: Located

    def place(self, role: str) -> Path:
        return self.places[role]

    def path(self, role: str) -> Path:
        """The place as seen from anywhere."""
        return self.root / self.places[role]


def is_cell(folder: Path) -> bool:
    """Whether a folder has a cell.yaml."""
    return os.path.isfile(folder / NAME)


def read_cell(folder: Path, file: str = NAME) -> CellFolder:
    """The cell of a folder that has a cell.yaml; ``file`` may be another one beside it, which is tried."""
    if folder.is_file():
        raise FileError(f"{folder}: is a file; give the folder of a cell, with {NAME} in it")
    if not is_cell(folder):
        what = "is a folder without" if folder.is_dir() else "has no"
        raise InputError(
            f"{folder}: {what} {NAME}; make a cell first (elastocal new)", code="no-cell", file=str(folder)
        )
    located = read_formatted(folder / file, FORMAT, "a cell file")
    entry = schema.construct(CellEntry, located, (), located.data, {})
    places = {role: _place(located, role, getattr(entry, role)) for role in PLACES}
    stated, area = read_stated(located, entry.certificate), read_work_area(located, entry.workpiece)
    return CellFolder(folder, folder.resolve(), entry.name, places, entry.options, stated, area, located)


def tables_in(cell: CellFolder, place: Path) -> tuple[Path, ...]:
    """A table, or all of a folder of tables; not what Excel (~$) and macOS (._) lay beside them."""
    folder = cell.root / place
    if not folder.is_dir():
        return (place,)
    tables = (p for p in sorted(folder.iterdir()) if not p.name.startswith(("~$", ".")))
    return tuple(place / p.name for p in tables if p.suffix.lower() in TABLES or _is_export(p))


def _is_export(path: Path) -> bool:
    """A text that begins with a remark, as exports of SpatialAnalyzer do; other texts are notes of people."""
    if path.suffix.lower() != ".txt" or not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(64).lstrip(b"\xef\xbb\xbf \r\n").startswith(b"//")


def _place(located: Located, role: str, text: str) -> Path:
    path = path_of(text)
    if not text or PureWindowsPath(text).anchor:  # /x, C:x and C:\x on every system
        problem = f"{text!r} is not a place in the cell; write a path seen from its folder"
        raise located.error((role,), problem, RangeError, code="outside")
    if ".." in path.parts:
        problem = f"{text!r} leads out of the cell; keep its files in one folder"
        raise located.error((role,), problem, RangeError, code="outside")
    return path
