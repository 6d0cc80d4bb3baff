"""A path or a set of test poses as CSV: axes of the controller, or places of the tool, each with its load if any.

A1_deg,...,A6_deg[,fx_N,...,mz_Nm]        or        x_mm,y_mm,z_mm[,fx_N,...,mz_Nm]

Axes may be given by their motors: A1_counts, A1_motor_deg.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from elastocal.files.tables.configurations import NAME, WRENCH, configurations
from elastocal.files.tables.raw import Field, add_once, read_csv, understood
from elastocal.files.units import FORCE, LENGTH, MOMENT
from elastocal.model.robot import RobotModel
from elastocal.spatial.entries import Array

PLACE = ("x", "y", "z")


@dataclass(frozen=True, eq=False)
class PathTable:
    """Joint values (T, n) or, where the table has places, points (T, 3); wrenches (T, 6) if it has any."""

    q: Array | None
    points: Array | None
    wrenches: Array | None


def read_path(path: Path, model: RobotModel) -> PathTable:
    raw = read_csv(path)
    axes = dict(zip(model.controller.axes, (m.kind for m in model.motions), strict=True))
    stems = {c.rpartition("_")[0] for c in raw.header}
    if not (stems & set(PLACE)) or stems & set(axes):
        from elastocal.files.tables.configurations import read_configurations

        table = read_configurations(path, axes, model.controller.drives)
        return PathTable(model.controller.to_joints(table.values), None, table.wrenches)
    units = {**dict.fromkeys(PLACE, LENGTH), **{w: FORCE if w[0] == "f" else MOMENT for w in WRENCH}}
    fields: dict[str, Field] = {}
    for place, column in enumerate(raw.header):
        known = (NAME, 1.0) if column == NAME else understood(raw, column, units, (NAME,))
        add_once(raw, fields, known[0], Field(place, known[1]))
    table = configurations(raw, fields, dict.fromkeys(PLACE, "prismatic"))
    return PathTable(None, np.asarray(table.values), table.wrenches)
