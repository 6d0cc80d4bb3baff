"""What a controller makes of the new program, and where a robot taken for true then goes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elastocal.errors import InputError

if TYPE_CHECKING:
    from elastocal.compensate.correction import Correction
    from elastocal.compensate.job import Job
    from elastocal.compensate.program import Changes, Program
    from elastocal.compensate.verification import Residual
    from elastocal.spatial.entries import Array


def as_written(work: Job, found: Correction, changes: Changes, again: Program) -> Array:
    """Joint values (S, n) that the controller makes of the new program, rounding of its digits included."""
    import numpy as np

    from elastocal.compensate.job import commands
    from elastocal.compensate.rewrite import read_back
    from elastocal.compensate.targets import TargetStatus

    at = work.at
    place, turn, axes = read_back(at, again, changes)
    good = found.status == TargetStatus.CORRECTED
    near = np.where(good[:, None], found.command, found.nominal)
    position, rotation = at.in_robot(place, turn)
    loose = np.array([k == "axis" for k in at.stations.kind]) & good
    rotation[loose] = found.rotation[loose]  # the program leaves the turn about the tool axis open
    rotation = np.where(np.isfinite(rotation), rotation, work.at.rotation)
    by_axes = at.stations.by_axes
    position[by_axes], rotation[by_axes] = at.position[by_axes], at.rotation[by_axes]
    out = commands(work, position, rotation, near)
    if by_axes.any():
        out[by_axes] = at.model.controller.to_joints(axes[by_axes])
    return out


def residuals_on_truth(
    word: str, work: Job, flange: str, nominal: Array, command: Array, by_teaching: bool
) -> tuple[Residual, Residual]:
    """Residuals of the old and the new program on the robot that is taken for true."""
    from elastocal.compensate.job import as_taught, command_residuals
    from elastocal.compensate.placed import with_tools
    from elastocal.files.robot.read import read_robot

    true = read_robot(word)
    if true.joints != work.at.model.joints:
        raise InputError(
            f"--truth {word}: has joints {', '.join(true.joints)}, the robot that is compensated "
            f"{', '.join(work.at.model.joints)}; give a truth of the same build"
        )
    model = with_tools(true, work.at.stations.program, flange)
    work = as_taught(model, work, nominal) if by_teaching else work
    return command_residuals(model, work, nominal), command_residuals(model, work, command)
