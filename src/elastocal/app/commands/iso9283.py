"""Accuracy and repeatability from measured validation data, in the style of ISO 9283."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from elastocal.app.cells.roles import REPORT, Uses
from elastocal.app.cli.command import command
from elastocal.errors import InputError

if TYPE_CHECKING:
    from elastocal.compensation.iso9283 import DistanceFigures, PathFigures, PoseFigures
    from elastocal.files.tables.validation import Visits

STANDARD_CYCLES = 30


@dataclass(frozen=True, eq=False)
class Iso9283Result:
    """``distances`` between neighbours in the file; ``variation`` in m of poses approached from several sides."""

    file: str
    visits: tuple[Visits, ...]
    poses: tuple[PoseFigures, ...]
    distances: tuple[tuple[str, str, DistanceFigures], ...]
    variation: tuple[tuple[str, int, float], ...]
    path: PathFigures | None
    notes: tuple[str, ...]


@command("daily", 11, Uses({"measured": "validation"}, (REPORT,)), csv=True)
def iso9283(
    measured: Annotated[
        Path, typer.Argument(metavar="MEASURED.csv", help="pose,command_x_mm,...,x_mm,...; a row per visit.")
    ],
    path: Annotated[bool, typer.Option("--path", help="The poses are points of one path: also AT and RT.")] = False,
) -> Iso9283Result:
    """Accuracy and repeatability from measured poses.

    In the style of ISO 9283 (AP, RP, AD, RD, vAP, AT, RT), from validation data; no statement of conformity.

    \b
    Example:
      elastocal iso9283 validation.csv --path
    """
    from elastocal.compensation.iso9283 import iso9283 as figures
    from elastocal.files.tables.validation import read_visits

    visits, said = read_visits(measured)
    even = len({len(v.reached) for v in visits}) == 1
    if path and not even:
        raise InputError(f"{measured}: the points of a path must all be measured in every cycle; complete the table")
    found = figures(
        [v.command for v in visits], [v.reached for v in visits], desired=[v.told for v in visits],
        turned=[v.turned for v in visits], path=path,
    )  # fmt: skip
    poses = found.poses
    distances = tuple((visits[a].name, visits[b].name, d) for a, b, d in found.distances)
    notes = [*said, "Figures in the style of ISO 9283:1998; not a statement of conformity."]
    fewest = min(p.cycles for p in poses)
    if fewest < STANDARD_CYCLES:
        notes.append(f"The standard asks for {STANDARD_CYCLES} cycles; here a pose has {fewest}.")
    if not even:
        notes.append("Distances are given where both poses were measured equally often.")
    return Iso9283Result(measured.as_posix(), visits, poses, distances, _variation(visits), found.path, tuple(notes))


def _variation(visits: tuple[Visits, ...]) -> tuple[tuple[str, int, float], ...]:
    """Spread of the mean places by direction of approach; every direction equally often."""
    import numpy as np

    from elastocal.compensation.iso9283 import direction_variation

    out = []
    for v in visits:
        sides = dict.fromkeys(v.directions)
        rows = [[i for i, d in enumerate(v.directions) if d == side] for side in sides]
        if len(sides) > 1:
            if len({len(r) for r in rows}) > 1:
                raise InputError(
                    f"pose {v.name}: its directions were measured {[len(r) for r in rows]} times; equal them"
                )
            out.append((v.name, len(sides), direction_variation(np.stack([v.reached[r] for r in rows]))))
    return tuple(out)
