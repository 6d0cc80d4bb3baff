"""The header of a table of readings: which column holds what of which marker, and when readings were taken."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import field, replace
from datetime import UTC, datetime

import numpy as np

from elastocal.errors import ConflictError, DuplicateError, InputError, MissingError, UnknownNameError
from elastocal.files.campaign.column_titles import (
    LOADED,
    MARKER,
    NUMBERED,
    ORIENTATION,
    ORIENTATIONS,
    PLAIN,
    SHIFT,
    STATION,
    TEMPERATURE,
    TURN,
    UNLOADED,
    Declared,
    Titles,
    lost_loads,
    units_of,
    wanted_groups,
)
from elastocal.files.tables.configurations import NAME
from elastocal.files.tables.raw import Field, RawTable, add_once
from elastocal.files.tables.spelling import is_bare, split_title
from elastocal.files.units import ANGLE
from elastocal.results import Finding
from elastocal.spatial.entries import Array
from elastocal.untrusted import finite_number, shell_line
from elastocal.values import dataclass

TIME = "time"
TITLES = ("t", TIME, "timestamp", "t_s", "time_s", "timestamp_s")


def time_column(raw: RawTable, axes: Container[str]) -> tuple[int, Array] | None:
    """Place of the column and seconds (N,); None without one, or where a cell is no time."""
    titles = [title.lower() for title in raw.header]
    place = next((titles.index(t) for t in TITLES if t in titles and raw.header[titles.index(t)] not in axes), None)
    if place is None:
        return None
    numbers = raw.numbers(place)
    if np.isfinite(numbers).all():
        return place, numbers
    seconds = [_seconds(raw.numerals.cell(text)) for text in raw.texts(place)]
    known = [s for s in seconds if s is not None]
    return (place, np.array(known)) if len(known) == len(seconds) else None


def _seconds(text: str) -> float | None:
    if (number := finite_number(text)) is not None:
        return number
    try:
        day = datetime.fromisoformat(text)
    except ValueError:
        return None
    return (day if day.tzinfo else day.replace(tzinfo=UTC)).timestamp()


@dataclass(frozen=True)
class CampaignColumns:
    """Columns of the configuration by name, and of the readings by marker ("" where the column names none)."""

    fields: dict[str, Field]
    readings: dict[str, dict[str, Field]]
    notes: tuple[str, ...] = field(default=(), compare=False)
    warnings: tuple[Finding, ...] = field(default=(), compare=False)

    @property
    def long(self) -> bool:
        return MARKER in self.fields

    @property
    def names(self) -> set[str]:
        """Everything there is a column of, without units."""
        return {*self.fields, *(f"{m}.{q}" if m else q for m, columns in self.readings.items() for q in columns)}


def understand(
    raw: RawTable, axes: Mapping[str, str], frames: Sequence[str] | None, kind: str | None, plan: bool,
    declared: Declared,
) -> CampaignColumns:  # fmt: skip
    """Every column matched; refuses those that are nearly one, or say the same twice, or whose marker is in doubt.

    ``frames`` are the names that markers may have, None for any; ``kind`` is None where all may be read.  What is no
    column at all is not used, which a note says.  A ``plan`` may have no columns of readings.
    """
    fields: dict[str, Field] = {}
    readings: dict[str, dict[str, Field]] = {}
    titles = Titles(raw, axes, frames, kind, declared)
    unused = []
    clock = time_column(raw, axes)
    for place, column in enumerate(raw.header):
        word = column.lower()
        if clock is not None and place == clock[0]:
            fields[TIME] = Field(place, 1.0)
            continue
        if word in (NAME, MARKER, STATION) and column not in axes:
            add_once(raw, fields, word, Field(place, 1.0))
            continue
        try:
            matched = titles.matched(column)
        except UnknownNameError:
            if any(has_axis([titles.plain(t, axes) for t in raw.header], a) for a in axes):
                raise
            raise _of_another(raw, axes) from None
        if matched is None:
            titles.check_told(place)
            unused.append(column)
            continue
        marker, name, factor = matched
        target = fields if marker is None else readings.setdefault(marker, {})
        add_once(raw, target, name, Field(place, factor))
    notes = (*titles.notes(fields, unused), *_marker_notes(raw, readings), *_gauge_notes(raw, readings))
    campaign_columns = CampaignColumns(fields, readings, notes, lost_loads(raw, unused))
    _check_axes(raw, campaign_columns, axes, unused)
    _check_markers(raw, campaign_columns)
    if not readings and not plan and unused:
        raise _no_readings(raw, "dx" if kind == "deflection" else "x", unused)
    for marker, columns in readings.items() if readings or plan else [("", {})]:
        own = marker or (titles.markers[-1] if any(q in axes for q in LOADED) else "")
        _check_groups(raw, own, columns, kind, unused)
    return campaign_columns


def configuration_columns(
    raw: RawTable, axes: Mapping[str, str], declared: Declared
) -> tuple[dict[str, Field], tuple[str, ...]]:
    """Columns of axes, loads and names in a table of any campaign, and notes: readings in it are not used."""
    fields: dict[str, Field] = {}
    titles = Titles(raw, axes, None, None, {"length": "mm", "angle": "deg"} | dict(declared))
    unused = []
    for place, column in enumerate(raw.header):
        known: tuple[str | None, str, float] | None = None
        if column.lower() == NAME and NAME not in axes:
            known = None, NAME, 1.0
        if known is None and column.lower() not in (MARKER, STATION):
            bare = titles.plain(column, axes)
            own = bare in axes or bare.rpartition("_")[0] in axes
            known = (replace(titles, declared=declared) if own else titles).matched(column)
        if known is None or known[0] is not None or known[1] == TEMPERATURE:
            unused.append(column)
        else:
            add_once(raw, fields, known[1], Field(place, known[2]))
    _check_axes(raw, CampaignColumns(fields, {}), axes, unused)
    return fields, (*titles.notes(fields, unused), *(w.text for w in lost_loads(raw, unused)))


def _marker_notes(raw: RawTable, readings: Mapping[str, Mapping[str, Field]]) -> tuple[str, ...]:
    """Which target of the table is which marker, where its titles count them by letters or words of their own."""
    firsts = {m: raw.header[min(f.place for f in columns.values())] for m, columns in readings.items() if m and columns}
    taken = [f"{title} is of {m}" for m, title in firsts.items() if _own_words(title, m)]
    return (f"{raw.file.rpartition('/')[2]}: {', '.join(taken)}.",) if taken else ()


def _gauge_notes(raw: RawTable, readings: Mapping[str, Mapping[str, Field]]) -> tuple[str, ...]:
    """Deflections in one direction or two, as of a dial gauge."""
    read = {tuple(q for q in SHIFT if q in columns) for columns in readings.values()} - {(), SHIFT}
    name = raw.file.rpartition("/")[2]
    return tuple(f"{name}: of the deflection {' and '.join(some)} alone was read." for some in sorted(read))


def _own_words(title: str, marker: str) -> bool:
    """Whether a title neither names its marker nor is one such as ``x1_mm`` or ``X 1 [mm]``."""
    bare = split_title(title)[0].lower()
    return marker.lower() not in bare.replace(" ", "") and not NUMBERED.match(bare.replace(" ", ""))


def has_axis(names: Iterable[str], axis: str) -> bool:
    """Whether an axis has a column, of its own or of its motor."""
    return any(name == axis or name.startswith(f"{axis}_") for name in names)


def _check_axes(raw: RawTable, columns: CampaignColumns, axes: Mapping[str, str], unused: Sequence[str]) -> None:
    """Where an axis is missing and titles are not used, one of them may be meant."""
    absent = [a for a in axes if not has_axis(columns.fields, a)]
    if absent and len(absent) == len(axes) and not all(map(is_bare, unused)):
        raise _of_another(raw, axes)
    if absent and unused:
        raise no_axes(raw, absent[0], "deg" if axes[absent[0]] == "revolute" else "mm", unused)


def _asking(raw: RawTable) -> str:
    """The command that tells what is taken from a table."""
    return shell_line("columns", "ROBOT", raw.file)


def _of_another(raw: RawTable, axes: Mapping[str, str]) -> InputError:
    """No title is an axis: most often the robot is another one, or there are no titles."""
    if raw.header and all(finite_number(title) is not None for title in raw.header):
        titles = ",".join(f"{a}_{'deg' if kind == 'revolute' else 'mm'}" for a, kind in axes.items())
        return InputError(
            f"{raw.top}: numbers stand where the titles of the columns belong; write a line of titles above them, such "
            f"as {titles},x_mm,y_mm,z_mm",
            code="no-titles", file=raw.file, line=raw.header_line, value=raw.header[0],
        )  # fmt: skip
    return InputError(
        f"{raw.top}: none of {', '.join(raw.header)} is an axis of the robot ({', '.join(axes)}); check that the table "
        f"is of this robot, or tell which is which by: {_asking(raw)}",
        code="missing-column", file=raw.file, line=raw.header_line, allowed=tuple(axes),
    )  # fmt: skip


def no_axes(raw: RawTable, axis: str, unit: str = "deg", unused: Sequence[str] = ()) -> InputError:
    """An axis has no column; ``unused`` are titles that may be meant."""
    titles = unused or raw.header
    return InputError(
        f"{raw.top}: there is no column for axis {axis}; write {axis}_{unit} as its title, or ask which of "
        f"{', '.join(titles)} it may be, and have what is accepted remembered, by: {_asking(raw)}",
        code="missing-column", file=raw.file, line=raw.header_line, value=axis, allowed=tuple(titles),
    )  # fmt: skip


def _no_readings(raw: RawTable, quantity: str, unused: Sequence[str]) -> MissingError:
    """Nothing is a reading, and ``unused`` titles may be meant."""
    return MissingError(
        f"{raw.top}: there is no column of {quantity}; write {quantity}_mm as title ({quantity}1_mm, {quantity}2_mm of "
        f"several markers), or see what is taken from {', '.join(unused)}, and say it once, by: {_asking(raw)}",
        file=raw.file, line=raw.header_line, allowed=tuple(unused),
    )  # fmt: skip


def _check_markers(raw: RawTable, columns: CampaignColumns) -> None:
    named = [m for m in columns.readings if m]
    first = next((raw.header[f.place] for m in named for f in columns.readings[m].values()), "")
    if named and columns.long:
        raise ConflictError(f"{raw.top}: the marker stands in a column of its own and in {first!r}; name it in one way")
    plain = [q for q in columns.readings.get("", {}) if not any(q in group for group in ORIENTATIONS)]
    if named and plain:
        title = raw.header[columns.readings[""][plain[0]].place]
        raise ConflictError(f"{raw.top}: column {first!r} names its marker and {title!r} does not; name it in both")


def _check_groups(
    raw: RawTable, marker: str, columns: Mapping[str, Field], kind: str | None, unused: Sequence[str]
) -> None:
    """Each quantity has all its columns, but for deflections of the best predictor, and each is given in one way."""
    where, prefix = raw.top, f"{marker}." if marker else ""
    if any(q in columns for q in SHIFT) and any(q in columns for q in ((*LOADED, *UNLOADED) if kind else UNLOADED)):
        raise DuplicateError(f"{where}: {prefix}dx and {prefix}x give the deflection in two ways; keep one")
    turned = [group for group in ORIENTATIONS if any(q in columns for q in group)]
    if len(turned) > 1:
        raise DuplicateError(f"{where}: {turned[0][0]} and {turned[1][0]} give the orientation in two ways; keep one")
    for group in wanted_groups(columns, kind):
        absent = [q for q in group if q not in columns]
        if absent and not (group == SHIFT and kind is None and len(absent) < len(group)):
            unit = {id(PLAIN): "", id(ANGLE): "_mrad" if group in (TURN, ORIENTATION) else "_deg"}
            suffix = unit.get(id(units_of(absent[0])), "_mm")
            number = marker.removeprefix("marker")
            dotted = any(raw.header[f.place].startswith(prefix) for f in columns.values())
            title = (
                f"{absent[0]}{number}{suffix}" if number.isdigit() and not dotted else f"{prefix}{absent[0]}{suffix}"
            )
            left = f"; not used: {', '.join(unused)}" if unused else ""
            message = f"there is no column of {absent[0]}; add {title}{_why(group)}{left}"
            raise MissingError(f"{where}: {message}", value=title, allowed=tuple(unused))


def _why(group: tuple[str, ...]) -> str:
    if group == UNLOADED:
        return " (the position without load), or give the deflection itself as dx, dy and dz"
    return " (with empty cells, and missing: skip in a campaign file, if it was not read)"
