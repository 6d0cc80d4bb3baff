"""A rope from the robot to an anchor in the cell, pulled with a stated force: its direction follows from the pose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from elastocal.design.loading.loading import Loading, LoadOption, Vector, said
from elastocal.design.poses import Poses
from elastocal.errors import InputError
from elastocal.model.elements import quantity
from elastocal.model.robot import RobotModel
from elastocal.spatial.entries import Array, Bools


@dataclass(frozen=True, kw_only=True)
class Anchored(Loading):
    """``reach`` are the shortest and longest rope; with ``axis`` it leaves the anchor within ``cone`` of that."""

    kind: ClassVar[str] = "anchored"
    sizes: tuple[float, ...] = quantity("force")
    at: Vector = quantity("length")
    reach: tuple[float, float] = quantity("length", default=(0.1, 10.0))
    axis: Vector | None = quantity("number", default=None)
    cone: float = quantity("angle", default=float(np.pi / 4))

    def options(self, model: RobotModel) -> tuple[LoadOption, ...]:
        self.check_sizes(self.sizes, "forces")
        if not 0 < self.reach[0] < self.reach[1]:
            raise InputError(f"load {self.label}: the shortest rope stands first in reach, both lengths positive")
        if self.axis is not None and not np.linalg.norm(self.axis) > 0:
            raise InputError(f"load {self.label}: its axis has no direction; give a vector into the cell")
        points = self.places(model)
        return tuple(LoadOption(self, s, p, 0, said(s, self, p, len(points) > 1)) for p in points for s in self.sizes)

    def forces(self, poses: Poses, option: LoadOption) -> Array:
        rope = np.array(self.at) - poses.origin(option.point)
        length = np.linalg.norm(rope, axis=1, keepdims=True)
        return np.asarray(option.size * rope / np.where(length > 0, length, 1.0))

    def possible(self, poses: Poses, option: LoadOption) -> Bools:
        rope = poses.origin(option.point) - np.array(self.at)
        length = np.linalg.norm(rope, axis=1)
        out = (length >= self.reach[0]) & (length <= self.reach[1])
        if self.axis is not None:
            into = np.array(self.axis) / np.linalg.norm(self.axis)
            out &= rope @ into >= np.cos(self.cone) * length
        return np.asarray(out)
