"""The list of shipped robots as a report."""

from __future__ import annotations

from elastocal.app.commands.robots import RobotsResult
from elastocal.report.blocks import Column, Report, Section, Table


def page(result: RobotsResult) -> Report:
    columns = (
        Column("name", "robot"),
        Column("title", "title"),
        Column("joints", "joints"),
        Column("parameters", "parameters"),
        Column("tool", "tool frame"),
    )
    rows = tuple((r.name, r.title, r.joints or "none", r.parameters, r.tool) for r in result.robots)
    notes = (
        "R is a revolute joint, P a prismatic one, from base to tool.",
        "Wherever a command asks for ROBOT, give one of these names or the path of a .yaml or .urdf file.",
    )
    return Report("Shipped robots", (), (Section("", (Table("robots", "", columns, rows, notes),)),))
