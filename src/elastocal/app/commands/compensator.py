"""Geometry of a gravity compensator from tracked points, and what its spring does to a robot's joint."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from elastocal.app.commands.arcs import noise_of, sense_from_word
from elastocal.app.tracking.tracked import (
    KnownArc,
    check_known_angles,
    check_markers,
    check_same_poses,
    known_arc,
    said_of,
    without,
)
from elastocal.app.tracking.tracked_free import FreeArcs, free_arcs
from elastocal.errors import InputError

if TYPE_CHECKING:
    from elastocal.app.tracking.compensator_plan import PlannedArcs
    from elastocal.app.tracking.compensator_spring import SpringResult
    from elastocal.arcs.compensator_geometry import CompensatorGeometry
    from elastocal.arcs.known_angle_arc import KnownAngleArc
    from elastocal.arcs.variants import Tension
    from elastocal.files.tables.points import PointTable
    from elastocal.model.robot import RobotModel
    from elastocal.spatial.entries import Array


@dataclass(frozen=True)
class CompensatorRequest:
    points: Path
    moving: str
    pivots: tuple[str, ...]
    joint: str
    robot: str | None = None
    at: str | None = None
    plan: int | None = None
    limits: str | None = None
    noise_um: float | None = None
    sense: str | None = None
    axis: str | None = None


@dataclass(frozen=True, eq=False)
class PivotModel:
    """The geometry with one model of the markers on P0; ``tension`` with the freer one before it."""

    name: str
    geometry: CompensatorGeometry
    residual_sd: float
    tension: Tension | None


@dataclass(frozen=True, eq=False)
class CompensatorResult:
    """``models``: the first is the result, the others are tests of it."""

    request: CompensatorRequest
    table: PointTable
    noise: float | None
    moving: KnownArc
    pivot: FreeArcs
    models: tuple[PivotModel, ...]
    yaml: str
    spring: SpringResult | None
    plan: PlannedArcs | None
    notes: tuple[str, ...]

    @property
    def geometry(self) -> CompensatorGeometry:
        return self.models[0].geometry


def run(request: CompensatorRequest) -> CompensatorResult:
    from elastocal.app.threads import one_thread
    from elastocal.app.tracking.compensator_plan import planned_arcs
    from elastocal.app.tracking.compensator_spring import element_text, spring_result
    from elastocal.arcs.axes_angle import axes_angle
    from elastocal.files.robot.read import read_robot
    from elastocal.files.tables.points import read_points

    noise = noise_of(request.noise_um)
    table = read_points(request.points)
    _check(table, request)
    robot = None if request.robot is None else read_robot(request.robot)
    angles, said = _joint_angles(table, request, robot)
    with one_thread():
        arc, pivot = _arcs(table, request, noise, angles)
        with said_of(table, (request.moving, *request.pivots)):
            models = _models(arc.rest, pivot)
        geometry = models[0].geometry
        spring = None if robot is None else spring_result(robot, request.joint, geometry, request.at, request.limits)
        plan = planned_arcs(request, arc, pivot, geometry, noise, robot)
    apart = axes_angle(arc.rest, pivot.rest)
    notes = (
        *(robot.notes if robot else ()), *table.notes, *said, *arc.notes, *pivot.notes,
        *(apart.words() if apart else ()), *(spring.notes if spring else ()),
    )  # fmt: skip
    yaml = element_text(request.joint, geometry, spring, table.file)
    return CompensatorResult(request, table, noise, arc, pivot, models, yaml, spring, plan, notes)


def _check(table: PointTable, request: CompensatorRequest) -> None:
    check_markers(table, (request.moving,), "--moving")
    check_markers(table, request.pivots, "--pivot")
    if request.moving in request.pivots:
        raise InputError(f"--pivot {request.moving}: is also --moving; one marker cannot be on both links")
    if len(set(request.pivots)) < len(request.pivots):
        raise InputError(f"--pivot {request.pivots[-1]}: a marker is named twice; name each once")
    if request.plan is None and request.robot is None and request.limits is not None:
        raise InputError("--limits: are of a plan or of a robot's joint; add --plan N or --robot ROBOT")
    if request.robot is None and request.at is not None:
        raise InputError("--at: is of a robot's axes; add --robot ROBOT")
    check_known_angles(table, request.moving)
    check_same_poses(table, (request.moving, *request.pivots))


def _joint_angles(
    table: PointTable, request: CompensatorRequest, model: RobotModel | None
) -> tuple[Array, tuple[str, ...]]:
    """Joint values from the angle column: its own where it is named after no controller axis of the robot."""
    import numpy as np

    angles = table.angles[request.moving]
    if model is None:
        return angles, ()
    if model.tree.joint(request.joint).kind != "revolute":
        raise InputError(f"--joint {request.joint}: is prismatic; a compensator turns with a revolute joint")
    c, column = model.controller, table.angle or ""
    row = model.joints.index(request.joint) if request.joint in model.joints else -1
    if column not in c.axes or row < 0:
        return angles, ()
    place = c.axes.index(column)
    factor, others = c.matrix[row, place], np.delete(c.matrix[row], place)
    if not factor:
        raise InputError(
            f"--joint {request.joint}: is not moved by {column}, the angle of {table.file}; name its own joint"
        )
    if np.any(others):
        raise InputError(
            f"--joint {request.joint}: is moved by several axes; give its own angle as q_deg, not {column}"
        )
    said = f"{column} of the file is read as controller value: joint {request.joint} = {factor:g} ({column} - zero)."
    changed = factor != 1 or c.zero[place] != 0
    return np.asarray(factor * (angles - c.zero[place])), (said,) if changed else ()


def _arcs(
    table: PointTable, request: CompensatorRequest, noise: float | None, angles: Array
) -> tuple[KnownArc, FreeArcs]:
    from elastocal.app.commands.arcs import axis_of

    axis = axis_of(request.axis, table)
    sense = sense_from_word(request.sense)
    arc = known_arc(table, request.moving, noise, sense, axis, angles)
    target = without(table.points[request.moving], arc.bad, 0)
    return arc, free_arcs(table, request.pivots, noise, target)


def _models(arc: KnownAngleArc, pivot: FreeArcs) -> tuple[PivotModel, ...]:
    """Algorithm 2 first, then the variants."""
    from elastocal.arcs.compensator_geometry import compensator_geometry

    axes = plane_axes(arc)
    out = [PivotModel("common axis", compensator_geometry(arc, pivot.rest, axes), pivot.rest.residual_sd, None)]
    fits = [("common axis, geometric", pivot.geometric, None)]
    models = pivot.variants.models[1:] if pivot.variants else ()
    rest = [(m.name, m.fit, m.tension) for m in models]
    for name, fit, tension in (*fits, *rest):
        out.append(PivotModel(name, compensator_geometry(arc, fit, axes), fit.residual_sd, tension))
    return tuple(out)


def plane_axes(arc: KnownAngleArc) -> Array | None:
    """In space: x of the data (or y, where the axis is along x) laid into the plane of the arc, and the one across.

    The normal is the axis of the arc, so that the sense of rotation is the one about it.
    """
    import numpy as np

    if arc.dimension == 2:
        return None
    normal = arc.axis
    start = np.eye(3)[1 if abs(normal[0]) > 0.9 else 0]
    first = start - (start @ normal) * normal
    first /= np.linalg.norm(first)
    return np.array([first, np.cross(normal, first)])
