"""The tracker sees every marker, and every reflector faces the tracker.

No obstacle and no link stands in the beam (a link whose capsule holds the marker itself does not hide it), and the beam
comes in within an angle of the reflector's own axis.
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
