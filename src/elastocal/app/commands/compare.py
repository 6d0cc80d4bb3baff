"""Calibrations of one robot, or campaigns: what has changed, and whether more than by chance."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from elastocal.app.cli import options as o
from elastocal.app.cli.command import command
from elastocal.errors import InputError, UnsupportedError
from elastocal.values import dataclass

if TYPE_CHECKING:
    from elastocal.calibration.comparison import Comparison
    from elastocal.calibration.drift import Drift
    from elastocal.model.robot import Robot


@dataclass(frozen=True, eq=False)
class CompareResult:
    """``comparison`` is a comparison of calibrations, or one drift for every campaign after the first."""

    paths: tuple[Path, ...]
    robot: Robot
    comparison: Comparison | tuple[Drift, ...]
    notes: tuple[str, ...] = ()


@command("daily", 13, csv=True)
def compare(
    items: Annotated[
        list[Path], typer.Argument(metavar="A.json B.json ...", help="Calibrations, or campaign files (.yaml).")
    ],
    map: Annotated[
        str | None,
        typer.Option(metavar="PLACES", help='Places of the workpiece in mm, "x:1600:2100:15,y:-150:150:11,z:800".'),
    ] = None,
    at: o.At = None,
    object: o.WorkObject = None,
) -> CompareResult:
    """What has changed between calibrations or campaigns, against the first one.

    Calibrations: parameters with the significance of their change, the change of the tool over the workpiece, and the
    conditions. Campaigns: readings in the same poses and loads, before and after a repair or over time.

    \b
    Example:
      elastocal compare january.json november.json --report compared.html
    """
    from elastocal.app.cli.progress import stage
    from elastocal.app.configurations import typed_places
    from elastocal.calibration.comparison import compare as compared
    from elastocal.calibration.readings import read_campaign
    from elastocal.calibration.store import read_calibration

    if len(items) < 2:
        raise InputError(f"{items[0]}: one file or folder alone is nothing to compare; give at least two", code="few")
    tables = {p.suffix.lower() in (".yaml", ".yml") for p in items}
    if len(tables) > 1:
        raise InputError("calibrations (.json) and campaigns (.yaml) do not compare; give one kind", code="kinds")
    names = _names(items)
    stage(0, 2, "reading")
    if tables == {True}:
        if map is not None or at:
            raise UnsupportedError(
                "--map and --at are of calibrations; campaigns are compared where they were measured"
            )
        read = [read_campaign(p) for p in items]
        stage(1, 2, "common poses and loads")
        return CompareResult(
            tuple(items),
            read[0][0],
            compared(*(data.written_in(robot, "m", "rad") for robot, data in read), names=names),
        )
    calibrations = [read_calibration(p) for p in items]
    robot = calibrations[0].robot
    plane, near = (None, None) if map is None and not at else typed_places(robot, map, tuple(at or ()), object)
    stage(1, 2, "parameters, tool over the workpiece")
    return CompareResult(tuple(items), robot, compared(*calibrations, names=names, places=plane, near=near))


def _names(items: list[Path]) -> tuple[str, ...]:
    """File names, with their folders where these alone differ."""
    short = [p.stem for p in items]
    return tuple(short if len(set(short)) == len(short) else [p.as_posix() for p in items])
