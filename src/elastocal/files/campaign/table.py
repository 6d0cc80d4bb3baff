"""Tables of readings as numbers in SI, row by row as they stand in the file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from elastocal.errors import InputError, UnknownNameError
from elastocal.files.campaign.columns import (
    LOADED,
    MARKER,
    ORIENTATION,
    SHIFT,
    TURN,
    UNLOADED,
    CampaignColumns,
    understand,
)
from elastocal.files.tables.configurations import ConfigurationTable, configurations
from elastocal.files.tables.raw import Field, RawTable, cell, si_number
from elastocal.model.transmission import Drives
from elastocal.spatial.entries import Array

NOTHING = ("", "nan")


@dataclass(frozen=True)
class Wanted:
    """What the tables are read for: controller axes with their joint kinds, frames, kind of measurement.

    Without numbers in it a row is left out, but in a ``plan``; ``drives`` serve axes that are given by their motors.
    """

    axes: Mapping[str, str]
    frames: tuple[str, ...]
    kind: str
    skip: bool
    plan: bool = False
    drives: Drives | None = None


@dataclass(frozen=True, eq=False)
class CampaignTable:
    """One file: its rows in SI and, by marker ("" where the columns name none), shifts and turns (N, 3).

    ``rests`` are positions without load, where shifts are differences from them.
    """

    word: str
    raw: RawTable
    columns: CampaignColumns
    poses: ConfigurationTable
    shifts: dict[str, Array]
    turns: dict[str, Array]
    marker: tuple[str, ...] | None
    skipped: tuple[int, ...]
    rests: dict[str, Array]

    @property
    def by_difference(self) -> bool:
        return any(UNLOADED[0] in columns for columns in self.columns.readings.values())

    @property
    def markers(self) -> tuple[str, ...]:
        """Those that the table names."""
        return tuple(dict.fromkeys(self.marker)) if self.marker is not None else tuple(m for m in self.shifts if m)

    def holder(self, marker: str) -> str:
        """The key that a marker's columns stand under."""
        return marker if marker in self.shifts else ""

    def numbers(self, marker: str, row: int) -> Array:
        """Shift, turn and place (3, 3) of one row; nan where nothing was read, and the place where only shifts are."""
        key = self.holder(marker)
        nothing = np.full(3, np.nan)
        turn = self.turns[key][row] if key in self.turns else nothing
        at = self.shifts[key][row] if LOADED[0] in self.columns.readings.get(key, {}) else nothing
        return np.stack([self.shifts[key][row], turn, self.rests[key][row] if key in self.rests else at])

    def place(self, marker: str, row: int, rest: bool = False) -> str:
        """Where the numbers of a marker stand: ``both.txt line 113 less line 18 (P03_SMR1_1)``; ``rest`` names the
        point without load only."""
        columns = self.columns.readings.get(self.holder(marker), {})
        names = [t[0] for t in (SHIFT, LOADED, UNLOADED) if t[0] in columns and not (rest and t is LOADED)]
        spots = [self.raw.spot(self.raw.rows[row], columns[n].place) for n in names]
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
        triples = (TURN, ORIENTATION) if turn else (SHIFT, LOADED)
        name = next(t[axis] for t in triples if t[axis] in columns)
        text, place = cell(self.raw, self.raw.rows[row], columns[name])
        return place, self.raw.header[columns[name].place], text


def read_tables(raws: Mapping[str, RawTable], wanted: Wanted) -> tuple[CampaignTable, ...]:
    """The tables by the words they were named with; all must have the same columns."""
    tables = tuple(_table(raw, word, wanted) for word, raw in raws.items())
    first = tables[0].columns.names
    for table in tables[1:]:
        if odd := sorted(first ^ table.columns.names):
            has, lacks = (table, tables[0]) if odd[0] in table.columns.names else (tables[0], table)
            raise InputError(
                f"{table.raw.top}: {odd[0]} stands in {has.word} and not in {lacks.word}; "
                "give all tables of a campaign the same columns"
            )
    return tables


def _table(raw: RawTable, word: str, wanted: Wanted) -> CampaignTable:
    columns = understand(raw, wanted.axes, wanted.frames, wanted.kind, wanted.plan)
    poses = configurations(raw, columns.fields, wanted.axes, wanted.drives)
    marker = _marker_column(raw, columns, wanted.frames)
    missed: set[int] = set()
    shifts, turns = {} if columns.readings else {"": np.full((len(raw.rows), 3), np.nan)}, {}
    rests = {}
    for name, fields in columns.readings.items():
        if UNLOADED[0] in fields:
            both = [_numbers(raw, fields, t, wanted, missed) for t in (LOADED, UNLOADED)]
            shifts[name], rests[name] = both[0] - both[1], both[1]
        else:
            shifts[name] = _numbers(raw, fields, SHIFT if wanted.kind == "deflection" else LOADED, wanted, missed)
        turned = TURN if wanted.kind == "deflection" else ORIENTATION
        if turned[0] in fields:
            turns[name] = _numbers(raw, fields, turned, wanted, missed)
    return CampaignTable(word, raw, columns, poses, shifts, turns, marker, tuple(sorted(missed)), rests)


def _numbers(
    raw: RawTable, fields: Mapping[str, Field], triple: tuple[str, ...], wanted: Wanted, missed: set[int]
) -> Array:
    """Three columns (N, 3), nan where nothing was read; the lines of such rows are added to ``missed``."""
    out = np.empty((len(raw.rows), 3))
    for i, row in enumerate(raw.rows):
        for j, name in enumerate(triple):
            text, where = cell(raw, row, fields[name])
            if text.lower() in NOTHING:
                if not wanted.skip:
                    said = repr(text) if text else "an empty cell"
                    raise InputError(f"{where}: {said} is no reading; give a number, or leave it out by missing: skip")
                missed.add(row[0])
                out[i, j] = np.nan
            else:
                out[i, j] = si_number(raw, row, fields[name])
    return out


def _marker_column(raw: RawTable, columns: CampaignColumns, frames: Sequence[str]) -> tuple[str, ...] | None:
    if not columns.long:
        return None
    out = []
    for row in raw.rows:
        text, where = cell(raw, row, columns.fields[MARKER])
        if text not in frames:
            raise UnknownNameError("marker", text, frames, where)
        out.append(text)
    return tuple(out)
