"""A campaign written as a campaign file and a table that read back to the same numbers, bit for bit.

The table is wide.  Readings, and axes, stand in the usual units (mm, deg) where these give every number back exactly,
else in SI.
"""

from __future__ import annotations

import csv
import dataclasses
import io
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from elastocal.errors import InputError
from elastocal.files.campaign_columns import LOADED, ORIENTATION, SHIFT, TURN
from elastocal.files.campaign_entry import Requests, listed
from elastocal.files.campaign_yaml import FORMAT, CampaignFile
from elastocal.files.robot_word import robot_file
from elastocal.files.schema import dimensions_of
from elastocal.files.tables import WRENCH
from elastocal.files.units import DIMENSIONS
from elastocal.files.yaml_text import Dumper, Map, Row, comment, digits, quantity_text
from elastocal.measure.campaign import Campaign
from elastocal.measure.deflection import Deflection
from elastocal.measure.position import Position
from elastocal.measure.sources.source import ErrorSource
from elastocal.model.robot import RobotModel
from elastocal.spatial.entries import Array
from elastocal.spatial.rotation import rotation_vector, rotations

Column = tuple[str, Array, str]
"""Name, values in SI, dimension."""
VIRTUAL = "Virtual readings: simulated, not measured."
_UNITS = {"angle": ("deg", "rad"), "length": ("mm", "m"), "force": ("N", "N"), "moment": ("Nm", "Nm")}
"""The usual unit, and that of SI."""


def table_text(campaign: Campaign, model: RobotModel) -> str:
    """The table of readings as CSV; empty cells where nothing was read."""
    setup = campaign.measurement.setup
    shown = model.controller.to_controller(setup.q)
    columns: list[Column] = [
        (axis, shown[:, i], "angle" if motion.kind == "revolute" else "length")
        for i, (axis, motion) in enumerate(zip(model.controller.axes, model.motions, strict=True))
    ]
    columns += [
        (name, setup.wrenches[:, i], "force" if i < 3 else "moment")
        for i, name in enumerate(WRENCH)
        if np.any(setup.wrenches[:, i])
    ]
    readings = list(_readings(campaign))
    header, cells = zip(*_written(columns), *_written(readings), strict=True)
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([header, *zip(*cells, strict=True)])
    return out.getvalue()


def _readings(campaign: Campaign) -> Iterator[Column]:
    kind = campaign.measurement
    if not isinstance(kind, Deflection | Position):
        raise InputError(f"a campaign of {kind.kind} cannot be written as a table; write deflections or positions")
    names = (*SHIFT, *TURN) if isinstance(kind, Deflection) else (*LOADED, *ORIENTATION)
    for number, (marker, start) in enumerate(zip(kind.where.markers, kind.where.starts, strict=True)):
        numbers = campaign.readings[:, start : start + marker.rows]
        if isinstance(kind, Position) and kind.turned is not None and marker.rows == 6:
            numbers = np.concatenate([numbers[:, :3], _orientations(kind.turned[:, number], numbers[:, 3:])], axis=1)
        for name, column in zip(names, numbers.T, strict=False):
            yield f"{marker.frame}.{name}", column, "angle" if name in (*TURN, *ORIENTATION) else "length"


def _orientations(turned: Array, away: Array) -> Array:
    """Rotation vectors (N, 3) of what was measured: the reference turned by the reading."""
    known = np.isfinite(away).all(axis=1, keepdims=True)
    whole = np.einsum("ijn,njk->ikn", rotations(np.where(known, away, 0.0).T), turned)
    return np.where(known, rotation_vector(whole).T, np.nan)


def _written(columns: Sequence[Column]) -> Iterator[tuple[str, list[str]]]:
    """Header and cells of columns; all of one dimension stand in one unit."""
    chosen = {}
    for dimension, (usual, si) in _UNITS.items():
        numbers = [float(v) for _, values, d in columns if d == dimension for v in values]
        exact = all(_cell(v, DIMENSIONS[dimension][usual]) is not None for v in numbers)
        chosen[dimension] = usual if exact else si
    for name, values, dimension in columns:
        unit = chosen[dimension]
        yield f"{name}_{unit}", [_cell(float(v), DIMENSIONS[dimension][unit]) or "" for v in values]


