"""The robot's links keep clear of everything that stands in the cell, and of one another.

Neighbours (capsules with at most one joint between them) touch there and are not compared; nor are pairs that are
nearer than their radii all over the joint space (``blurred``): their capsules are too thick to say anything.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

import numpy as np

from elastocal.design.candidates import CandidateSet
from elastocal.design.cell import Cell, Link
from elastocal.design.feasibility.filter import Filter, check_lengths
from elastocal.design.poses import Poses, joint_ranges
from elastocal.errors import InputError
from elastocal.model.elements import quantity
from elastocal.model.robot import RobotModel
from elastocal.spatial.distance import segment_segment
from elastocal.spatial.entries import Array, Bools

SPREAD = 8
"""Power of two of the configurations that tell which pairs overlap everywhere."""


@dataclass(frozen=True, kw_only=True)
class Obstacles(Filter):
    """Every capsule round a link stays ``clearance`` away from every obstacle."""

    kind: ClassVar[str] = "obstacles"
    clearance: float = quantity("length", default=0.0)

    def __post_init__(self) -> None:
        check_lengths(self.label, clearance=self.clearance)

    def passes(self, candidates: CandidateSet, cell: Cell) -> Bools:
        if cell.obstacles and not cell.links:
            raise InputError("obstacles: the robot has no body; give links or link_radius_mm")
        clear = np.ones(len(candidates.poses), dtype=bool)
        for link in cell.links:
            a, b = candidates.poses.origin(link.start), candidates.poses.origin(link.end)
            for obstacle in cell.obstacles:
                clear &= obstacle.distance(a, b) >= link.radius + self.clearance
        return clear[candidates.at]


@dataclass(frozen=True, kw_only=True)
class SelfCollision(Filter):
    kind: ClassVar[str] = "self_collision"
    clearance: float = quantity("length", default=0.0)

    def __post_init__(self) -> None:
        check_lengths(self.label, clearance=self.clearance)

    def passes(self, candidates: CandidateSet, cell: Cell) -> Bools:
        if not cell.links:
            raise InputError("self_collision: the robot has no body; give links or link_radius_mm")
        clear = np.ones(len(candidates.poses), dtype=bool)
        skipped = blurred(candidates.model, cell.links)
        for pair in collision_pairs(candidates.model, cell.links):
            if pair not in skipped:
                clear &= _gap(candidates.poses, *pair) >= self.clearance
        return clear[candidates.at]


def blurred(model: RobotModel, links: tuple[Link, ...]) -> tuple[tuple[Link, Link], ...]:
    """Pairs whose capsules overlap in every one of some configurations all over the joint space."""
    from scipy.stats import qmc

    low, high = joint_ranges(model)
    some = Poses(model, low + qmc.Sobol(model.n, scramble=False).random_base2(SPREAD) * (high - low))
    return tuple(pair for pair in collision_pairs(model, links) if np.all(_gap(some, *pair) < 0))


def _gap(poses: Poses, one: Link, other: Link) -> Array:
    """Between the surfaces of two capsules (C,); negative where they overlap."""
    ends = (poses.origin(f) for f in (one.start, one.end, other.start, other.end))
    return np.asarray(segment_segment(*ends) - one.radius - other.radius)


def collision_pairs(model: RobotModel, links: tuple[Link, ...]) -> tuple[tuple[Link, Link], ...]:
    """Pairs of capsules that are no neighbours."""
    return tuple((a, b) for a, b in combinations(links, 2) if not _neighbours(model, a, b))


def _neighbours(model: RobotModel, a: Link, b: Link) -> bool:
    """At most one joint lies between them."""
    ends = [sorted((_joints(model, k.start), _joints(model, k.end, moved=False))) for k in (a, b)]
    (low_a, high_a), (low_b, high_b) = ends
    return max(low_a, low_b) - min(high_a, high_b) <= 1


def _joints(model: RobotModel, frame: str, moved: bool = True) -> int:
    """Joints between the base and a frame; its own counts where the capsule turns with it (``moved``) or slides."""
    path = model.tree.path(frame)
    own = path[-1].joint if path else None
    still = own is not None and own.kind == "revolute" and not moved
    return sum(f.joint is not None for f in path) - still
