"""What a task offers: the candidates that the cell allows, what each tells, and the criterion that judges them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from elastocal.design.candidates import Candidates
from elastocal.design.criteria.criterion import Criterion, Stakes
from elastocal.design.criteria.test_pose import TestPose
from elastocal.design.feasibility.filter import Filter, Removed, nothing_left, screened_pool, too_few
from elastocal.design.feasibility.joint_limits import JointLimits
from elastocal.design.feasibility.load import LoadPossible
from elastocal.design.how_many import Requirement
from elastocal.design.knowledge import Knowledge
from elastocal.design.loading.loading import LoadOption
from elastocal.design.observed import Observed, independent, observed, taken_together
from elastocal.design.pool import Pool
from elastocal.design.rules import Rules
from elastocal.design.silent import not_told, silent_names
from elastocal.design.space import Space, space_of
from elastocal.design.task import Limits, PlanTask, Tests, criterion_of, requirement_of
from elastocal.errors import InputError
from elastocal.model.robot import RobotModel
from elastocal.spatial.entries import Array

TESTED = 200
"""Candidates that stand for the task where no test poses are given."""


@dataclass(frozen=True, eq=False)
class Offer:
    """What a task offers: possible candidates, their rows, and the criterion that they are judged by.

    ``left_out`` are parameters that the candidates cannot tell apart from others.
    """

    task: PlanTask
    pool: Pool
    steps: tuple[Removed, ...]
    observed: Observed
    left_out: tuple[str, ...]
    tests: Tests
    derivatives: Array
    values: Array
    criterion: Criterion

    @property
    def candidates(self) -> Candidates:
        return self.observed.candidates

    @cached_property
    def space(self) -> Space:
        return space_of(self.candidates)

    def rules(self, count: int) -> Rules:
        """With a quota for each load where the task states them."""
        if not self.task.may_repeat and count > len(self.pool):
            raise too_few(count, len(self.pool), self.steps)
        quota = [load.poses for load in self.task.loadings]
        if not any(q is not None for q in quota):
            return Rules(count, self.task.may_repeat)
        stated = [q for q in quota if q is not None]
        if len(stated) < len(quota) or sum(stated) != count:
            raise InputError(f"loads: their poses {quota} must be given for all of them and add up to {count}")
        owner = {id(load): i for i, load in enumerate(self.task.loadings)}
        loads = [o.loading for o in self.pool.options if isinstance(o, LoadOption)]
        of_option = np.array([owner[id(load)] for load in loads], dtype=np.int64)
        return Rules(count, self.task.may_repeat, group=of_option[self.pool.option], quota=tuple(stated))

    def errors(self, known: Knowledge) -> Array:
        """Expected error (T,) at the test poses, in the unit that the method counts in."""
        return TestPose(self.derivatives).errors(known)

    def requirement(self, limits: Limits) -> Requirement:
        return requirement_of(limits, self.observed.names, self.values, self.derivatives)


def offered(task: PlanTask, rng: np.random.Generator) -> Offer:
    """Draw, filter, linearise."""
    pool, steps = possible(task, rng)
    method, model = task.measuring, task.model
    known = method.determined(pool)
    if not np.all(known):
        steps = (*steps, Removed("loaded state", int(np.sum(~known)), int(np.sum(known))))
        if not np.any(known):
            raise nothing_left(steps)
        pool = pool.picked(np.flatnonzero(known))
    kind, measured, owner = method.readings(pool), method.measured(pool), method.owner(pool)
    wanted = tuple(n for n in kind.names(model, task.names) if n not in task.hold)
    if not wanted:
        raise InputError("nothing is left to seek; hold less")
    names = independent(kind, method.sources, model, wanted, measured) if task.names is None else wanted

    def told(names: tuple[str, ...]) -> Observed:
        rows = observed(kind, method.sources, model, names, task.repeats, measured)
        rows = rows if owner is None else taken_together(rows, owner)
        if method.errors_sought:
            rows = replace(rows, candidates=replace(rows.candidates, nuisance=()))
        return replace(rows, candidates=_informed(rows, task))

    rows = told(names)
    silent = silent_names(rows, _scales(rows, model))
    if silent and (task.names is not None or len(silent) == len(names)):
        raise not_told(silent, pool, method)
    if silent:
        names = tuple(n for n in names if n not in silent)
        rows = told(names)
    tests = task.tests or _everywhere(pool, model.tool)
    slopes = rows.widened(tests.derivatives(method, model, names))
    values = np.array([model.parameters.values[model.parameters.index(n)] for n in names])
    criterion = criterion_of(task.weights, Stakes(_scales(rows, model), slopes, task.over))
    left_out = tuple(n for n in wanted if n not in names)
    return Offer(task, pool, steps, rows, left_out, tests, slopes, values, criterion)


def _scales(rows: Observed, model: RobotModel) -> Array:
    """Sizes of all unknowns: values of parameters, or what matters of them where these are zero; nuisances count 1."""
    found = [model.parameters.rows[model.parameters.index(n)] for n in rows.names]
    out = np.ones(rows.candidates.parameters)
    out[: len(found)] = [abs(p.value) or p.scale for p in found]
    return out


def possible(task: PlanTask, rng: np.random.Generator) -> tuple[Pool, tuple[Removed, ...]]:
    """Candidates that the cell allows, and what each filter took; joint limits come first, loads last."""
    pool, before = task.measuring.choices(task, rng)
    given = {f.kind for f in task.filters}
    first: list[Filter] = [] if JointLimits.kind in given else [JointLimits()]
    last: list[Filter] = [] if LoadPossible.kind in given or not task.loadings else [LoadPossible()]
    found = screened_pool(pool, task.cell, [*first, *task.filters, *last], task.measuring.stations(pool))
    return found.pool, (*before, *found.steps)


def _informed(rows: Observed, task: PlanTask) -> Candidates:
    """With what is known before."""
    out, p = rows.candidates, len(rows.names)
    for known in task.earlier:
        whole = np.zeros((out.parameters, out.parameters))
        whole[:p, :p] = known(rows.names)
        out = out.knowing(whole)
    return out


def _everywhere(pool: Pool, frame: str) -> Tests:
    """Candidates spread over all of them, as a task where none is given."""
    some = pool.picked(np.unique(np.linspace(0, len(pool) - 1, TESTED).astype(int)))
    return Tests(some.q, some.load, frame, f"{len(some)} of the feasible candidates (no test poses are given)")
