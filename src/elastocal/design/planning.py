"""The plan of a campaign: the best candidates of a task, or as few as meet what is required.

Poses that somebody has chosen, in place of a search, are a plan that was changed by hand.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING

import numpy as np

from elastocal.arguments import generator
from elastocal.design.candidates import CandidateSet, Poses
from elastocal.design.cell import Cell
from elastocal.design.certificate import certify
from elastocal.design.criteria.alphabetic import Determinant
from elastocal.design.criteria.test_pose import TestPose
from elastocal.design.exchange import SearchOptions, search
from elastocal.design.feasibility.filter import Filter, LoadPossible, Removed
from elastocal.design.feasibility.places import JointLimits
from elastocal.design.how_many import HowMany, Point, accuracy_curve, how_many
from elastocal.design.information import whole
from elastocal.design.loading import Loading
from elastocal.design.method import Measuring
from elastocal.design.problem import DesignProblem, design_problem, possible, spread_tests
from elastocal.design.result import Plan
from elastocal.design.safety import safe_task
from elastocal.design.task import Limits, PlanTask, TestPlan, placed_tests
from elastocal.errors import ConflictError, InfeasibleError, MissingError, RangeError, UnsupportedError
from elastocal.measure.measured import Measured
from elastocal.measure.sources.instrument import Reading
from elastocal.model.robot import Robot
from elastocal.model.statics.observation import Marker
from elastocal.spatial.entries import Array
from elastocal.spatial.threads import one_thread
from elastocal.values import dataclass

if TYPE_CHECKING:
    from concurrent.futures import Executor

FEW = 3
"""Searches at every size where sizes are compared."""
CLOSE, ROUGH = 1e-4, 0.02
"""Gap at which a bound is left alone; by priors, with many more unknowns than a plan settles, it closes slowly."""
CURVE = (0.4, 0.6, 0.8, 1.0, 1.5, 2.0, 3.0)
"""Sizes of the plans on the curve, as parts of the one asked for."""


@one_thread
def planned(
    task: PlanTask,
    *,
    tests: TestPlan | None = None,
    limits: Limits | None = None,
    most: int = 60,
    curve: bool = False,
    restarts: int = 10,
    seed: int = 1,
    speeds: Array | None = None,
    change: float | None = None,
    executor: Executor | None = None,
    progress: Callable[[int, int, str], None] | None = None,
) -> Plan:
    """The best plan found for a task, kept clear of what its safety asks for; arguments as of ``elastocal.plan``."""
    say, robot = progress or (lambda done, total, stage: None), task.model
    if task.prior is not None and set(task.weights) != {TestPose.kind}:
        raise ConflictError(
            f"criterion {', '.join(task.weights)}: poses for a calibration by priors are chosen by the error that it "
            f"leaves at test poses; leave the criterion out ({TestPose.kind}), or name the parameters that are sought",
            value=tuple(task.weights), parameter="criterion",
        )  # fmt: skip
    rng = generator("seed", seed)
    if tests is not None:
        if tests.wrenches is None and task.measuring.kind == "deflection":
            raise MissingError(
                "the test poses have no load, so that nothing bends; add columns such as fz_N, or force_N"
            )
        task = replace(task, tests=placed_tests(tests, robot, task.load_frame or robot.tool, rng))
    say(0, 3, "candidates that the cell allows")
    task = safe_task(task)
    watched = bool(task.cell.links) and task.safety is not None and task.measuring.kind != "contact"
    problem = design_problem(task, rng, ways=watched and bool(robot.n))
    say(1, 3, "search for the best poses")
    sizes = _sizes(problem) if curve else ()
    best = best_plan(problem, rng, limits=limits, most=most, counts=sizes, restarts=restarts, executor=executor)
    say(2, 3, "order of the poses")
    return replace(best, speeds=speeds, change=change)


def marker_task(
    robot: Robot, cell: Cell | None, loads: Sequence[Loading], markers: Sequence[str], noise: float
) -> PlanTask:
    """Deflections of markers (default the tool) under loads, their positions without; readings have sd ``noise``."""
    frames = ((markers,) if isinstance(markers, str) else tuple(markers)) or (robot.tool,)
    for frame in frames:
        robot.tree.frame(frame)
    if not noise > 0:
        raise RangeError("the noise must be positive; a reading without noise does not exist")
    kind = "deflection" if loads else "position"
    method = Measuring(kind, tuple(Marker(f) for f in frames), (Reading(sd=noise),))
    where = replace(cell or Cell(), markers=frames)
    return PlanTask(robot, method, None, (), tuple(loads), robot.tool, cell=where)


def best_plan(
    problem: DesignProblem,
    rng: np.random.Generator,
    *,
    limits: Limits | None = None,
    most: int = 60,
    counts: Sequence[int] = (),
    restarts: int = 10,
    executor: Executor | None = None,
) -> Plan:
    """The best plan found; with ``limits`` the smallest that meets them; ``counts`` give the curve."""
    task, rows, criterion = problem.task, problem.rows, problem.criterion
    options: SearchOptions = {"restarts": restarts, "executor": executor, "space": problem.space}
    few: SearchOptions = {**options, "restarts": min(restarts, FEW)}
    if (limits or counts) and any(load.poses is not None for load in task.loadings):
        raise ConflictError(
            "loads with poses of their own fix the size of the plan: it cannot be sought, nor is there a curve; leave "
            "those poses out",
            code="fixed-size",
        )
    needed, wish = None, problem.requirement(limits) if limits else None
    if wish is not None:
        needed = how_many(rows, criterion, wish, rng=rng, most=most, repeats=task.may_repeat, **few)
        _check_met(needed, problem, most)
    smallest = None if needed is None else needed.smallest
    rules = problem.rules(task.count if smallest is None else smallest.count)
    best = search(rows, criterion, rules, rng=rng, **options)
    if wish is not None and smallest is not None and not wish.ratio(best.known) <= 1:
        best = smallest.plan  # a better criterion, but not what is required
    if task.prior is not None:
        known = whole(rows, best.chosen)
        best = replace(best, known=known, gain=criterion.gain(known), value=criterion.value(known))
    curve: tuple[Point, ...] = ()
    if counts:
        curve = accuracy_curve(rows, criterion, counts, rng=rng, requirement=wish, repeats=task.may_repeat, **few)
    near = CLOSE if task.prior is None else ROUGH
    space = problem.space
    own = certify(rows, criterion, rules, best, tolerance=near, space=space) if criterion.certifiable else None
    by_d = own if criterion.kind == Determinant.kind else None
    if by_d is None and task.prior is None:
        d = Determinant()
        judged = replace(best, gain=d.gain(best.known), value=d.value(best.known))
        by_d = certify(rows, d, rules, judged, space=space)
    return Plan(problem, best, own, by_d, curve, needed)


def _sizes(problem: DesignProblem) -> tuple[int, ...]:
    """Of the plans on the curve."""
    open_ = problem.rows.parameters - len(problem.rows.prior_rows)
    least = max(0, -(-open_ // problem.rows.blocks.shape[1])) + 1
    most = 10**6 if problem.task.may_repeat else len(problem.candidates)
    return tuple(sorted({min(most, max(least, round(c * problem.task.count))) for c in CURVE}))


def _check_met(needed: HowMany, problem: DesignProblem, most: int) -> None:
    """Refuse where no number of poses meets what is required."""
    if needed.smallest is not None:
        return
    worst = min((p.ratio for p in needed.tried), default=float("nan"))
    allowed = most if problem.task.may_repeat else min(most, len(problem.candidates))
    raise InfeasibleError(
        f"{allowed} poses do not meet what is required (the largest error is still {worst:.3g} times its limit); "
        f"allow more {'poses' if allowed == most else 'candidates'} or repeats, larger loads, or require less",
        value=(allowed, worst),
    )


NEAR = 0.01
"""Share of a load by which the one of the plan file may differ from what the table says of it."""


@dataclass(frozen=True, eq=False)
class Given(Measuring):
    """Readings at ``q`` (m, n) under ``wrenches`` (m, 6) of the plan file's loads, and at nothing else."""

    q: Array = None  # type: ignore[assignment]
    wrenches: Array = None  # type: ignore[assignment]

    def choices(self, task: PlanTask, rng: np.random.Generator) -> tuple[CandidateSet, tuple[Removed, ...]]:
        options = tuple(o for load in task.loadings for o in load.options(task.model))
        every = CandidateSet.of(Poses(task.model, self.q), options, task.load_frame or task.model.tool)
        if not options:
            return every, ()
        off = np.linalg.norm(every.wrenches.reshape(len(self.q), -1, 6) - self.wrenches[:, None], axis=2)
        nearest = np.argmin(off, axis=1)
        for i, j in enumerate(nearest):
            if off[i, j] > NEAR * np.linalg.norm(self.wrenches[i]) + 0.1:
                message = f"pose {i + 1} has a load that the plan file does not offer; load it like another one"
                raise ConflictError(message, code="load", value=i + 1)
        return every.picked(np.arange(len(self.q)) * len(options) + nearest), ()


