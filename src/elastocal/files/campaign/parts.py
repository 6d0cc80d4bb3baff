"""Parts of campaign files as text: columns of a table, requests, sources of error.

Numbers stand in the usual units (mm, deg) where these give every number back exactly, else in SI.
"""

from __future__ import annotations

import csv
import dataclasses
import io
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from elastocal.files.campaign.readings_entry import Requests
from elastocal.files.schema import dimensions_of
from elastocal.files.units import DIMENSIONS
from elastocal.files.yaml_text import FlowList, Map, digits, quantity_text
from elastocal.measure.sources.source import ErrorSource
from elastocal.model.robot import RobotModel
from elastocal.spatial.entries import Array

Column = tuple[str, Array, str]
"""Name, values in SI, dimension."""
_UNITS = {"angle": ("deg", "rad"), "length": ("mm", "m"), "force": ("N", "N"), "moment": ("Nm", "Nm")}
"""The usual unit, and that of SI."""


def shown_joint_columns(model: RobotModel, q: Array) -> list[Column]:
    """Joint values (N, n) as the controller shows them."""
    shown = model.controller.to_controller(q)
    return [
        (axis, shown[:, i], "angle" if motion.kind == "revolute" else "length")
        for i, (axis, motion) in enumerate(zip(model.controller.axes, model.motions, strict=True))
    ]


def csv_text(columns: Sequence[tuple[str, Sequence[str]]]) -> str:
    """Header and cells of columns as CSV."""
    header, cells = zip(*columns, strict=True)
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([header, *zip(*cells, strict=True)])
    return out.getvalue()


def column_texts(columns: Sequence[Column]) -> Iterator[tuple[str, list[str]]]:
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


def changed_requests(requests: Requests) -> dict[str, Any]:
    """Whatever differs from what is done anyway."""
    plain = Requests()
    out: dict[str, Any] = {}
    for field in dataclasses.fields(requests):
        value = getattr(requests, field.name)
        if value != getattr(plain, field.name):
            key = "reduce" if field.name == "statistical" else field.name
            out[key] = FlowList(value) if isinstance(value, tuple) else value
    return out


def source_text(source: ErrorSource) -> Map:
    out = Map(kind=source.kind)
    dimensions = dimensions_of(type(source))
    for field in dataclasses.fields(source):  # type: ignore[arg-type]
        value, dimension = getattr(source, field.name), dimensions[field.name]
        if value is not None and value != field.default:
            out |= quantity_text(field.name, dimension, value) if dimension else {field.name: value}
    return out
