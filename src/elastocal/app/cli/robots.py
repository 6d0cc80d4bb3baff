"""The commands on robot files: robots, show, convert, urdf."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from elastocal.app.cli import options as o


def robots(json: o.Json = False) -> None:
    """List the robots that come with the package.

    \b
    Example:
      elastocal robots
    """
    from elastocal.app.cli.output import deliver
    from elastocal.app.commands import robots as command
    from elastocal.app.pages import robots as pages

    deliver(pages.page(command.run()), json)


def show(
    robot: o.Robot,
    parameters: Annotated[
        list[str] | None, typer.Option(metavar="PATTERN", help='Only these parameters, such as "A*.k".')
    ] = None,
    at: o.At = None,
    tool: o.Tool = None,
    json: o.Json = False,
) -> None:
    """Everything a robot file says: frames, joints, effects.

    Frames, joints, controller map, effects and parameters; with --at also where the frames stand.

    \b
    Example:
      elastocal show kuka-kr270 --parameters "A*.k"
    """
    from elastocal.app.cli.output import deliver, warn
    from elastocal.app.commands import show as command
    from elastocal.app.pages import show as pages

    result = command.run(command.ShowRequest(robot, tuple(parameters or ()), tool, tuple(at or ())))
    if json:
        warn(result.notes)
    deliver(pages.page(result), json)


def convert(
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="A .urdf or .yaml file, or a shipped name.")],
    target: Annotated[Path, typer.Argument(metavar="TARGET.yaml", help="The robot file to write; it must not exist.")],
    tool: o.Tool = None,
    json: o.Json = False,
) -> None:
    """Write any robot as a complete robot file.

    It is the start for a file of one's own, to be filled in and changed by hand.

    \b
    Example:
      elastocal convert arm.urdf arm.yaml
    """
    from elastocal.app.cli.output import deliver
    from elastocal.app.commands import convert as command
    from elastocal.app.pages import convert as pages

    deliver(pages.page(command.run(source, target, tool)), json)


def urdf(
    source: Annotated[Path, typer.Argument(metavar="SOURCE.urdf", help="The URDF to correct; it is not changed.")],
    target: Annotated[Path, typer.Argument(metavar="TARGET.urdf", help="The corrected URDF.")],
    shift: Annotated[
        list[str],
        typer.Option(
            metavar="JOINT:AXIS=VALUE,...",
            help="Move a joint's origin in its own axes: x y z (m, mm, um), rx ry rz (rad, mrad, deg); repeatable.",
        ),
    ],
    json: o.Json = False,
) -> None:
    """Put geometric corrections into the joints of a URDF.

    Only the numbers of <origin> change; comments and foreign tags stay as they are.

    \b
    Example:
      elastocal urdf arm.urdf corrected.urdf --shift "joint_3:x=0.4mm,rz=-0.02deg"
    """
    from elastocal.app.cli.output import deliver
    from elastocal.app.commands import urdf as command
    from elastocal.app.pages import urdf as pages
    from elastocal.files.write import check_targets

    check_targets({"TARGET.urdf": target}, {"SOURCE.urdf": source})
    changes = command.run(source, target, tuple(shift))
    deliver(pages.page(changes, str(target)), json)
