"""Tables that are typed without a campaign file: points of one file go to joint values of another by their names.

    elastocal calibrate arm.urdf export.txt poses.xlsx

Where one table alone has the joint values and no readings, every table of points without joint values is joined to it.
Exports of SpatialAnalyzer are known by their remarks; what their names mean is what most names of the poses fit.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from elastocal.errors import InputError
from elastocal.files.campaign.column_titles import MARKER, NUMBERED, Titles
from elastocal.files.campaign.columns import has_axis, no_axes
from elastocal.files.formats.spatial_analyzer import SpatialAnalyzer
from elastocal.files.robot.read import XML, robot_file
from elastocal.files.robot.xacro import split_arguments
from elastocal.files.tables.configurations import NAME
from elastocal.files.tables.csv_file import is_export as is_export_text
from elastocal.files.tables.csv_file import read_csv
from elastocal.files.tables.named import BAGS
from elastocal.files.tables.raw import Origin, RawTable
from elastocal.files.tables.remembered import entry_for
from elastocal.files.tables.rows import Text
from elastocal.files.tables.spelling import OF_NAMES, as_read, split_title, target_in
from elastocal.model.robot import Robot
from elastocal.values import dataclass

PATTERNS = ("{name}", "{name}_{marker}", "{name}-{marker}", "{name}::{marker}")
"""What names of points may mean, in this order."""
GROUPED = "{marker}::{name}"


@dataclass(frozen=True, eq=False)
class _Typed:
    """A table as it was typed; ``raw`` is None for exports of SpatialAnalyzer."""

    path: Path
    raw: RawTable | None
    axes: bool
    readings: bool


def table_entries(tables: Sequence[Path], robot: Robot, units: Mapping[str, str]) -> tuple[list[Any], tuple[str, ...]]:
    """Entries as ``table`` of a campaign file has them, and notes on what was brought together."""
    plain: list[Any] = [p.as_posix() for p in tables]
    if len(tables) < 2 or any(p.suffix.lower() in BAGS or entry_for(p) is not None for p in tables):
        return plain, ()
    typed = [_typed(p, robot, units) for p in tables]
    poses = [t for t in typed if t.axes and not t.readings]
    points = [t for t in typed if t.readings and not t.axes]
    rest = [t for t in typed if t not in points]
    if not poses and len(rest) == 1 and rest[0].raw is not None and any(t.raw is None for t in points):
        raise no_axes(rest[0].raw, robot.controller.axes[0])
    if len(poses) != 1 or not points:
        return plain, ()
    names, title = _names(poses[0])
    others = [t.path.as_posix() for t in rest if t is not poses[0]]
    both = [_joined(t, poses[0], (names, title), units) for t in points]
    rest_elsewhere = {"unmatched": "leave_out"} if len(points) > 1 else {}
    return [*others, *(entry | rest_elsewhere for entry, _ in both)], tuple(word for _, word in both)


def with_bags(tables: Sequence[Path]) -> list[Path]:
    """The folder of a ROS 2 bag as the file of its messages."""
    out = []
    for path in tables:
        inside = sorted(p for p in path.iterdir() if p.suffix.lower() in BAGS) if path.is_dir() else []
        if len(inside) > 1:
            raise InputError(
                f"{path}: the bag is in {len(inside)} files; name them one by one, such as {inside[0].as_posix()}",
                code="bag-folder", file=str(path),
            )  # fmt: skip
        out.append(inside[0] if inside else path)
    return out


def check_there(tables: Sequence[Path]) -> None:
    """Refuse tables that are no files."""
    for path in tables:
        if path.is_dir():
            message = f"{path.as_posix()}: is a folder, and no table; give the file of the readings"
            raise InputError(message, code="folder", file=str(path))
        if not path.exists():
            raise InputError(f"{path.as_posix()}: no such file; check the name", code="no-file", file=str(path))


def with_markers_of_files(raws: Mapping[str, RawTable]) -> dict[str, RawTable]:
    """Tables whose files are each called by a target, with that as their marker where they name none; notes say so."""
    called = {word: target_in(Path(word).stem) for word in raws}
    titles = [split_title(title)[0].rpartition("_")[0] or title for raw in raws.values() for title in raw.header]
    named = any(t.lower() == MARKER or "." in t or NUMBERED.fullmatch(as_read(t).lower()) for t in titles)
    if named or not all(called.values()) or len(set(called.values())) < 2:
        return dict(raws)
    return {word: _of_marker(raw, called[word]) for word, raw in raws.items()}


def _of_marker(raw: RawTable, marker: str) -> RawTable:
    origins = raw.origins or tuple(Origin(raw.file, title) for title in raw.header)
    rows = tuple((line, (*cells, marker)) for line, cells in raw.rows)
    note = f"{Path(raw.file).name}: its points are of marker {marker}, as its name says."
    return replace(
        raw, header=(*raw.header, MARKER), rows=rows, origins=(*origins, Origin(raw.file, MARKER)),
        notes=(*raw.notes, note), units=(*raw.units, "") if raw.units else (),
    )  # fmt: skip


def tool_of_titles(robot: str, tables: Sequence[Path]) -> str | None:
    """The link of a URDF that the last joint in the tables carries, where its own end has others or is in doubt."""
    file = robot_file(robot)
    if file is None or file.suffix.lower() not in XML:
        return None
    plain = [p for p in tables if p.suffix.lower() not in BAGS and not is_export(p)]
    titles = [t for p in plain for t in read_csv(p).header]
    from elastocal.files.robot.urdf import link_of_joints

    return link_of_joints(file, split_arguments(robot)[1], titles)


def is_export(path: Path) -> bool:
    """Whether a text begins as SpatialAnalyzer begins its exports."""
    if path.suffix.lower() in (".xlsx", ".xlsm", ".yaml", ".yml"):
        return False
    return is_export_text(Text.of(path).whole())


def _typed(path: Path, robot: Robot, units: Mapping[str, str]) -> _Typed:
    if is_export(path):
        return _Typed(path, None, False, True)
    raw = read_csv(path)
    axes = robot.axis_kinds
    titles = Titles(raw, axes, None, None, units)
    quantities = set()
    for title in raw.header:
        try:
            matched = titles.matched(title)
        except InputError:
            continue  # named where the table is read
        quantities |= {matched[1]} if matched is not None else set()
    return _Typed(path, raw, all(has_axis(quantities, a) for a in axes), bool(quantities & set(titles.units())))


def _names(poses: _Typed) -> tuple[set[str], str]:
    """Names of the poses, and the title of the column that they stand in."""
    raw = poses.raw
    assert raw is not None
    titles = [t for t in raw.header if t.lower() == NAME] or [t for t in raw.header if OF_NAMES.fullmatch(t.strip())]
    if len(titles) != 1:
        raise InputError(
            f"{poses.path}: has no column {NAME!r}, by which points of the other table find their joint values; add it",
            code="missing-column", file=str(poses.path), value=NAME,
        )  # fmt: skip
    return set(raw.texts(raw.header.index(titles[0]))), titles[0]


def _joined(
    points: _Typed, poses: _Typed, named: tuple[set[str], str], units: Mapping[str, str]
) -> tuple[dict[str, Any], str]:
    names, title = named
    assert poses.raw is not None
    columns = {NAME if t == title else t: t for t in poses.raw.header}
    other = poses.path.as_posix() if title == NAME else {"file": poses.path.as_posix(), "columns": columns}
    entry: dict[str, Any] = {"file": points.path.as_posix(), "join": other}
    message = f"{points.path.name}: joint values are those of the same name in {poses.path.name}"
    if points.raw is not None:
        return entry, f"{message}."
    pattern = _pattern(points.path, names)
    stated = SpatialAnalyzer.states_unit(points.path)
    length = {} if stated or "length" not in units else {"length": units["length"]}
    entry |= {"format": SpatialAnalyzer.kind, "points": pattern, **length}
    return entry, f"{message}; its names are read as {pattern}."


def _pattern(path: Path, names: set[str]) -> str:
    """The pattern by which most points of an export are of a pose."""
    parts = SpatialAnalyzer.names_in(path)
    groups = {tuple(p[:-1]) for p in parts}
    if len(groups) > 1 and len({p[-1] for p in parts} & names) < len([p for p in parts if p[-1] in names]):
        return GROUPED  # the same name in several groups: those are the markers

    def fitting(pattern: str) -> int:
        if "::" in pattern:
            return sum(len(p) > 1 and p[-2] in names for p in parts)
        shape = re.compile(re.escape(pattern).replace(r"\{name\}", "(.+)").replace(r"\{marker\}", ".+?"))
        return sum((match := shape.fullmatch(p[-1])) is not None and match[1] in names for p in parts)

    return max(PATTERNS, key=fitting)
