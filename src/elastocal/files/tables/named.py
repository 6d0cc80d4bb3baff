"""Tables that a YAML file names, and how they are to be read.  See docs/imports.md.

    table: readings.csv
    table: {file: export.txt, format: spatial-analyzer, points: "{name}_{marker}", length: mm, join: poses.csv}

Where a command takes a table of points or poses, it also takes a YAML file that names one in this way.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from elastocal.errors import UnknownNameError
from elastocal.files import schema
from elastocal.files.formats.format import Asked, format_kinds
from elastocal.files.located import Located, Path_, check_format, read_yaml
from elastocal.files.opened import existing
from elastocal.files.tables.csv_file import read_csv
from elastocal.files.tables.joins import joined, paired, paired_with, renamed, without_matched
from elastocal.files.tables.raw import RawTable
from elastocal.files.tables.remembered import entry_for
from elastocal.model.robot import Robot
from elastocal.values import dataclass

FORMAT = "elastocal-table/1"
KEY = "table"
PLAIN, BAG = "csv", "ros-bag"
BAGS = (".bag", ".mcap", ".db3")
"""Endings that tell the format."""
APART = ("file", "unloaded", "join", "unmatched", "markers")
"""Keys of a table that one without load does not take over from the one with load."""
_START = f"a file that names a table starts with 'format: {FORMAT}'"


@dataclass(frozen=True, kw_only=True)
class TableEntry:
    """Top level of a file that names a table."""

    format: str
    table: Any


def read_table(path: Path) -> RawTable:
    """A CSV file, or the table that a YAML file names."""
    if path.suffix.lower() not in (".yaml", ".yml"):
        return read_csv(path)
    located = read_yaml(path, _START)
    check_format(located, FORMAT, "a file that names a table")
    entry = schema.construct(TableEntry, located, (), located.data, {})
    return _read(entry.table, Asked(located, (KEY,), None))


def read_tables_of(located: Located, table: Any, robot: Robot) -> dict[str, RawTable]:
    """The tables of a campaign by the words that name their files."""
    several = isinstance(table, list)
    entries: Sequence[Any] = table if several else [table]
    words = [str(e.get("file")) if isinstance(e, dict) else str(e) for e in entries]
    if len(set(words)) != len(words) or not words:
        raise located.error((KEY,), "must name at least one file, and none twice")
    places: list[Path_] = [(KEY, i) if several else (KEY,) for i in range(len(words))]
    return {w: _read(e, Asked(located, p, robot)) for w, e, p in zip(words, entries, places, strict=True)}


def _read(entry: Any, asked: Asked, whole: bool = False) -> RawTable:
    """The table of an entry; ``whole`` with the columns that bring its rows together with others."""
    if isinstance(entry, str):
        path = existing(asked.located, asked.path, entry)
        options = {"format": BAG} if path.suffix.lower() in BAGS else entry_for(path)
        if options is None:
            return read_csv(path)
        entry = {"file": entry, **options}
    if isinstance(entry, dict) and isinstance(entry.get("file"), list):
        message = "is one file; that without load is named by unloaded: {file: ...}, others by a list of tables"
        raise asked.error(("file",), message)
    if not isinstance(entry, dict) or "file" not in entry:
        raise asked.error((), f"{entry!r} should name a file, or be such as {{file: export.csv, format: {PLAIN}}}")
    kind = str(entry.get("format", PLAIN))
    if kind not in format_kinds():
        raise UnknownNameError("format of tables", kind, format_kinds(), asked.where("format"))
    options = {k: v for k, v in entry.items() if k != "format"}
    form = schema.construct(format_kinds()[kind], asked.located, asked.path, options, {})
    raw = form.read(existing(asked.located, asked.path, form.file), asked)
    if isinstance(form.unloaded, dict):
        like = {k: v for k, v in entry.items() if k not in APART}
        free = _read(
            {**like, **form.unloaded}, Asked(asked.located, (*asked.path, "unloaded"), asked.robot), whole=True
        )
        raw = paired_with(raw, free, form.unmatched, asked)
    elif form.unloaded is not None:
        raw = paired(raw, str(form.unloaded), form.unmatched, asked)
    if form.join is not None:
        other = _read(form.join, Asked(asked.located, (*asked.path, "join"), asked.robot))
        raw = joined(raw, other, form.unmatched, asked)
    if form.markers:
        raw = renamed(raw, form.markers, asked)
    return raw if whole else without_matched(raw)
