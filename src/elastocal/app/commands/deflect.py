"""Deflection of a frame under load, by the loaded equilibrium, and by the linear formula beside it; droop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Annotated

from elastocal.app.cells.roles import WHERE, Uses
from elastocal.app.cli import options as o
from elastocal.app.cli.command import command
from elastocal.app.cli.progress import Progress
from elastocal.errors import ConflictError, MissingError
from elastocal.report.blocks import Fact
from elastocal.values import dataclass

if TYPE_CHECKING:
    from elastocal.app.applied_load import AppliedLoad
    from elastocal.app.configurations import Configurations
    from elastocal.model.loads.wrench import AppliedWrenches
    from elastocal.model.robot import Robot
    from elastocal.model.statics.deflection import Contribution, FrameDeflection
    from elastocal.spatial.entries import Array


LARGE_TURN = 0.1


@dataclass(frozen=True, eq=False)
class DeflectResult:
    """``linear`` where asked for, ``contributions`` for a single configuration that has an equilibrium."""

    facts: tuple[Fact, ...]
    model: Robot
    at: Configurations
    load: AppliedLoad
    deflection: FrameDeflection
    linear: FrameDeflection | None
    contributions: tuple[Contribution, ...]
    sag: bool
    notes: tuple[str, ...]

    @cached_property
    def bend(self) -> Array:
        """Distance (N,) in m of the linear formula from the equilibrium."""
        import numpy as np

        assert self.linear is not None
        return np.asarray(np.linalg.norm(self.linear.translation - self.deflection.translation, axis=1))


@command("robots", 3, Uses({"robot": "robot"}, either=WHERE, nominal=True), csv=True, progress="loaded equilibrium")
def deflect(
    robot: o.Robot,
    at: o.At = None,
    configurations: o.File = None,
    force: o.Force = None,
    moment: o.Moment = None,
    load_frame: o.LoadFrame = None,
    frame: o.Frame = None,
    follow: o.Follow = False,
    payload: o.Payload = None,
    payload_frame: o.PayloadFrame = None,
    sag: Annotated[
        bool, o.flag("From the rigid, commanded pose: the droop by weights, springs and any load.", "--sag")
    ] = False,
    linear: Annotated[bool, o.flag("Show the linear formula beside the equilibrium.", "--linear")] = False,
    without: o.Without = None,
    ignore_limits: o.IgnoreLimits = False,
    tool: o.Tool = None,
    progress: Progress | None = None,
) -> DeflectResult:
    """How far a load moves a frame, at the loaded equilibrium.

    \b
    Example:
      elastocal deflect kuka-kr270 --at "0,-90,90,0,30,0" --force "0,0,-2500"
    """
    from elastocal.app.applied_load import LoadRequest, applied_load, configurations_text, load_facts, with_payload
    from elastocal.app.configurations import chosen_configurations
    from elastocal.files.robot.read import read_robot, without_kinds

    read, left_out = read_robot(robot, tool), tuple(without or ())
    model = with_payload(without_kinds(read, left_out), payload, payload_frame)
    where = chosen_configurations(model, tuple(at or ()), configurations, ignore_limits)
    load = applied_load(model, LoadRequest(force, moment, load_frame, follow), where)
    _check(load, sag, linear)
    watched = frame or model.tool
    model.tree.frame(watched)
    moved = _moved(model, where.q, load.applied, watched, sag, progress)
    formula: FrameDeflection | None = None
    shares: tuple[Contribution, ...] = ()
    if load.applied is not None and not sag:
        formula, shares = _linear(model, where.q, load.applied, linear, moved)
    notes = (*read.notes, *where.notes, *load.notes, *_no_gravity(model, payload, sag, load), *_far(moved))
    words = configurations_text(tuple(at or ()), configurations)
    facts = load_facts(robot, model, load, watched, _state(sag), left_out, words)
    return DeflectResult(facts, model, where, load, moved, formula, shares, sag, notes)


def _far(deflection: FrameDeflection) -> tuple[str, ...]:
    """A frame that turns this far has left what small-strain springs can describe."""
    import numpy as np

    rows = int(np.sum(deflection.angle > LARGE_TURN))
    if not rows:
        return ()
    return (f"In {rows} configuration(s) the frame turns by more than {LARGE_TURN:g} rad: check load and compliances.",)


def _check(load: AppliedLoad, sag: bool, linear: bool) -> None:
    if load.applied is None and not sag:
        raise MissingError(_NO_LOAD)
    if sag and linear:
        raise ConflictError("--linear knows no weights, so it cannot stand beside --sag; keep one")


def _state(sag: bool) -> str:
    if sag:
        return "from the commanded pose of the rigid robot to the equilibrium with everything that pushes"
    return "loaded minus unloaded equilibrium, weights and springs in both"


def _moved(
    model: Robot, q: Array, applied: AppliedWrenches | None, frame: str, sag: bool, progress: Progress | None
) -> FrameDeflection:
    from elastocal.model.statics.deflection import deflection

    wrenches = [] if applied is None else [applied]
    return (sag_deflection if sag else deflection)(model, q, wrenches, frame, progress)


def _linear(
    model: Robot, q: Array, applied: AppliedWrenches, asked: bool, moved: FrameDeflection
) -> tuple[FrameDeflection | None, tuple[Contribution, ...]]:
    """The linear formula where asked for, and the shares of a single configuration that has an equilibrium."""
    from elastocal.model.statics.deflection import contributions, linear_deflection
    from elastocal.model.statics.equilibrium import Status

    formula = linear_deflection(model, q, [applied], moved.frame) if asked else None
    alone = len(q) == 1 and moved.status[0] == Status.CONVERGED
    return formula, contributions(model, q, applied, moved.frame) if alone else ()


_NO_LOAD = (
    'nothing pushes on the robot; add --force "0,0,-1000" or --moment, or wrench columns to the file '
    "(a payload hangs on the arm before and after, so it is no load by itself; apply its weight as a force, "
    "or use --sag to see how far all weights pull the arm down)"
)


def _no_gravity(model: Robot, payload: float | None, sag: bool, load: AppliedLoad) -> tuple[str, ...]:
    if payload and not model.gravity.any():
        return ("Gravity is zero in this model, so the payload changes nothing.",)
    if sag and not model.gravity.any() and load.applied is None:
        return ("Gravity is zero in this model, so no weight pulls.",)
    return ()


def sag_deflection(
    model: Robot, q: Array, applied: Sequence[AppliedWrenches], frame: str,
    progress: Callable[[int, int], None] | None = None,
) -> FrameDeflection:  # fmt: skip
    """nan where there is no equilibrium, with its status."""
    import numpy as np

    from elastocal.model.kinematics import kinematics
    from elastocal.model.statics.deflection import FrameDeflection, frame_pose
    from elastocal.model.statics.equilibrium import Status, equilibrium
    from elastocal.spatial.rotation import rotation_vector

    rigid = kinematics(model, q, frame)
    bent = equilibrium(model, q, applied, progress=progress)
    place, turned = frame_pose(model, q, bent, frame)
    turn = rotation_vector(np.einsum("ijn,nkj->ikn", turned, rigid.rotation)).T
    shift = place.T - rigid.position
    lost = bent.status != Status.CONVERGED
    shift[lost] = turn[lost] = np.nan
    return FrameDeflection(frame, shift, turn, bent.status, bent.load_factor)
