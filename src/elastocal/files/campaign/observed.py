"""A campaign file, or bare tables, as the readings that the best predictor takes: all kinds, any markers and stations.

Places of markers and of the instrument are estimated from positions, so markers need not be frames of the robot.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from elastocal.errors import ConflictError, DuplicateError, RangeError, UnknownNameError, UnsupportedError
from elastocal.files import schema
from elastocal.files.campaign.bare import check_there, table_entries, tool_of_titles, with_bags, with_markers_of_files
from elastocal.files.campaign.conventions import check_euler, oriented
from elastocal.files.campaign.file import (
    FORMAT,
    PLANNED,
    PREDICTION,
    REDUCTION,
    CampaignEntry,
    CampaignKeys,
    all_files,
    listed,
    named_robot,
    table_notes,
)
from elastocal.files.campaign.priors import Decision, PriorEntry, read_decisions, read_priors
from elastocal.files.campaign.read import column_notes, in_base, instrument_pose, left_out, turned_to_base
from elastocal.files.campaign.readings import (
    Readings,
    check_any,
    check_deflection_sizes,
    check_loads,
    gathered_readings,
)
from elastocal.files.campaign.requests import read_sources
from elastocal.files.campaign.setup import chosen_markers, joint_values, read_load
from elastocal.files.campaign.table import Wanted, read_tables
from elastocal.files.located import Located, read_formatted
from elastocal.files.robot.read import read_robot
from elastocal.files.tables.named import read_tables_of
from elastocal.files.tables.remembered import check_units
from elastocal.files.units import declared_units
from elastocal.measure.kind import Measurement, measurement_kinds
from elastocal.measure.markers import Deflection, Position
from elastocal.measure.setup import Setup
from elastocal.measure.sources.source import ErrorSource
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.robot import Robot
from elastocal.model.statics.observation import Marker
from elastocal.results import Finding, note
from elastocal.values import dataclass

SLACK = 0.01
"""Share of the range of a joint by which readings may be beyond its limits."""
POSITIONS = ("position", "orientation", "distance")


@dataclass(frozen=True, eq=False)
class Observed:
    """Readings in SI, in base axes where ``tracker_frame`` is a pose; ``entry`` holds all else that the file says.

    ``folder`` is where files that it names are looked for; ``files`` are all that were read, the campaign's own first.
    """

    entry: CampaignEntry
    located: Located
    model: Robot
    readings: Readings
    load: AppliedWrenches
    sources: tuple[ErrorSource, ...]
    priors: tuple[PriorEntry, ...]
    notes: tuple[Finding, ...]
    """What was assumed, left out or decided on the way, and warnings of what the tables hold that is lost."""
    files: tuple[Path, ...]
    folder: Path
    named: bool = False
    """Whether the tables name their markers."""
    excluded: tuple[Decision, ...] = ()
    kept: tuple[Decision, ...] = ()

    @property
    def name(self) -> str:
        return self.entry.name

    @property
    def warnings(self) -> tuple[Finding, ...]:
        return tuple(n for n in self.notes if n.severity == "warning")

    @property
    def kinds(self) -> tuple[str, ...]:
        """What was read."""
        return tuple(w for w in (*POSITIONS, "deflection") if np.isfinite(self.readings.read[w]).any())


def asks_for_reduction(path: Path) -> bool:
    """Whether a campaign file asks for single parameters, or is of a kind that only the reduction knows."""
    located = read_formatted(path, FORMAT, "a campaign file")
    kinds = (None, "position", "deflection")
    stated = located.data.get("model") is not None
    keys = [k for k in REDUCTION if k in located.data and not (stated and k in PLANNED)]
    reduced = keys or located.data.get("measurement") not in kinds
    if stated and reduced:
        asked = keys[0] if keys else "measurement"
        raise located.error(
            ("model",), f"asks for the best predictor, {asked} for single parameters; keep one", ConflictError
        )
    for key in PREDICTION if reduced else ():
        given = [k for k in located.data if k == key or str(k).rpartition("_")[0] == key]
        if given:
            raise located.error(
                (given[0],), f"belongs to a calibration without {', '.join(REDUCTION)}; leave it out", ConflictError
            )
    return bool(reduced)


def read_observed(path: Path, model: Robot | None = None) -> Observed:
    """Of a campaign file; ``model`` is the robot where another than the file's is to be taken."""
    located = read_formatted(path, FORMAT, "a campaign file")
    kind = located.data.get("measurement")
    if kind not in (None, "position", "deflection") and kind in measurement_kinds():
        only = f"readings of {kind} are fitted by the reduction alone; calibrate this file by the command"
        raise located.error(("measurement",), only, UnsupportedError)
    return _observed(located, path, model)


