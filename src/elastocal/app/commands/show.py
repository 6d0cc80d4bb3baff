"""Everything a robot file says, in the units people use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from elastocal.app.cells.roles import Uses
from elastocal.app.cli import options as o
from elastocal.app.cli.command import command
from elastocal.values import dataclass

if TYPE_CHECKING:
    from elastocal.app.configurations import Configurations
    from elastocal.model.parameters import Parameter
    from elastocal.model.robot import Robot
    from elastocal.spatial.entries import Array


@dataclass(frozen=True, eq=False)
class FramePose:
    """Where a frame stands in base axes, in configuration ``row``: ``xyz`` in m, ``rpy`` in rad."""

    row: int
    frame: str
    xyz: tuple[float, ...]
    rpy: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class ShowResult:
    """``parameters`` are those asked for; ``filtered`` tells whether some were left out on request.

    ``poses`` belong to the configurations ``at``, where some were given.
    """

    model: Robot
    parameters: tuple[Parameter, ...]
    filtered: bool
    notes: tuple[str, ...]
    at: Configurations | None = None
    poses: tuple[FramePose, ...] = ()


@command("robots", 2, Uses({"robot": "robot"}), report=False)
def show(
    robot: o.Robot,
    parameters: Annotated[
        list[str] | None, typer.Option(metavar="PATTERN", help='Only these parameters, such as "A*.k".')
    ] = None,
    at: o.At = None,
    tool: o.Tool = None,
) -> ShowResult:
    """Everything a robot file says: frames, joints, effects.

    Frames, joints, controller map, effects and parameters; with --at also where the frames stand.

    \b
    Example:
      elastocal show kuka-kr270 --parameters "A*.k"
    """
    from elastocal.app.configurations import typed
    from elastocal.files.robot.read import read_robot, selected

    model = read_robot(robot, tool)
    rows = tuple(model.parameters.rows[i] for i in selected(model, tuple(parameters or ())))
    if not at:
        return ShowResult(model, rows, bool(parameters), model.notes)
    where = typed(model, tuple(at))
    notes = (*model.notes, *_beyond(model, where))
    return ShowResult(model, rows, bool(parameters), notes, where, frame_poses(model, where.q))


def frame_poses(model: Robot, q: Array) -> tuple[FramePose, ...]:
    """Of the tool and then every frame, of the rigid robot with its geometric errors."""
    from elastocal.model.kinematics import rigid_state
    from elastocal.spatial.rotation import matrix_rpy

    state = rigid_state(model.posture(q.T), ())
    names = dict.fromkeys((model.tool, *(f.name for f in model.tree.frames)))
    where = {name: (state.origin(name), state.rotation(name)) for name in names}
    return tuple(
        FramePose(i, name, tuple(float(v) for v in p[:, i]), tuple(float(v) for v in matrix_rpy(r[:, :, i])))
        for i in range(len(q))
        for name, (p, r) in where.items()
    )


def _beyond(model: Robot, configurations: Configurations) -> tuple[str, ...]:
    """Poses are shown beyond the limits too, but not silently."""
    from elastocal.model.limits import limit_text

    return tuple(
        f"{configurations.places[row]}: {limit_text(model, joint, value)}."
        for row, joint, value in model.beyond_limits(configurations.q)
    )
