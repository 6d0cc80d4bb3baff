"""Joint limits of the robot, less a margin, and narrower ranges of the controller's axes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from elastocal.design.cell import Cell
from elastocal.design.feasibility.filter import Filter
from elastocal.design.pool import Pool
from elastocal.errors import InputError, UnknownNameError
from elastocal.model.elements import quantity
from elastocal.spatial.entries import Bools


@dataclass(frozen=True, kw_only=True)
class JointLimits(Filter):
    """``margin`` is a part of every joint's range that is kept free at both ends; ``axes`` are in pendant values."""

    kind: ClassVar[str] = "joint_limits"
    margin: float = quantity("share", default=0.0)
    axes: dict[str, tuple[float, float]] = quantity("joint value", default_factory=dict)

    def __post_init__(self) -> None:
        if not 0 <= self.margin < 0.5:
            raise InputError("joint limits: the margin must be 0 % or more and below 50 %, since both ends keep it")
        for axis, (low, high) in self.axes.items():
            if not low < high:
                raise InputError(f"joint limits: the lower value of {axis} stands first")

    def passes(self, pool: Pool, cell: Cell) -> Bools:
        model, q = pool.model, pool.poses.q
        out = np.ones(len(q), dtype=bool)
        out[[row for row, _, _ in model.beyond_limits(q)]] = False
        for i, motion in enumerate(model.motions):
            if motion.limits is not None:
                low, high = motion.limits
                free = self.margin * (high - low)
                out &= (q[:, i] >= low + free - 1e-9) & (q[:, i] <= high - free + 1e-9)
        shown = model.controller.to_controller(q)
        for axis, (low, high) in self.axes.items():
            if axis not in model.controller.axes:
                raise UnknownNameError("axis", axis, model.controller.axes, "joint_limits")
            value = shown[:, model.controller.axes.index(axis)]
            out &= (value >= low) & (value <= high)
        return out[pool.at]