def observed_tables(tables: Sequence[Path], robot: str | Robot, keys: Mapping[str, Any]) -> Observed:
    """Of bare tables and a robot; ``keys`` are further ones of a campaign file."""
    tables = with_bags(tables)
    check_there(tables)
    first, by_titles = tables[0], tuple[Finding, ...]()
    if not isinstance(robot, Robot) and not keys.get("tool") and (link := tool_of_titles(robot, tables)):
        keys = {**keys, "tool": link}
        text = f"the tool is taken to be link {link!r}, which the last joint of the table carries"
        by_titles = (note("tool-assumed", text, tool=link),)
    model = robot if isinstance(robot, Robot) else read_robot(robot, keys.get("tool"))
    entries, notes = table_entries(tables, model, keys.get("units") or {})
    data = {
        "format": FORMAT, "name": first.stem, "robot": model.name if isinstance(robot, Robot) else str(robot),
        "table": entries, "missing": "skip", **keys,
    }  # fmt: skip
    located = Located(first.as_posix(), data, {})
    observed = _observed(located, None, robot if isinstance(robot, Robot) else None)
    return replace(observed, notes=(*by_titles, *_noted("table-read", notes), *observed.notes))


def _observed(located: Located, path: Path | None, model: Robot | None) -> Observed:
    units = declared_units(located)
    entry = schema.construct(CampaignEntry, located, (), located.data, units)
    if why := check_euler(entry.euler):
        raise located.error(("euler",), why, RangeError)
    folder = Path() if path is None else path.parent
    own = model is None
    if model is None:
        model = named_robot(_seen_from(located, path), entry.robot, entry.tool, entry.without, folder)
    entry = replace(entry, name=entry.name or Path(located.file).stem)
    given = CampaignKeys(located, entry, units, False)
    raws = read_tables_of(_seen_from(located, path), entry.table, model)
    for raw in raws.values() if path is None else ():
        check_units(raw, units)
    if path is None and len({Path(w).name for w in raws}) == len(raws):
        raws = {Path(w).name: raw for w, raw in raws.items()}
        raws = with_markers_of_files(raws)
    wanted = Wanted(model, None, entry.measurement, entry.missing == "skip", declared=units)
    tables, euler, turned = oriented(read_tables(raws, wanted), model, entry.euler)
    raws = {table.word: table.raw for table in tables}
    entry = replace(entry, euler=euler)
    markers, chosen = chosen_markers(given, tables, model, free=True)
    readings = gathered_readings(tables, markers, False, 1)
    check_any(readings, ", ".join(raw.file for raw in raws.values()))
    readings, same = _without_copies(readings)
    q, beyond = joint_values(given, model, readings, SLACK)
    load, load_notes = read_load(given, model, readings)
    _check_markers(located, model, readings)
    frames = tuple(Marker(m if m in model.tree.names else model.tool) for m in dict.fromkeys(readings.markers))
    setup = Setup(q, load, frames)
    size = max(model.size, float(np.max(np.linalg.norm(setup.positions(model), axis=2))))
    check_loads(readings, model, setup, size)
    check_deflection_sizes(readings, size)
    sources = read_sources(located, entry.errors, units, _kind(readings, setup), model)
    bare = tuple(file for r in raws.values() for file in (Path(r.file), *r.more))
    mine = bare if path is None else all_files(path, entry.robot, raws)
    priors = read_priors(located, entry.priors, units)
    excluded, kept = (read_decisions(located, k, getattr(entry, k)) for k in ("exclude", "keep"))
    notes = {
        "robot-file": model.notes if own else (),
        "table-read": table_notes(raws),
        "columns-read": column_notes(tables),
        "orientations-read": turned,
        "markers-read": (*chosen, *same),
        "beyond-limits": beyond,
        "load-assumed": load_notes,
        "rows-left-out": left_out(tables, readings),
        "not-used": _unused(readings),
        "excluded": tuple(f"Excluded by hand: {d.reading}: {d.reason}." for d in excluded),
        "kept": tuple(f"Kept by hand against the outlier test: {d.reading}: {d.reason}." for d in kept),
    }
    lost = (w for table in tables for w in table.columns.warnings)
    return Observed(
        entry,
        located,
        model,
        _turned(given, readings, setup, model),
        load,
        sources,
        priors,
        (*(f for code, texts in notes.items() for f in _noted(code, texts)), *lost),
        mine,
        folder,
        any(t.markers for t in tables),
        excluded,
        kept,
    )


