"""Readings out of tables: one row per reading, all markers side by side, whatever the layout of the file.

In the long layout (a column ``marker``) rows with the same axes and wrench are readings of one state.  The k-th row of
a marker in that state belongs to repeat k, and the markers of a repeat form one reading, wherever their rows stand.

What no instrument reads is refused with the number that shows it: slips of units, empty tables, loads that would bend
the robot of the file by a tenth of itself (far beyond, no state is determined and no search for parameters would end).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, overload

import numpy as np

from elastocal.errors import ConflictError, ImplausibleError, MissingError, UnitError
from elastocal.files.campaign.table import WIDTHS, CampaignTable
from elastocal.files.tables.configurations import WRENCH
from elastocal.files.tables.raw import cell
from elastocal.files.units import FORCE, LENGTH, MOMENT
from elastocal.measure.setup import Setup
from elastocal.model.robot import Robot
from elastocal.model.statics.deflection import linear_deflection
from elastocal.spatial.entries import Array, Bools, Ints
from elastocal.values import dataclass


@dataclass(frozen=True, eq=False)
class Cells:
    """Where N readings stand: the number of their table (N,), and the row of every marker there (N, markers), -1 where
    it was not read."""

    tables: tuple[CampaignTable, ...]
    markers: tuple[str, ...]
    table: Ints
    rows: Ints

    def __len__(self) -> int:
        return len(self.table)

    def __iter__(self) -> Iterator[tuple[int, CampaignTable, dict[str, int]]]:
        """Number of every reading, its table, and the rows of those markers that were read."""
        for i, (number, rows) in enumerate(zip(self.table.tolist(), self.rows.tolist(), strict=True)):
            yield i, self.tables[number], {m: row for m, row in zip(self.markers, rows, strict=True) if row >= 0}

    def some(self, chosen: Bools) -> Cells:
        return replace(self, table=self.table[chosen], rows=self.rows[chosen])

    def of(self, markers: Sequence[int]) -> Cells:
        return replace(self, markers=tuple(self.markers[i] for i in markers), rows=self.rows[:, markers])

    @cached_property
    def begins(self) -> Ints:
        """The first row (N,) of every reading."""
        return np.asarray(np.where(self.rows < 0, np.iinfo(np.int64).max, self.rows).min(axis=1))

    def first(self, reading: int) -> tuple[CampaignTable, int]:
        return self.tables[self.table[reading]], int(self.begins[reading])

    def by_row(self, column: Callable[[CampaignTable], Any]) -> Array:
        """A column of the tables, of which one value may stand for all rows, at the first row of every reading."""
        parts = [(column(t), self.begins[self.table == i]) for i, t in enumerate(self.tables)]
        return np.concatenate([np.broadcast_to(v, (len(r), *v.shape[1:])) if len(v) == 1 else v[r] for v, r in parts])

    @property
    def places(self) -> Places:
        return Places(self)


@dataclass(frozen=True, eq=False)
class Places(Sequence[str]):
    """Names of the lines of every reading, spelled where they are asked for."""

    cells: Cells

    def __len__(self) -> int:
        return len(self.cells)

    @overload
    def __getitem__(self, reading: int) -> str: ...

    @overload
    def __getitem__(self, reading: slice) -> tuple[str, ...]: ...

    def __getitem__(self, reading: int | slice) -> str | tuple[str, ...]:
        if isinstance(reading, slice):
            return tuple(self[i] for i in range(*reading.indices(len(self))))
        poses = (table := self.cells.tables[self.cells.table[reading]]).poses
        rows = np.unique(self.cells.rows[reading]).tolist()
        rows = [row for row in rows if row >= 0]
        names = dict.fromkeys(poses.names[row] for row in rows) if poses.names else {}
        named = ", ".join(n for n in names if n)
        text = f"{table.word} line{'s' * (len(rows) > 1)} {', '.join(str(poses.lines[row]) for row in rows)}"
        return f"{text} ({named})" if named else text


@dataclass(frozen=True, eq=False)
class Readings:
    """Controller values (N, n), wrenches (N, 6) or None, and what was ``read``: (N, markers, width) each, nan where
    nothing was.

    ``cells`` lead from reading and marker to table and row; ``posed`` are the markers whose orientation was read.
    """

    markers: tuple[str, ...]
    posed: tuple[bool, ...]
    values: Array
    wrenches: Array | None
    read: Mapping[str, Array]
    cells: Cells
    station: tuple[str, ...] | None = None
    temperature: Array | None = None
    time: Array | None = None
    """s, where all tables tell it."""

    @cached_property
    def deflected(self) -> bool:
        """Whether there are columns of deflections."""
        return any("deflection" in self.cells.tables[i].kinds for i in np.unique(self.cells.table).tolist())

    @property
    def places(self) -> Places:
        return self.cells.places

    @property
    def shifts(self) -> Array:
        """Deflections, or positions where there are none."""
        return self.read["deflection" if self.deflected else "position"]

    @property
    def points(self) -> Array:
        """Where the markers were, without load if that was read; nan where only shifts are."""
        return np.where(np.isfinite(self.read["rest"]), self.read["rest"], self.read["position"])

    def spot(self, reading: int) -> str:
        """File and line where a reading begins."""
        table, row = self.cells.first(reading)
        return f"{table.raw.file}, line {table.poses.lines[row]}"

    def axis_spot(self, reading: int, axis: str) -> str:
        """File, line and column where the value of an axis stands; the reading's where motors give it."""
        table, row = self.cells.first(reading)
        field = table.columns.fields.get(axis)
        return self.spot(reading) if field is None else cell(table.raw, table.raw.rows[row], field)[1]

    def title(self, reading: int, axis: str) -> str:
        """Title of the column of an axis; "" where motors give it."""
        table, _ = self.cells.first(reading)
        field = table.columns.fields.get(axis)
        return "" if field is None else table.raw.header[field.place]

    def places_of(self, rest: bool = False) -> dict[tuple[int, str], str]:
        """Where the numbers of each reading and marker stand; ``rest`` names the points without load only."""
        return {(i, m): t.place(m, row, rest) for i, t, rows in self.cells for m, row in rows.items()}

    @property
    def names(self) -> tuple[str, ...]:
        """Of the readings, where their tables have names."""
        if all(t.poses.names is None for t in self.cells.tables):
            return ()
        first = [self.cells.first(i) for i in range(len(self.cells))]
        return tuple(t.poses.names[row] for t, row in first if t.poses.names is not None)

    def table(self, reading: int, marker: int) -> CampaignTable:
        return self.cells.tables[int(self.cells.table[reading])]

    def where(self, reading: int, marker: int, axis: int, turn: bool = False) -> tuple[str, str, str]:
        """Place, column and text of a number."""
        name = self.markers[marker]
        table, row = self.table(reading, marker), int(self.cells.rows[reading, marker])
        return table.where(name, row, axis, turn)


