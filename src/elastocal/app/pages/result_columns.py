"""Columns and cells that several pages share."""

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite
from typing import TYPE_CHECKING

from elastocal.report.blocks import Cell, Column, Table, Unknown

if TYPE_CHECKING:
    from elastocal.app.applied_load import AppliedLoad
    from elastocal.app.configurations import Axes, Configurations
    from elastocal.model.parameters import Parameter
    from elastocal.model.robot import Robot
    from elastocal.spatial.entries import Array

WRENCH_UNITS = {"fx": "N", "fy": "N", "fz": "N", "mx": "Nm", "my": "Nm", "mz": "Nm"}
RIGID = "Nothing in this robot is compliant, so nothing bends; add joint_compliance or link_compliance to its file."


def is_rigid(model: Robot) -> bool:
    """Whether no effect of the model gives way: neither springs nor backlash."""
    return not any(c.compliance().any() or "backlash" in c.kind for c in model.coordinates)


def filled(*tables: Table) -> tuple[Table, ...]:
    """Those that have rows."""
    return tuple(t for t in tables if t.rows)


def axis_columns(
    axes: Axes, decimals: int | None = None, group: str = "configuration", part: int = 0
) -> tuple[Column, ...]:
    pairs = zip(axes.names, axes.units, strict=True)
    return tuple(Column(f"{a}_{u}", a, u, decimals, group, part=part) for a, u in pairs)


def loaded_columns(at: Configurations) -> tuple[Column, ...]:
    """Name, configuration and load of a row; the load is shown where each row has its own."""
    each = at.wrenches is not None
    return (
        *((Column("name", "name"),) if at.names else ()),
        *axis_columns(at.axes),
        *(Column(f"{w}_{u}", w, u, group="wrench", shown=each) for w, u in WRENCH_UNITS.items()),
    )


def loaded_rows(at: Configurations, load: AppliedLoad, part: slice) -> list[tuple[Cell, ...]]:
    """The cells of ``loaded_columns`` in many rows."""
    import numpy as np

    places = configuration_rows(at, part)
    names = [(name,) for name in at.names[part]] if at.names else [()] * len(places)
    wrench = np.zeros((1, 6)) if load.applied is None else load.applied.wrench
    wrenches = np.broadcast_to(wrench, (len(at), 6))[part].tolist()
    return [(*name, *place, *wrench) for name, place, wrench in zip(names, places, wrenches, strict=True)]


def configuration_cells(at: Configurations, row: int) -> tuple[Cell, ...]:
    """Controller values as typed; the tenth digit only holds the noise of deg -> rad -> deg."""
    return tuple(float(f"{v:.10g}") for v in at.shown[row])


def configuration_rows(at: Configurations, part: slice) -> list[tuple[Cell, ...]]:
    """The cells of many rows; an axis of a map has few values, each of which is rounded once."""
    import numpy as np

    columns = []
    for values in at.shown[part].T:
        each, which = np.unique(values, return_inverse=True)
        columns.append(np.array([float(f"{v:.10g}") for v in each.tolist()])[which].tolist())
    return list(zip(*columns, strict=True)) if columns else [()] * len(at.shown[part])


def or_reason(value: float, reason: str) -> Cell:
    """The number, or why there is none."""
    return float(value) if isfinite(value) else Unknown(reason)


def numbers_or_reason(values: Array, reason: str) -> list[list[Cell]]:
    """The same of rows of numbers (N, n)."""
    import numpy as np

    rows: list[list[Cell]] = values.tolist()
    for i in np.flatnonzero(~np.isfinite(values).all(axis=1)).tolist():
        rows[i] = [or_reason(v, reason) for v in values[i]]
    return rows


def parameter_table(key: str, parameters: Iterable[Parameter], *notes: str) -> Table:
    return Table.of(key, parameters, {
        Column("name", "parameter"): lambda p: p.name,
        Column("value", "value", digits=6, si=True): lambda p: p.value,
        Column("unit", "unit"): lambda p: p.unit,
        Column("kind", "effect"): lambda p: p.kind,
        Column("source", "source", footnote=True): lambda p: " ".join(p.source.split()),
    }, *notes)  # fmt: skip
