"""Deflection of a frame under load, by the loaded equilibrium, and by the linear formula beside it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from elastocal.app.carried import with_payload
from elastocal.app.configurations import Configurations, chosen_configurations
from elastocal.app.inputs import Inputs, configurations_text, inputs_of
from elastocal.app.pushing import LoadRequest, Pushing, pushing
from elastocal.app.threads import one_thread
from elastocal.errors import InputError
from elastocal.files.robot.read import read_robot, without_kinds

if TYPE_CHECKING:
    from elastocal.app.contributions import Contribution
    from elastocal.model.loads.wrench import AppliedWrenches
    from elastocal.model.robot import RobotModel
    from elastocal.model.statics.deflection import FrameDeflection
    from elastocal.spatial.entries import Array


LARGE_TURN = 0.1


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
    sag: bool = False


@dataclass(frozen=True, eq=False)
class DeflectResult:
    """``linear`` where asked for, ``contributions`` for a single configuration that has an equilibrium."""

    inputs: Inputs
    model: RobotModel
    at: Configurations
    load: Pushing
    found: FrameDeflection
    linear: FrameDeflection | None
    contributions: tuple[Contribution, ...]
    sag: bool
    notes: tuple[str, ...]


def run(request: DeflectRequest, progress: Callable[[int, int], None] | None = None) -> DeflectResult:
    robot = read_robot(request.robot, request.tool)
    model = with_payload(without_kinds(robot, request.without), request.payload, request.payload_frame)
    at = chosen_configurations(model, request.at, request.configurations, request.ignore_limits)
    load = pushing(model, request.load, at)
    _check(request, load)
    frame = request.frame or model.tool
    model.tree.frame(frame)
    with one_thread():
        found = _found(model, at.q, load.applied, frame, request.sag, progress)
        linear, shares = _linear(model, at.q, load.applied, frame, request, found)
    notes = (*robot.notes, *at.notes, *load.notes, *_remarks(model, request), *_far(found))
    where = configurations_text(request.at, request.configurations)
    inputs = inputs_of(request.robot, model, load, frame, _state(request), request.without, where)
    return DeflectResult(inputs, model, at, load, found, linear, shares, request.sag, notes)


def _far(found: FrameDeflection) -> tuple[str, ...]:
    """A frame that turns this far has left what small-strain springs can describe."""
    import numpy as np

    rows = int(np.sum(np.linalg.norm(found.rotation, axis=1) > LARGE_TURN))
    if not rows:
        return ()
    return (f"In {rows} configuration(s) the frame turns by more than {LARGE_TURN:g} rad: check load and compliances.",)


def _check(request: DeflectRequest, load: Pushing) -> None:
    if load.applied is None and not request.sag:
        raise InputError(_NO_LOAD)
    if request.sag and request.linear:
        raise InputError("--linear knows no weights, so it cannot stand beside --sag; keep one")


def _state(request: DeflectRequest) -> str:
    if request.sag:
        return "from the commanded pose of the rigid robot to the equilibrium with everything that pushes"
    return "loaded minus unloaded equilibrium, weights and springs in both"


def _found(
    model: RobotModel,
    q: Array,
    applied: AppliedWrenches | None,
    frame: str,
    sag: bool,
    progress: Callable[[int, int], None] | None,
) -> FrameDeflection:
    from elastocal.app.sag import sag_deflection
    from elastocal.model.statics.deflection import deflection

    wrenches = [] if applied is None else [applied]
    return (sag_deflection if sag else deflection)(model, q, wrenches, frame, progress)


def _linear(
    model: RobotModel,
    q: Array,
    applied: AppliedWrenches | None,
    frame: str,
    request: DeflectRequest,
    found: FrameDeflection,
) -> tuple[FrameDeflection | None, tuple[Contribution, ...]]:
    """The linear formula where asked for, and the shares of a single configuration that has an equilibrium."""
    from elastocal.app.contributions import contributions
    from elastocal.model.statics.deflection import linear_deflection
    from elastocal.model.statics.equilibrium import Status

    if applied is None or request.sag:
        return None, ()
    linear = linear_deflection(model, q, [applied], frame) if request.linear else None
    alone = len(q) == 1 and found.status[0] == Status.CONVERGED
    return linear, contributions(model, q, applied, frame) if alone else ()


_NO_LOAD = (
    'nothing pushes on the robot; add --force "0,0,-1000" or --moment, or wrench columns to the file '
    "(a payload hangs on the arm before and after, so it is no load by itself; apply its weight as a force, "
    "or use --sag to see how far all weights pull the arm down)"
)


def _remarks(model: RobotModel, request: DeflectRequest) -> tuple[str, ...]:
    if request.payload and not model.gravity.any():
        return ("Gravity is zero in this model, so the payload changes nothing.",)
    if request.sag and not model.gravity.any() and not request.load.given:
        return ("Gravity is zero in this model, so no weight pulls.",)
    return ()