def gathered_readings(tables: Sequence[CampaignTable], markers: tuple[str, ...], plan: bool, repeats: int) -> Readings:
    """The readings of all tables that hold something of these markers; of a plan, all."""
    groups = [np.repeat(_groups(t, markers), repeats, axis=0) for t in tables]
    cells = Cells(
        tuple(tables), markers, np.repeat(np.arange(len(tables)), [len(g) for g in groups]), np.concatenate(groups)
    )
    read = {what: _read(cells, what) for what in WIDTHS}
    some = np.any([_known(v) for v in read.values()], axis=0) | plan
    if not some.all():
        cells, read = cells.some(some), {what: numbers[some] for what, numbers in read.items()}
    loaded = any(t.poses.wrenches is not None for t in tables)
    stated = any(t.station is not None for t in tables)
    timed = all(t.time is not None for t in tables)
    return Readings(
        markers,
        tuple(any({"turn", "orientation"} & set(t.read.get(t.holder(m), {})) for t in tables) for m in markers),
        cells.by_row(lambda t: t.poses.values),
        cells.by_row(lambda t: np.zeros((1, 6)) if t.poses.wrenches is None else t.poses.wrenches) if loaded else None,
        read,
        cells,
        tuple(cells.by_row(lambda t: np.array(["1"] if t.station is None else t.station)).tolist()) if stated else None,
        cells.by_row(_temperature) if any(t.temperature is not None for t in tables) else None,
        cells.by_row(lambda t: t.time) if timed else None,
    )


def _read(cells: Cells, what: str) -> Array:
    """What was read of every marker (N, markers, width)."""
    shape = (len(cells), len(cells.markers), WIDTHS[what])
    if not any(what in t.kinds for t in cells.tables):
        return np.broadcast_to(np.nan, shape)
    out = np.full(shape, np.nan)
    for number, table in enumerate(cells.tables):
        for j, marker in enumerate(cells.markers if what in table.kinds else ()):
            at = np.flatnonzero((cells.table == number) & (cells.rows[:, j] >= 0))
            out[at, j] = table.numbers(marker, what, cells.rows[at, j])
    return out


def _known(read: Array) -> Bools:
    """Whether anything was read of a row (N,)."""
    return np.asarray(np.isfinite(read).any(axis=(1, 2))) if read.strides[0] else np.zeros(len(read), dtype=bool)


def _temperature(table: CampaignTable) -> Array:
    if table.temperature is None:
        raise ConflictError(
            f"{table.raw.top}: there is no column of temperature, which stands in another table of the campaign; "
            "add temperature_C, or leave it out everywhere"
        )
    return table.temperature


def _groups(table: CampaignTable, markers: Sequence[str]) -> Ints:
    """Rows (readings, markers), -1 where a marker was not read, in the order in which readings begin."""
    if table.marker is None:
        return np.repeat(np.arange(len(table.raw.rows))[:, None], len(markers), axis=1)
    begun: list[list[int]] = []
    of_state: dict[tuple[float, ...], list[list[int]]] = {}
    place = {m: i for i, m in enumerate(markers)}
    for row, marker in enumerate(table.marker):
        if marker in place:
            repeats = of_state.setdefault(_state(table, row), [])
            group = next((g for g in repeats if g[place[marker]] < 0), None)
            if group is None:
                group = [-1] * len(markers)
                repeats.append(group)
                begun.append(group)
            group[place[marker]] = row
    return np.array(begun, dtype=np.int64).reshape(-1, len(markers))


