"""The command from logged counts to the coupling of motors and joints: transmission."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from elastocal.app.cli import options as o


def transmission(
    tables: Annotated[
        list[Path],
        typer.Argument(metavar="TABLE.csv...", help="Columns A1_counts, A1_deg, A1_motor_deg, or one joint at a time."),
    ],
    robot: Annotated[
        str | None, typer.Option(metavar="ROBOT", help="The robot whose axes these are; --out then writes all of it.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE.yaml", help="Write the robot file, or its section controller.")
    ] = None,
    measured: Annotated[
        bool, typer.Option("--measured", help="Write measured ratios, not the simple ones that they support.")
    ] = False,
    offsets: Annotated[
        str, typer.Option(metavar="test|zero|free", help="Counts at joint value zero: zero unless a test forbids it.")
    ] = "test",
    counts_per_turn: Annotated[
        str | None, typer.Option(metavar="A1=N,...", help="Counts per motor turn that are known.")
    ] = None,
    wrap: Annotated[
        int | None, typer.Option(metavar="N", help="The counters start again after N counts; unwrap them.")
    ] = None,
    report: o.ReportFile = None,
    csv: o.CsvFile = None,
    json: o.Json = False,
) -> None:
    """Coupling of motors and joints from encoder counts.

    The structure matrix with the accuracy of every entry, gear ratios as fractions with the odds of a chance match,
    outliers. The robot file then takes counts and motor angles in place of joint values.

    \b
    Example:
      elastocal transmission single.csv wrist.csv --robot kuka-kr5 --out my-robot.yaml
    """
    from elastocal.app.cli.output import deliver, warn
    from elastocal.app.commands import transmission as command
    from elastocal.app.pages import transmission as pages
    from elastocal.files.robot.read import robot_file
    from elastocal.files.write import check_targets

    inputs = {f"TABLE.csv {t}": t for t in tables} | {"--robot": None if robot is None else robot_file(robot)}
    check_targets({"--out": out, "--report": report, "--csv": csv}, inputs)
    request = command.TransmissionRequest(tuple(tables), robot, wrap, offsets, counts_per_turn, measured, out)
    result = command.run(request)
    if json:
        warn(result.notes)
    more = {} if out is None else {out: result.text}
    deliver(pages.page(result), json, report, (csv, pages.entry_table(result.fit)), more=more)
