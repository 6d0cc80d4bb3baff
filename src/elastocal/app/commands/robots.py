"""The robots that come with the package."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elastocal.app.cli.command import command
from elastocal.report.blocks import Column, Report, Section, Table

if TYPE_CHECKING:
    from elastocal.model.robot import Robot


@command("robots", 1, report=False)
def robots() -> tuple[Robot, ...]:
    """List the robots that come with the package.

    \b
    Example:
      elastocal robots
    """
    from elastocal.files.opened import watching
    from elastocal.files.robot.read import read_robot, shipped_robots

    with watching():  # a list rests on no files of the user
        return tuple(read_robot(name) for name in shipped_robots())


def page(result: tuple[Robot, ...]) -> Report:
    notes = (
        "R is a revolute joint, P a prismatic one, from base to tool.",
        "Wherever a command asks for ROBOT, give one of these names or the path of a .yaml or .urdf file.",
    )
    table = Table.of("robots", result, {
        Column("name", "robot"): lambda m: m.name,
        Column("title", "title"): lambda m: m.title,
        Column("joints", "joints"): lambda m: "".join(joint.kind[0].upper() for joint in m.motions) or "none",
        Column("parameters", "parameters"): lambda m: len(m.parameters),
        Column("tool", "tool frame"): lambda m: m.tool,
    }, *notes)  # fmt: skip
    return Report("Shipped robots", (), (Section("", (table,)),))
