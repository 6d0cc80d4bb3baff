"""Readings out of tables: one row per reading, all markers side by side, whatever the layout of the file.

In the long layout (a column ``marker``) rows with the same axes and wrench are readings of one state.  The k-th row of
a marker in that state belongs to repeat k, and the markers of a repeat form one reading, wherever their rows stand.

What no instrument reads is refused with the number that shows it: slips of units, empty tables, loads that would bend
the robot of the file by a tenth of itself (far beyond, no state is determined and no search for parameters would end).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from elastocal.errors import ConflictError, ImplausibleError, MissingError, UnitError
from elastocal.files.campaign.table import WIDTHS, CampaignTable
from elastocal.files.tables.configurations import WRENCH
from elastocal.files.tables.raw import cell
from elastocal.files.units import FORCE, LENGTH, MOMENT
from elastocal.measure.setup import Setup
from elastocal.model.robot import Robot
from elastocal.model.statics.deflection import linear_deflection
from elastocal.spatial.entries import Array


@dataclass(frozen=True, eq=False)
class Readings:
    """Controller values (N, n), wrenches (N, 6) or None, and what was ``read``: (N, markers, width) each, nan where
    nothing was.

    ``cells`` leads from reading and marker to table and row; ``places`` name the lines; ``posed`` are the markers whose
    orientation was read.
    """

    markers: tuple[str, ...]
    posed: tuple[bool, ...]
    values: Array
    wrenches: Array | None
    read: Mapping[str, Array]
    places: tuple[str, ...]
    cells: tuple[Mapping[str, tuple[CampaignTable, int]], ...]
    station: tuple[str, ...] | None = None
    temperature: Array | None = None
    time: Array | None = None
    """s, where all tables tell it."""

    @cached_property
    def deflected(self) -> bool:
        """Whether there are columns of deflections."""
        return any("deflection" in table.kinds for cells in self.cells for table, _ in cells.values())

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
        table, row = next(iter(self.cells[reading].values()))
        return f"{table.raw.file}, line {table.poses.lines[row]}"

    def axis_spot(self, reading: int, axis: str) -> str:
        """File, line and column where the value of an axis stands; the reading's where motors give it."""
        table, row = next(iter(self.cells[reading].values()))
        field = table.columns.fields.get(axis)
        return self.spot(reading) if field is None else cell(table.raw, table.raw.rows[row], field)[1]

    def title(self, reading: int, axis: str) -> str:
        """Title of the column of an axis; "" where motors give it."""
        table, _ = next(iter(self.cells[reading].values()))
        field = table.columns.fields.get(axis)
        return "" if field is None else table.raw.header[field.place]

    def places_of(self, rest: bool = False) -> dict[tuple[int, str], str]:
        """Where the numbers of each reading and marker stand; ``rest`` names the points without load only."""
        return {(i, m): t.place(m, row, rest) for i, cells in enumerate(self.cells) for m, (t, row) in cells.items()}

    @property
    def names(self) -> tuple[str, ...]:
        """Of the readings, where their tables have names."""
        first = [next(iter(cells.values())) for cells in self.cells]
        return tuple(t.poses.names[row] for t, row in first if t.poses.names is not None)

    def table(self, reading: int, marker: int) -> CampaignTable:
        return self.cells[reading][self.markers[marker]][0]

    def where(self, reading: int, marker: int, axis: int, turn: bool = False) -> tuple[str, str, str]:
        """Place, column and text of a number."""
        name = self.markers[marker]
        table, row = self.cells[reading][name]
        return table.where(name, row, axis, turn)


