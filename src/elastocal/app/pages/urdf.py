"""Corrected joint origins as a report."""

from __future__ import annotations

from math import degrees

from elastocal.app.commands.urdf import UrdfResult
from elastocal.report.blocks import Cell, Column, Report, Section, Table


def page(result: UrdfResult) -> Report:
    names = (("x", "mm"), ("y", "mm"), ("z", "mm"), ("roll", "deg"), ("pitch", "deg"), ("yaw", "deg"))
    columns = (
        Column("joint", "joint"),
        Column("state", "origin"),
        *(Column(f"{name}_{unit}", name, unit) for name, unit in names),
    )
    rows: list[tuple[Cell, ...]] = [
        (change.joint, state, *(1e3 * v for v in values[:3]), *(degrees(v) for v in values[3:]))
        for change in result.changes
        for state, values in (("before", change.before), ("after", change.after))
    ]
    verdict = (f"{len(result.changes)} joint origin(s) changed in {result.target}; every other byte is as it was.",)
    return Report("Corrected URDF", verdict, (Section("", (Table("origins", "", columns, tuple(rows)),)),))
