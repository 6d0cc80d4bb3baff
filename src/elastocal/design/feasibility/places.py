"""Where the arm may be: limits of its joints, a frame in a box, an axis near a direction; and where a tracker sees it.

The tracker sees every marker, and every reflector faces the tracker: no obstacle and no link stands in the beam (a link
whose capsule holds the marker itself does not hide it), and the beam comes in within an angle of the reflector's axis.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from elastocal.design.candidates import CandidateSet
from elastocal.design.cell import Cell
from elastocal.design.feasibility.filter import Filter, check_angle, check_lengths
from elastocal.errors import MissingError, RangeError, UnknownNameError
from elastocal.model.parameters import quantity
from elastocal.spatial.capsules import point_segment, segment_segment
from elastocal.spatial.entries import Array, Bools
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


@dataclass(frozen=True, kw_only=True)
class LineOfSight(Filter):
    """The beam keeps ``clearance`` from everything; ``reach`` is the tracker's longest distance."""

    kind: ClassVar[str] = "line_of_sight"
    clearance: float = quantity("length", default=0.0)
    reach: float | None = quantity("length", default=None)

    def __post_init__(self) -> None:
        check_lengths(self.label, clearance=self.clearance, reach=self.reach)

    def passes(self, candidates: CandidateSet, cell: Cell) -> Bools:
        tracker = beam_start(cell, self.kind)
        seen = np.ones(len(candidates.poses), dtype=bool)
        for marker in cell.markers:
            at = candidates.poses.origin(marker)
            start = np.broadcast_to(tracker, at.shape)
            if self.reach is not None:
                seen &= np.linalg.norm(at - start, axis=1) <= self.reach
            for obstacle in cell.obstacles:
                seen &= obstacle.distance(start, at) > self.clearance
            for link in cell.links:
                a, b = link.ends(candidates.poses)
                holds = point_segment(at, a, b) < link.radius
                seen &= holds | (segment_segment(start, at, a, b) >= link.radius + self.clearance)
        return seen[candidates.at]


def beam_start(cell: Cell, kind: str) -> Array:
    """Where the tracker stands."""
    if cell.tracker is None:
        raise MissingError(f"{kind}: nobody says where the tracker stands; add tracker_mm: [x, y, z]", value=kind)
    return np.array(cell.tracker)


@dataclass(frozen=True, kw_only=True)
class Incidence(Filter):
    """``facing`` says for each marker which way it looks, in its own axes; those not named may look anywhere."""

    kind: ClassVar[str] = "incidence"
    facing: dict[str, Vector] = quantity("number")
    within: float = quantity("angle")

    def __post_init__(self) -> None:
        check_angle(self.label, self.within)

    def passes(self, candidates: CandidateSet, cell: Cell) -> Bools:
        tracker = beam_start(cell, self.kind)
        seen = np.ones(len(candidates.poses), dtype=bool)
        for marker, facing in self.facing.items():
            if marker not in cell.markers:
                raise UnknownNameError("marker", marker, cell.markers, "incidence")
            size = float(np.linalg.norm(facing))
            if not size > 0:
                raise RangeError(f"incidence: the direction that {marker} faces must not be zero")
            beam = tracker - candidates.poses.origin(marker)
            out = candidates.poses.rotation(marker) @ (np.array(facing) / size)
            seen &= np.sum(out * beam, axis=1) >= np.cos(self.within) * np.linalg.norm(beam, axis=1)
        return seen[candidates.at]
