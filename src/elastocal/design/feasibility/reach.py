"""Where the arm may be: within the limits of its joints, a frame in a box, one of its axes near a direction."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from elastocal.design.candidates import CandidateSet
from elastocal.design.cell import Cell
from elastocal.design.feasibility.filter import Filter, check_angle, check_lengths
from elastocal.errors import RangeError, UnknownNameError
from elastocal.model.parameters import quantity
from elastocal.spatial.entries import Bools
from elastocal.values import dataclass

Vector = tuple[float, float, float]
FAR = 1e6


@dataclass(frozen=True, kw_only=True)
class JointLimits(Filter):
    """``margin`` is a part of every joint's range that is kept free at both ends; ``axes`` are in pendant values."""

    kind: ClassVar[str] = "joint_limits"
    margin: float = quantity("share", default=0.0)
    axes: dict[str, tuple[float, float]] = quantity("joint value", default_factory=dict)

    def __post_init__(self) -> None:
        if not 0 <= self.margin < 0.5:
            raise RangeError(
                "joint limits: the margin must be 0 % or more and below 50 %, since both ends keep it", code="margin"
            )
        for axis, (low, high) in self.axes.items():
            if not low < high:
                raise RangeError(f"joint limits: the lower value of {axis} stands first", value=axis)

    def passes(self, candidates: CandidateSet, cell: Cell) -> Bools:
        model, q = candidates.model, candidates.poses.q
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
        return out[candidates.at]


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
            raise RangeError("tool box: every number of low must be below that of high", code="box")

    def passes(self, candidates: CandidateSet, cell: Cell) -> Bools:
        at = candidates.poses.origin(self.frame or candidates.model.tool)
        inside = np.all((at >= self.low) & (at <= self.high), axis=1)
        return np.asarray(inside & (np.hypot(at[:, 0], at[:, 1]) >= self.radius))[candidates.at]


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
            raise RangeError("approach: axis and towards must not be zero")
        check_angle(self.label, self.within)

    def passes(self, candidates: CandidateSet, cell: Cell) -> Bools:
        axis, towards = (np.array(v) / np.linalg.norm(v) for v in (self.axis, self.towards))
        pointed = candidates.poses.rotation(self.frame or candidates.model.tool) @ axis
        return np.asarray(pointed @ towards >= np.cos(self.within))[candidates.at]
