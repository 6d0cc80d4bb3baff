"""Campaign files: readings of a robot, the errors in them, and what is asked of them.  See docs/campaigns.md.

Readings come into base axes from the instrument's by a pose that the file gives or by one that fits them best.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from elastocal.errors import (
    ConflictError,
    FormatError,
    InputError,
    MissingError,
    RangeError,
    UnitError,
    UnobservableError,
)
from elastocal.files import schema
from elastocal.files.campaign.column_titles import GROUPS
from elastocal.files.campaign.conventions import check_euler, oriented
from elastocal.files.campaign.file import (
    FORMAT,
    UNSTATED,
    CampaignEntry,
    CampaignFile,
    CampaignKeys,
    PoseEntry,
    ReadPoints,
    all_files,
    named_robot,
    table_notes,
)
from elastocal.files.campaign.plain import read_plain
from elastocal.files.campaign.readings import (
    FAR,
    Readings,
    check_any,
    check_deflection_sizes,
    check_loads,
    check_positions,
    gathered_readings,
)
from elastocal.files.campaign.requests import read_requests, read_sources
from elastocal.files.campaign.setup import chosen_markers, read_setup
from elastocal.files.campaign.table import CampaignTable, Wanted, read_tables
from elastocal.files.located import Located, read_formatted
from elastocal.files.tables.named import read_tables_of
from elastocal.files.tables.spelling import not_read
from elastocal.files.units import declared_units
from elastocal.measure.kind import Measurement, measurement_kinds
from elastocal.measure.markers import Deflection, Position
from elastocal.measure.measured import Measured
from elastocal.measure.setup import Setup
from elastocal.model.kinematics import kinematics
from elastocal.model.robot import Robot
from elastocal.model.statics.observation import Marker
from elastocal.spatial.entries import Array
from elastocal.spatial.pose import Pose, rigid_fit
from elastocal.spatial.rotation import matrix_rpy
from elastocal.values import dataclass

CONTACT = "contact"


def read_campaign(path: Path) -> CampaignFile:
    """A campaign and its robot; other files are looked for from the folder of the campaign file."""
    return _read(path, plan=False)


def read_plan(path: Path) -> CampaignFile:
    """A campaign whose tables need hold no readings yet: all are nan, whatever stands there."""
    return _read(path, plan=True)


def _read(path: Path, plan: bool) -> CampaignFile:
    located = read_formatted(path, FORMAT, "a campaign file")
    kind = located.data.get("measurement")
    if kind == CONTACT:
        from elastocal.files.contact.campaign import read_contacts

        return read_contacts(path, located, plan)
    if kind is not None and kind not in GROUPS and (plain := _plain_kinds().get(str(kind))) is not None:
        return read_plain(path, located, plan, plain)
    given = _given(located, plan)
    entry = given.entry
    model = named_robot(located, entry.robot, entry.tool, entry.without, path.parent)
    raws = read_tables_of(located, entry.table, model)
    skip = plan or entry.missing == "skip"
    wanted = Wanted(model, model.tree.names, entry.measurement, skip, plan, given.units)
    tables, _, turned = oriented(read_tables(raws, wanted), model, entry.euler, plan)
    markers, chosen = chosen_markers(given, tables, model)
    readings = gathered_readings(tables, markers, plan, entry.repeats)
    if not plan:
        check_any(readings, ", ".join(raw.file for raw in raws.values()))
    setup, setup_notes = read_setup(given, model, readings)
    base = measured_in_base(given, model, readings, setup)
    sources = read_sources(located, entry.errors, given.units, base.measurement, model)
    campaign = Measured(base.measurement, base.readings, sources, tuple(readings.places), spots=readings.places_of())
    requests, asked = read_requests(located, entry, model, campaign, plan)
    files = all_files(path, entry.robot, raws)
    lost = () if plan else (*left_out(tables, readings), *(() if sources else (UNSTATED,)))
    notes = (
        *model.notes,
        *table_notes(raws),
        *column_notes(tables),
        *(w.text for table in tables for w in table.columns.warnings),
        *turned,
        *chosen,
        *setup_notes,
        *base.notes,
        *lost,
        *asked,
    )
    return CampaignFile(
        entry.name or path.stem, entry.robot, model, campaign, requests, notes, files, located.data, readings.names,
        base.points,
    )  # fmt: skip


def _plain_kinds() -> dict[str, type[Measurement]]:
    """Kinds whose readings are plain columns, by the word of a campaign file."""
    return {word: kind for word, kind in measurement_kinds().items() if kind.table_columns}


def _given(located: Located, plan: bool) -> CampaignKeys:
    units = declared_units(located)
    entry = schema.construct(CampaignEntry, located, (), located.data, units)
    if entry.measurement is None:
        raise located.error((), "'measurement' is missing; add it", MissingError, value="measurement")
    if why := check_euler(entry.euler):
        raise located.error(("euler",), why, RangeError)
    if entry.statics is not None and entry.measurement != "deflection":
        raise located.error(
            ("statics",), "belongs to measurement: deflection; positions are always of the loaded arm", ConflictError
        )
    if entry.repeats < 1 or (entry.repeats > 1 and not plan):
        raise located.error(
            ("repeats",), "is for a plan, at least 1; repeats that were read stand in the table", RangeError
        )
    return CampaignKeys(located, entry, units, plan)


def column_notes(tables: tuple[CampaignTable, ...]) -> tuple[str, ...]:
    """What was assumed of the columns, and which are not used."""
    return tuple(dict.fromkeys(note for table in tables for note in table.columns.notes))


def left_out(tables: tuple[CampaignTable, ...], readings: Readings) -> tuple[str, ...]:
    """What is missing in the tables, and how they were read."""
    notes = []
    for table in tables:
        if table.by_difference:
            notes.append(f"{table.word}: deflections are positions under load less positions without.")
        notes += _missing(table)
    for i, marker in enumerate(readings.markers):
        absent = int((readings.cells.rows[:, i] < 0).sum())
        if absent:
            notes.append(f"{marker} was not read in {absent} of {len(readings.cells)} readings.")
    return tuple(notes)


def _missing(table: CampaignTable) -> Iterator[str]:
    """Rows without any reading, which go, and rows of which only the numbers go that they lack."""
    none = set(table.unread) & set(table.skipped)
    for lines, one, several in (
        (sorted(none), "1 row holds no reading and is left out", "{} rows hold no reading and are left out"),
        (
            [n for n in table.skipped if n not in none],
            "1 row lacks numbers: only these are left out, the rest of it is used",
            "{} rows lack numbers: only these are left out, the rest of the rows is used",
        ),
    ):
        if lines:
            rows = several.format(len(lines)) if len(lines) > 1 else one
            named = ", ".join(map(str, lines[:10])) + (", ..." if len(lines) > 10 else "")
            words = _words_for_nothing(table, set(lines))
            yield f"{table.word}: {rows} (line{'s' * (len(lines) > 1)} {named}{words})."


def _words_for_nothing(table: CampaignTable, lines: set[int]) -> str:
    """Texts in cells of readings that count as empty cells do, and how many of each."""
    places = [f.place for fields in table.columns.readings.values() for f in fields.values()]
    cells = (row[p].strip() for line, row in table.raw.rows if line in lines for p in places)
    counts = Counter(c for c in cells if c and not_read(c) and c.lower() != "nan")
    told = ", ".join(f"{word!r} ({count})" for word, count in counts.items())
    return f"; cells that count as empty: {told}" if told else ""


KEY = "tracker_frame"


@dataclass(frozen=True, eq=False)
class InBase:
    """The kind of measurement, its readings (N, R) in base axes, what is to be said of the axes, and the points."""

    measurement: Measurement
    readings: Array
    notes: tuple[str, ...] = ()
    points: ReadPoints | None = None


def measured_in_base(given: CampaignKeys, model: Robot, readings: Readings, setup: Setup) -> InBase:
    """Everything in base axes."""
    entry = given.entry
    reach = float(np.max(np.linalg.norm(setup.positions(model), axis=2)))
    size = max(model.size, reach)  # slides are not part of the former
    check_loads(readings, model, setup, size)
    if given.plan:
        return _planned(entry, model, setup)
    if entry.measurement == "deflection":
        check_deflection_sizes(readings, size)
    pose, notes = instrument_pose(given, readings, setup, model)
    positions = entry.measurement == "position"
    points = ReadPoints(in_base(pose, readings.points, points=True), readings.places_of(rest=not positions), pose)
    shifts = in_base(pose, readings.shifts, points=positions)
    if not positions:
        measurement: Measurement = Deflection(setup, entry.statics or "loaded")
        return InBase(
            measurement, _rows(setup, shifts, in_base(pose, readings.read["turn"], points=False)), notes, points
        )
    check_positions(readings, shifts, size)
    orientation = readings.read["orientation"]
    turned = turned_to_base(pose, orientation, np.eye(3)) if any(readings.posed) else None
    zero = np.where(np.isfinite(orientation).all(axis=2, keepdims=True), np.zeros(3), np.nan)
    return InBase(Position(setup, turned), _rows(setup, shifts, zero), notes, points)


def _rows(setup: Setup, shifts: Array, turns: Array) -> Array:
    """(N, R), marker by marker."""
    both = np.concatenate([shifts, turns], axis=2)
    return np.concatenate([both[:, i, : m.rows] for i, m in enumerate(setup.markers)], axis=1)


def turned_to_base(pose: Pose | None, orientation: Array, unread: Array) -> Array:
    """Rotations (N, markers, 3, 3) in base axes of matrices by rows, ``unread`` where none was read."""
    turned = orientation.reshape(*orientation.shape[:2], 3, 3)
    turned = np.where(np.isfinite(turned).all(axis=(2, 3), keepdims=True), turned, unread)
    return turned if pose is None else np.asarray(pose.rotation @ turned)


def _planned(entry: CampaignEntry, model: Robot, setup: Setup) -> InBase:
    """The same without readings; orientations count from those of the arm without load."""
    nothing = np.full((setup.count, setup.height), np.nan)
    if entry.measurement == "deflection":
        return InBase(Deflection(setup, entry.statics or "loaded"), nothing)
    turned = np.stack([kinematics(model, setup.q, m.frame).rotation for m in setup.markers], axis=1)
    return InBase(Position(setup, turned if any(m.rows == 6 for m in setup.markers) else None), nothing)


def instrument_pose(
    given: CampaignKeys, readings: Readings, setup: Setup, model: Robot
) -> tuple[Pose | None, tuple[str, ...]]:
    """T_base_instrument, None where readings are in base axes, with what is to be said of it."""
    located, entry = given.located, given.entry
    if entry.tracker_frame is None:
        return None, ()
    if entry.tracker_frame != "fit":
        if isinstance(entry.tracker_frame, str):
            use = "write fit, or a pose such as {xyz_mm: [4000, 0, 1000], rpy_deg: [0, 0, 90]}"
            raise located.error((KEY,), f"{entry.tracker_frame!r} does not fit; {use}", FormatError)
        e = schema.construct(PoseEntry, located, (KEY,), entry.tracker_frame, given.units)
        return Pose.from_xyz_rpy(e.xyz, e.rpy), ()
    if readings.deflected or entry.measurement == "deflection":
        raise located.error(
            (KEY,),
            "deflections do not tell where the instrument stands; give its xyz_mm and rpy_deg",
            UnobservableError,
        )
    return _fitted(located, readings, setup, model)


def _fitted(located: Located, readings: Readings, setup: Setup, model: Robot) -> tuple[Pose, tuple[str, ...]]:
    plain = Setup(setup.q, setup.load, tuple(Marker(m.frame) for m in setup.markers))
    expected = Position(plain).predict(model).reshape(readings.shifts.shape)
    known = np.isfinite(readings.shifts).all(axis=2) & np.isfinite(expected).all(axis=2)
    read, aim = readings.shifts[known], expected[known]
    try:
        pose, left = rigid_fit(read, aim)
    except InputError as error:
        raise located.error((KEY,), f"fit: {error}") from None
    wide, reach = (float(np.max(np.linalg.norm(p - p.mean(axis=0), axis=1))) for p in (read, aim))
    if not reach / FAR <= wide <= FAR * reach:
        raise located.error(
            (KEY,),
            f"fit: the readings spread over {wide:.3g} m, the robot's markers over {reach:.3g} m; check units",
            UnitError,
        )
    x, y, z = (1e3 * float(v) for v in pose.translation)
    roll, pitch, yaw = (float(np.rad2deg(v)) for v in matrix_rpy(pose.rotation))
    note = (
        f"The instrument's axes were fitted to {len(read)} predicted positions: xyz_mm [{x:.3f}, {y:.3f}, {z:.3f}], "
        f"rpy_deg [{roll:.5f}, {pitch:.5f}, {yaw:.5f}], with {1e3 * left:.3g} mm (rms) left; the source of error "
        "'registration' states how far that may be off."
    )
    return pose, (note,)


def in_base(pose: Pose | None, vectors: Array, points: bool) -> Array:
    """Vectors (..., 3) of the instrument's axes in base axes; ``points`` are shifted too."""
    if pose is None:
        return vectors
    turned = np.asarray(vectors @ pose.rotation.T)
    return turned + pose.translation if points else turned
