"""Everything a robot file says, in the units people use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from elastocal.model.parameters import Parameter
    from elastocal.model.robot import RobotModel


@dataclass(frozen=True)
class ShowRequest:
    robot: str
    parameters: tuple[str, ...] = ()
    tool: str | None = None


@dataclass(frozen=True, eq=False)
class ShowResult:
    """``parameters`` are those asked for; ``filtered`` tells whether some were left out on request."""

    model: RobotModel
    parameters: tuple[Parameter, ...]
    filtered: bool
    notes: tuple[str, ...]


def run(request: ShowRequest) -> ShowResult:
    from elastocal.app.robot_choice import load_robot

    robot = load_robot(request.robot, request.tool)
    table = robot.model.parameters
    rows = tuple(table.rows[i] for i in table.select(request.parameters or None))
    return ShowResult(robot.model, rows, bool(request.parameters), robot.notes)
