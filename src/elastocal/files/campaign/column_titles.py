"""Titles of a table of readings: what each may be called, and which quantity of which marker it holds.

deflection   dx dy dz [drx dry drz], or the positions x y z under load and x0 y0 z0 without
position     x y z
orientation  of the marker's frame: qx qy qz qw (quaternion), r11 ... r33 (matrix), rx ry rz (rotation vector), roll
             pitch yaw (about fixed x, y, z), phix phiy phiz, a b c, w p r or e1 e2 e3 (angles of any order);
             ``conventions`` has what three angles are
distance     distance, from a point that stands still
payload_kg   a mass that hangs at the frame of the load: a force m g along gravity

With several markers each row holds one, named in a column ``marker`` (long), or all of them, named in the columns
(wide): ``marker1.dx_mm``, or ``x1_mm`` for a marker of that number.  Titles such as ``X [mm]`` are taken as ``x_mm``,
and ``A1``, ``q1``, ``J1`` or ``Joint 1`` as the first axis.

A column such as ``Kraft_N`` or ``mass`` says that the arm was loaded, and not where or which way: it is not used, and
a warning says so, since what the load bends then passes for geometry.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np

from elastocal.errors import ConflictError, UnitError, UnknownNameError
from elastocal.files.tables.configurations import NAME, PAYLOAD, allowed_units, motor_column
from elastocal.files.tables.raw import Field, RawTable, numbered_axis, quantity_of
from elastocal.files.tables.spelling import as_read, split_title, unit_word
from elastocal.files.units import ANGLE, LENGTH
from elastocal.results import Finding, warning
from elastocal.untrusted import shell_word
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
NUMBERED = re.compile(r"(d?[xyz]|d?r[xyz]|phi[xyz]|q[xyzw]|distance)([1-9]\d{0,5})")
PLAIN: dict[str, float] = {}
"""Units of numbers that have none."""


def units_of(quantity: str) -> Mapping[str, float]:
    if quantity in (*QUATERNION, *MATRIX):
        return PLAIN
    return ANGLE if any(quantity in group for group in (TURN, *ANGLES)) else LENGTH


def wanted_groups(columns: Mapping[str, Field], kind: str | None) -> list[tuple[str, ...]]:
    """The groups that a marker has columns of, and those it must have."""
    started = [g for k in ((kind,) if kind else GROUPS) for g in GROUPS[k] if any(q in columns for q in g)]
    if any(q in columns for q in UNLOADED) or (kind == "deflection" and any(q in columns for q in LOADED)):
        started = [*started, LOADED, UNLOADED]
    if kind and not any(g in started for g in (SHIFT, LOADED, DISTANCE, *ORIENTATIONS)):
        started = [SHIFT if kind == "deflection" else LOADED, *started]
    return list(dict.fromkeys(started)) or [LOADED]


_PAYLOAD = re.compile(r"(?:payload|load|nutzlast|last|zuladung)(?:_kg|\s*[\[(]\s*kg\s*[\])]|\s*[/,]\s*kg|\s+kg)", re.I)
_UNIT = re.compile(r"(?:kg|lbs?|k?n|k?n\s?[*·]?\s?m)", re.I)
_WORDS = {"payload", "load", "nutzlast", "zuladung", "mass", "masse", "weight", "gewicht", "force", "kraft", "wrench"}
_WHOLE = {"last"}
"""A load in German, and an English word among others."""
_DRIVES = re.compile(r"torque|drehmoment|current", re.I)


def is_payload(title: str) -> bool:
    """Whether a column holds masses in kg that the robot carries."""
    return _PAYLOAD.fullmatch(title.strip()) is not None


def speaks_of_load(title: str) -> bool:
    before, stated = split_title(title)
    stem, _, suffix = title.rpartition("_")
    if not stated and stem and _UNIT.fullmatch(suffix):
        before, stated = stem, suffix
    if _DRIVES.search(title):
        return False
    words = {w.casefold() for w in re.findall(r"[^\W\d_]+", before)}
    return bool(_UNIT.fullmatch(stated)) or bool(words & _WORDS) or words == _WHOLE


def lost_loads(raw: RawTable, unused: list[str]) -> tuple[Finding, ...]:
    """A warning of columns that are not used, speak of a load and are not zero throughout."""
    titles = [t for t in unused if speaks_of_load(t) and not _nothing(raw, raw.header.index(t))]
    if not titles:
        return ()
    name, many = raw.file.rpartition("/")[2], len(titles) > 1
    text = (
        f"the load in column{'s' if many else ''} {', '.join(titles)} of {name} is not used: what it bends passes for "
        "geometry or noise; give masses that hang at the tool as payload_kg, forces on the robot in base axes as fx_N, "
        "fy_N, fz_N, moments as mx_Nm, my_Nm, mz_Nm"
    )
    return (warning("load-not-used", text, file=raw.file, columns=tuple(titles)),)


def _nothing(raw: RawTable, place: int) -> bool:
    """Whether a column is zero or empty in every row."""
    texts = raw.texts(place)
    return all(not t for t in texts) or bool(np.all(raw.numbers(place) == 0))


_KELVIN = {"C": 1.0, "K": 1.0, "degC": 1.0}
"""Differences alone count."""
UNUSED = "unused"
"""What a title may be told to be."""
_AXIS = re.compile(r"(?:a|e|j|joint|axis|achse|theta)[ _.]?\d\d?", re.IGNORECASE)
"""An axis by its number, also one of another robot or an external one."""
ONCE = "once for all tables like it by 'elastocal columns'"
Declared = Mapping[str, str]
"""Units by dimension, of columns that do not tell theirs."""


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
            return None, *self.quantity_of(column, poses, stem, title)
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
            name, factor = self.quantity_of(f"{marker}.{rest}", prefixed, f"{marker}.{quantity}", title)
            return marker, name.removeprefix(f"{marker}."), factor
        if quantity not in known and not _nearly(title, {**poses, **known}, axes):
            return None
        return "", *self.quantity_of(column, poses | known, quantity, title)

    def check_told(self, place: int) -> None:
        """Refuse a name that was given to a title, and is none, but for ``unused``."""
        column, title = self.raw.header[place], self.raw.origin(place).title
        if self.raw.named and not column.startswith(title) and not column.lower().startswith(UNUSED):
            self.quantity_of(column, allowed_units(self.axes) | self.units(), "", title)

    def units(self) -> dict[str, Mapping[str, float]]:
        kinds = (self.kind,) if self.kind else tuple(GROUPS)
        return {q: units_of(q) for k in kinds for group in GROUPS[k] for q in group}

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

    def quantity_of(
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
            return quantity_of(self.raw, column, {q: units for q, units in allowed.items() if units}, others)
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
        left = f"{name}: not used: {', '.join(self._told(unused))}."
        hung = [] if PAYLOAD not in fields else [self.raw.header[fields[PAYLOAD].place]]
        weight = [
            f"{name}: {title} is a mass that hangs at the frame of the load: a force of m g along gravity."
            for title in hung
        ]
        return (*([by_number] if taken else []), *weight, *([left] if self._told(unused) else []))

    def _told(self, unused: Sequence[str]) -> list[str]:
        """Columns by their titles; those without one are none where they are empty."""
        bare = [p for p, title in enumerate(self.raw.header) if not title.strip() and any(self.raw.texts(p))]
        return [*filter(str.strip, unused), *(["columns without a title"] if bare else [])]


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
