"""Tables of readings as numbers in SI, row by row as they stand in the file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any

import numpy as np

from elastocal.errors import ConflictError, InputError, MissingError, UnknownNameError
from elastocal.files.campaign.column_titles import (
    ANGLES,
    DISTANCE,
    LOADED,
    MARKER,
    MATRIX,
    ORIENTATIONS,
    QUATERNION,
    SHIFT,
    STATION,
    TEMPERATURE,
    TURN,
    UNLOADED,
    Declared,
)
from elastocal.files.campaign.columns import CampaignColumns, time_column, understand
from elastocal.files.campaign.conventions import READ, TURNED
from elastocal.files.tables.configurations import ConfigurationTable, configurations
from elastocal.files.tables.raw import Field, RawTable, cell, si_columns, si_readings
from elastocal.model.robot import Robot
from elastocal.spatial.entries import Array, Ints
from elastocal.spatial.rotation import Rotation, nearest_rotation
from elastocal.values import dataclass

OFF = 0.01
"""How far a quaternion may be from length one, and a matrix from a rotation."""
WIDTHS = {"position": 3, "deflection": 3, "turn": 3, "rest": 3, "orientation": 9, "distance": 1}
"""What may be read of a marker, with the count of its numbers: ``turn`` is the rotation vector of a deflection,
``rest`` the position without load, ``orientation`` a matrix by rows."""


@dataclass(frozen=True)
class Wanted:
    """What the tables are read for: robot, names of markers (None: any), kind of measurement (None: all that there are
    columns of).

    Without numbers in it a row is left out, but in a ``plan``; ``declared`` units serve columns without one.
    """

    model: Robot
    frames: tuple[str, ...] | None
    kind: str | None
    skip: bool
    plan: bool = False
    declared: Declared = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class CampaignTable:
    """One file: its rows in SI and, by marker ("" where the columns name none), what was read: (N, width) each."""

    word: str
    raw: RawTable
    columns: CampaignColumns
    poses: ConfigurationTable
    read: dict[str, dict[str, Array]]
    marker: tuple[str, ...] | None
    skipped: tuple[int, ...]
    station: tuple[str, ...] | None = None
    temperature: Array | None = None
    time: Array | None = None
    """s"""

    @property
    def by_difference(self) -> bool:
        return any("rest" in read for read in self.read.values())

    @property
    def unread(self) -> tuple[int, ...]:
        """Lines of the rows without any reading."""
        numbers = [values for read in self.read.values() for values in read.values()]
        none = np.all([np.isnan(values).all(axis=1) for values in numbers], axis=0)
        return tuple(self.raw.lines[none].tolist()) if numbers else ()

    @property
    def kinds(self) -> set[str]:
        """What was read of any marker."""
        return {what for read in self.read.values() for what in read}

    @property
    def markers(self) -> tuple[str, ...]:
        """Those that the table names."""
        return tuple(dict.fromkeys(self.marker)) if self.marker is not None else tuple(m for m in self.read if m)

    def holder(self, marker: str) -> str:
        """The key that a marker's columns stand under."""
        return marker if marker in self.read else ""

    def numbers(self, marker: str, what: str, rows: Ints) -> Array:
        """(len, width) of some rows, or (width,) nan where nothing was read of any."""
        known = self.read.get(self.holder(marker), {}).get(what)
        if known is None and what == "orientation" and marker == next(iter(self.markers), None):
            known = self.read.get("", {}).get(what)  # of the tool as a whole: any marker may carry it
        return np.full(WIDTHS[what], np.nan) if known is None else known[rows]

    def place(self, marker: str, row: int, rest: bool = False) -> str:
        """Where the numbers of a marker stand: ``both.txt line 113 less line 18 (P03_SMR1_1)``; ``rest`` names the
        point without load only."""
        columns = self.columns.readings.get(self.holder(marker), {})
        firsts = [(t, next((n for n in t if n in columns), "")) for t in (SHIFT, LOADED, UNLOADED, DISTANCE)]
        names = [n for t, n in firsts if n and not (rest and t is LOADED)]
        spots = [self.raw.spot(self.poses.lines[row], columns[n].place) for n in names]
        spots = spots or [(self.raw.file, self.poses.lines[row])]
        files = [self.word if file == self.raw.file else Path(file).name for file, _ in spots]
        text = f"{files[0]} line {spots[0][1]}"
        if spots[1:] and spots[1] != spots[0]:
            text += f" less {'' if files[1] == files[0] else files[1] + ' '}line {spots[1][1]}"
        called = dict.fromkeys(self.raw.called.get(spot, "") for spot in spots)
        named = " and ".join(n for n in called if n) or (self.poses.names[row] if self.poses.names else "")
        return f"{text} ({named})" if named else text

    def where(self, marker: str, row: int, axis: int, turn: bool) -> tuple[str, str, str]:
        """Place, column and text of a number, of a shift or of a turn."""
        columns = self.columns.readings[self.holder(marker)]
        groups = (TURN, *ORIENTATIONS) if turn else (SHIFT, LOADED, DISTANCE)
        name = next(g[min(axis, len(g) - 1)] for g in groups if any(n in columns for n in g))
        text, place = cell(self.raw, self.raw.rows[row], columns[name])
        return place, self.raw.header[columns[name].place], text


