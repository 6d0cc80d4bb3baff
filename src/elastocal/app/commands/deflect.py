"""Deflection of a frame under load, by the loaded equilibrium, and by the linear formula beside it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from elastocal.app.configurations import Configurations, chosen_configurations
from elastocal.app.pushing import LoadRequest, Pushing, pushing
from elastocal.app.robot_choice import load_robot, with_payload, without_kinds
from elastocal.app.threads import one_thread
from elastocal.errors import InputError

if TYPE_CHECKING:
    from elastocal.app.contributions import Contribution
    from elastocal.model.robot import RobotModel
    from elastocal.model.statics.deflection import Deflection


@dataclass(frozen=True)
class DeflectRequest:
    """As typed on the command line; numbers in texts are in the controller's units, N and N m."""

    robot: str
    at: tuple[str, ...] = ()
    configurations: Path | None = None
    load: LoadRequest = field(default_factory=LoadRequest)
    frame: str | None = None
    payload: float | None = None
    payload_frame: str | None = None
    linear: bool = False
    without: tuple[str, ...] = ()
    ignore_limits: bool = False
    tool: str | None = None


@dataclass(frozen=True, eq=False)
class DeflectResult:
    """``linear`` where asked for, ``contributions`` for a single configuration."""

    model: RobotModel
    at: Configurations
    load: Pushing
    found: Deflection
    linear: Deflection | None
    contributions: tuple[Contribution, ...]
    notes: tuple[str, ...]


def run(request: DeflectRequest, progress: Callable[[int, int], None] | None = None) -> DeflectResult:
    from elastocal.app.contributions import contributions
    from elastocal.model.statics.deflection import deflection, linear_deflection

    robot = load_robot(request.robot, request.tool)
    model = with_payload(without_kinds(robot.model, request.without), request.payload, request.payload_frame)
    at = chosen_configurations(model, request.at, request.configurations, request.ignore_limits)
    load = pushing(model, request.load, at)
    if load.applied is None:
        raise InputError(_NO_LOAD)
    frame = request.frame or model.tool
    model.tree.frame(frame)
    with one_thread():
        found = deflection(model, at.q, [load.applied], frame, progress)
        linear = linear_deflection(model, at.q, [load.applied], frame) if request.linear else None
        shares = contributions(model, at.q, load.applied, frame) if len(at) == 1 else ()
    notes = (*robot.notes, *at.notes, *load.notes, *_remarks(model, request))
    return DeflectResult(model, at, load, found, linear, shares, notes)


_NO_LOAD = (
    'nothing pushes on the robot; add --force "0,0,-1000" or --moment, or wrench columns to the file '
    "(a payload hangs on the arm before and after, so it is no load by itself; apply its weight as a force)"
)


def _remarks(model: RobotModel, request: DeflectRequest) -> tuple[str, ...]:
    out = []
    if not any(c.compliance().any() for c in model.coordinates):
        out.append("No element of this robot is compliant, so nothing bends; add joint_compliance or link_compliance.")
    if request.payload and not model.gravity.any():
        out.append("Gravity is zero in this model, so the payload changes nothing.")
    if request.without:
        out.append(f"Left out on request: {', '.join(request.without)}.")
    return tuple(out)