def gathered_readings(tables: Sequence[CampaignTable], markers: tuple[str, ...], plan: bool, repeats: int) -> Readings:
    """The readings of all tables that hold something of these markers; of a plan, all."""
    found = [(t, group) for t in tables for group in _groups(t, markers) for _ in range(repeats)]
    read = {what: np.full((len(found), len(markers), width), np.nan) for what, width in WIDTHS.items()}
    for j, marker in enumerate(markers):
        for table in tables:
            mine = [(i, group[marker]) for i, (t, group) in enumerate(found) if t is table and marker in group]
            at, rows = np.array(mine, dtype=np.int64).reshape(-1, 2).T
            for what in table.kinds:
                read[what][at, j] = table.numbers(marker, what, rows)
    some = np.any([np.isfinite(v).any(axis=(1, 2)) for v in read.values()], axis=0) | plan
    found = [f for f, kept in zip(found, some, strict=True) if kept]
    first = [(t, next(iter(group.values()))) for t, group in found]
    loaded = any(t.poses.wrenches is not None for t in tables)
    zero = np.zeros(6)
    return Readings(
        markers,
        tuple(any({"turn", "orientation"} & set(t.read.get(t.holder(m), {})) for t in tables) for m in markers),
        np.array([t.poses.values[row] for t, row in first]),
        np.array([zero if t.poses.wrenches is None else t.poses.wrenches[row] for t, row in first]) if loaded else None,
        {what: numbers[some] for what, numbers in read.items()},
        tuple(_place(t, sorted(set(group.values()))) for t, group in found),
        tuple({m: (t, row) for m, row in group.items()} for t, group in found),
        tuple("1" if t.station is None else t.station[row] for t, row in first)
        if any(t.station is not None for t in tables)
        else None,
        _temperature(first) if any(t.temperature is not None for t in tables) else None,
        np.array([t.time[row] for t, row in first if t.time is not None])
        if all(t.time is not None for t in tables)
        else None,
    )


def _temperature(rows: Sequence[tuple[CampaignTable, int]]) -> Array:
    for table, _ in rows:
        if table.temperature is None:
            raise ConflictError(
                f"{table.raw.top}: there is no column of temperature, which stands in another table of the campaign; "
                "add temperature_C, or leave it out everywhere"
            )
    return np.array([t.temperature[row] for t, row in rows if t.temperature is not None])


def _groups(table: CampaignTable, markers: Sequence[str]) -> Iterator[dict[str, int]]:
    """Rows of the markers of every reading, in the order in which readings begin."""
    if table.marker is None:
        yield from (dict.fromkeys(markers, row) for row in range(len(table.raw.rows)))
        return
    begun: list[dict[str, int]] = []
    of_state: dict[tuple[float, ...], list[dict[str, int]]] = {}
    for row, marker in enumerate(table.marker):
        if marker in markers:
            repeats = of_state.setdefault(_state(table, row), [])
            group = next((g for g in repeats if marker not in g), None)
            if group is None:
                group = {}
                repeats.append(group)
                begun.append(group)
            group[marker] = row
    yield from begun


def _state(table: CampaignTable, row: int) -> tuple[float, ...]:
    """Equal for rows with the same axes and wrench, as ``Setup.state`` has it."""
    wrenches = table.poses.wrenches
    load = () if wrenches is None else tuple(np.round(wrenches[row], 9))
    place = () if table.station is None else (float(table.station.index(table.station[row])),)
    return (*np.round(table.poses.values[row], 12), *load, *place)


def _place(table: CampaignTable, rows: Sequence[int]) -> str:
    lines = [table.poses.lines[row] for row in rows]
    names = dict.fromkeys(table.poses.names[row] for row in rows) if table.poses.names else {}
    said = ", ".join(n for n in names if n)
    text = f"{table.word} line{'s' * (len(lines) > 1)} {', '.join(str(n) for n in lines)}"
    return f"{text} ({said})" if said else text


SMALL = ("mm", "um")
"""Units of length that were meant where a number is far too large."""
SOFT, FAR, TURNED = 0.1, 3.0, 0.1
"""Largest deflection and distance from the base as shares of the robot's size, largest turn of a deflection in rad."""


