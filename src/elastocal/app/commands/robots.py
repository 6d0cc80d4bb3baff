"""The robots that come with the package."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elastocal.app.cli.command import command
from elastocal.report.blocks import Column, Report, Section, Table
from elastocal.values import dataclass

if TYPE_CHECKING:
    from elastocal.model.robot import Robot


@dataclass(frozen=True)
class RobotLine:
    name: str
    title: str
    joints: str
    parameters: int
    tool: str


@dataclass(frozen=True)
class RobotsResult:
    robots: tuple[RobotLine, ...]


@command("robots", 1, report=False)
def robots() -> RobotsResult:
    """List the robots that come with the package.

    \b
    Example:
      elastocal robots
    """
    from elastocal.files.opened import watching
    from elastocal.files.robot.read import read_robot, shipped_robots

    with watching():  # a list rests on no files of the user
        models = [(name, read_robot(name)) for name in shipped_robots()]
    return RobotsResult(tuple(RobotLine(n, m.title, joint_letters(m), len(m.parameters), m.tool) for n, m in models))


def joint_letters(model: Robot) -> str:
    """R for a revolute, P for a prismatic joint, from base to tool."""
    return "".join("R" if m.kind == "revolute" else "P" for m in model.motions)


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
