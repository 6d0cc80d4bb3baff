"""A machine that pushes or pulls along fixed directions wherever the robot stands: a jack, a second robot."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from elastocal.design.loading.loading import Loading, LoadOption, Vector, said
from elastocal.design.poses import Poses
from elastocal.errors import InputError
from elastocal.model.elements import quantity
from elastocal.model.robot import RobotModel
from elastocal.spatial.entries import Array


@dataclass(frozen=True, kw_only=True)
class Actuator(Loading):
    """``directions`` in base axes, of any length; ``sizes`` are forces."""

    kind: ClassVar[str] = "actuator"
    sizes: tuple[float, ...] = quantity("force")
    directions: tuple[Vector, ...] = quantity("number")

    def options(self, model: RobotModel) -> tuple[LoadOption, ...]:
        self.check_sizes(self.sizes, "forces")
        if not self.directions or not all(np.linalg.norm(d) > 0 for d in self.directions):
            raise InputError(f"load {self.label}: give directions that are not zero, such as [0, 0, -1]")
        points = self.places(model)
        return tuple(
            LoadOption(self, s, p, i, said(s, self, p, len(points) > 1, f" along ({d[0]:g}, {d[1]:g}, {d[2]:g})"))
            for p in points
            for s in self.sizes
            for i, d in enumerate(self.directions)
        )

    def forces(self, poses: Poses, option: LoadOption) -> Array:
        along = np.array(self.directions[option.way])
        return np.broadcast_to(option.size * along / np.linalg.norm(along), (len(poses), 3))