def check_any(found: Readings, file: str) -> None:
    """There are numbers, and not only zeros."""
    known = np.concatenate([v[np.isfinite(v)] for v in found.read.values()])
    if not len(known):
        raise MissingError(f"{file}: holds no reading at all; fill the columns of the readings")
    if not np.any(known):
        raise MissingError(f"{file}: every reading is zero; was the table filled?")


def check_deflection_sizes(found: Readings, size: float) -> None:
    """Nothing bends by a tenth of the robot."""
    deflections, turns = found.read["deflection"], found.read["turn"]
    for reading, marker, axis in np.argwhere(np.abs(deflections) > SOFT * size):
        value = abs(float(deflections[reading, marker, axis]))
        place, column, text = found.where(reading, marker, axis)
        less = " less its value without load" if found.table(reading, marker).by_difference else ""
        said = f"{text}{less} gives a deflection of {value:.3g} m on a robot of {size:.3g} m"
        meant = _meant(column, value, SOFT * size, LENGTH, SMALL) or "correct the number"
        raise ImplausibleError(f"{place}: {said}; {meant}")
    for reading, marker, axis in np.argwhere(np.abs(turns) > TURNED):
        place, _, text = found.where(reading, marker, axis, turn=True)
        value = abs(float(turns[reading, marker, axis]))
        raise ImplausibleError(
            f"{place}: {text} is a turn by {value:.3g} rad under load; check the unit: was mrad meant?"
        )


def check_positions(found: Readings, points: Array, size: float) -> None:
    """No marker is far beyond the robot's reach; ``points`` (N, markers, 3) are in base axes."""
    for reading, marker in np.argwhere(np.linalg.norm(points, axis=2) > FAR * size):
        distance = float(np.linalg.norm(points[reading, marker]))
        axis = int(np.nanargmax(np.abs(found.shifts[reading, marker])))
        place, column, text = found.where(reading, marker, axis)
        said = f"{text} puts {found.markers[marker]} {distance:.3g} m from the base of a robot of {size:.3g} m"
        meant = _meant(column, distance, FAR * size, LENGTH, SMALL) or "correct the number"
        raise ImplausibleError(f"{place}: {said}; {meant}")


def check_loads(found: Readings, model: Robot, setup: Setup, size: float) -> None:
    """Refuse the worst load if the linear model of the robot file lets the arm bend by more than a tenth of it."""
    load = setup.load
    bend = np.linalg.norm(linear_deflection(model, setup.q, [load], load.frame).translation, axis=1)
    row = int(np.argmax(bend))
    if not bend[row] > SOFT * size:
        return
    wrench = np.broadcast_to(load.wrench, (setup.count, 6))[row]
    axis = int(np.argmax(np.abs(wrench) / [1, 1, 1, size, size, size]))
    said = (
        f"{abs(wrench[axis]):.3g} {'N' if axis < 3 else 'N m'} at {load.frame}, would bend the arm by {bend[row]:.3g} "
        f"m by the compliances of the robot file, on a robot of {size:.3g} m"
    )
    if found.wrenches is None:
        raise UnitError(f"the load of the campaign file: {said}; check its unit, and that of the compliances")
    table, line = next(iter(found.cells[row].values()))
    column = table.columns.fields[WRENCH[axis]]
    text, place = cell(table.raw, table.raw.rows[line], column)
    title, units = table.raw.header[column.place], FORCE if axis < 3 else MOMENT
    meant = _meant(title, float(bend[row]), SOFT * size, units, units) or "correct the load or the compliances"
    raise ImplausibleError(f"{place}: {text}, that is {said}; {meant}")


def _meant(column: str, value: float, most: float, units: Mapping[str, float], tried: Iterable[str]) -> str:
    """The first unit of those tried that makes the value behind a column small enough, as advice; "" for none."""
    name, _, unit = column.rpartition("_")
    better = [u for u in tried if value * units[u] / units.get(unit, 1.0) <= most]
    return f"check the unit: was {name}_{better[0]} meant?" if better else ""
