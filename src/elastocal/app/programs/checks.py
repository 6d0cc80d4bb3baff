"""What must hold before a program is corrected, and what the numbers rest on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elastocal.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

    from elastocal.compensate.job import Job
    from elastocal.compensate.program import Program
    from elastocal.compensate.verification import Residual
    from elastocal.model.robot import RobotModel
    from elastocal.spatial.entries import Array

SOFT = 0.1
"""Share of its own size by which no arm may bend."""


def check_usable(program: Program, path: Path) -> None:
    missing = program.missing_frames()
    if missing:
        what, name = missing[0].split(" (")[0].split(" ", 1)
        raise InputError(
            f"{path}: the pose of {missing[0]} is stated nowhere; give it with "
            f'--{what} "{name}=X,Y,Z,A,B,C" (mm, deg) or use the data file of the program'
        )
    if not program.targets:
        first = next(iter(program.skipped), None)
        why = f"the first line left alone: {first.line}, {first.reason}" if first else "no motion was found in it"
        raise InputError(f"{path}: has no target that can be corrected; {why}; check file and language")


def near_configuration(model: RobotModel, text: str | None) -> Array | None:
    import numpy as np

    from elastocal.app.configurations import typed, within_limits

    if text is None:
        return None
    return np.asarray(within_limits(model, typed(model, (text,), "--near"), False).q[0])


def bearable(work: Job, before: Residual) -> None:
    """Refuse loads that no arm is meant for: slips of units."""
    import numpy as np

    from elastocal.model.limits import extent

    size = extent(work.at.model)
    bend = np.nan_to_num(np.linalg.norm(before.position, axis=1))
    worst = int(np.argmax(bend))
    if bend[worst] > SOFT * size:
        raise InputError(
            f"{work.at.stations.name(worst)}: under this load the tool would be off by {bend[worst]:.3g} m on a "
            f"robot of {size:.3g} m; check the unit of the load (N, N m, kg)"
        )


def assumed(work: Job, flange: str) -> tuple[str, ...]:
    """What the numbers rest on beyond the files."""
    program = work.at.stations.program
    out = [f"Tools are taken in the axes of frame {flange}, bases in those of the robot's base frame."]
    moved = [t for t in program.targets if any(abs(v) < 9e8 and v for v in t.external)]
    if moved:
        out.append(f"{moved[0].where}: external axes are not part of the model; their values are kept.")
    if any(k == "axis" for k in work.at.stations.kind):
        out.append("The program leaves the turn about the tool axis open; it is taken as one of many.")
    if any(k == "point" for k in work.at.stations.kind):
        out.append("The program gives points: their positions are corrected, the orientation stays as it is.")
    return tuple(out)
