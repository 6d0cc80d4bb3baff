"""The design problem of a task: candidates that the cell allows, what each tells, and the criterion that judges them.

Parameters that no candidate tells anything of are unobservable and named, with the reason: a joint compliance shows
where a load turns the joint, tau_j = (J^T w)_j, and where that turn moves a marker.  A force whose line meets an axis
or is parallel to it does not turn the joint, and a point on an axis stays where it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from elastocal.design.candidates import CandidateSet
from elastocal.design.criteria.criterion import Criterion, Stakes
from elastocal.design.criteria.test_pose import TestPose
from elastocal.design.feasibility.filter import Filter, LoadPossible, Removed, screened, screened_by, too_few
from elastocal.design.feasibility.places import JointLimits
from elastocal.design.how_many import Requirement
from elastocal.design.information import CandidateRows, Space, leading_space, prior_root, space_of
from elastocal.design.knowledge import Knowledge
from elastocal.design.loading import LoadOption
from elastocal.design.method import Measuring, Method
from elastocal.design.observed import independent, observed, taken_together
from elastocal.design.rules import Rules
from elastocal.design.safety import Access, accessible
from elastocal.design.task import Earlier, Limits, PlanTask, Tests, criterion_of, requirement_of
from elastocal.errors import InputError, MissingError, RangeError, UnobservableError, UnsupportedError
from elastocal.model.compliant.joint_compliance import JointCompliance
from elastocal.model.kinematics import kinematics
from elastocal.model.robot import Robot
from elastocal.spatial.entries import Array, Bools
from elastocal.values import dataclass

FELT = 1e-6
"""A parameter whose whole value moves no number by this share of its standard deviation is not seen."""
ROUNDING = 1e-9
"""Of the largest torque, or lever, that is taken for none."""

TESTED = 200
"""Candidates that stand for the task where no test poses are given."""


@dataclass(frozen=True, eq=False)
class DesignProblem:
    """The candidates of a task that are possible, their rows, and the criterion that they are judged by.

    ``access`` says how the arm comes to the candidates from home, where that was looked at.
    ``left_out`` are parameters that the candidates cannot tell apart from others.
    """

    task: PlanTask
    candidates: CandidateSet
    steps: tuple[Removed, ...]
    rows: CandidateRows
    left_out: tuple[str, ...]
    tests: Tests
    derivatives: Array
    values: Array
    criterion: Criterion
    access: Access | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters sought."""
        return self.rows.own

    @cached_property
    def space(self) -> Space:
        return space_of(self.rows) if self.task.prior is None else leading_space(self.rows)

    def rules(self, count: int) -> Rules:
        """With a quota for each load where the task states them."""
        if not self.task.may_repeat and count > len(self.candidates):
            raise too_few(count, len(self.candidates), self.steps)
        quota = [load.poses for load in self.task.loadings]
        if not any(q is not None for q in quota):
            return Rules(count, self.task.may_repeat)
        stated = [q for q in quota if q is not None]
        if len(stated) < len(quota) or sum(stated) != count:
            raise RangeError(
                f"loads: their poses {quota} must be given for all of them and add up to {count}", value=(quota, count)
            )
        owner = {id(load): i for i, load in enumerate(self.task.loadings)}
        loads = [o.loading for o in self.candidates.options if isinstance(o, LoadOption)]
        of_option = np.array([owner[id(load)] for load in loads], dtype=np.int64)
        return Rules(count, self.task.may_repeat, group=of_option[self.candidates.option], quota=tuple(stated))

    def errors(self, known: Knowledge) -> Array:
        """Expected error (T,) at the test poses, in the unit that the method counts in."""
        return TestPose(self.derivatives).errors(known)

    def uncalibrated(self, chosen: Sequence[int], effects: Sequence[str] | None = None) -> Array:
        """Error (T,) that the nominal robot is expected to have there by the prior of the parameters, all or some.

        Unknowns of the campaign are fitted to the readings of the candidates ``chosen``.
        """
        rows, q = self.rows, len(self.rows.nuisance)
        every = rows.blocks[list(chosen)].reshape(-1, rows.parameters)[:, rows.order]
        slopes, root = self.derivatives[:, :, rows.order], prior_root(rows)
        taken = np.linalg.pinv(every[:, :q])
        if effects is not None:
            root = root * np.isin([rows.names[i] for i in rows.order[q:]], list(effects))[:, None]
        off = (slopes[:, :, q:] - slopes[:, :, :q] @ (taken @ every[:, q:])) @ root
        noise = slopes[:, :, :q] @ taken if effects is None else np.zeros((1, 1, 1))
        return np.asarray(np.sqrt(np.sum(off**2, axis=(1, 2)) + np.sum(noise**2, axis=(1, 2))))

    def requirement(self, limits: Limits) -> Requirement:
        if limits.share and self.task.prior is not None:
            raise UnsupportedError(
                "accuracies of single parameters are not required of a plan by priors; require the error at test poses"
            )
        return requirement_of(limits, self.names, self.values, self.derivatives)


