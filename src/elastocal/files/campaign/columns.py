"""The header of a table of readings: which column holds what of which marker.

deflection   dx dy dz [drx dry drz], or the positions x y z under load and x0 y0 z0 without
position     x y z
orientation  of the marker's frame: qx qy qz qw (quaternion), r11 ... r33 (matrix), rx ry rz (rotation vector), roll
             pitch yaw (about fixed x, y, z), phix phiy phiz, a b c, w p r or e1 e2 e3 (angles of any order);
             ``conventions`` has what three angles are
distance     distance, from a point that stands still

With several markers each row holds one, named in a column ``marker`` (long), or all of them, named in the columns
(wide): ``marker1.dx_mm``, or ``x1_mm`` for a marker of that number.  Titles such as ``X [mm]`` are taken as ``x_mm``,
and ``A1``, ``q1``, ``J1`` or ``Joint 1`` as the first axis.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace

from elastocal.errors import ConflictError, DuplicateError, InputError, MissingError, UnitError, UnknownNameError
from elastocal.files.campaign.load_titles import is_payload, lost_loads
from elastocal.files.campaign.times import TIME, time_column
from elastocal.files.tables.axis_titles import numbered_axis
from elastocal.files.tables.configurations import NAME, PAYLOAD, allowed_units, motor_column
from elastocal.files.tables.raw import Field, RawTable, add_once, understood
from elastocal.files.tables.titles import as_read, is_bare, split_title, unit_word
from elastocal.files.units import ANGLE, LENGTH
from elastocal.findings import Finding
from elastocal.untrusted import finite_number, shell_line, shell_word
from elastocal.values import dataclass

MARKER, STATION, TEMPERATURE = "marker", "station", "temperature"
SHIFT, TURN = ("dx", "dy", "dz"), ("drx", "dry", "drz")
LOADED, UNLOADED = ("x", "y", "z"), ("x0", "y0", "z0")
ORIENTATION = ("rx", "ry", "rz")
QUATERNION = ("qx", "qy", "qz", "qw")
MATRIX = tuple(f"r{i}{j}" for i in (1, 2, 3) for j in (1, 2, 3))
RPY = ("roll", "pitch", "yaw")
PHI = ("phix", "phiy", "phiz")
EULER = (("a", "b", "c"), ("w", "p", "r"), ("e1", "e2", "e3"))
ANGLES = (ORIENTATION, RPY, PHI, *EULER)
"""Three angles, of which titles do not tell for certain how a frame is turned by them."""
ORIENTATIONS = (ORIENTATION, QUATERNION, MATRIX, RPY, PHI, *EULER)
DISTANCE = ("distance",)
GROUPS: dict[str, tuple[tuple[str, ...], ...]] = {
    "deflection": (SHIFT, TURN, LOADED, UNLOADED),
    "position": (LOADED, *ORIENTATIONS, DISTANCE),
}
"""Columns that belong together, by kind of measurement."""
TURNS = (*TURN, *ORIENTATION)
_KELVIN = {"C": 1.0, "K": 1.0}
"""Differences alone count."""
_PLAIN: dict[str, float] = {}
NUMBERED = re.compile(r"(d?[xyz]|d?r[xyz]|phi[xyz]|q[xyzw]|distance)([1-9]\d{0,5})")
UNUSED = "unused"
"""What a title may be told to be."""
_AXIS = re.compile(r"(?:a|e|j|joint|axis|achse|theta)[ _.]?\d\d?", re.IGNORECASE)
"""An axis by its number, also one of another robot or an external one."""
ONCE = "once for all tables like it by 'elastocal columns'"
Declared = Mapping[str, str]
"""Units by dimension, of columns that do not tell theirs."""


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
    raw: RawTable,
    axes: Mapping[str, str],
    frames: Sequence[str] | None,
    kind: str | None,
    plan: bool,
    declared: Declared,
) -> CampaignColumns:
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
    notes = (*titles.notes(fields, unused), *_marker_notes(raw, readings))
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


@dataclass(frozen=True, eq=False)
class Titles:
    """What titles may mean in a table."""

    raw: RawTable
    axes: Mapping[str, str]
    frames: Sequence[str] | None
    kind: str | None
    declared: Declared

    @property
    def markers(self) -> Sequence[str]:
        return self.frames or ("marker",)

    @property
    def scalar(self) -> bool:
        """Whether a title is that of the scalar of a quaternion, so that others of its kind are of one."""
        return any(as_read(split_title(t)[0], True) == "qw" for t in self.raw.header)

    def matched(self, title: str) -> tuple[str | None, str, float] | None:
        """Marker (None for axes and wrenches), quantity and factor of a column; None where it is none."""
        raw, axes = self.raw, self.axes
        if (motor := motor_column(raw, title, axes)) is not None:
            return None, *motor
        if is_payload(title) and title.rpartition("_")[0] not in axes:
            return None, PAYLOAD, 1.0
        poses = allowed_units(axes) | {TEMPERATURE: _KELVIN}
        column = self.plain(title, poses)
        stem = column if column in poses else column.rpartition("_")[0]
        if stem in poses:
            return None, *self.understood(column, poses, stem, title)
        marker, dot, rest = column.rpartition(".") if not column.endswith(".") else ("", "", column)
        quantity = rest if rest in self.units() or "_" not in rest else rest.rpartition("_")[0]
        if not dot and (number := NUMBERED.fullmatch(quantity)) is not None and quantity not in self.units():
            marker, dot, quantity = f"marker{number[2]}", ".", number[1]
            rest = rest.replace(number[0], quantity, 1)
        if dot and self.frames is not None and marker not in self.frames:
            raise UnknownNameError("marker", marker, self.frames, f"{raw.top}, column {title}")
        _check_kind(raw, title, quantity, self.kind)
        known = self.units()
        if dot:
            prefixed = {f"{marker}.{q}": u for q, u in known.items()}
            name, factor = self.understood(f"{marker}.{rest}", prefixed, f"{marker}.{quantity}", title)
            return marker, name.removeprefix(f"{marker}."), factor
        if quantity not in known and not _nearly(title, {**poses, **known}, axes):
            return None
        return "", *self.understood(column, poses | known, quantity, title)

    def check_told(self, place: int) -> None:
        """Refuse a name that was given to a title, and is none, but for ``unused``."""
        column, title = self.raw.header[place], self.raw.origin(place).title
        if self.raw.named and not column.startswith(title) and not column.lower().startswith(UNUSED):
            self.understood(column, allowed_units(self.axes) | self.units(), "", title)

    def units(self) -> dict[str, Mapping[str, float]]:
        kinds = (self.kind,) if self.kind else tuple(GROUPS)
        return {q: _units(q) for k in kinds for group in GROUPS[k] for q in group}

    def plain(self, title: str, poses: Mapping[str, object]) -> str:
        """``X [mm]`` as ``x_mm``, ``Joint 1 (deg)`` as the first axis."""
        if title in poses or title.rpartition("_")[0] in poses:
            return title
        before, stated = split_title(title)
        unit = unit_word(stated) if stated else None
        bare = before if unit else title
        if unit is None and (suffix := title.rpartition("_")[2]) != title and unit_word(suffix) == suffix:
            bare, unit = title.rpartition("_")[0], suffix
        bare = as_read(bare, self.scalar)
        known = {name.lower(): name for name in (*poses, *self.units())}
        if bare.lower() not in known:
            bare = numbered_axis(bare, tuple(self.axes)) or bare
        bare = known.get(bare.lower(), bare)
        return f"{bare}_{unit}" if unit else bare

    def understood(
        self, column: str, allowed: Mapping[str, Mapping[str, float]], stem: str, title: str
    ) -> tuple[str, float]:
        """Name and factor; what is declared once serves columns without a unit."""
        if column == stem and stem in allowed:
            units = allowed[stem]
            if not units:
                return stem, 1.0
            unit = next((u for d in ("length", "angle") if (u := self.declared.get(d)) in units), None)
            if unit is not None:
                return stem, units[unit]
            if any(units is known for known in (LENGTH, ANGLE)):
                once, unit = ("length", "mm") if units is LENGTH else ("angle", "deg")
                choices = " or ".join(f"{stem}_{u}" for u in units)
                raise UnitError(
                    f"{self.raw.top}: column {title!r} has no unit; write {choices}, or state it once for all columns "
                    f"as units: {{{once}: {unit}}}, or {ONCE}",
                    file=self.raw.file, line=self.raw.header_line, column=title, parameter="units",
                )  # fmt: skip
        try:
            others = (NAME, MARKER, STATION, *(q for q, units in allowed.items() if not units))
            return understood(self.raw, column, {q: units for q, units in allowed.items() if units}, others)
        except UnknownNameError as error:
            hint = f"; tell which of the file's titles it is by columns: of table, such as {{x_mm: 'X pos'}}, or {ONCE}"
            raise error.reworded(f"{error}{hint}{self._left_out(title)}") from None
        except UnitError as error:
            raise error.reworded(f"{error}{self._left_out(title)}") from None

    def _left_out(self, title: str) -> str:
        """How to leave a column out; where ``columns`` name them, they need not name it."""
        told = shell_word(f"{UNUSED}={title}")
        hint = f"; if it is no part of the campaign, tell 'elastocal columns' {told}"
        return "" if self.raw.named else hint

    def notes(self, fields: Mapping[str, Field], unused: Sequence[str]) -> tuple[str, ...]:
        taken = [
            (self.raw.header[fields[a].place], a)
            for a in self.axes
            if a in fields and not self.raw.header[fields[a].place].lower().startswith(a.lower())
        ]
        name = self.raw.file.rpartition("/")[2]
        by_number = f"{name}: {', '.join(f'{t} is axis {a}' for t, a in taken)}."
        left = f"{name}: not used: {', '.join(unused)}."
        hung = [] if PAYLOAD not in fields else [self.raw.header[fields[PAYLOAD].place]]
        weight = [
            f"{name}: {title} is a mass that hangs at the frame of the load: a force of m g along gravity."
            for title in hung
        ]
        return (*([by_number] if taken else []), *weight, *([left] if unused else []))


def _marker_notes(raw: RawTable, readings: Mapping[str, Mapping[str, Field]]) -> tuple[str, ...]:
    """Which target of the table is which marker, where its titles count them by letters or words of their own."""
    firsts = {m: raw.header[min(f.place for f in columns.values())] for m, columns in readings.items() if m and columns}
    taken = [f"{title} is of {m}" for m, title in firsts.items() if _own_words(title, m)]
    return (f"{raw.file.rpartition('/')[2]}: {', '.join(taken)}.",) if taken else ()


def _own_words(title: str, marker: str) -> bool:
    """Whether a title neither names its marker nor is one such as ``x1_mm`` or ``X 1 [mm]``."""
    bare = split_title(title)[0].lower()
    return marker.lower() not in bare.replace(" ", "") and not NUMBERED.match(bare.replace(" ", ""))


def _units(quantity: str) -> Mapping[str, float]:
    if quantity in (*QUATERNION, *MATRIX):
        return _PLAIN
    return ANGLE if any(quantity in group for group in (TURN, *ANGLES)) else LENGTH


def _nearly(title: str, known: Mapping[str, Mapping[str, float]], axes: Mapping[str, str]) -> bool:
    """Whether a title looks like a slip for a column: spelt almost like one of its unit, or an axis there is not."""
    from difflib import get_close_matches

    before, stated = split_title(title)
    if not stated and (unit_word(suffix := title.rpartition("_")[2]) == suffix):
        before, stated = title.rpartition("_")[0], suffix
    unit = unit_word(stated) if stated else None
    names = [name.lower() for name, units in known.items() if unit is None or unit in units]
    beyond = unit in (*ANGLE, *LENGTH) and _AXIS.fullmatch(before) is not None and bool(axes)
    return beyond or bool(get_close_matches(before.lower(), names, 1, 0.8))


def _check_kind(raw: RawTable, column: str, quantity: str, kind: str | None) -> None:
    if kind is None:
        return
    other = "position" if kind == "deflection" else "deflection"
    mine, others = ({q for group in GROUPS[k] for q in group} for k in (kind, other))
    if quantity in others - mine:
        raise ConflictError(
            f"{raw.top}: column {column!r} belongs to measurement: {other}, but the campaign is one of "
            f"{kind}; correct one of the two"
        )


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
    """Each quantity has all its columns, and each is given in one way."""
    where, prefix = raw.top, f"{marker}." if marker else ""
    if any(q in columns for q in SHIFT) and any(q in columns for q in ((*LOADED, *UNLOADED) if kind else UNLOADED)):
        raise DuplicateError(f"{where}: {prefix}dx and {prefix}x give the deflection in two ways; keep one")
    turned = [group for group in ORIENTATIONS if any(q in columns for q in group)]
    if len(turned) > 1:
        raise DuplicateError(f"{where}: {turned[0][0]} and {turned[1][0]} give the orientation in two ways; keep one")
    for group in wanted_groups(columns, kind):
        absent = [q for q in group if q not in columns]
        if absent:
            unit = {id(_PLAIN): "", id(ANGLE): "_mrad" if group in (TURN, ORIENTATION) else "_deg"}
            suffix = unit.get(id(_units(absent[0])), "_mm")
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


def wanted_groups(columns: Mapping[str, Field], kind: str | None) -> list[tuple[str, ...]]:
    """The groups that a marker has columns of, and those it must have."""
    started = [g for k in ((kind,) if kind else GROUPS) for g in GROUPS[k] if any(q in columns for q in g)]
    if any(q in columns for q in UNLOADED) or (kind == "deflection" and any(q in columns for q in LOADED)):
        started = [*started, LOADED, UNLOADED]
    if kind and not any(g in started for g in (SHIFT, LOADED, DISTANCE, *ORIENTATIONS)):
        started = [SHIFT if kind == "deflection" else LOADED, *started]
    return list(dict.fromkeys(started)) or [LOADED]