def _cell(value: float, factor: float) -> str | None:
    """The fewest digits that give the value back when they are multiplied by the factor, None where none do."""
    if np.isnan(value):
        return ""
    near = value / factor
    tries = (float(f"{t:.{places}g}") for places in (6, 9, 12, 15, 17) for t in (near, *_neighbours(near, places)))
    return next((digits(t) for t in tries if t * factor == value), None)


def _neighbours(number: float, places: int) -> tuple[float, ...]:
    return (float(np.nextafter(number, -np.inf)), float(np.nextafter(number, np.inf))) if places == 17 else ()


def campaign_text(
    campaign: Campaign,
    model: RobotModel,
    *,
    name: str,
    robot: str,
    table: str,
    requests: Requests | None = None,
    tool: str | None = None,
    without: Sequence[str] = (),
    notes: Sequence[str] = (),
) -> str:
    """The campaign file for a table; ``robot``, ``tool`` and ``without`` are the words that give ``model``."""
    kind = campaign.measurement
    setup = kind.setup
    out: dict[str, Any] = {"format": FORMAT, "name": name, "robot": robot}
    if tool is not None:
        out["tool"] = tool
    if without:
        out["without"] = Row(without)
    out |= {"table": table, "measurement": kind.kind}
    if isinstance(kind, Deflection):
        out["statics"] = kind.statics
    out["load"] = Map(frame=setup.load.frame, follows=setup.load.follows)
    out["markers"] = Row(m.frame for m in setup.markers)
    if not np.all(campaign.measured):
        out["missing"] = "skip"
    if model.beyond_limits(setup.q):
        out["limits"] = "ignore"
    out |= _asked(requests or Requests())
    if campaign.sources:
        out["errors"] = [_source(s) for s in campaign.sources]
    return comment(notes) + yaml.dump(out, Dumper=Dumper, sort_keys=False, allow_unicode=True, width=110)


def campaign_files(plan: CampaignFile, campaign: Campaign, folder: Path) -> dict[Path, str]:
    """``campaign.yaml`` and ``readings.csv`` for a folder: the plan with these readings in it."""
    filled = dataclasses.replace(campaign, measurement=plan.campaign.measurement)
    robot = plan.robot
    if robot_file(robot) is not None:
        robot = Path(os.path.relpath(plan.files[0].parent / robot, folder)).as_posix()
    text = campaign_text(
        filled,
        plan.model,
        name=plan.name,
        robot=robot,
        table="readings.csv",
        requests=plan.requests,
        tool=plan.words.get("tool"),
        without=listed(plan.words.get("without")),
        notes=(VIRTUAL,),
    )
    return {folder / "campaign.yaml": text, folder / "readings.csv": table_text(filled, plan.model)}


def is_virtual(path: Path) -> bool:
    """Whether a campaign file says that its readings were simulated."""
    try:
        return VIRTUAL in path.read_text(encoding="utf-8", errors="replace")[:2000]
    except OSError:
        return False


def _asked(requests: Requests) -> dict[str, Any]:
    """Whatever differs from what is done anyway."""
    plain = Requests()
    out: dict[str, Any] = {}
    for field in dataclasses.fields(requests):
        value = getattr(requests, field.name)
        if value != getattr(plain, field.name):
            key = "reduce" if field.name == "statistical" else field.name
            out[key] = Row(value) if isinstance(value, tuple) else value
    return out


def _source(source: ErrorSource) -> Map:
    out = Map(kind=source.kind)
    dimensions = dimensions_of(type(source))
    for field in dataclasses.fields(source):  # type: ignore[arg-type]
        value, dimension = getattr(source, field.name), dimensions[field.name]
        if value is not None and value != field.default:
            out |= quantity_text(field.name, dimension, value) if dimension else {field.name: value}
    return out