def design_problem(task: PlanTask, rng: np.random.Generator, *, ways: bool = False) -> DesignProblem:
    """Draw, filter, linearise; ``ways``: only what can be come to from home by free ways."""
    candidates, steps = possible(task, rng)
    access: Access | None = None
    if ways:
        candidates, access, step = accessible(task, candidates)
        steps = (*steps, step)
    method, model = task.measuring, task.model
    kind = method.readings(candidates)
    known = method.determined(kind, candidates)
    if not np.all(known):
        steps = screened_by(steps, "loaded state", known)
        candidates = candidates.picked(np.flatnonzero(known))
        kind = method.readings(candidates)
    measured, owner = method.measured(candidates), method.owner(candidates)
    wanted = tuple(n for n in kind.names(model, task.names) if n not in task.hold)
    if not wanted:
        raise MissingError("nothing is left to seek; hold less", code="nothing-sought")
    names = independent(kind, method.nuisances, model, wanted, measured) if task.names is None else wanted

    def rows_of(names: tuple[str, ...]) -> CandidateRows:
        rows = observed(kind, method.nuisances, model, names, task.repeats, measured)
        rows = rows if owner is None else taken_together(rows, owner)
        rows = replace(rows, nuisance=()) if method.errors_sought else rows
        return _informed(rows, task)

    rows = rows_of(names)
    hidden = unobservable(rows, _scales(rows, model)) if task.prior is None else ()
    if hidden and (task.names is not None or len(hidden) == len(names)):
        raise unobservable_error(hidden, candidates, method)
    if hidden:
        names = tuple(n for n in names if n not in hidden)
        rows = rows_of(names)
    tests = task.tests or spread_tests(candidates, model.tool)
    slopes = rows.widened(tests.derivatives(method, model, names))
    if isinstance(method, Measuring) and method.placing:
        slopes[:, :, len(names) :] = method.placing_at_tests(tests.q, tests.load, model, rows.names[len(names) :])
    values = np.array([model.parameters[n].value for n in names])
    criterion = criterion_of(task.weights, Stakes(_scales(rows, model), slopes, task.over))
    left_out = tuple(n for n in wanted if n not in names)
    return DesignProblem(task, candidates, steps, rows, left_out, tests, slopes, values, criterion, access)


def _scales(rows: CandidateRows, model: Robot) -> Array:
    """Sizes of all unknowns: values of parameters, or what matters of them where these are zero; nuisances count 1."""
    sought = [model.parameters[n] for n in rows.own]
    out = np.ones(rows.parameters)
    out[: len(sought)] = [abs(p.value) or p.scale for p in sought]
    return out


