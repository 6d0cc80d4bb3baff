"""How well a compensator's geometry will be known before anything is measured: a plan from the robot file alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from elastocal.app.commands.arcs import noise_of, sense_from_word
from elastocal.errors import InputError

if TYPE_CHECKING:
    from elastocal.app.tracking.compensator_plan import PlannedArcs
    from elastocal.model.loads.gravity_compensator import GravityCompensator
    from elastocal.model.robot import RobotModel

MARKERS = 2
"""On the body about P0, where none are named."""


@dataclass(frozen=True)
class AheadRequest:
    robot: str
    plan: int
    noise_um: float
    joint: str | None = None
    pivots: tuple[str, ...] = ()
    limits: str | None = None
    sense: str | None = None


@dataclass(frozen=True, eq=False)
class AheadResult:
    """``spring``: the element whose geometry the plan is for."""

    request: AheadRequest
    robot: str
    spring: GravityCompensator
    markers: int
    sense: int
    plan: PlannedArcs
    notes: tuple[str, ...]


def run(request: AheadRequest) -> AheadResult:
    import numpy as np

    from elastocal.app.threads import one_thread
    from elastocal.app.tracking.compensator_plan import PlannedArcs, plan_rows
    from elastocal.app.tracking.compensator_spring import joint_range
    from elastocal.arcs.compensator_geometry import CompensatorGeometry
    from elastocal.files.robot.read import read_robot

    noise = noise_of(request.noise_um)
    assert noise is not None
    robot = read_robot(request.robot)
    spring = _spring(robot, request)
    sense, count = sense_from_word(request.sense) or 1, len(request.pivots) or MARKERS
    geometry = CompensatorGeometry.described(spring, sense)
    limits = joint_range(robot, spring.joint, request.limits, geometry)
    with one_thread():
        rows = plan_rows(geometry, request.plan, limits, np.ones(count), noise)
    plan = PlannedArcs(limits, noise, True, f"{count} markers at equal distances from P0", rows)
    return AheadResult(request, robot.name, spring, count, sense, plan, (*robot.notes, *_assumed(request)))


def _assumed(request: AheadRequest) -> tuple[str, ...]:
    out = []
    if not request.pivots:
        out.append(f"{MARKERS} markers about P0 are assumed; name as many as there will be by --pivot.")
    if request.sense is None:
        out.append(
            "P1 is taken to run with the joint's angle; with --sense against the places and the accuracy of a_x and "
            "a_y are mirrored."
        )
    return tuple(out)


def _spring(model: RobotModel, request: AheadRequest) -> GravityCompensator:
    from elastocal.model.loads.gravity_compensator import GravityCompensator

    found = [e for e in model.elements if isinstance(e, GravityCompensator) and request.joint in (None, e.joint)]
    if len(found) == 1:
        return found[0]
    at = f" on joint {request.joint}" if request.joint else ""
    if found:
        raise InputError(f"--robot {request.robot}: has several gravity compensators; name one by --joint")
    raise InputError(
        f"--robot {request.robot}: has no gravity_compensator{at} whose geometry could be planned for; add the element "
        "with rough values, or give measured points"
    )
