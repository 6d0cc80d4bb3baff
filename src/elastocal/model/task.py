"""Which components of a pose a robot is asked to reach, and which of them its joints move at all."""

from __future__ import annotations

from typing import Literal

import numpy as np

from elastocal.errors import InfeasibleError
from elastocal.model.chain import AXES
from elastocal.model.kinematics import rigid_motion
from elastocal.model.limits import spread_configurations
from elastocal.model.robot import Robot
from elastocal.spatial.entries import Array
from elastocal.values import dataclass

Aim = Literal["pose", "position"]
_STILL = 1e-9
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


def task(model: Robot, frame: str, aim: Aim | None = None) -> Task:
    """The task of a robot: what its joints can move at all, and not more than it has joints.

    ``aim`` None: the pose where the joints suffice, else the position.
    """
    pose = moved_rows(model.nominal, frame)
    place = tuple(i for i in pose if i < 3)
    if len(pose) <= model.n:
        return Task(aim or "pose", pose)
    words = ", ".join(AXES[i] for i in pose)
    if aim == "pose":
        raise InfeasibleError(
            f"robot {model.name} moves {words} of {frame} with {model.n} joints and cannot reach all of them at once; "
            "correct the position only",
            value=(model.name, frame, model.n),
        )
    if len(place) > model.n:
        raise InfeasibleError(
            f"robot {model.name} has {model.n} joints for the {len(place)} components of a position that it moves; "
            "its path cannot be corrected"
        )
    return Task("position", place)


def moved_rows(model: Robot, frame: str) -> tuple[int, ...]:
    """The components of x y z rx ry rz that some joint moves somewhere."""
    moved = np.abs(_motions(model, frame)).max(axis=(1, 2), initial=0.0) > _STILL * model.size
    return tuple(int(i) for i in np.flatnonzero(moved))


def unmoved_directions(model: Robot, frame: str) -> Array:
    """Unit vectors (3, d) along which no joint moves the frame, wherever it is: one for an arm in any plane."""
    axes, sizes, _ = np.linalg.svd(_motions(model, frame)[:3].reshape(3, -1))
    moved = int(np.sum(sizes > _STILL * np.max(sizes, initial=0.0)))
    return np.asarray(axes[:, moved:])


def _motions(model: Robot, frame: str) -> Array:
    """Jacobian (6, n, M) at configurations all over the joint ranges."""
    return rigid_motion(model, frame, spread_configurations(model, _PLACES).T)[2]
