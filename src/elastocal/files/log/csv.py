"""Log as CSV, with units in the header:

    time_s,A1_deg,A2_deg,...,A2_torque_Nm,...,A2_deg_per_s,...,A2_current_A,...
    time_s,A1_counts,A2_counts,...,A2_motor_torque_Nm,...

Axes are the controller's, or all of them by their motors (``motor_columns``); torques are those of the axes, or those
of the motors, which S^T turns into the former.  Speeds are those of the axes.  Comma, semicolon or tab separate;
between semicolons or tabs a decimal comma is a decimal point.  ``time_s`` or ``time_ms``, torques, speeds and
currents are optional; an empty torque is unknown (nan).

Torques may stand in a table of their own, and units and rows per second may be said by the user (``given``).

The bare header ``q_0,q_1,...,tau_0,tau_1,...`` that identification programs write is read as well: joint values and
torques of the joints in the model's order, taken as rad (m) and N m (N) unless the user says otherwise; the notes tell.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from math import nan
from pathlib import Path

import numpy as np

from elastocal.errors import ConflictError, MissingError, ShapeError, UnitError
from elastocal.files.log.given import Given
from elastocal.files.tables.configurations import COUNTS, MOTOR, MOTOR_TORQUE, by_motors, motor_column, motors_to_axes
from elastocal.files.tables.raw import Field, RawTable, add_once, cell, quantity_of, si_number, with_axis_titles
from elastocal.files.units import ANGLE, FORCE, LENGTH, MOMENT
from elastocal.measure.joints import JointLog
from elastocal.model.robot import Robot
from elastocal.model.transmission import Drives
from elastocal.spatial.entries import Array, Bools
from elastocal.values import dataclass

TIME = {"s": 1.0, "ms": 1e-3}
CURRENT = {"A": 1.0}
PART = 50_000
"""Rows whose cells are held at once."""
_SPEED = re.compile(r"_[a-z]+_per$")


@dataclass(frozen=True, eq=False)
class _Columns:
    """Fields of the table by quantity; a list over axes has None where a column is missing.

    ``motors`` are the ways in which values are given where these are of motors, else empty; ``geared`` tells that
    torques are those of motors.
    """

    time: Field | None
    values: list[Field]
    torque: list[Field | None]
    speed: list[Field | None]
    current: list[Field | None]
    ignored: tuple[str, ...]
    motors: tuple[str, ...] = ()
    geared: bool = False


def read_csv_log(path: Path, model: Robot, given: Given | None = None) -> JointLog:
    parts, given = [], given or Given()
    for raw in given.parts(path, model, PART):
        if not raw.rows:
            raise MissingError(f"{raw.file}: has a header and no rows; a log has one row per instant")
        bare = "q_0" in raw.header
        raw = raw if bare else with_axis_titles(raw, model.controller.axes)
        columns = _bare(raw, model, given) if bare else _named(raw, model)
        parts.append(_numbers(raw, columns, model))
    raw = raw.released()
    joined = {name: np.concatenate([part.pop(name) for part in parts]) for name in list(parts[0])}
    values, torque, controller = joined["values"], joined["torque"], model.controller
    if columns.motors:
        values = motors_to_axes(values, columns.motors, controller.axes, controller.drives, raw.top)
    if columns.geared:
        torque = _axis_torques(raw, torque, controller.drives)
    notes = [*raw.notes, *([f"Columns not used: {', '.join(columns.ignored)}."] if columns.ignored else [])]
    time, speed, current = (joined.get(k) for k in ("time", "speed", "current"))
    if given.rate is not None:
        if time is not None:
            raise ConflictError(f"{raw.top}: the log has times of its own; leave the rate out", parameter="rate")
        time = np.arange(len(values)) / given.rate
    new = np.ones(len(values), dtype=bool) if time is None else np.concatenate([[True], np.diff(time) != 0])
    rows = slice(None) if new.all() else new
    if not new.all():
        first = int(joined["lines"][np.argmin(new)])
        notes.append(f"{int(np.sum(~new))} rows repeat the time of the row before (first: line {first}): left out.")
    if bare:
        notes.append(_units_of_bare(model, given))
        log = JointLog(raw.file, model.joints, values[rows], torque[rows], joined["lines"][rows], _some(time, rows))
        return replace(log, notes=tuple(notes))
    return JointLog.of(
        model, values[rows], torque[rows], time=_some(time, rows), velocity=_some(speed, rows),
        current=_some(current, rows), source=raw.file, lines=joined["lines"][rows], notes=tuple(notes),
    )  # fmt: skip


def _some(values: Array | None, rows: Bools | slice) -> Array | None:
    return None if values is None else values[rows]


def _numbers(raw: RawTable, columns: _Columns, model: Robot) -> dict[str, Array]:
    """Columns of a part of the table as numbers (rows, n) in SI."""
    n = model.n
    values = np.array([_column(raw, f, empty=False) for f in columns.values]).reshape(n, len(raw.rows)).T
    out = {"values": values, "torque": _table(raw, columns.torque, n), "lines": raw.lines}
    for name, fields in (("speed", columns.speed), ("current", columns.current)):
        given = _optional(raw, fields, n)
        out |= {} if given is None else {name: given}
    return out | ({} if columns.time is None else {"time": _column(raw, columns.time, empty=False)})


def _named(raw: RawTable, model: Robot) -> _Columns:
    axes, allowed = model.controller.axes, _allowed(model)
    kinds = model.axis_kinds
    fields: dict[str, Field] = {}
    ignored = []
    for place, column in enumerate(raw.header):
        if (
            column == "time"
            or column.startswith("time_")
            or any(column == a or column.startswith(f"{a}_") for a in axes)
        ):
            name, factor = motor_column(raw, column, kinds) or quantity_of(raw, column, allowed, ())
            add_once(raw, fields, _SPEED.sub("_per", name), Field(place, factor))
        else:
            ignored.append(column)
    driven = by_motors(raw, fields, kinds)
    missing = [a for a in axes if a not in (*fields, *driven)]
    if missing:
        unit = COUNTS if driven else "deg" if kinds[missing[0]] == "revolute" else "mm"
        raise MissingError(
            f"{raw.top}: there is no column for axis {missing[0]} of {model.name}; add {missing[0]}_{unit}"
        )
    geared = _geared(raw, fields, axes)
    words = (MOTOR_TORQUE if geared else "torque", "per", "current")
    torque, speed, current = ([fields.get(f"{a}_{what}") for a in axes] for what in words)
    values = [driven[a][1] if driven else fields[a] for a in axes]
    motors = tuple(COUNTS if driven[a][0] == COUNTS else f"{MOTOR}_rad" for a in axes) if driven else ()
    return _Columns(fields.get("time"), values, torque, speed, current, tuple(ignored), motors, geared)


def _geared(raw: RawTable, fields: Mapping[str, Field], axes: tuple[str, ...]) -> bool:
    """Whether torques are those of motors; a mixture is refused, since an axis may carry several motors."""
    own, geared = ([f"{a}_{word}" for a in axes if f"{a}_{word}" in fields] for word in ("torque", MOTOR_TORQUE))
    if own and geared:
        one, other = (raw.header[fields[names[0]].place] for names in (geared, own))
        raise ConflictError(
            f"{raw.top}: column {one!r} gives the torque of a motor and {other!r} that of an axis; give all torques in "
            "one way, since motors may be coupled"
        )
    return bool(geared)


def _axis_torques(raw: RawTable, torque: Array, drives: Drives | None) -> Array:
    if drives is None:
        raise MissingError(
            f"{raw.top}: torques of motors need to know how motors move the axes; add structure under the controller "
            "of the robot file ('elastocal transmission' writes it)",
            code="no-structure",
        )
    return drives.torques_of_motors(torque)


def _allowed(model: Robot) -> dict[str, Mapping[str, float]]:
    """Units of every column that belongs to the controller's axes."""
    out: dict[str, Mapping[str, float]] = {"time": TIME}
    for axis, motion in zip(model.controller.axes, model.motions, strict=True):
        way, load = (ANGLE, MOMENT) if motion.kind == "revolute" else (LENGTH, FORCE)
        out |= {axis: way, f"{axis}_torque": load, f"{axis}_{MOTOR_TORQUE}": MOMENT, f"{axis}_current": CURRENT}
        out |= {f"{axis}_{unit}_per": {"s": factor} for unit, factor in way.items()}
    return out


