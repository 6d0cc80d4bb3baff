"""The commands from tracked points to a gravity compensator: arcs, compensator."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from elastocal.app.cli import options as o

Points = Annotated[
    Path,
    typer.Argument(
        metavar="POINTS.csv",
        help="Tracked points: x_mm,y_mm[,z_mm][,marker][,pose][,q_deg]; or a .yaml that names a table.",
    ),
]
Noise = Annotated[
    float | None, typer.Option(metavar="UM", help="Standard deviation of a coordinate (default: from the residuals).")
]
Sense = Annotated[
    str | None, typer.Option(metavar="with|against", help="How the points run with growing angle (default: found).")
]
Axis = Annotated[
    str | None, typer.Option(metavar="X,Y,Z", help="In space: rough direction of the axis that the sense refers to.")
]


def arcs(
    points: Points,
    known: Annotated[
        list[str] | None, typer.Option(metavar="MARKER", help="A marker that turns by the angle column; repeatable.")
    ] = None,
    noise_um: Noise = None,
    sense: Sense = None,
    axis: Axis = None,
    report: o.ReportFile = None,
    csv: o.CsvFile = None,
    json: o.Json = False,
) -> None:
    """Centre, axis and radius of tracked points, with accuracy.

    Markers whose joint angles are known are fitted with them, all others as arcs about one common axis. Points that
    the others contradict are named.

    \b
    Example:
      elastocal arcs points.csv --known P1 --noise-um 20
    """
    from elastocal.app.cli.output import deliver, warn
    from elastocal.app.commands import arcs as command
    from elastocal.app.pages.arcs import page as pages
    from elastocal.app.pages.arcs.points import point_table
    from elastocal.files.write import check_targets

    check_targets({"--report": report, "--csv": csv}, {"POINTS.csv": points})
    result = command.run(command.ArcsRequest(points, tuple(known or ()), noise_um, sense, axis))
    if json:
        warn(result.notes)
    deliver(pages.page(result), json, report, (csv, point_table(result)))


def compensator(
    points: Annotated[
        Path | None,
        typer.Argument(metavar="[POINTS.csv]", help="Tracked points as for arcs; none to plan from the robot file."),
    ] = None,
    moving: Annotated[
        str | None, typer.Option(metavar="MARKER", help="The spring's end on the moving link (P1).")
    ] = None,
    pivot: Annotated[
        list[str] | None, typer.Option(metavar="MARKER", help="A marker on the body that turns about P0; repeatable.")
    ] = None,
    joint: Annotated[str | None, typer.Option(metavar="JOINT", help="The joint that the angle column is of.")] = None,
    robot: Annotated[
        str | None, typer.Option(metavar="ROBOT", help="Also its statics: stiffness of the joint, balancing spring.")
    ] = None,
    at: Annotated[
        str | None, typer.Option(metavar="VALUES", help="Controller values of the other axes (default: all zero).")
    ] = None,
    plan: Annotated[
        int | None, typer.Option(metavar="N", help="Also plan the best N angles and marker places.")
    ] = None,
    limits: Annotated[
        str | None, typer.Option(metavar="LOW,HIGH", help="Range of the joint in deg (default: robot's, or measured).")
    ] = None,
    noise_um: Noise = None,
    sense: Sense = None,
    axis: Axis = None,
    report: o.ReportFile = None,
    csv: o.CsvFile = None,
    json: o.Json = False,
) -> None:
    """Geometry of a gravity compensator from tracked points.

    The spring's ends, their accuracy, the text for the robot file; with a robot what the spring does to its joint and
    which spring would balance the arm; with --plan where to measure next time. Without points, the accuracy to expect
    of the best plan for the robot's own compensator.

    \b
    Example:
      elastocal compensator points.csv --moving P1 --pivot P01 --pivot P02 --joint A2 --robot kuka-kr270
      elastocal compensator --robot kuka-kr270 --plan 6 --noise-um 15
    """
    from elastocal.app.cli.output import deliver, warn
    from elastocal.app.commands import compensator as command
    from elastocal.app.commands import compensator_ahead as command_ahead
    from elastocal.app.pages.compensator import ahead as pages_ahead
    from elastocal.app.pages.compensator import page as pages
    from elastocal.app.pages.compensator.plan import plan_table
    from elastocal.errors import InputError
    from elastocal.files.robot.read import robot_file
    from elastocal.files.write import check_targets

    inputs = {"POINTS.csv": points, "--robot": None if robot is None else robot_file(robot)}
    check_targets({"--report": report, "--csv": csv}, inputs)
    pivots = tuple(pivot or ())
    if points is None:
        if moving is not None or at is not None or axis is not None:
            raise InputError("without points there is nothing for --moving, --at or --axis; give POINTS.csv")
        if robot is None or plan is None or noise_um is None:
            raise InputError("without points a plan needs --robot, --plan N and --noise-um; else give POINTS.csv")
        ahead = command_ahead.run(command_ahead.AheadRequest(robot, plan, noise_um, joint, pivots, limits, sense))
        if json:
            warn(ahead.notes)
        deliver(pages_ahead.page(ahead), json, report, (csv, plan_table(ahead.plan)))
        return
    if moving is None or not pivots or joint is None:
        raise InputError("points need their names: add --moving MARKER, --pivot MARKER and --joint JOINT")
    request = command.CompensatorRequest(points, moving, pivots, joint, robot, at, plan, limits, noise_um, sense, axis)
    result = command.run(request)
    if json:
        warn(result.notes)
    deliver(pages.page(result), json, report, (csv, pages.geometry_table(result)))