def _state(table: CampaignTable, row: int) -> tuple[float, ...]:
    """Equal for rows with the same axes and wrench, as ``Setup.state`` has it."""
    wrenches = table.poses.wrenches
    load = () if wrenches is None else tuple(np.round(wrenches[row], 9))
    place = () if table.station is None else (float(table.station.index(table.station[row])),)
    return (*np.round(table.poses.values[row], 12), *load, *place)


SMALL = ("mm", "um")
"""Units of length that were meant where a number is far too large."""
SOFT, FAR, TURNED = 0.1, 3.0, 0.1
"""Largest deflection and distance from the base as shares of the robot's size, largest turn of a deflection in rad."""


def check_any(readings: Readings, file: str) -> None:
    """There are numbers, and not only zeros."""
    if not any(np.isfinite(v).any() for v in readings.read.values()):
        raise MissingError(f"{file}: holds no reading at all; fill the columns of the readings")
    if not any(np.nan_to_num(v).any() for v in readings.read.values()):
        raise MissingError(f"{file}: every reading is zero; was the table filled?")


def check_deflection_sizes(readings: Readings, size: float) -> None:
    """Nothing bends by a tenth of the robot."""
    deflections, turns = readings.read["deflection"], readings.read["turn"]
    for reading, marker, axis in np.argwhere(np.abs(deflections) > SOFT * size):
        value = abs(float(deflections[reading, marker, axis]))
        place, column, text = readings.where(reading, marker, axis)
        less = " less its value without load" if readings.table(reading, marker).by_difference else ""
        message = f"{text}{less} gives a deflection of {value:.3g} m on a robot of {size:.3g} m"
        meant = _meant(column, value, SOFT * size, LENGTH, SMALL) or "correct the number"
        raise ImplausibleError(f"{place}: {message}; {meant}")
    for reading, marker, axis in np.argwhere(np.abs(turns) > TURNED):
        place, _, text = readings.where(reading, marker, axis, turn=True)
        value = abs(float(turns[reading, marker, axis]))
        raise ImplausibleError(
            f"{place}: {text} is a turn by {value:.3g} rad under load; check the unit: was mrad meant?"
        )


def check_positions(readings: Readings, points: Array, size: float) -> None:
    """No marker is far beyond the robot's reach; ``points`` (N, markers, 3) are in base axes."""
    for reading, marker in np.argwhere(np.linalg.norm(points, axis=2) > FAR * size):
        distance = float(np.linalg.norm(points[reading, marker]))
        axis = int(np.nanargmax(np.abs(readings.shifts[reading, marker])))
        place, column, text = readings.where(reading, marker, axis)
        message = f"{text} puts {readings.markers[marker]} {distance:.3g} m from the base of a robot of {size:.3g} m"
        meant = _meant(column, distance, FAR * size, LENGTH, SMALL) or "correct the number"
        raise ImplausibleError(f"{place}: {message}; {meant}")


def check_loads(readings: Readings, model: Robot, setup: Setup, size: float) -> None:
    """Refuse the worst load if the linear model of the robot file lets the arm bend by more than a tenth of it."""
    load = setup.load
    if not load.wrench.any():
        return
    bend = np.linalg.norm(linear_deflection(model, setup.q, [load], load.frame).translation, axis=1)
    row = int(np.argmax(bend))
    if not bend[row] > SOFT * size:
        return
    wrench = np.broadcast_to(load.wrench, (setup.count, 6))[row]
    axis = int(np.argmax(np.abs(wrench) / [1, 1, 1, size, size, size]))
    message = (
        f"{abs(wrench[axis]):.3g} {'N' if axis < 3 else 'N m'} at {load.frame}, would bend the arm by {bend[row]:.3g} "
        f"m by the compliances of the robot file, on a robot of {size:.3g} m"
    )
    if readings.wrenches is None:
        raise UnitError(f"the load of the campaign file: {message}; check its unit, and that of the compliances")
    table, line = readings.cells.first(row)
    column = table.columns.fields[WRENCH[axis]]
    text, place = cell(table.raw, table.raw.rows[line], column)
    title, units = table.raw.header[column.place], FORCE if axis < 3 else MOMENT
    meant = _meant(title, float(bend[row]), SOFT * size, units, units) or "correct the load or the compliances"
    raise ImplausibleError(f"{place}: {text}, that is {message}; {meant}")


def _meant(column: str, value: float, most: float, units: Mapping[str, float], tried: Iterable[str]) -> str:
    """The first unit of those tried that makes the value behind a column small enough, as advice; "" for none."""
    name, _, unit = column.rpartition("_")
    better = [u for u in tried if value * units[u] / units.get(unit, 1.0) <= most]
    return f"check the unit: was {name}_{better[0]} meant?" if better else ""