def read_tables(raws: Mapping[str, RawTable], wanted: Wanted) -> tuple[CampaignTable, ...]:
    """The tables by the words they were named with; those of one kind of measurement must have the same columns."""
    tables = tuple(_table(raw, word, wanted) for word, raw in raws.items())
    first = tables[0].columns.names
    for table in tables[1:] if wanted.kind else ():
        if odd := sorted(first ^ table.columns.names):
            has, lacks = (table, tables[0]) if odd[0] in table.columns.names else (tables[0], table)
            raise ConflictError(
                f"{table.raw.top}: {odd[0]} stands in {has.word} and not in {lacks.word}; "
                "give all tables of a campaign the same columns"
            )
    return tables


def _table(raw: RawTable, word: str, wanted: Wanted) -> CampaignTable:
    model = wanted.model
    columns = understand(raw, model.axis_kinds, wanted.frames, wanted.kind, wanted.plan, wanted.declared)
    poses = configurations(raw, columns.fields, model.axis_kinds, model.controller.drives, model.gravity)
    marker = _marker_column(raw, columns, wanted.frames)
    missed: set[int] = set()
    read = {name: _read(raw, fields, wanted, missed) for name, fields in columns.readings.items()}
    fields = columns.fields
    station = tuple(raw.texts(fields[STATION].place)) if STATION in fields else None
    heat = None
    if TEMPERATURE in fields:
        heat = si_columns(raw, [fields[TEMPERATURE]])[:, 0]
    clock = time_column(raw, model.axis_kinds)
    seconds = None if clock is None else clock[1]
    skipped = tuple(sorted(missed))
    return CampaignTable(word, raw.released(), columns, poses, read, marker, skipped, station, heat, seconds)


def _read(raw: RawTable, fields: Mapping[str, Field], wanted: Wanted, missed: set[int]) -> dict[str, Array]:
    """What was read of one marker."""
    out = {}
    for what, group in (("position", LOADED), ("deflection", SHIFT), ("turn", TURN), ("rest", UNLOADED)):
        if any(name in fields for name in group):
            out[what] = _numbers(raw, fields, group, wanted, missed)
    if "rest" in out:
        out["deflection"] = out.pop("position") - out["rest"]
    if DISTANCE[0] in fields:
        out["distance"] = _numbers(raw, fields, DISTANCE, wanted, missed)
    for turned in ORIENTATIONS:
        if turned[0] in fields:
            numbers = _numbers(raw, fields, turned, wanted, missed)
            out |= {READ: numbers} if turned in ANGLES else {TURNED: _matrices(raw, fields, turned, numbers)}
    return out


def _numbers(
    raw: RawTable, fields: Mapping[str, Field], group: tuple[str, ...], wanted: Wanted, missed: set[int]
) -> Array:
    """Columns (N, width), nan where nothing was read; the lines of such rows are added to ``missed``, but for columns
    that the table has not."""
    have = [i for i, name in enumerate(group) if name in fields]
    read = si_readings(raw, [fields[group[i]] for i in have], wanted.skip)
    missed.update(raw.lines[np.isnan(read).any(axis=1)].tolist())
    out = np.full((len(read), len(group)), np.nan)
    out[:, have] = read
    return out


def _marker_column(raw: RawTable, columns: CampaignColumns, frames: Sequence[str] | None) -> tuple[str, ...] | None:
    if not columns.long:
        return None
    field = columns.fields[MARKER]
    out = raw.texts(field.place)
    for text in dict.fromkeys(out):
        if not text or (frames is not None and text not in frames):
            where = cell(raw, raw.rows[out.index(text)], field)[1]
            if frames is not None:
                raise UnknownNameError("marker", text, frames, where)
            raise MissingError(f"{where}: names no marker; name it")
    return tuple(out)


def _matrices(raw: RawTable, fields: Mapping[str, Field], group: tuple[str, ...], numbers: Array) -> Array:
    """(N, 9) by rows, nan where nothing was read."""
    known = np.isfinite(numbers).all(axis=1)
    read = numbers[known]
    out = np.full((len(numbers), 9), np.nan)
    if not known.any():
        return out
    if group == MATRIX:
        rotations = read.reshape(-1, 3, 3)
        away = np.abs(np.einsum("nij,nkj->nik", rotations, rotations) - np.eye(3)).max(axis=(1, 2), initial=0.0)
        _check_rotations(raw, fields, group, known, (away > OFF) | (np.linalg.det(rotations) < 0), "no rotation matrix")
        rotations = nearest_rotation(rotations)
    else:
        size = np.linalg.norm(read, axis=1)
        _check_rotations(raw, fields, group, known, np.abs(size - 1) > OFF, "no quaternion of length one")
        rotations = np.asarray(Rotation.from_quat(read).as_matrix())
    out[known] = rotations.reshape(-1, 9)
    return out


def _check_rotations(
    raw: RawTable, fields: Mapping[str, Field], group: tuple[str, ...], known: Any, wrong: Any, what: str
) -> None:
    if not np.any(wrong):
        return
    row = int(np.flatnonzero(known)[int(np.flatnonzero(wrong)[0])])
    file, line = raw.spot(int(raw.lines[row]), fields[group[0]].place)
    raise InputError(
        f"{file}, line {line}: {', '.join(group)} are {what}; check the columns"
        + (" (the scalar is qw)" if group == QUATERNION else ""),
        code="orientation", file=file, line=line, column=group[0],
    )  # fmt: skip
