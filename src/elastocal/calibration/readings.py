"""Campaign files and bare tables as robot and ``Campaign``: the arrays that ``calibrate`` takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from elastocal.arguments import checked
from elastocal.calibration.campaign import Campaign
from elastocal.calibration.given import ANGLES, LENGTHS, Prior, factors
from elastocal.calibration.words import automatic, model_words, with_words
from elastocal.errors import (
    ConflictError,
    MissingError,
    RangeError,
    ShapeError,
    UnitError,
    UnsupportedError,
)
from elastocal.files.campaign.column_titles import DISTANCE, LOADED, SHIFT, UNLOADED
from elastocal.files.campaign.observed import (
    POSITIONS,
    Observed,
    observed_tables,
    orientation_of,
    read_observed,
    words_of,
)
from elastocal.files.campaign.priors import PriorEntry, decided_rows, dimension_of
from elastocal.files.campaign.readings import Readings
from elastocal.files.located import Located
from elastocal.files.tables.records import is_campaign
from elastocal.model.robot import Robot
from elastocal.spatial.entries import Array

if TYPE_CHECKING:
    from elastocal.calibration.calibration import Calibration

Paths = str | PathLike[str]
PLACES = (*SHIFT, *LOADED, *UNLOADED, *DISTANCE)
DIGITS = 12


@checked()
def read_campaign(
    path: Paths, tables: Paths | Sequence[Paths] = (), *, length: str | None = None, angle: str | None = None,
    tool: str | None = None, euler: str | None = None,
) -> tuple[Robot, Campaign]:  # fmt: skip
    """Robot and readings of a campaign file, or of a robot and the tables that were read of it.

        robot, data = ec.read_campaign("campaign.yaml")
        robot, data = ec.read_campaign("arm.urdf", "points.csv", length="mm", angle="deg", tool="flange")

    ``length`` and ``angle`` are units of columns that do not tell theirs (``x``, not ``x_mm``), ``euler`` the order of
    Euler angles.  Joint values are in the units of the tables (``data.length``, ``data.angle``), as of arrays.
    ``data.notes`` say what was assumed and what is not used; a calibration repeats them among its warnings.
    """
    given = [tables] if isinstance(tables, str | PathLike) else list(tables)
    keys = {"tool": tool, "euler": euler, "units": {k: u for k, u in (("length", length), ("angle", angle)) if u}}
    if not given:
        stated = next((k for k, v in keys.items() if v), None)
        if stated is not None:
            raise ConflictError(f"{path}: {stated} is said by the campaign file; leave it out here", parameter=stated)
        return campaign_of(read_observed(Path(path)))
    return campaign_of(observed_tables([Path(p) for p in given], str(path), {k: v for k, v in keys.items() if v}))


def why_unfit(observed: Observed) -> str:
    """Why readings cannot be taken as arrays; empty where they can."""
    if not observed.model.n:
        return "its robot has no joints"
    if observed.load.follows and observed.load.wrench.any():
        return "its load follows the tool"
    robot = observed.model
    tool = robot.chain.level(robot.tool)
    frames = [m for m in observed.readings.markers if m in robot.tree.names]
    astray = [m for m in frames if robot.chain.level(m) != tool]
    return f"marker {astray[0]} does not sit on the tool" if astray else ""


def campaign_of(observed: Observed) -> tuple[Robot, Campaign]:
    where, robot, readings = observed.located.file, observed.model, observed.readings
    if why := why_unfit(observed):
        raise UnsupportedError(f"{where}: {why}; such a campaign is calibrated by reduction only: write seek into it")
    entry = observed.entry
    if entry.noise is not None and observed.sources:
        raise observed.located.error(("noise",), "is stated by errors too; keep one of the two", ConflictError)
    placed = [w for w in POSITIONS if w in observed.kinds]
    loads = np.broadcast_to(observed.load.wrench, (len(readings.values), 6))
    read = Campaign(
        q=readings.values, length="m", angle="rad",
        position=_read(readings.read["position"]), deflection=_read(readings.read["deflection"]),
        orientation=orientation_of(readings, where), distance=_read(readings.read["distance"][:, :, 0]),
        wrench=loads if loads.any() else None, load_frame=observed.load.frame, markers=readings.markers,
        station=readings.station if entry.station is None or readings.station
        else [entry.station] * len(readings.values),
        temperature=readings.temperature, time=readings.time, noise=entry.noise or observed.sources or None,
        orientation_noise=entry.orientation_noise, places=readings.places, name=observed.name,
        priors=_priors(observed, bool(placed)) if observed.priors else (),
    )  # fmt: skip
    return robot, _decided(observed, _as_written(robot, readings, read)).changed(notes=observed.notes)


def _as_written(robot: Robot, readings: Readings, read: Campaign) -> Campaign:
    """With ``q`` in the units of the tables, as of arrays: deg where all axes that turn are, mm where all that slide
    are (where none slides, all readings); else rad and m."""
    columns = [t.columns for t in readings.cells.tables]
    by_kind: dict[str, set[float]] = {"revolute": set(), "prismatic": set()}
    for axis, motion in zip(robot.controller.axes, robot.motions, strict=True):
        by_kind[motion.kind] |= {c.fields[axis].factor if axis in c.fields else 1.0 for c in columns}
    points = {f.factor for c in columns for marker in c.readings.values() for n, f in marker.items() if n in PLACES}
    length = "mm" if (by_kind["prismatic"] or points) == {LENGTHS["mm"]} else "m"
    angle = "deg" if by_kind["revolute"] == {ANGLES["deg"]} else "rad"
    written = read.written_in(robot, length, angle)
    digits = np.round(written.q, DIGITS)  # of the file, without the rounding of two conversions
    same = digits * factors(robot, length, angle) == read.q
    return written.changed(q=np.where(same, digits, written.q))


def _decided(observed: Observed, read: Campaign) -> Campaign:
    """Without what was excluded by hand; what was kept by hand is marked."""
    gone = decided_rows(observed.located, "exclude", observed.excluded, read.places)
    kept = decided_rows(observed.located, "keep", observed.kept, read.places)
    if both := set(gone) & set(kept):
        raise observed.located.error(
            ("keep",), f"{read.line(min(both))} is excluded too; decide for one", ConflictError
        )
    marked = read.keeping(kept) if kept else read
    return marked.take([i for i in range(read.count) if i not in set(gone)]) if gone else marked


def _read(values: Array) -> Array | None:
    return values if np.isfinite(values).any() else None


def _priors(observed: Observed, placed: bool) -> tuple[Prior, ...]:
    """Patterns over the parameters that the model may have, units against theirs."""
    words = words_of(observed.entry)
    heat = observed.readings.temperature is not None
    loaded = bool(observed.load.wrench.any())
    if words == "auto":
        words = automatic(observed.model, loaded=loaded, placed=placed, warms=heat)
    for word in words:
        if word not in model_words():
            raise observed.located.unknown(("model",), "model word", word, ("auto", *model_words()))
    return stated_priors(observed.located, observed.priors, observed.model, tuple(words))


def stated_priors(
    located: Located, entries: Sequence[PriorEntry], robot: Robot, words: tuple[str, ...]
) -> tuple[Prior, ...]:
    """Priors as a file states them, of parameters that model words stand for."""
    robot, wanted = with_words(robot, words)
    names = tuple(n for w in wanted for n in w.names)
    return tuple(p for entry in entries for p in _prior(located, entry, robot, names))


_DIMENSIONS = {"m": "length", "rad": "angle", "rad/(N m)": "compliance", "m/N": "compliance", "kg": "mass"}


def _prior(located: Located, entry: PriorEntry, robot: Robot, known: tuple[str, ...]) -> tuple[Prior, ...]:
    chosen = []
    for pattern in entry.parameters:
        mine = [n for n in known if fnmatchcase(n, pattern)]
        if not mine:
            raise located.unknown(entry.path, "parameter with a prior", pattern, known)
        chosen += [n for n in mine if n not in chosen]
    rows = [robot.parameters.rows[robot.parameters.index(n)] for n in chosen]
    for row in rows:
        for unit in entry.units:
            dimension, own = dimension_of(unit), _DIMENSIONS.get(row.unit)
            if dimension is not None and own is not None and own not in dimension:
                problem = f"{unit} does not fit {row.name}, which is in {row.unit}"
                raise located.error(entry.path, problem, UnitError, value=unit, allowed=(row.unit,))
    values = np.array([r.value if entry.value is None else entry.value for r in rows])
    if entry.covariance is not None:
        if len(entry.covariance) != len(rows):
            problem = f"is of {len(entry.covariance)} parameters, not {len(rows)}"
            raise located.error((*entry.path, "covariance"), problem, ShapeError)
        return (Prior(tuple(chosen), values, entry.covariance),)
    assert entry.sd is not None
    scale = np.abs(values) if entry.share else np.ones(len(rows))
    if not scale.all():
        zero = chosen[int(np.flatnonzero(scale == 0)[0])]
        problem = f"{zero} is zero, of which percent are nothing; give the sd in its unit"
        raise located.error(entry.path, problem, RangeError, value=zero)
    if not entry.common_sd:
        return tuple(
            Prior((n,), v[None], np.array([[(entry.sd * s) ** 2]]))
            for n, v, s in zip(chosen, values, scale, strict=True)
        )
    spread = np.outer(scale, scale) * (entry.common_sd**2 + entry.sd**2 * np.eye(len(rows)))
    return (Prior(tuple(chosen), values, spread),)


def validation_of(observed: Observed) -> tuple[Campaign, ...]:
    """Readings that the campaign file names for validation: tables, or other campaign files."""
    entry, located = observed.entry, observed.located
    if entry.validation is None:
        return ()
    out = []
    several = isinstance(entry.validation, list)
    for item in entry.validation if several else [entry.validation]:
        file = observed.folder / item if isinstance(item, str) else Path()
        if is_campaign(file):
            out.append(campaign_of(read_observed(file, observed.model))[1])
            continue
        out.append(campaign_of(_again(observed, item))[1])
    if not out:
        raise located.error(("validation",), "names nothing; name a table or a campaign file", MissingError)
    return tuple(out)


def _again(observed: Observed, table: Any) -> Observed:
    """Another table under the keys of the campaign file."""
    from elastocal.files.campaign.observed import observed_again

    data = {k: v for k, v in observed.located.data.items() if k not in ("validation", "table", "priors")}
    decided = {"euler": observed.entry.euler} if observed.entry.euler else {}
    return observed_again(replace(observed.located, data={**data, **decided, "table": table}), observed)


def readings_for(calibration: Calibration, path: Paths, keys: Mapping[str, Any] | None = None) -> tuple[Campaign, bool]:
    """Readings of a calibrated robot by a campaign file or by a bare table, and whether its stations are to be fitted.
    ``keys`` of a campaign file are for a table, which has none."""
    if not is_campaign(Path(path)):
        return table_readings(path, calibration, keys), False
    observed = read_observed(Path(path))
    robot, readings = campaign_of(observed)
    if robot.joints != calibration.robot.joints:
        raise ConflictError(
            f"{path}: its robot has joints {', '.join(robot.joints)}, the calibrated one "
            f"{', '.join(calibration.robot.joints)}; give readings of the calibrated robot"
        )
    return readings, observed.entry.tracker_frame == "fit"


def table_readings(path: Paths, calibration: Calibration, keys: Mapping[str, Any] | None = None) -> Campaign:
    """A bare table of a calibrated robot, in the frame of its instrument.

    Columns as in campaigns; one marker that is not named is that of the calibration.
    """
    frame = {"frame": calibration.load_frame}
    given: dict[str, Any] = {"limits": "ignore", "load": frame, **(keys or {})}
    observed = observed_tables([Path(path)], calibration.robot, given)
    if len(calibration.markers) == 1 and not observed.named:
        observed = replace(observed, readings=replace(observed.readings, markers=calibration.markers))
    if len(calibration.markers) > 1 and not observed.named:
        raise MissingError(
            f"{path}: the columns do not say which of the markers {', '.join(calibration.markers)} was read; name them "
            f"{calibration.markers[0]}.x_mm, or add a column marker"
        )
    notes = tuple(n for n in observed.notes if not n.text.startswith(("No marker", "No load", "The load")))
    return campaign_of(observed)[1].changed(notes=notes)
