"""Which components of a pose a robot is asked to reach."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from elastocal.compensate.nominal_motion import nominal_motion
from elastocal.errors import InputError
from elastocal.model.chain import AXES
from elastocal.model.configurations import spread_configurations
from elastocal.model.robot import RobotModel

Aim = Literal["pose", "position"]
_STILL = 1e-12
_PLACES = 20


@dataclass(frozen=True)
class Task:
    """``rows``: components of x y z rx ry rz (base axes) that are solved for; ``aim``: whether the loaded pose counts.

    With aim ``position`` the loaded tool has the desired position, and the COMMANDED orientation stays the desired one
    (as far as the robot has any to spare): what a program gets whose positions alone are corrected.
    """

    aim: Aim
    rows: tuple[int, ...]

    @property
    def left_out(self) -> tuple[str, ...]:
        """Components that the robot is not asked to reach."""
        return tuple(a for i, a in enumerate(AXES) if i not in self.rows)


def task(model: RobotModel, frame: str, aim: Aim | None = None) -> Task:
    """The task of a robot: what its joints can move at all, and not more than it has joints.

    ``aim`` None: the pose where the joints suffice, else the position.
    """
    jacobian = nominal_motion(model, frame, spread_configurations(model, _PLACES).T)[2]
    moved = np.abs(jacobian).max(axis=(1, 2)) > _STILL * model.size
    pose = tuple(int(i) for i in np.flatnonzero(moved))
    place = tuple(i for i in pose if i < 3)
    if len(pose) <= model.n:
        return Task(aim or "pose", pose)
    words = ", ".join(AXES[i] for i in pose)
    if aim == "pose":
        raise InputError(
            f"robot {model.name} moves {words} of {frame} with {model.n} joints and cannot reach all of them at once; "
            "correct the position only"
        )
    if len(place) > model.n:
        raise InputError(
            f"robot {model.name} has {model.n} joints for the {len(place)} components of a position that it moves; "
            "its path cannot be corrected"
        )
    return Task("position", place)
