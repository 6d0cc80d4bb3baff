"""Droop: from the commanded pose of the rigid robot to the equilibrium under everything that pushes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from elastocal.model.loads.wrench import AppliedWrenches
    from elastocal.model.robot import Robot
    from elastocal.model.statics.deflection import FrameDeflection
    from elastocal.spatial.entries import Array


def sag_deflection(
    model: Robot,
    q: Array,
    applied: Sequence[AppliedWrenches],
    frame: str,
    progress: Callable[[int, int], None] | None = None,
) -> FrameDeflection:
    """nan where there is no equilibrium, with its status."""
    import numpy as np

    from elastocal.model.kinematics import kinematics
    from elastocal.model.statics.deflection import FrameDeflection, frame_pose
    from elastocal.model.statics.equilibrium import Status, equilibrium
    from elastocal.spatial.rotation import rotation_vector

    rigid = kinematics(model, q, frame)
    bent = equilibrium(model, q, applied, progress=progress)
    place, turned = frame_pose(model, q, bent, frame)
    turn = rotation_vector(np.einsum("ijn,nkj->ikn", turned, rigid.rotation)).T
    shift = place.T - rigid.position
    lost = bent.status != Status.CONVERGED
    shift[lost] = turn[lost] = np.nan
    return FrameDeflection(frame, shift, turn, bent.status, bent.load_factor)
