"""Campaign files of kinds whose readings are plain columns of a table, one for each number of a reading.

Such a kind says the names and dimensions of its columns (``table_columns``) and is made from the setup; it may stand in
``measure`` or in another package.  Joint values, load, limits, errors and requests are those of any campaign file.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from elastocal.errors import MissingError, ShapeError
from elastocal.files import schema
from elastocal.files.campaign.columns import CampaignColumns
from elastocal.files.campaign.file import (
    UNSTATED,
    CampaignEntry,
    CampaignFile,
    CampaignKeys,
    all_files,
    named_robot,
    table_notes,
)
from elastocal.files.campaign.readings import Cells, Readings
from elastocal.files.campaign.requests import read_requests, read_sources
from elastocal.files.campaign.setup import chosen_markers, read_setup
from elastocal.files.campaign.table import WIDTHS, CampaignTable
from elastocal.files.located import Located
from elastocal.files.tables.configurations import NAME, allowed_units, configurations, motor_column
from elastocal.files.tables.named import read_tables_of
from elastocal.files.tables.raw import RawTable, columns_of, si_readings
from elastocal.files.units import DIMENSIONS, declared_units
from elastocal.measure.kind import Measurement
from elastocal.measure.measured import Measured
from elastocal.model.robot import Robot
from elastocal.spatial.entries import Array
from elastocal.values import dataclass


@dataclass(frozen=True, kw_only=True)
class PlainEntry(CampaignEntry):
    """The keys of such a campaign file."""

    measurement: str  # type: ignore[assignment]


def read_plain(path: Path, located: Located, plan: bool, kind: type[Measurement]) -> CampaignFile:
    """A campaign of the ``kind``; in a ``plan`` readings are nan."""
    units = declared_units(located)
    entry = schema.construct(PlainEntry, located, (), located.data, units)
    given = CampaignKeys(located, entry, units, plan)
    model = named_robot(located, entry.robot, entry.tool, entry.without, path.parent)
    raws = read_tables_of(located, entry.table, model)
    skip = plan or entry.missing == "skip"
    both = [_table(raw, word, model, kind.table_columns, skip, plan) for word, raw in raws.items()]
    tables, readings = tuple(t for t, _ in both), np.concatenate([r for _, r in both])
    markers, chosen = chosen_markers(given, tables, model)
    gathered, kept = _gathered(tables, markers, readings, plan)
    setup, setup_notes = read_setup(given, model, gathered)
    measurement = kind.of_setup(setup)
    if (count := len(measurement.rows)) != readings.shape[1]:
        wrong = f"{kind.kind} has {count} numbers for each reading, its table {readings.shape[1]}"
        raise located.error(("markers",), f"{wrong}; name as many markers as the table is of", ShapeError)
    sources = read_sources(located, entry.errors, units, measurement, model)
    campaign = Measured(measurement, np.full_like(kept, np.nan) if plan else kept, sources, tuple(gathered.places))
    requests, asked = read_requests(located, entry, model, campaign, plan)
    stated = () if sources or plan else (UNSTATED,)
    notes = (*model.notes, *table_notes(raws), *chosen, *setup_notes, *stated, *asked)
    files = all_files(path, entry.robot, raws)
    return CampaignFile(entry.name, entry.robot, model, campaign, requests, notes, files, located.data, gathered.names)


def _table(
    raw: RawTable, word: str, model: Robot, columns: Mapping[str, str], skip: bool, plan: bool
) -> tuple[CampaignTable, Array]:
    """A table and its readings (N, R) in SI."""
    axes = model.axis_kinds
    known: dict[str, Any] = {**allowed_units(axes), **{name: DIMENSIONS[d] for name, d in columns.items()}}
    required = () if plan else tuple(columns)
    fields = columns_of(raw, known, (NAME,), required, partial(motor_column, raw, axes=axes))
    poses = configurations(raw, fields, axes, model.controller.drives)
    numbers = np.full((len(raw.rows), len(columns)), np.nan)
    there = [j for j, name in enumerate(columns) if name in fields]
    numbers[:, there] = si_readings(raw, [fields[name] for name in columns if name in fields], skip)
    own = CampaignColumns({k: f for k, f in fields.items() if k not in columns}, {})
    return CampaignTable(word, raw, own, poses, {}, None, ()), numbers


def _gathered(
    tables: tuple[CampaignTable, ...], markers: tuple[str, ...], readings: Array, plan: bool
) -> tuple[Readings, Array]:
    """The rows of all tables that hold something, as readings without shifts."""
    counts = [len(table.raw.rows) for table in tables]
    some = np.asarray(np.isfinite(readings).any(axis=1) | plan)
    if not some.any():
        raise MissingError(f"{tables[0].raw.file}: holds no reading at all; fill the columns of the readings")
    rows = np.repeat(np.concatenate([np.arange(n) for n in counts])[:, None], len(markers), axis=1)
    kept = Cells(tables, markers, np.repeat(np.arange(len(tables)), counts), rows).some(some)
    wrenches = [t.poses.wrenches for t in tables if t.poses.wrenches is not None]
    nothing = {what: np.full((len(kept), len(markers), width), np.nan) for what, width in WIDTHS.items()}
    gathered = Readings(
        markers, (False,) * len(markers), kept.by_row(lambda t: t.poses.values),
        np.concatenate(wrenches)[some] if wrenches else None, nothing, kept,
    )  # fmt: skip
    return gathered, readings[some]
