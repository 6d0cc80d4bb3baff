"""Where a frame may be: a box of the workspace, and a least distance from the robot's first axis."""

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

Vector = tuple[float, float, float]
FAR = 1e6


@dataclass(frozen=True, kw_only=True)
class ToolBox(Filter):
    """Origin of ``frame`` (default the tool) between ``low`` and ``high``, at least ``radius`` from the base's z."""

    kind: ClassVar[str] = "tool_box"
    low: Vector = quantity("length", default=(-FAR, -FAR, -FAR))
    high: Vector = quantity("length", default=(FAR, FAR, FAR))
    radius: float = quantity("length", default=0.0)
    frame: str | None = None

    def __post_init__(self) -> None:
        check_lengths(self.label, radius=self.radius)
        if not all(a < b for a, b in zip(self.low, self.high, strict=True)):
            raise InputError("tool box: every number of low must be below that of high")

    def passes(self, pool: Pool, cell: Cell) -> Bools:
        at = pool.poses.origin(self.frame or pool.model.tool)
        inside = np.all((at >= self.low) & (at <= self.high), axis=1)
        return np.asarray(inside & (np.hypot(at[:, 0], at[:, 1]) >= self.radius))[pool.at]
