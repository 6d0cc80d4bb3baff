"""The folder of a cell: where its robot, plan, campaign, calibration, programs, results stand.  See docs/cells.md."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import field, fields
from pathlib import Path, PureWindowsPath
from typing import Any

from elastocal.errors import FileError, InputError, RangeError
from elastocal.files import schema
from elastocal.files.certificate import Stated, read_stated
from elastocal.files.located import Located, check_format, read_yaml
from elastocal.files.opened import path_of
from elastocal.files.workpiece import WorkArea, read_work_area
from elastocal.values import dataclass

FORMAT = "elastocal-cell/1"
NAME = "cell.yaml"
_START = f"a cell file starts with 'format: {FORMAT}'"
Options = Mapping[str, Mapping[str, Any]]
TABLES = (".csv", ".tsv", ".xlsx", ".xlsm", ".bag", ".mcap", ".db3")
"""Endings of tables in a folder."""


@dataclass(frozen=True, kw_only=True)
class CellEntry:
    """The keys of cell.yaml: places are seen from its folder; ``options`` are of commands, by their names.

    ``certificate`` is what people state for a certificate (``elastocal.files.certificate.Stated``), ``workpiece`` where
    maps are drawn (``elastocal.files.workpiece.WorkArea``).
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
    located = read_yaml(folder / file, _START)
    check_format(located, FORMAT, "a cell file")
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
