"""The commands about a whole cell: new, status."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from elastocal.app.cli import options as o


def new(
    cell: Annotated[Path, typer.Argument(metavar="CELL", help="The folder to make; it must be empty or not exist.")],
    robot: Annotated[
        str, typer.Option(metavar="ROBOT", help="A shipped name or a part of it, or a .yaml or .urdf file.")
    ],
    json: o.Json = False,
) -> None:
    """A folder for one robot in its cell, to keep in git.

    With the robot, a plan request, an example program where the robot has six revolute joints, and a README. All other
    commands take the folder in place of a robot, plan, campaign, calibration or program.

    \b
    Example:
      elastocal new mycell --robot kr270
    """
    from elastocal.app.cli.output import deliver, warn
    from elastocal.app.commands import new as command
    from elastocal.app.pages import new as pages

    result = command.run(cell, robot)
    page = pages.page(result)
    if json:
        warn(page.notes)
    deliver(page, json)


def status(
    cell: Annotated[Path, typer.Argument(metavar="CELL", help="The folder of a cell.")] = Path(),
    json: o.Json = False,
) -> None:
    """What in a cell is up to date, what is stale, what is next.

    Every result is compared with the SHA-256 of what it was made from. Ends with 1 if something is stale.

    \b
    Example:
      elastocal status mycell
    """
    from elastocal.app.cli.output import deliver, warn
    from elastocal.app.commands import status as command
    from elastocal.app.pages import status as pages

    result = command.run(cell)
    if json:
        warn(result.notes)
    deliver(pages.page(result), json)
    if result.stale:
        raise typer.Exit(1)
