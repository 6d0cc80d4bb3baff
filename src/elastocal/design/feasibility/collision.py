"""The robot's links keep clear of everything that stands in the cell, and of one another.

Neighbours (capsules with at most one joint between them) touch there and are not compared; nor are pairs that are
nearer than their radii all over the joint space (``blurred``): their capsules are too thick to say anything.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import ClassVar, Literal

import numpy as np

from elastocal.design.candidates import CandidateSet
from elastocal.design.cell import Cell, Link
from elastocal.design.feasibility.filter import Filter, check_lengths
from elastocal.design.obstacles.obstacle import Floor, Obstacle
from elastocal.design.poses import Poses, joint_ranges
from elastocal.errors import InputError
from elastocal.model.elements import quantity
from elastocal.model.robot import Robot
from elastocal.spatial.distance import segment_segment
from elastocal.spatial.entries import Array, Bools

ROUNDING = 1e-9
"""A length in m that is taken for none."""
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
        poses = candidates.poses
        clear = np.ones(len(poses), dtype=bool)
        for pair in obstacle_pairs(poses.model, cell, self.clearance):
            a, b = poses.origin(pair.link.start), poses.origin(pair.link.end)
            least = pair.least if pair.by == "capsule" else -ROUNDING
            if pair.by != "nothing":
                clear &= pair.obstacle.distance(a, b) >= least
        return clear[candidates.at]


@dataclass(frozen=True)
class ObstaclePair:
    """A link keeps ``least`` from an obstacle ``by`` its capsule; or by its axis alone, or it is not compared."""

    link: Link
    obstacle: Obstacle
    least: float
    by: Literal["capsule", "axis", "nothing"]

    @property
    def text(self) -> str:
        how = "compared by its axis alone" if self.by == "axis" else "not compared"
        return f"{self.link.label} with {self.obstacle.label} ({how})"


@lru_cache(maxsize=16)
def obstacle_pairs(model: Robot, cell: Cell, clearance: float = 0.0) -> tuple[ObstaclePair, ...]:
    """Every link with every obstacle, which it keeps ``clearance`` from, and with every guard.

    Those that come too near in all of some configurations all over the joint space (a foot and the floor) are compared
    by the axis of the capsule, and not at all where the link does not move, or where even its axis is always inside of
    a guard.
    """
    some, out = _all_over(model), []
    pairs = [(o, clearance, False) for o in cell.obstacles] + [(g, 0.0, True) for g in cell.guards]
    for obstacle, room, guard in pairs:
        for link in cell.links:
            a, b = some.origin(link.start), some.origin(link.end)
            distance, least = obstacle.distance(a, b), link.radius + room
            still = np.ptp(a, axis=0).max() < ROUNDING and np.ptp(b, axis=0).max() < ROUNDING
            by: Literal["capsule", "axis", "nothing"] = "capsule"
            if np.all(distance < least):
                inside = np.all(distance < -ROUNDING if isinstance(obstacle, Floor) else distance <= 0)
                by = "nothing" if still or (inside and guard) else "axis"
            out.append(ObstaclePair(link, obstacle, least, by))
    return tuple(out)


def _all_over(model: Robot) -> Poses:
    """Configurations all over the joint space, always the same."""
    from scipy.stats import qmc

    low, high = joint_ranges(model)
    if not model.n:
        return Poses(model, np.zeros((1, 0)))
    return Poses(model, low + qmc.Sobol(model.n, scramble=False).random_base2(SPREAD) * (high - low))


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


@lru_cache(maxsize=16)
def blurred(model: Robot, links: tuple[Link, ...]) -> tuple[tuple[Link, Link], ...]:
    """Pairs whose capsules overlap in every one of some configurations all over the joint space."""
    some = _all_over(model)
    return tuple(pair for pair in collision_pairs(model, links) if np.all(_gap(some, *pair) < 0))


def _gap(poses: Poses, one: Link, other: Link) -> Array:
    """Between the surfaces of two capsules (C,); negative where they overlap."""
    ends = (poses.origin(f) for f in (one.start, one.end, other.start, other.end))
    return np.asarray(segment_segment(*ends) - one.radius - other.radius)


def collision_pairs(model: Robot, links: tuple[Link, ...]) -> tuple[tuple[Link, Link], ...]:
    """Pairs of capsules that are no neighbours."""
    return tuple((a, b) for a, b in combinations(links, 2) if not _neighbours(model, a, b))


def _neighbours(model: Robot, a: Link, b: Link) -> bool:
    """At most one joint lies between them."""
    ends = [sorted((_joints(model, k.start), _joints(model, k.end, moved=False))) for k in (a, b)]
    (low_a, high_a), (low_b, high_b) = ends
    return max(low_a, low_b) - min(high_a, high_b) <= 1


def _joints(model: Robot, frame: str, moved: bool = True) -> int:
    """Joints between the base and a frame; its own counts where the capsule turns with it (``moved``) or slides."""
    path = model.tree.path(frame)
    own = path[-1].joint if path else None
    still = own is not None and own.kind == "revolute" and not moved
    return sum(f.joint is not None for f in path) - still
