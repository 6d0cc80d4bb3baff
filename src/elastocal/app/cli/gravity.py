"""The command from a controller's log to the weight of the arm: gravity."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from elastocal.app.cli import options as o


def gravity(
    log: Annotated[
        Path, typer.Argument(metavar="LOG", help="Joint values and torques: CSV, RSI telegrams or RTDE record.")
    ],
    robot: o.Robot,
    torques: Annotated[
        str, typer.Option(metavar="auto|drive|load", help="Whose torque was logged; auto asks the robot's masses.")
    ] = "auto",
    friction: Annotated[
        str | None,
        typer.Option(
            metavar="TERMS", help="coulomb,viscous,zero or none (default: the first two if the log has time)."
        ),
    ] = None,
    prior: Annotated[
        float, typer.Option(metavar="SHARE", help="How well the robot file knows its masses, as a share of each.")
    ] = 0.3,
    centre_mm: Annotated[float, typer.Option(metavar="MM", help="How well the robot file knows their centres.")] = 30.0,
    no_prior: Annotated[
        bool, typer.Option("--no-prior", help="Use the log alone; what it does not tell is fixed.")
    ] = False,
    hold_out: Annotated[
        float, typer.Option(metavar="SHARE", help="Last part of the log to judge a fit of the rest by; 0 for none.")
    ] = 0.3,
    mounting: Annotated[
        str, typer.Option(metavar="file|find", help="Which way is down: as the robot file says, or found first.")
    ] = "file",
    payload_log: Annotated[
        Path | None, typer.Option(metavar="LOG2", help="A second log, with a payload that is sought.")
    ] = None,
    payload_frame: o.PayloadFrame = None,
    at: o.At = None,
    tool: o.Tool = None,
    ignore_limits: o.IgnoreLimits = False,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE.yaml", help="Write the robot file with these masses.")
    ] = None,
    report: o.ReportFile = None,
    json: o.Json = False,
) -> None:
    """Masses, friction, holding torque from a controller's log.

    Mass moments of all links at once with their accuracy and what is not separately identifiable, friction, the torque
    to hold the arm anywhere, validated by the last part of the log.

    \b
    Example:
      elastocal gravity sweeps.csv kuka-kr5 --at "90,-45,30,0,0,0" --report gravity.html
    """
    from elastocal.app.cli.output import deliver, warn
    from elastocal.app.commands import gravity as command
    from elastocal.app.pages import gravity as pages
    from elastocal.files.robot.read import robot_file
    from elastocal.files.write import check_targets

    inputs = {"LOG": log, "ROBOT": robot_file(robot), "--payload-log": payload_log}
    check_targets({"--out": out, "--report": report}, inputs)
    result = command.run(
        command.GravityRequest(
            log, robot, tool, prior, centre_mm, no_prior, torques, friction, hold_out, payload_log, payload_frame,
            mounting, tuple(at or ()), ignore_limits, out,
        )
    )  # fmt: skip
    if json:
        warn(result.notes)
    more = {} if out is None else {out: result.text}
    deliver(pages.page(result), json, report, on_screen=pages.screen(result), more=more)
