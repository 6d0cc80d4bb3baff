"""The robot's links keep clear of everything that stands in the cell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from elastocal.design.cell import Cell
from elastocal.design.feasibility.filter import Filter, check_lengths
from elastocal.design.pool import Pool
from elastocal.errors import InputError
from elastocal.model.elements import quantity
from elastocal.spatial.entries import Bools


@dataclass(frozen=True, kw_only=True)
class Obstacles(Filter):
    """Every capsule round a link stays ``clearance`` away from every obstacle."""

    kind: ClassVar[str] = "obstacles"
    clearance: float = quantity("length", default=0.0)

    def __post_init__(self) -> None:
        check_lengths(self.label, clearance=self.clearance)

    def passes(self, pool: Pool, cell: Cell) -> Bools:
        if cell.obstacles and not cell.links:
            raise InputError("obstacles: the robot has no body; give links or link_radius_mm")
        clear = np.ones(len(pool.poses), dtype=bool)
        for link in cell.links:
            a, b = pool.poses.origin(link.start), pool.poses.origin(link.end)
            for obstacle in cell.obstacles:
                clear &= obstacle.distance(a, b) >= link.radius + self.clearance
        return clear[pool.at]
