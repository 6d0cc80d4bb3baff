"""The command from force-deflection loops to compliance and backlash."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from elastocal.app.cli import options as o


def loops(
    data: Annotated[
        Path,
        typer.Argument(
            metavar="DATA.csv",
            help="Readings in order: force_N,displacement_um[,direction_deg][,cycle][,joint,lever_mm].",
        ),
    ],
    lever: Annotated[
        list[str] | None,
        typer.Option(metavar="JOINT=MM", help="Lever arm of a joint, from its axis to force and gauge; repeatable."),
    ] = None,
    at_gripper: Annotated[
        bool, typer.Option("--at-gripper", help="Joints were read at the gripper: take its own values off theirs.")
    ] = False,
    frame: Annotated[str, typer.Option(metavar="FRAME", help="The gripper's frame in the robot file.")] = "gripper",
    noise_um: Annotated[
        float | None, typer.Option(metavar="UM", help="Standard deviation of a reading (default: from the residuals).")
    ] = None,
    threshold: Annotated[
        float, typer.Option(metavar="N", help="Forces and changes of force up to this are not told from zero.")
    ] = 0.0,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE.yaml", help="Write the elements for the robot file.")
    ] = None,
    report: o.ReportFile = None,
    csv: o.CsvFile = None,
    json: o.Json = False,
) -> None:
    """Compliance, backlash, hysteresis from dial-gauge loops.

    Each direction by itself, all directions together as one number or a matrix with polar maps, joints by their lever
    arms, and the elements for the robot file.

    \b
    Example:
      elastocal loops loops.csv --lever J1=660 --lever J2=330 --report loops.html
    """
    from elastocal.app.cli.output import deliver, warn
    from elastocal.app.commands import loops as command
    from elastocal.app.pages import loops as pages
    from elastocal.errors import InputError
    from elastocal.files.write import check_targets

    check_targets({"--out": out, "--report": report, "--csv": csv}, {"DATA.csv": data})
    result = command.run(command.LoopsRequest(data, tuple(lever or ()), at_gripper, frame, noise_um, threshold))
    if out is not None and not result.yaml:
        raise InputError(f"--out {out}: these loops give no element; add direction_deg or a joint with its lever")
    if json:
        warn(result.notes)
    more = {} if out is None else {out: result.yaml}
    deliver(pages.page(result), json, report, (csv, pages.loop_table(result.loops)), pages.on_screen(result), more=more)
