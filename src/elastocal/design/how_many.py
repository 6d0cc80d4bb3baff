"""How many measurements: accuracy against their number, and the smallest plan that meets a requirement.

A requirement bounds linear functions of the parameters, error_t = sqrt(tr(F_t C F_t^T)) <= limit_t for all t: the
standard deviation of every parameter (F_t picks one), or the expected error at test poses.  The greedy plan, which
grows one by one, meets it at some number; exchange at smaller numbers then halves the interval.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

import numpy as np

from elastocal.design.criteria.criterion import Criterion
from elastocal.design.exchange import Search, SearchOptions, Selection, best_climb, climbed, grown, search
from elastocal.design.information import CandidateRows, OpenPlanError, Space, space_of
from elastocal.design.knowledge import Knowledge
from elastocal.design.rules import Rules
from elastocal.errors import RangeError, ShapeError, TooFewError
from elastocal.spatial.entries import Array
from elastocal.values import dataclass


@dataclass(frozen=True, eq=False)
class Requirement:
    """``derivatives`` (T, d, p) and ``limits`` (T,) in their unit."""

    derivatives: Array
    limits: Array

    def __post_init__(self) -> None:
        if self.derivatives.ndim != 3 or self.limits.shape != (len(self.derivatives),) or not len(self.limits):
            raise ShapeError(
                "requirement: give derivatives (T, d, p) and one limit for each of the T", code="requirement"
            )
        if not np.all(self.limits > 0):
            raise RangeError("requirement: every limit must be a positive number", code="limit")

    def ratio(self, known: Knowledge) -> float:
        """The largest error in units of its limit: 1 or less where the requirement is met."""
        t, d, p = self.derivatives.shape
        squares = np.sum(known.half(self.derivatives.reshape(t * d, p)) ** 2, axis=1).reshape(t, d).sum(axis=1)
        return float(np.max(np.sqrt(squares) / self.limits))


@dataclass(frozen=True, eq=False)
class Point:
    """A plan on the curve; ``ratio`` is the largest error in units of its limit, nan without a requirement."""

    count: int
    plan: Selection
    ratio: float

    @property
    def sd(self) -> Array:
        return self.plan.known.sd


@dataclass(frozen=True, eq=False)
class HowMany:
    """``smallest`` is None where even ``most`` members do not meet the requirement; ``tried`` are all plans compared.

    ``greedy`` is the number that the greedy plan alone would need, None where it needs more than ``most``.
    """

    smallest: Point | None
    tried: tuple[Point, ...]
    greedy: int | None


def accuracy_curve(
    candidates: CandidateRows,
    criterion: Criterion,
    counts: Sequence[int],
    *,
    rng: np.random.Generator,
    requirement: Requirement | None = None,
    repeats: bool = False,
    **options: Unpack[SearchOptions],
) -> tuple[Point, ...]:
    """Plans of growing size; each is also climbed to from the one before, so that no criterion grows worse by size.

    Sizes at which a combination of parameters is left open are not on the curve; where all are, that is an error.
    ``repeats``: members may.
    """
    space, options = _usual(candidates, options)
    out: list[Point] = []
    for count in sorted(set(counts)):
        rules = Rules(count, repeats)
        try:
            plan = search(candidates, criterion, rules, rng=rng, **options)
        except OpenPlanError:
            if out or count < max(counts):
                continue
            raise
        if out:
            task = Search(space, criterion, rules)
            more = climbed(task, grown(task, out[-1].plan.chosen, count))
            plan = best_climb(candidates, criterion, (*plan.climbs, more), space)
        out.append(Point(count, plan, requirement.ratio(plan.known) if requirement else float("nan")))
    return tuple(out)


def how_many(
    candidates: CandidateRows,
    criterion: Criterion,
    requirement: Requirement,
    *,
    rng: np.random.Generator,
    most: int = 100,
    repeats: bool = False,
    **options: Unpack[SearchOptions],
) -> HowMany:
    """The smallest plan found that meets the requirement; ``repeats``: members may."""
    p, k = candidates.parameters, candidates.blocks.shape[1]
    if requirement.derivatives.shape[2] != p:
        raise ShapeError(
            f"requirement: it is about {requirement.derivatives.shape[2]} parameters, not {p}",
            value=(requirement.derivatives.shape[2], p),
        )
    high = most if repeats else min(most, len(candidates.blocks))
    least = max(1, -(-(p - len(candidates.prior_rows)) // k))
    if high < least:
        raise TooFewError(
            f"{high} measurements cannot give {p} parameters; allow {least} or more, or seek fewer",
            value=(high, p, least),
        )
    space, options = _usual(candidates, options)
    tried: dict[int, Point] = {}

    def meets(count: int) -> bool:
        try:
            plan = search(candidates, criterion, Rules(count, repeats), rng=rng, **options)
        except OpenPlanError:
            return False
        tried[count] = Point(count, plan, requirement.ratio(plan.known))
        return tried[count].ratio <= 1

    greedy = _greedy(Search(space, criterion, Rules(high, repeats)), requirement, least, high)
    last = greedy or high
    while not meets(last):  # what the criterion prefers may not be what is required
        if last == high:
            return HowMany(None, tuple(tried.values()), greedy)
        last = min(high, last + max(1, last // 4))
    low, top = least - 1, last
    while top - low > 1:
        middle = (low + top) // 2
        low, top = (low, middle) if meets(middle) else (middle, top)
    return HowMany(tried[top], tuple(tried[n] for n in sorted(tried)), greedy)


def _usual(candidates: CandidateRows, options: SearchOptions) -> tuple[Space, SearchOptions]:
    """Few restarts, and one space for all searches."""
    space = options.get("space") or space_of(candidates)
    return space, {"restarts": 3, **options, "space": space}


def _greedy(search: Search, requirement: Requirement, least: int, most: int) -> int | None:
    """The number at which the greedy plan meets the requirement; it is grown by half its size at a time."""
    members: list[int] = []
    done = least - 1
    while done < most:
        members = grown(search, members, min(most, done + max(5, done // 2)))
        for n in range(done + 1, len(members) + 1):
            known = search.space.known(members[:n])
            if not known.open and requirement.ratio(known) <= 1:
                return n
        done = len(members)
    return None
