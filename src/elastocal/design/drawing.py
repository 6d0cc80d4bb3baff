"""Configurations to choose from: Sobol points of the joint space, or of a box that the tool is put into."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elastocal.design.pool import joint_ranges, programmable, spread_points, spread_poses
from elastocal.design.poses import Poses
from elastocal.design.reaching import across, reached
from elastocal.errors import InputError
from elastocal.model.robot import RobotModel

Vector = tuple[float, float, float]


@dataclass(frozen=True)
class Region:
    """A box of the workspace in base axes, m."""

    low: Vector
    high: Vector

    def __post_init__(self) -> None:
        if not all(a < b for a, b in zip(self.low, self.high, strict=True)):
            raise InputError(f"box from {self.low} to {self.high} m: every lower bound must be below the upper one")


@dataclass(frozen=True)
class Draw:
    """``count`` configurations, all over the joints' ranges or with the tool in one of the boxes ``around`` a task."""

    count: int = 4000
    around: tuple[Region, ...] = ()


def drawn(model: RobotModel, draw: Draw, rng: np.random.Generator) -> tuple[Poses, int]:
    """The configurations and how many points of the boxes were not reached."""
    if not draw.around:
        return Poses(model, programmable(model, spread_poses(model, draw.count, rng))), 0
    low, high = joint_ranges(model)
    unit = spread_points(np.array([0.0] * 3 + [*low]), np.array([1.0] * 3 + [*high]), draw.count, rng)
    boxes = np.array([[b.low, b.high] for b in draw.around])[np.arange(draw.count) % len(draw.around)]
    targets = boxes[:, 0] + unit[:, :3] * (boxes[:, 1] - boxes[:, 0])
    targets = across(model, targets, boxes[:, 0], boxes[:, 1])
    q, held = reached(model, unit[:, 3:], targets)
    if not np.any(held):
        raise InputError("no feasible candidate: the tool reaches none of the points round the task; move the box")
    return Poses(model, programmable(model, q[held])), int(np.sum(~held))
