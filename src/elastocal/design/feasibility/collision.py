"""The robot's links keep clear of everything that stands in the cell, and of one another.

Neighbours (capsules with at most one joint between them) touch there and are not compared.  Pairs that are nearer than
their radii all over the joint space, such as upper arm and forearm at the elbow (``blurred``), are compared without the
ends that face each other: cut by ``CUT`` times the sum r of both radii, lines that meet there are nearer than r where
they enclose less than 30 degrees, which is one folded upon the other.  Where nothing is left of both they are not
compared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import chain, combinations
from typing import ClassVar, Literal

import numpy as np

from elastocal.design.candidates import CandidateSet, Poses, joint_ranges, sobol
from elastocal.design.cell import Cell, Link
from elastocal.design.feasibility.filter import Filter, check_lengths
from elastocal.design.obstacles import Capsule, Floor, Obstacle
from elastocal.errors import InfeasibleError, MissingError
from elastocal.model.parameters import quantity
from elastocal.model.robot import Robot
from elastocal.spatial.capsules import length, picked, point_segment, segment_segment, segments_nearer
from elastocal.spatial.entries import Array, Bools
from elastocal.values import dataclass

ROUNDING = 1e-9
"""A length in m that is taken for none."""
CUT = 2.0
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
            raise MissingError("obstacles: the robot has no body; give links or link_radius_mm", code="no-body")
        poses = candidates.poses
        clear = np.ones(len(poses), dtype=bool)
        for pair in obstacle_pairs(poses.model, cell, self.clearance):
            clear &= ~pair.touches(poses)
        return clear[candidates.at]

    def why(self, candidates: CandidateSet, cell: Cell) -> str:
        pairs = obstacle_pairs(candidates.model, cell, self.clearance)
        every = [f"{p.obstacle.label} touches {p.link.label}" for p in pairs if np.all(p.touches(candidates.poses))]
        return f"in every one {' and '.join(every)}" if every else ""


@dataclass(frozen=True)
class ObstaclePair:
    """A link keeps ``least`` from an obstacle ``by`` its capsule; or by its axis alone, or it is not compared."""

    link: Link
    obstacle: Obstacle
    least: float
    by: Literal["capsule", "axis", "nothing"]

    def touches(self, poses: Poses) -> Bools:
        """(C,)"""
        if self.by == "nothing":
            return np.zeros(len(poses), dtype=bool)
        return self.obstacle.nearer(*self.link.ends(poses), self.least if self.by == "capsule" else -ROUNDING)

    @property
    def text(self) -> str:
        how = "compared by its axis alone" if self.by == "axis" else "not compared"
        return f"{self.link.label} with {self.obstacle.label} ({how})"


@lru_cache(maxsize=16)
def obstacle_pairs(model: Robot, cell: Cell, clearance: float = 0.0) -> tuple[ObstaclePair, ...]:
    """Every link with every obstacle, which it keeps ``clearance`` from, and with every guard.

    Those that come too near in all of some configurations all over the joint space (a foot and the floor) are compared
    by the axis of the capsule, and not at all where the link does not move, or where even its axis is always inside of
    a guard, or where the joint that carries a shape stays near the axis of a guard (the upper arm beside the column).
    A link that does not move may stand on an obstacle, but not within it.
    """
    some, out = _all_over(model), []
    pairs = [(o, clearance, False) for o in cell.obstacles] + [(g, 0.0, True) for g in cell.guards]
    for obstacle, room, guard in pairs:
        for link in cell.links:
            a, b = link.ends(some)
            distance, least = obstacle.distance(a, b), link.radius + room
            still = np.ptp(a, axis=0).max() < ROUNDING and np.ptp(b, axis=0).max() < ROUNDING
            by: Literal["capsule", "axis", "nothing"] = "capsule"
            if np.all(distance < least):
                inside = np.all(distance < -ROUNDING if isinstance(obstacle, Floor) else distance <= 0)
                by = "nothing" if still or (inside and guard) else "axis"
            if still and not guard and all(np.all(obstacle.nearer(e, e, -ROUNDING)) for e in (a, b)):
                raise InfeasibleError(
                    f"obstacle {obstacle.label}: {link.label}, which does not move, stands within it; correct its "
                    "place and size, in axes of the robot's base, in m",
                    value=obstacle.label,
                )
            if link.places and guard and isinstance(obstacle, Capsule) and _beside(some.origin(link.start), obstacle):
                by = "nothing"
            out.append(ObstaclePair(link, obstacle, least, by))
    return tuple(out)


def _beside(origin: Array, column: Capsule) -> bool:
    """Whether a place stays at one distance from the axis of a column, nearer than twice its radius."""
    away = point_segment(origin, np.array(column.start), np.array(column.end))
    return bool(np.ptp(away) < 1e-6 and away[0] < 2 * column.radius)


def _all_over(model: Robot) -> Poses:
    """Configurations all over the joint space, always the same; of the robot without its errors, by which its foot
    would move as well."""
    low, high = joint_ranges(model)
    if not model.n:
        return Poses(model.nominal, np.zeros((1, 0)))
    return Poses(model.nominal, low + sobol(model.n, SPREAD) * (high - low))


@dataclass(frozen=True, kw_only=True)
class SelfCollision(Filter):
    kind: ClassVar[str] = "self_collision"
    clearance: float = quantity("length", default=0.0)

    def __post_init__(self) -> None:
        check_lengths(self.label, clearance=self.clearance)

    def passes(self, candidates: CandidateSet, cell: Cell) -> Bools:
        if not cell.links:
            raise MissingError("self_collision: the robot has no body; give links or link_radius_mm", code="no-body")
        clear = np.ones(len(candidates.poses), dtype=bool)
        compared = _compared(candidates.model, cell.links)
        every = dict.fromkeys((*cell.links, *chain(*chain(*compared.values()))))
        ends = {link: link.ends(candidates.poses) for link in every}
        balls = {label: _ball(ends, parts) for label, parts in _by_label(cell.links).items()}
        for (one, other), pairs in compared.items():
            (c, room), (d, more) = balls[one], balls[other]
            rows = np.flatnonzero(clear & (length(c - d) < room + more + self.clearance))
            for a, b in pairs if len(rows) else ():
                least = a.radius + b.radius + self.clearance
                one_of, other_of = ((picked(e, rows), picked(f, rows)) for e, f in (ends[a], ends[b]))
                near = segments_nearer(one_of, other_of, least)
                clear[rows[near]] = False
        return clear[candidates.at]


def _by_label(links: tuple[Link, ...]) -> dict[str, tuple[Link, ...]]:
    return {label: tuple(k for k in links if k.label == label) for label in dict.fromkeys(k.label for k in links)}


def _ball(ends: dict[Link, tuple[Array, Array]], parts: tuple[Link, ...]) -> tuple[Array, Array]:
    """Centre (C, 3) and radius (C,) of a ball round pieces of one link."""
    every = [(e, k.radius) for k in parts for e in ends[k]]
    centre = np.asarray(sum(e for e, _ in every)) / len(every)
    return centre, np.maximum.reduce([length(e - centre) + radius for e, radius in every])


Pair = tuple[Link, Link]
Ends = tuple[Array, Array]


@lru_cache(maxsize=16)
def blurred(model: Robot, links: tuple[Link, ...]) -> tuple[Pair, ...]:
    """Pairs whose capsules overlap in every one of some configurations all over the joint space."""
    some = _all_over(model)
    ends = {link: link.ends(some) for link in links}
    pairs = collision_pairs(model, links)
    return tuple((a, b) for a, b in pairs if np.all(segments_nearer(ends[a], ends[b], a.radius + b.radius)))


@lru_cache(maxsize=16)
def cut_short(model: Robot, links: tuple[Link, ...]) -> Mapping[Pair, Pair | None]:
    """What stands for pairs that are ``blurred``: themselves without ends, None where nothing of them can be told."""
    some = _all_over(model)
    out: dict[Pair, Pair | None] = {}
    for a, b in blurred(model, links):
        least, (one, other) = a.radius + b.radius, (a.ends(some), b.ends(some))
        cut_a, cut_b = _without_end(a, one, other, CUT * least), _without_end(b, other, one, CUT * least)
        ways = [(x, y) for x, y in ((a, cut_b), (cut_a, b), (cut_a, cut_b)) if x is not None and y is not None]
        out[a, b] = next(
            (w for w in ways if not np.all(segments_nearer(w[0].ends(some), w[1].ends(some), least))), None
        )
    return out


@lru_cache(maxsize=16)
def _compared(model: Robot, links: tuple[Link, ...]) -> Mapping[tuple[str, str], Sequence[Pair]]:
    """Pairs as they are compared, by the labels of both."""
    short, out = cut_short(model, links), dict[tuple[str, str], list[Pair]]()
    for pair in collision_pairs(model, links):
        stands = short.get(pair, pair)
        if stands is not None:
            out.setdefault((stands[0].label, stands[1].label), []).append(stands)
    return out


def _without_end(link: Link, ends: Ends, other: Ends, cut: float) -> Link | None:
    """A capsule without the length ``cut`` at its end that is nearer to the other on the whole; None if it is shorter,
    or a piece of a shape."""
    share = cut / max(float(np.linalg.norm(ends[1] - ends[0], axis=1).mean()), ROUNDING)
    if share >= 1 or link.places is not None:
        return None
    first, last = (float(np.mean(segment_segment(e, e, *other))) for e in ends)
    return replace(link, part=(share, 1.0) if first < last else (0.0, 1 - share))


@lru_cache(maxsize=16)
def collision_pairs(model: Robot, links: tuple[Link, ...]) -> tuple[Pair, ...]:
    """Pairs of capsules that are no neighbours."""
    return tuple((a, b) for a, b in combinations(links, 2) if not _neighbours(model, a, b))


def _neighbours(model: Robot, a: Link, b: Link) -> bool:
    """At most one joint lies between them."""
    ends = [sorted((_joints(model, k.start), _joints(model, k.end, moved=k.places is not None))) for k in (a, b)]
    (low_a, high_a), (low_b, high_b) = ends
    return max(low_a, low_b) - min(high_a, high_b) <= 1


def _joints(model: Robot, frame: str, moved: bool = True) -> int:
    """Joints between the base and a frame; its own counts where the capsule turns with it (``moved``) or slides."""
    path = model.tree.path(frame)
    own = path[-1].joint if path else None
    still = own is not None and own.kind == "revolute" and not moved
    return sum(f.joint is not None for f in path) - still
