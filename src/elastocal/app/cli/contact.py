"""The commands about contact: kinetostatics."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from elastocal.app.cli import options as o


def kinetostatics(
    robot: o.Robot,
    at: Annotated[str | None, typer.Option(metavar="VALUES", help="Controller values, degrees or mm.")] = None,
    torque: Annotated[
        str | None,
        typer.Option(metavar="VALUES", help="Torques of the same axes in N m (forces in N), as the drives give."),
    ] = None,
    position: Annotated[
        str | None, typer.Option(metavar="X,Y,Z", help="Where the loaded frame shall be, in mm.")
    ] = None,
    rpy: Annotated[
        str | None, typer.Option(metavar="R,P,Y", help="Roll, pitch, yaw of the loaded frame in degrees.")
    ] = None,
    force: o.Force = None,
    near: Annotated[
        str | None,
        typer.Option(metavar="VALUES", help="Controller values to start from (default: many, over the joint ranges)."),
    ] = None,
    table: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.csv", help="Many states: J1_deg,..,torque_J1_Nm,.. or x_mm,y_mm,z_mm,fx_N,fy_N,fz_N."
        ),
    ] = None,
    frame: Annotated[
        str | None, typer.Option(metavar="FRAME", help="Where the force acts (default: the tool).")
    ] = None,
    tool: o.Tool = None,
    ignore_limits: o.IgnoreLimits = False,
    report: o.ReportFile = None,
    csv: o.CsvFile = None,
    json: o.Json = False,
) -> None:
    """Drive torques to pose and force, and back.

    With joint values and torques: where the loaded frame is and what force acts on it. With position and force: the
    joint values that bring the loaded frame there, and the torques that hold it.

    \b
    Example:
      elastocal kinetostatics scara-ruggeri --position "200,350,0" --force "-30,10,0"
    """
    from elastocal.app.cli.output import deliver, warn
    from elastocal.app.commands import kinetostatics as command
    from elastocal.app.pages import kinetostatics as pages
    from elastocal.files.robot.read import robot_file
    from elastocal.files.write import check_targets

    check_targets({"--report": report, "--csv": csv}, {"ROBOT": robot_file(robot), "--table": table})
    request = command.KinetostaticsRequest(
        robot, table, at, torque, position, rpy, force, near, frame, tool, ignore_limits
    )
    result = command.run(request)
    if json:
        warn(result.notes)
    deliver(pages.page(result), json, report, (csv, pages.state_table(result)))
