"""The command that judges a plan: assess."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from elastocal.app.cli import options as o


def assess(
    robot: Annotated[
        str, typer.Argument(metavar="ROBOT", help="A robot as elsewhere, or a campaign file without readings.")
    ],
    plan: Annotated[
        Path | None, typer.Argument(metavar="[PLAN.csv]", help="Configurations and loads: A1_deg,...[,fx_N,...,mz_Nm].")
    ] = None,
    marker: Annotated[
        list[str] | None, typer.Option(metavar="FRAME", help="What is measured; repeatable (default: the tool).")
    ] = None,
    pose: Annotated[bool, typer.Option("--pose", help="Orientations are measured too.")] = False,
    noise_mm: Annotated[float, typer.Option(metavar="MM", help="Standard deviation of a reading, per axis.")] = 0.03,
    noise_mrad: Annotated[float | None, typer.Option(metavar="MRAD", help="The same for orientations.")] = None,
    repeats: Annotated[int, typer.Option(metavar="N", help="Readings averaged, loaded and unloaded.")] = 1,
    force: o.Force = None,
    moment: o.Moment = None,
    load_frame: o.LoadFrame = None,
    parameters: Annotated[
        list[str] | None, typer.Option(metavar="PATTERN", help='Parameters to seek, such as "A*.k"; repeatable.')
    ] = None,
    form: Annotated[
        str | None, typer.Option(metavar="FORM", help="Describe all 6x6 springs as full, symmetric or beam.")
    ] = None,
    thresholds: Annotated[
        tuple[float, float], typer.Option(metavar="ABOVE BELOW", help="Ratios that part G1+, G1~ and G1-.")
    ] = (5.0, 2.0),
    without: o.Without = None,
    ignore_limits: o.IgnoreLimits = False,
    tool: o.Tool = None,
    report: o.ReportFile = None,
    csv: o.CsvFile = None,
    json: o.Json = False,
) -> None:
    """What a measurement plan can tell, before it is measured.

    Which parameters it can tell apart and how well. A robot and a table: compliances from deflections, with the
    instrument's noise alone. A campaign file: any parameters, with all its sources of error; its options stand in it.

    \b
    Example:
      elastocal assess kuka-kr270 plan.csv --force "0,0,-2500" --marker marker1
      elastocal assess plan.yaml
    """
    from elastocal.app.applied_load import LoadRequest
    from elastocal.app.cli.output import deliver, warn
    from elastocal.app.commands import assess as command
    from elastocal.app.pages import assess as pages
    from elastocal.files.robot.read import robot_file
    from elastocal.files.write import check_targets

    targets = {"--report": report, "--csv": csv}
    check_targets(targets, {"ROBOT": robot_file(robot), "PLAN.csv": plan})
    load = LoadRequest(force, moment, load_frame)
    request = command.AssessRequest(
        robot, plan, tuple(marker or ()), pose, noise_mm, noise_mrad, repeats, load, tuple(parameters or ()), form,
        thresholds, tuple(without or ()), ignore_limits, tool, targets,
    )  # fmt: skip
    result = command.run(request)
    if json:
        warn(result.notes)
    deliver(pages.page(result), json, report, (csv, pages.parameter_table(result)))