def _noted(code: str, texts: Sequence[str]) -> tuple[Finding, ...]:
    return tuple(note(code, text) for text in texts)


def _without_copies(readings: Readings) -> tuple[Readings, tuple[str, ...]]:
    """A marker that repeats another number by number tells nothing: tables are filled up so."""
    spots = readings.read["position"]
    for j in range(1, len(readings.markers)):
        for i in range(j):
            if np.isfinite(spots[:, j]).any() and np.array_equal(spots[:, i], spots[:, j], equal_nan=True):
                keep = [k for k in range(len(readings.markers)) if k != j]
                less = replace(
                    readings,
                    markers=tuple(readings.markers[k] for k in keep),
                    posed=tuple(readings.posed[k] for k in keep),
                    read={what: v[:, keep] for what, v in readings.read.items()},
                    cells=readings.cells.of(keep),
                )
                rest, notes = _without_copies(less)
                return rest, (f"{readings.markers[j]} repeats {readings.markers[i]} and is left out.", *notes)
    return readings, ()


def _seen_from(located: Located, path: Path | None) -> Located:
    """Tables named on a command line are seen from the working folder."""
    return located if path is not None else replace(located, file=Path(located.file).name)


def _kind(readings: Readings, setup: Setup) -> Measurement:
    placed = any(np.isfinite(readings.read[w]).any() for w in POSITIONS)
    return Position(setup) if placed else Deflection(setup)


def _check_markers(located: Located, model: Robot, readings: Readings) -> None:
    """Where only deflections were read of a marker, its place must be known."""
    for i, marker in enumerate(readings.markers):
        placed = np.isfinite(readings.read["position"][:, i]).any()
        if not placed and np.isfinite(readings.read["deflection"][:, i]).any() and marker not in model.tree.names:
            raise UnknownNameError(
                "marker", marker, model.tree.names, f"{located.file}: deflections do not tell places"
            )


def _unused(readings: Readings) -> tuple[str, ...]:
    if not np.isfinite(readings.read["turn"]).any():
        return ()
    return ("Turns of deflections (drx, dry, drz) are not used; seek in the campaign file uses them.",)


def _turned(given: CampaignKeys, readings: Readings, setup: Setup, model: Robot) -> Readings:
    """In base axes, where the file says how the instrument stands; where it is to be found, calibration finds it."""
    if given.entry.tracker_frame is None or (given.entry.tracker_frame == "fit" and not readings.deflected):
        return readings
    pose, _ = instrument_pose(given, readings, setup, model)
    read = dict(readings.read)
    for what in ("position", "rest"):
        read[what] = in_base(pose, read[what], points=True)
    for what in ("deflection", "turn"):
        read[what] = in_base(pose, read[what], points=False)
    nothing = np.full((3, 3), np.nan)
    turned = turned_to_base(pose, read["orientation"], nothing)
    read["orientation"] = turned.reshape(*turned.shape[:2], 9)
    return replace(readings, read=read)


def words_of(entry: CampaignEntry) -> str | tuple[str, ...]:
    """``model`` as calibrations take it: auto, or words."""
    words = tuple(w.strip() for text in listed(entry.model or "auto") for w in text.replace("+", ",").split(","))
    return "auto" if words == ("auto",) else words


def orientation_of(readings: Readings, where: str) -> Any:
    """(N, 3, 3) of the one marker whose orientation was read, None where none was."""
    read = readings.read["orientation"]
    having = np.flatnonzero(np.isfinite(read).any(axis=(0, 2)))
    if not len(having):
        return None
    if len(having) > 1:
        names = " and ".join(readings.markers[i] for i in having[:2])
        raise DuplicateError(f"{where}: orientations of {names} were read; one marker tells that of the tool: keep one")
    return read[:, having[0]].reshape(-1, 3, 3)


def observed_again(located: Located, like: Observed) -> Observed:
    """Other tables under the keys of a campaign that was read."""
    own = like.files[0] if Path(located.file) == like.files[0] else None
    return _observed(located, own, like.model)
