"""The header of a table of readings: which column holds what of which marker.

deflection  dx dy dz [drx dry drz], or the positions x y z under load and x0 y0 z0 without
position    x y z [rx ry rz, the rotation vector of the marker's frame]

With several markers each row holds one, named in a column ``marker`` (long), or all of them, named in the columns:
``marker1.dx_mm`` (wide).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from elastocal.errors import InputError, UnknownNameError
from elastocal.files.tables.configurations import NAME, allowed_units, motor_column
from elastocal.files.tables.raw import Field, RawTable, add_once, understood
from elastocal.files.units import ANGLE, LENGTH

MARKER = "marker"
SHIFT, TURN = ("dx", "dy", "dz"), ("drx", "dry", "drz")
LOADED, UNLOADED = ("x", "y", "z"), ("x0", "y0", "z0")
ORIENTATION = ("rx", "ry", "rz")
TRIPLES: dict[str, tuple[tuple[str, ...], ...]] = {
    "deflection": (SHIFT, TURN, LOADED, UNLOADED),
    "position": (LOADED, ORIENTATION),
}
TURNS = (*TURN, *ORIENTATION)


@dataclass(frozen=True)
class CampaignColumns:
    """Columns of the configuration by name, and of the readings by marker ("" where the column names none)."""

    fields: dict[str, Field]
    readings: dict[str, dict[str, Field]]

    @property
    def long(self) -> bool:
        return MARKER in self.fields

    @property
    def names(self) -> set[str]:
        """Everything there is a column of, without units."""
        return {*self.fields, *(f"{m}.{q}" if m else q for m, columns in self.readings.items() for q in columns)}


def understand(raw: RawTable, axes: Mapping[str, str], frames: Sequence[str], kind: str, plan: bool) -> CampaignColumns:
    """Every column matched; refuses those that say nothing, or the same twice, or whose marker is in doubt.

    A ``plan`` may have no columns of readings.
    """
    fields: dict[str, Field] = {}
    readings: dict[str, dict[str, Field]] = {}
    for place, column in enumerate(raw.header):
        if column in (NAME, MARKER) and column not in axes:
            add_once(raw, fields, column, Field(place, 1.0))
            continue
        marker, name, factor = _matched(raw, column, axes, frames, kind)
        target = fields if marker is None else readings.setdefault(marker, {})
        add_once(raw, target, name, Field(place, factor))
    found = CampaignColumns(fields, readings)
    _check_markers(raw, found)
    for marker, columns in readings.items() if readings or plan else [("", {})]:
        _check_triples(raw, marker or (frames[-1] if any(q in axes for q in LOADED) else ""), columns, kind)
    return found


def _matched(
    raw: RawTable, column: str, axes: Mapping[str, str], frames: Sequence[str], kind: str
) -> tuple[str | None, str, float]:
    """Marker (None for axes and wrenches), quantity and factor of a column."""
    if (motor := motor_column(raw, column, axes)) is not None:
        return None, *motor
    poses = allowed_units(axes)
    stem = column if column in poses else column.rpartition("_")[0]
    if stem in poses:
        return None, *understood(raw, column, poses, ())
    marker, dot, rest = column.rpartition(".")
    if dot and marker not in frames:
        raise UnknownNameError("marker", marker, frames, f"{raw.top}, column {column}")
    quantity = rest if rest in _units(kind) else rest.rpartition("_")[0]
    _check_kind(raw, column, quantity, kind)
    if dot:
        prefixed = {f"{marker}.{q}": u for q, u in _units(kind).items()}
        name, factor = understood(raw, column, prefixed, ())
        return marker, name.removeprefix(f"{marker}."), factor
    return "", *understood(raw, column, poses | _units(kind), (NAME, MARKER))


def _units(kind: str) -> dict[str, Mapping[str, float]]:
    return {q: ANGLE if q in TURNS else LENGTH for triple in TRIPLES[kind] for q in triple}


def _check_kind(raw: RawTable, column: str, quantity: str, kind: str) -> None:
    other = "position" if kind == "deflection" else "deflection"
    if quantity in _units(other) and quantity not in _units(kind):
        raise InputError(
            f"{raw.top}: column {column!r} belongs to measurement: {other}, but the campaign is one of "
            f"{kind}; correct one of the two"
        )


def _check_markers(raw: RawTable, found: CampaignColumns) -> None:
    named = [m for m in found.readings if m]
    first = next((raw.header[f.place] for m in named for f in found.readings[m].values()), "")
    if named and found.long:
        raise InputError(f"{raw.top}: the marker stands in a column of its own and in {first!r}; name it in one way")
    if named and "" in found.readings:
        plain = raw.header[next(iter(found.readings[""].values())).place]
        raise InputError(f"{raw.top}: column {first!r} names its marker and {plain!r} does not; name it in both")


def _check_triples(raw: RawTable, marker: str, columns: Mapping[str, Field], kind: str) -> None:
    """Each quantity has its three columns, and a deflection is given in one way."""
    where, prefix = raw.top, f"{marker}." if marker else ""
    if kind == "deflection" and any(q in columns for q in SHIFT) and any(q in columns for q in (*LOADED, *UNLOADED)):
        raise InputError(f"{where}: {prefix}dx and {prefix}x give the deflection in two ways; keep one")
    for triple in wanted_triples(columns, kind):
        absent = [q for q in triple if q not in columns]
        if absent:
            unit = "mrad" if absent[0] in TURNS else "mm"
            raise InputError(
                f"{where}: there is no column of {absent[0]}; add {prefix}{absent[0]}_{unit}{_why(triple)}"
            )


def _why(triple: tuple[str, ...]) -> str:
    if triple == UNLOADED:
        return " (the position without load), or give the deflection itself as dx, dy and dz"
    return " (with empty cells and missing: skip, if it was not read)"


def wanted_triples(columns: Mapping[str, Field], kind: str) -> list[tuple[str, ...]]:
    """The triples that a marker has columns of, and those it must have."""
    first, turn = (SHIFT, TURN) if kind == "deflection" else (LOADED, ORIENTATION)
    by_difference = kind == "deflection" and any(q in columns for q in (*LOADED, *UNLOADED))
    lengths = (LOADED, UNLOADED) if by_difference else (first,)
    return [*lengths, *((turn,) if any(q in columns for q in turn) else ())]
