"""Geometry of a gravity compensator from tracked points, or the plan to measure it; its spring on a robot."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from elastocal.app.cells.roles import REPORT, ROBOT, Uses
from elastocal.app.cli import options as o
from elastocal.app.cli.command import command
from elastocal.app.commands.arcs import (
    Axis,
    Noise,
    Sense,
    axis_of,
    check_known_angles,
    check_markers,
    check_same_poses,
    located,
    noise_of,
    sense_from_word,
    unseen_notes,
)
from elastocal.errors import ConflictError, DuplicateError, MissingError, RangeError
from elastocal.values import dataclass

if TYPE_CHECKING:
    from elastocal.files.tables.points import PointTable
    from elastocal.model.loads.gravity_compensator import GravityCompensator
    from elastocal.model.robot import Robot
    from elastocal.procedures.compensator import Compensator
    from elastocal.procedures.compensator.marker_design import ArcPlan
    from elastocal.spatial.entries import Array

MARKERS = 2
"""On the body about P0, where a plan names none."""


@dataclass(frozen=True, eq=False)
class CompensatorResult:
    """``robot`` as typed."""

    table: PointTable
    robot: str | None
    compensator: Compensator
    notes: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class AheadResult:
    """A plan before anything is measured; ``spring`` is the element of the robot whose geometry it is for."""

    robot: str
    model: Robot
    spring: GravityCompensator
    plan: ArcPlan
    notes: tuple[str, ...]


@command("procedures", 4, Uses({"points": "points", "robot": "robot"}, (ROBOT, REPORT)), csv=True)
def compensator(
    points: Annotated[
        Path | None, o.argument("[POINTS.csv]", "Tracked points as for arcs; none to plan from the robot file.")
    ] = None,
    moving: Annotated[str | None, o.option("MARKER", "The spring's end on the moving link (P1).")] = None,
    pivot: Annotated[
        list[str] | None, o.option("MARKER", "A marker on the body that turns about P0; repeatable.")
    ] = None,
    joint: Annotated[str | None, o.option("JOINT", "The joint that the angle column is of.")] = None,
    robot: Annotated[
        str | None, o.option("ROBOT", "Also its statics: stiffness of the joint, balancing spring.")
    ] = None,
    at: Annotated[str | None, o.option("VALUES", "Controller values of the other axes (default: all zero).")] = None,
    plan: Annotated[int | None, o.option("N", "Also plan the best N angles and marker places.")] = None,
    limits: Annotated[
        str | None, o.option("LOW,HIGH", "Range of the joint in deg (default: robot's, or measured).")
    ] = None,
    noise_um: Noise = None,
    sense: Sense = None,
    axis: Axis = None,
) -> CompensatorResult | AheadResult:
    """Geometry of a gravity compensator from tracked points.

    The spring's ends, their accuracy, the text for the robot file; with a robot what the spring does to its joint and
    which spring would balance the arm; with --plan where to measure next time. Without points, the accuracy to expect
    of the best plan for the robot's own compensator.

    \b
    Example:
      elastocal compensator points.csv --moving P1 --pivot P01 --pivot P02 --joint A2 --robot kuka-kr270
      elastocal compensator --robot kuka-kr270 --plan 6 --noise-um 15
    """
    from elastocal.app.cli.progress import stage
    from elastocal.app.configurations import typed
    from elastocal.files.robot.read import read_robot
    from elastocal.files.tables.points import read_points
    from elastocal.procedures.compensator import identify

    pivots = tuple(pivot or ())
    if points is None:
        if moving is not None or at is not None or axis is not None:
            raise ConflictError("without points there is nothing for --moving, --at or --axis; give POINTS.csv")
        if robot is None or plan is None or noise_um is None:
            raise MissingError("without points a plan needs --robot, --plan N and --noise-um; else give POINTS.csv")
        return _ahead(robot, plan, noise_um, joint, len(pivots), limits, sense)
    if moving is None or not pivots or joint is None:
        raise MissingError("points need their names: add --moving MARKER, --pivot MARKER and --joint JOINT")
    if plan is None and robot is None and limits is not None:
        raise ConflictError("--limits: are of a plan or of a robot's joint; add --plan N or --robot ROBOT")
    if robot is None and at is not None:
        raise ConflictError("--at: is of a robot's axes; add --robot ROBOT")
    noise, way = noise_of(noise_um), sense_from_word(sense)
    stage(0, 2, "reading the points")
    table = read_points(points)
    _check(table, moving, pivots)
    model = None if robot is None else read_robot(robot)
    angles, read_as = _joint_angles(table, moving, joint, model)
    others = None if model is None or at is None else typed(model, (at,)).q[0]
    stage(1, 2, "geometry" if plan is None else "geometry, plan of the next measurement")
    with located(table):
        fit = identify(
            table.points, angles, moving=moving, pivots=pivots, joint=joint, robot=model, at=others,
            limits=_limits(limits), plan=plan, noise=noise, sense=way, axis=axis_of(axis, table),
        )  # fmt: skip
    notes = (
        *(model.notes if model else ()), *table.notes, *read_as, *unseen_notes(table, (moving, *pivots)), *fit.notes
    )  # fmt: skip
    return CompensatorResult(table, robot, fit, notes)


def _check(table: PointTable, moving: str, pivots: tuple[str, ...]) -> None:
    check_markers(table, (moving,), "--moving")
    check_markers(table, pivots, "--pivot")
    if moving in pivots:
        raise ConflictError.of("pivot", moving, "is also --moving; one marker cannot be on both links")
    if len(set(pivots)) < len(pivots):
        raise DuplicateError.of("pivot", pivots[-1], "a marker is named twice; name each once")
    check_known_angles(table, moving)
    check_same_poses(table, (moving, *pivots))


def _limits(text: str | None) -> tuple[float, float] | None:
    from math import radians

    from elastocal.app.configurations import numbers

    if text is None:
        return None
    low, high = numbers(text, 2, f"--limits {text!r}", "low, high in deg")
    if not low < high:
        raise RangeError.of("limits", text, "the lower limit must stand first")
    return radians(low), radians(high)


def _joint_angles(table: PointTable, moving: str, joint: str, model: Robot | None) -> tuple[Array, tuple[str, ...]]:
    """Joint values from the angle column: its own where it is named after no controller axis of the robot."""
    import numpy as np

    from elastocal.procedures.compensator.spring import joint_values

    angles, column = table.angles[moving], table.angle or ""
    if model is None:
        return angles, ()
    model.tree.joint(joint)  # whether there is one
    c = model.controller
    if column not in c.axes or joint not in model.joints:
        return angles, ()
    values = joint_values(model, joint, column, angles)
    if np.array_equal(values, angles, equal_nan=True):
        return angles, ()
    factor = c.matrix[model.joints.index(joint), c.axes.index(column)]
    return values, (f"{column} of the file is read as controller value: joint {joint} = {factor:g} ({column} - zero).",)


def _ahead(
    robot: str, count: int, noise_um: float, joint: str | None, markers: int, limits: str | None, sense: str | None
) -> AheadResult:
    import numpy as np

    from elastocal.files.robot.read import read_robot
    from elastocal.procedures.compensator.geometry import CompensatorGeometry
    from elastocal.procedures.compensator.marker_design import plan_arcs
    from elastocal.procedures.compensator.spring import joint_range

    noise, way = noise_of(noise_um), sense_from_word(sense)
    assert noise is not None
    model = read_robot(robot)
    spring = _spring(model, robot, joint)
    geometry = CompensatorGeometry.described(spring, way or 1)
    reach = joint_range(model, spring.joint, _limits(limits), geometry)
    plan = plan_arcs(geometry, count, reach, np.ones(markers or MARKERS), noise)
    notes = list(model.notes)
    if not markers:
        notes.append(f"{MARKERS} markers about P0 are assumed; name as many as there will be by --pivot.")
    if way is None:
        notes.append(
            "P1 is taken to run with the joint's angle; with --sense against the places and the accuracy of a_x and "
            "a_y are mirrored."
        )
    return AheadResult(robot, model, spring, plan, tuple(notes))


def _spring(model: Robot, robot: str, joint: str | None) -> GravityCompensator:
    from elastocal.model.loads.gravity_compensator import GravityCompensator

    springs = [e for e in model.elements if isinstance(e, GravityCompensator) and joint in (None, e.joint)]
    if len(springs) == 1:
        return springs[0]
    text = f" on joint {joint}" if joint else ""
    if springs:
        raise MissingError.of("robot", robot, "has several gravity compensators; name one by --joint")
    what = f"has no gravity_compensator{text} whose geometry could be planned for"
    raise MissingError.of("robot", robot, f"{what}; add the element with rough values, or give measured points")
