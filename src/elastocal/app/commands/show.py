"""Everything a robot file says, in the units people use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from elastocal.app.configurations import Configurations, typed
from elastocal.files.robot.read import read_robot, selected
from elastocal.model.limits import limit_text

if TYPE_CHECKING:
    from elastocal.model.parameters import Parameter
    from elastocal.model.robot import RobotModel
    from elastocal.spatial.entries import Array


@dataclass(frozen=True)
class ShowRequest:
    robot: str
    parameters: tuple[str, ...] = ()
    tool: str | None = None
    at: tuple[str, ...] = ()


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

    model: RobotModel
    parameters: tuple[Parameter, ...]
    filtered: bool
    notes: tuple[str, ...]
    at: Configurations | None = None
    poses: tuple[FramePose, ...] = ()


def run(request: ShowRequest) -> ShowResult:
    model = read_robot(request.robot, request.tool)
    rows = tuple(model.parameters.rows[i] for i in selected(model, request.parameters))
    if not request.at:
        return ShowResult(model, rows, bool(request.parameters), model.notes)
    at = typed(model, request.at)
    return ShowResult(
        model, rows, bool(request.parameters), (*model.notes, *_beyond(model, at)), at, frame_poses(model, at.q)
    )


def frame_poses(model: RobotModel, q: Array) -> tuple[FramePose, ...]:
    """Of the tool and then every frame, of the rigid robot with its geometric errors."""
    from elastocal.model.kinematics import rigid_state
    from elastocal.spatial.rotation import matrix_rpy

    state = rigid_state(model, q.T, ())
    names = dict.fromkeys((model.tool, *(f.name for f in model.tree.frames)))
    where = {name: (state.origin(name), state.rotation(name)) for name in names}
    return tuple(
        FramePose(i, name, tuple(float(v) for v in p[:, i]), tuple(float(v) for v in matrix_rpy(r[:, :, i])))
        for i in range(len(q))
        for name, (p, r) in where.items()
    )


def _beyond(model: RobotModel, at: Configurations) -> tuple[str, ...]:
    """Poses are shown beyond the limits too, but not silently."""
    return tuple(
        f"{at.places[row]}: {limit_text(model, joint, value)}." for row, joint, value in model.beyond_limits(at.q)
    )
