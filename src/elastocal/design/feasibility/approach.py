"""How a frame may be turned: one of its axes within an angle of a direction in the cell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from elastocal.design.cell import Cell
from elastocal.design.feasibility.filter import Filter, check_angle
from elastocal.design.pool import Pool
from elastocal.errors import InputError
from elastocal.model.elements import quantity
from elastocal.spatial.entries import Bools

Vector = tuple[float, float, float]


@dataclass(frozen=True, kw_only=True)
class Approach(Filter):
    """``axis`` of ``frame`` (default the tool) points ``towards`` a direction in base axes, within an angle."""

    kind: ClassVar[str] = "approach"
    axis: Vector = quantity("number")
    towards: Vector = quantity("number")
    within: float = quantity("angle")
    frame: str | None = None

    def __post_init__(self) -> None:
        if not (np.linalg.norm(self.axis) > 0 and np.linalg.norm(self.towards) > 0):
            raise InputError("approach: axis and towards must not be zero")
        check_angle(self.label, self.within)

    def passes(self, pool: Pool, cell: Cell) -> Bools:
        axis, towards = (np.array(v) / np.linalg.norm(v) for v in (self.axis, self.towards))
        pointed = pool.poses.rotation(self.frame or pool.model.tool) @ axis
        return np.asarray(pointed @ towards >= np.cos(self.within))[pool.at]
