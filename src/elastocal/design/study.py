"""A plan from what a task offers: the best candidates, how good they are, how many are needed."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace

import numpy as np

from elastocal.design.candidates import CandidateSet
from elastocal.design.certificate import Certificate, certify
from elastocal.design.criteria.d import Determinant
from elastocal.design.exchange import Plan, search
from elastocal.design.how_many import HowMany, Point, accuracy_curve, how_many
from elastocal.design.problem import DesignProblem
from elastocal.design.rules import Rules
from elastocal.design.task import Limits
from elastocal.errors import InputError
from elastocal.spatial.entries import Array

FEW = 3
"""Searches at every size where sizes are compared."""


@dataclass(frozen=True, eq=False)
class PlannedStudy:
    """``certificate`` is of the criterion itself, None where it has none; ``by_determinant`` is that of D."""

    problem: DesignProblem
    plan: Plan
    certificate: Certificate | None
    by_determinant: Certificate
    curve: tuple[Point, ...]
    needed: HowMany | None

    @property
    def chosen(self) -> CandidateSet:
        return self.problem.candidates.picked(np.array(self.plan.chosen, dtype=np.int64))

    @property
    def errors(self) -> Array:
        return self.problem.errors(self.plan.known)


def planned_study(
    problem: DesignProblem,
    rng: np.random.Generator,
    *,
    limits: Limits | None = None,
    most: int = 60,
    counts: Sequence[int] = (),
    restarts: int = 10,
    executor: Executor | None = None,
) -> PlannedStudy:
    """The best plan found; with ``limits`` the smallest that meets them; ``counts`` give the curve."""
    task, space, needed = problem.task, problem.space, None
    if (limits or counts) and any(load.poses is not None for load in task.loadings):
        raise InputError(
            "loads with poses of their own fix the size of the plan: it cannot be sought, nor is there a curve; leave "
            "those poses out"
        )
    smallest: Point | None = None
    if limits:
        needed, smallest = _needed(problem, limits, rng, most, min(restarts, FEW), executor)
    rules = problem.rules(task.count if smallest is None else smallest.count)
    plan = search(problem.rows, problem.criterion, rules, rng=rng, restarts=restarts, executor=executor, space=space)
    if limits and smallest is not None and not problem.requirement(limits).ratio(plan.known) <= 1:
        plan = smallest.plan  # a better criterion, but not what is required
    curve = _curve(problem, counts, rng, limits, min(restarts, FEW), executor) if counts else ()
    own = certify(problem.rows, problem.criterion, rules, plan, space=space) if problem.criterion.certifiable else None
    d = Determinant()
    judged = replace(plan, gain=d.gain(plan.known), value=d.value(plan.known))
    by_d = own if own is not None and problem.criterion.kind == d.kind else None
    by_d = by_d or certify(problem.rows, d, rules, judged, space=space)
    return PlannedStudy(problem, plan, own, by_d, curve, needed)


def _needed(
    problem: DesignProblem,
    limits: Limits,
    rng: np.random.Generator,
    most: int,
    restarts: int,
    executor: Executor | None,
) -> tuple[HowMany, Point]:
    """The smallest plan that meets the limits."""
    again = problem.task.may_repeat
    found = how_many(
        problem.rows, problem.criterion, problem.requirement(limits), rng=rng, most=most, rules=Rules(1, again),
        restarts=restarts, executor=executor,
    )  # fmt: skip
    if found.smallest is None:
        worst = min((p.ratio for p in found.tried), default=float("nan"))
        allowed = most if again else min(most, len(problem.candidates))
        raise InputError(
            f"{allowed} poses do not meet what is required (the largest error is still {worst:.3g} times its limit); "
            f"allow more {'poses' if allowed == most else 'candidates'} or repeats, larger loads, or require less"
        )
    return found, found.smallest


def _curve(
    problem: DesignProblem,
    counts: Sequence[int],
    rng: np.random.Generator,
    limits: Limits | None,
    restarts: int,
    executor: Executor | None,
) -> tuple[Point, ...]:
    """Each plan is also climbed to from the one before, so that few searches do."""
    wish = problem.requirement(limits) if limits else None
    rules = Rules(1, problem.task.may_repeat)
    return accuracy_curve(
        problem.rows, problem.criterion, counts, rng=rng, requirement=wish, rules=rules, restarts=restarts,
        executor=executor,
    )  # fmt: skip