def _units_of_bare(model: Robot, given: Given) -> str:
    stated = [" or ".join(dict.fromkeys(given.unit(m.kind, t) for m in model.motions)) for t in (False, True)]
    values, torques = stated[0] or "rad (m)", stated[1] or "N m (N)"
    source = ", as stated" if any(stated) else ""
    taken = f"values are taken as {values} and torques as {torques}{source}, in the order of the joints"
    return f"The header names no units: {taken}."


def _bare_factor(raw: RawTable, model: Robot, given: Given, place: int, torque: bool) -> float:
    """To SI, of a joint's value or torque by the unit that is stated; 1 where none is."""
    kind = model.motions[place].kind
    unit = given.unit(kind, torque)
    units = (MOMENT if torque else ANGLE) if kind == "revolute" else FORCE if torque else LENGTH
    if unit and unit not in units:
        name = f"{'tau' if torque else 'q'}_{place}"
        raise UnitError(
            f"{raw.top}: {name} is of a joint, and {unit} is stated; use {', '.join(units)}, or name the columns by "
            "axes (A1,A2,...)", parameter="units", value=unit, column=name,
        )  # fmt: skip
    return units[unit] if unit else 1.0


def _bare(raw: RawTable, model: Robot, given: Given) -> _Columns:
    places = {name: Field(i, 1.0) for i, name in enumerate(raw.header)}
    for i in range(model.n):
        for name, force in ((f"q_{i}", False), (f"tau_{i}", True)):
            if name in places:
                places[name] = replace(places[name], factor=_bare_factor(raw, model, given, i, force))
    missing = [f"q_{i}" for i in range(model.n) if f"q_{i}" not in places]
    if missing or f"q_{model.n}" in places:
        count = sum(name.startswith("q_") for name in raw.header)
        raise ShapeError(
            f"{raw.top}: {count} columns q_... for the {model.n} joints of {model.name}; give one for each"
        )
    torque = [places.get(f"tau_{i}") for i in range(model.n)]
    used = {f"{word}_{i}" for word in ("q", "tau") for i in range(model.n)} | {"time_s"}
    ignored = tuple(name for name in raw.header if name not in used)
    nothing: list[Field | None] = [None] * model.n
    return _Columns(places.get("time_s"), [places[f"q_{i}"] for i in range(model.n)], torque, nothing, nothing, ignored)


def _optional(raw: RawTable, fields: list[Field | None], n: int) -> Array | None:
    """Speeds or currents: all axes or none count."""
    if not any(fields):
        return None
    missing = next((i for i, f in enumerate(fields) if f is None), None)
    if missing is not None:
        given = next(raw.header[f.place] for f in fields if f is not None)
        raise MissingError(f"{raw.top}: {given} is there, but the like column of axis {missing + 1} is not; add it")
    return _table(raw, fields, n)


def _table(raw: RawTable, fields: list[Field | None], n: int) -> Array:
    columns = [np.full(len(raw.rows), nan) if f is None else _column(raw, f, empty=True) for f in fields]
    return np.array(columns).reshape(n, len(raw.rows)).T


def _column(raw: RawTable, field: Field, empty: bool) -> Array:
    """The numbers of a column in SI; with ``empty`` an empty cell is nan."""
    values = np.asarray(raw.numbers(field.place) * field.factor)
    for i in np.flatnonzero(np.isnan(values)).tolist():
        row = raw.rows[i]
        if not (empty and not cell(raw, row, field)[0]):
            values[i] = si_number(raw, row, field)
    return values
