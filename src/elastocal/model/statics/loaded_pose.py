"""One pose of a robot under a load on its tool: how it bends, how soft it is there, what its drives must hold."""

from __future__ import annotations

import numpy as np

from elastocal.model.limits import ready
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.robot import Robot
from elastocal.model.skeleton import Skeleton, loaded_skeletons, skeleton
from elastocal.model.statics.deflection import FrameDeflection, deflection
from elastocal.model.statics.holding import holding_torque
from elastocal.model.statics.stiffness import softest, stiffness
from elastocal.spatial.entries import Array
from elastocal.values import dataclass


@dataclass(frozen=True, eq=False)
class LoadedPose:
    """``rigid``, ``rest`` and ``bent`` are the arm without any load, under its own weight, and under ``load`` too.

    ``give`` (3,) in m/N and its ``directions`` (3, 3), in columns, are the axes of the compliance of the tool, nan
    where there is none; ``torques`` (n,) are of the controller's axes, without the own weight where ``weightless``.
    """

    model: Robot
    q: Array
    load: AppliedWrenches
    rigid: Skeleton
    rest: Skeleton
    bent: Skeleton
    moved: FrameDeflection
    give: Array
    directions: Array
    torques: Array
    weightless: bool


def loaded_pose(model: Robot, q: Array, wrench: Array) -> LoadedPose:
    """At joint values (n,) under a wrench (6,) on the tool, base axes."""
    at, load = q[None], AppliedWrenches(model.tool, np.asarray(wrench, dtype=np.float64)[None])
    rest, bent = loaded_skeletons(model, at, (load,))
    sizes, directions = stiffness(model, at).principal()
    torques = model.controller.torques_to_controller(holding_torque(model, at, (load,)))[0]
    weightless = not holding_torque(model, at).any()
    moved = deflection(model, at, (load,))
    return LoadedPose(
        model, q, load, skeleton(model, at), rest, bent, moved, sizes[0], directions[0], torques, weightless
    )


VISIBLE = 1e-3
"""A deflection in m that can be seen."""
USUAL, LARGEST = 1e3, 1e5
"""The force in N of a picture of a robot that does not bend, and the largest."""


def visible_force(stiff: float, most: float, bend: float = VISIBLE) -> float:
    """A force in N, of one digit, that bends what is ``stiff`` (N/m) by ``bend`` (m), not above ``most``."""
    return float(f"{min(bend * stiff, most):.1g}")


def pictured_force(model: Robot) -> float:
    """A force that bends the robot visibly in its softest direction where it is looked at."""
    stiff = float(softest(stiffness(model, ready(model)[None]))[0])
    return visible_force(stiff, LARGEST) if np.isfinite(stiff) else USUAL