def given_task(task: PlanTask, planned: Measured, seed: int, *, tests: bool = True) -> PlanTask:
    """The task with the poses and loads of a planned campaign, each allowed by the cell.

    With ``tests`` the accuracy is judged where the search for a plan would judge it.
    """
    if type(task.measuring) is not Measuring:
        message = "poses are given for readings of markers only; plan contacts and sweeps by a search"
        raise UnsupportedError(message, code="measurement")
    q, wrenches = _poses(planned)
    own = {f.name: getattr(task.measuring, f.name) for f in fields(Measuring)}
    made = replace(task, measuring=Given(**own, q=q, wrenches=wrenches), count=len(q), may_repeat=False)
    _check_given(safe_task(made))
    if task.tests is not None or not tests:
        return made
    candidates, _ = possible(safe_task(task), np.random.default_rng(seed))
    return replace(made, tests=spread_tests(candidates, task.model.tool))


def _poses(planned: Measured) -> tuple[Array, Array]:
    """Joint values and wrenches, every pose once."""
    setup = getattr(planned.measurement, "where", None)
    if setup is None:
        raise UnsupportedError(f"a campaign of {planned.measurement.kind} has no markers", code="measurement")
    wrench = np.broadcast_to(setup.load.wrench, (len(setup.q), 6))
    _, first = np.unique(np.round(np.hstack([setup.q, wrench]), 9), axis=0, return_index=True)
    rows = np.sort(first)
    return setup.q[rows], wrench[rows]


def _check_given(task: PlanTask) -> None:
    """Refuse poses that the cell does not allow, by their numbers."""
    candidates, _ = task.measuring.choices(task, np.random.default_rng(0))
    filters: list[Filter] = [JointLimits(), *task.filters, *([LoadPossible()] if task.loadings else [])]
    notes = []
    for f in filters:
        bad = np.flatnonzero(~f.passes(candidates, task.cell)) + 1
        if len(bad):
            notes.append(f"{f.label} (pose {', '.join(map(str, bad[:8]))})")
    if notes:
        message = f"the cell does not allow what is given: {'; '.join(notes)}; change these poses"
        raise InfeasibleError(message, code="forbidden", value=notes)
