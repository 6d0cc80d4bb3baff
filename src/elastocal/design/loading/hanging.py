"""A weight that hangs on the robot: it pulls down, and it needs room above the floor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from elastocal.design.loading.loading import Loading, LoadOption
from elastocal.design.poses import Poses
from elastocal.errors import InputError
from elastocal.model.elements import quantity
from elastocal.model.robot import RobotModel
from elastocal.spatial.entries import Array, Bools


@dataclass(frozen=True, kw_only=True)
class Hanging(Loading):
    """``room`` is the height that the weight with its rope takes below the point, ``floor`` that of the floor."""

    kind: ClassVar[str] = "hanging"
    carried: ClassVar[bool] = True
    masses: tuple[float, ...] = quantity("mass")
    room: float = quantity("length", default=0.0)
    floor: float | None = quantity("length", default=None)

    def options(self, model: RobotModel) -> tuple[LoadOption, ...]:
        self.check_sizes(self.masses, "masses")
        if not np.linalg.norm(model.gravity) > 0:
            raise InputError(f"load {self.label}: robot {model.name} has no gravity, so a weight does not pull")
        points = self.places(model)
        g = float(np.linalg.norm(model.gravity))
        return tuple(
            LoadOption(self, m * g, point, 0, f"{m:g} kg {self.label}" + (f" at {point}" if len(points) > 1 else ""))
            for point in points
            for m in self.masses
        )

    def forces(self, poses: Poses, option: LoadOption) -> Array:
        down = poses.model.gravity / np.linalg.norm(poses.model.gravity)
        return np.broadcast_to(option.size * down, (len(poses), 3))

    def possible(self, poses: Poses, option: LoadOption) -> Bools:
        """Heights count against gravity from the base."""
        up = -poses.model.gravity / np.linalg.norm(poses.model.gravity)
        if self.floor is None:
            return np.ones(len(poses), dtype=bool)
        return np.asarray(poses.origin(option.point) @ up >= self.floor + self.room)