def possible(task: PlanTask, rng: np.random.Generator) -> tuple[CandidateSet, tuple[Removed, ...]]:
    """Candidates that the cell allows, and what each filter took; joint limits come first, loads last."""
    candidates, before = task.measuring.choices(task, rng)
    given = {f.kind for f in task.filters}
    first: list[Filter] = [] if JointLimits.kind in given else [JointLimits()]
    last: list[Filter] = [] if LoadPossible.kind in given or not task.loadings else [LoadPossible()]
    filters = [*first, *task.filters, *last]
    left, steps = screened(candidates, task.cell, filters, task.measuring.stations(candidates))
    return left, (*before, *steps)


def _informed(rows: CandidateRows, task: PlanTask) -> CandidateRows:
    """With what is known before."""
    p, every = len(rows.own), rows.parameters
    before: tuple[Earlier, ...] = () if task.prior is None else (task.prior,)
    for known in (*before, *task.earlier):
        whole = np.zeros((every, every))
        whole[:p, :p] = known(rows.own)
        rows = rows.knowing(whole)
    return rows


def spread_tests(candidates: CandidateSet, frame: str) -> Tests:
    """Candidates spread over all of them, as a task where none is given."""
    some = candidates.picked(np.unique(np.linspace(0, len(candidates) - 1, TESTED).astype(int)))
    return Tests(some.q, some.load, frame, f"{len(some)} of the feasible candidates (no test poses are given)")


def unobservable(rows: CandidateRows, scales: Array) -> tuple[str, ...]:
    """Parameters of size ``scales`` that neither a candidate nor earlier knowledge tells anything of."""
    p = len(rows.own)
    felt = np.abs(rows.blocks[:, :, :p]).max(axis=(0, 1)) * scales[:p]
    known = np.abs(rows.prior_rows[:, :p]).max(axis=0, initial=0.0) * scales[:p]
    return tuple(name for name, size in zip(rows.own, np.maximum(felt, known), strict=True) if size < FELT)


def unobservable_error(names: Sequence[str], candidates: CandidateSet, method: Method) -> InputError:
    """What to say of parameters that no candidate depends on."""
    model = candidates.model
    joint = {f"{e.joint}.k": e.joint for e in model.elements if isinstance(e, JointCompliance)}
    mine = [joint[n] for n in names if joint.get(n) in model.joints]
    reasons = []
    if isinstance(method, Measuring) and mine:
        at = [model.joints.index(j) for j in mine]
        idle = [j for j, turned in zip(mine, _turned(candidates)[at], strict=True) if not turned]
        if idle and method.kind == "deflection":
            reasons.append(
                f"no load turns {', '.join(idle)} (a force whose line meets an axis, or is parallel to it, does not: "
                "pull sideways or off the axis, by directions and points of loads)"
            )
        still = [j for j, moved in zip(mine, moved_joints(candidates, method)[at], strict=True) if not moved]
        if still:
            reasons.append(f"no marker moves with {', '.join(still)} (it lies on the axis: choose markers beside it)")
    why = f": {'; '.join(reasons)}" if reasons else ""
    return UnobservableError(
        f"no candidate depends on {', '.join(names)}{why}; leave it out or allow other candidates", value=tuple(names)
    )


def _turned(candidates: CandidateSet) -> Bools:
    """(n,) joints that some load turns, or pushes."""
    model, wrenches = candidates.model, candidates.wrenches
    jacobian = kinematics(model, candidates.q, candidates.frame).jacobian
    torque = np.abs(np.einsum("nij,ni->nj", jacobian, wrenches))
    return np.asarray(torque.max(axis=0) > ROUNDING * model.size * np.abs(wrenches).max(initial=1e-300))


def moved_joints(candidates: CandidateSet, method: Measuring) -> Bools:
    """(n,) joints that move some marker."""
    rows = [6 if m.rows == 6 else 3 for m in method.markers]
    ways = (kinematics(candidates.model, candidates.poses.q, m.frame).jacobian for m in method.markers)
    lever = [np.abs(way[:, :r]).max(axis=(0, 1)) for r, way in zip(rows, ways, strict=True)]
    return np.asarray(np.max(lever, axis=0) > ROUNDING * candidates.model.size)
