"""Which poses and loads to measure, what to expect of them, and the files to do it with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from elastocal.app.planning.files import plan_files
from elastocal.app.planning.request import PlanRequest, limits_of, plan_file
from elastocal.app.planning.targets import check_plan_targets, check_unfilled
from elastocal.app.threads import one_thread
from elastocal.app.version import VERSION
from elastocal.app.workers import executor
from elastocal.errors import InputError
from elastocal.report.blocks import Fact

if TYPE_CHECKING:
    import numpy as np

    from elastocal.design.candidates import CandidateSet
    from elastocal.design.problem import DesignProblem
    from elastocal.design.route import Ordered
    from elastocal.design.study import PlannedStudy
    from elastocal.design.task import PlanTask
    from elastocal.files.plan.entry import PlanFile
    from elastocal.identify.budget import Budget

CURVE = (0.4, 0.6, 0.8, 1.0, 1.5, 2.0, 3.0)
"""Sizes of the plans on the curve, as parts of the one asked for."""
CHANGE = 300.0
"""Time in s that another load is taken to need where the plan file does not state it."""


@dataclass(frozen=True, eq=False)
class PlanResult:
    """``candidates`` are the poses in the order of the program; ``files`` are to be written.

    ``speeds_known``: the plan file states the speed of every axis.
    """

    name: str
    task: PlanTask
    planned: PlannedStudy
    candidates: CandidateSet
    order: Ordered
    speeds_known: bool
    budget: Budget | None
    files: dict[Path, str]
    facts: tuple[Fact, ...]
    notes: tuple[str, ...]


def run(request: PlanRequest, watch: Callable[[int, int], None] | None = None) -> PlanResult:
    import numpy as np

    from elastocal.design.problem import design_problem
    from elastocal.design.study import planned_study

    say = watch or (lambda done, total: None)
    file = plan_file(request)
    check_plan_targets(request.out, file.name, file.files)
    limits = limits_of(request.require, file.task.measuring.counted)
    rng = np.random.default_rng(request.seed)
    with one_thread(), executor(request.workers, request.cluster) as workers:
        task = _with_earlier(_with_tests(file, rng), file)
        say(0, 3)
        problem = design_problem(task, rng)
        say(1, 3)
        counts = _counts(problem) if request.curve else ()
        found = planned_study(
            problem, rng, limits=limits, most=request.most, counts=counts, restarts=request.restarts, executor=workers
        )
        say(2, 3)
        candidates, order = _ordered(found, file)
        budget = _budget(found, candidates)
    files, said = plan_files(request, file, found, candidates)
    check_unfilled(files)
    notes = (*file.notes, *_notes(problem), *_ways(candidates, task), *said)
    known = bool(np.all(np.isfinite(file.speeds)))
    return PlanResult(
        file.name, task, found, candidates, order, known, budget, files, _facts(request, file, task), notes
    )


def _with_tests(file: PlanFile, rng: np.random.Generator) -> PlanTask:
    from elastocal.design.task import placed_tests

    task = file.task
    if file.tests is None:
        return task
    if file.tests.wrenches is None and task.measuring.kind == "deflection":
        raise InputError("the test poses have no load, so that nothing bends; add columns such as fz_N, or force_N")
    return replace(task, tests=placed_tests(file.tests, task.model, task.load_frame or task.model.tool, rng))


def _with_earlier(task: PlanTask, file: PlanFile) -> PlanTask:
    """The information of earlier campaigns and calibrations that the plan file names."""
    from elastocal.app.planning.earlier import earlier

    words = () if file.located is None else file.located.data.get("earlier") or ()
    return earlier(task, (words,) if isinstance(words, str) else tuple(words), file.folder)


def _counts(problem: DesignProblem) -> tuple[int, ...]:
    least = -(-problem.rows.parameters // problem.rows.blocks.shape[1]) + 1
    most = 10**6 if problem.task.may_repeat else len(problem.candidates)
    return tuple(sorted({min(most, max(least, round(c * problem.task.count))) for c in CURVE}))


def _ordered(found: PlannedStudy, file: PlanFile) -> tuple[CandidateSet, Ordered]:
    """The chosen poses for short motion, those under one load together: changing a load takes minutes."""
    import numpy as np

    from elastocal.design.route import ordered

    chosen = found.chosen
    shown = chosen.model.controller.to_controller(found.problem.task.measuring.stops(chosen))
    usual = CHANGE if found.problem.task.loadings else 0.0
    change = usual if file.change is None else file.change
    order = ordered(shown, np.nan_to_num(file.speeds, nan=1.0), setup=chosen.option, change=change)
    return chosen.picked(order.order), order


def _budget(found: PlannedStudy, candidates: CandidateSet) -> Budget | None:
    """Where the uncertainty would come from, for a campaign of the plan."""
    from elastocal.design.observed import exact
    from elastocal.identify.expectation import expected

    task, method = found.problem.task, found.problem.task.measuring
    if len(method.sources) < 2:
        return None
    campaign = exact(method.readings(candidates), method.sources, task.model, method.measured(candidates))
    return expected(task.model, campaign, found.problem.names).budget


def _notes(problem: DesignProblem) -> tuple[str, ...]:
    out = []
    if problem.left_out:
        named = ", ".join(problem.left_out[:8]) + (" ..." if len(problem.left_out) > 8 else "")
        out.append(
            f"{len(problem.left_out)} parameters are not sought, because no candidate tells them apart from those that "
            f"are: {named}."
        )
    overlapping = _overlapping(problem)
    if overlapping:
        out.append(
            f"Not compared with one another, because their capsules overlap in every configuration: {overlapping}; "
            "give links of their own radii (links) where these could collide."
        )
    points = {o.point for o in problem.candidates.options} - {problem.candidates.frame}
    if points:
        out.append(
            f"Loads at {', '.join(sorted(points))} are written as their wrench at {problem.candidates.frame} of the "
            "unloaded arm; the turn of the bent arm changes it by a share of about that turn in rad"
            f"{_cure(points)}."
        )
    return (*out, *_heaviest(problem))


def _cure(points: set[str]) -> str:
    """All loads at one frame can be stated there."""
    return f" (load_frame: {next(iter(points))} states it where it acts)" if len(points) == 1 else ""


def _heaviest(problem: DesignProblem) -> tuple[str, ...]:
    """The largest force as a mass, with what is carried anyway, where no filter judges it."""
    import numpy as np

    from elastocal.design.feasibility.filter import PayloadLimit
    from elastocal.model.loads.payload import Payload

    model, judged = problem.task.model, any(isinstance(f, PayloadLimit) for f in problem.task.filters)
    g, sizes = float(np.linalg.norm(model.gravity)), np.linalg.norm(problem.candidates.wrenches[:, :3], axis=1)
    if judged or not g > 0 or not problem.task.loadings:
        return ()
    worst = int(np.argmax(sizes))
    carried = sum(e.mass for e in model.elements if isinstance(e, Payload))
    more = (
        f", with the {carried:g} kg that the robot carries anyway {sizes[worst] / g + carried:.3g} kg"
        if carried
        else ""
    )
    return (
        f"The largest load, {problem.candidates.label(worst)}, is {sizes[worst] / g:.3g} kg{more}; the rated payload "
        "is not known (feasible: - {kind: payload, most_kg: ...}), so it is not judged by it.",
    )


def _overlapping(problem: DesignProblem) -> str:
    from elastocal.design.feasibility.collision import SelfCollision, blurred

    if not any(f.kind == SelfCollision.kind for f in problem.task.filters):
        return ""
    return ", ".join(f"{a.label} and {b.label}" for a, b in blurred(problem.task.model, problem.task.cell.links))


def _ways(candidates: CandidateSet, task: PlanTask) -> tuple[str, ...]:
    """Moves of the program that would meet something."""
    from elastocal.app.planning.program import route
    from elastocal.design.candidates import CandidateSet
    from elastocal.design.poses import Poses
    from elastocal.design.route import blocked

    order = route(candidates, task.measuring.kind)
    between = CandidateSet.of(
        Poses(candidates.model, task.measuring.stops(candidates)[list(order)]), (), candidates.frame
    )
    letter = "S" if task.measuring.kind == "joint_torque" else "P"
    said = (
        f"The straight way of the joints from {letter}{order[i] + 1} to {letter}{order[i + 1] + 1} is not free "
        f"({label}): put a pose between them."
        for i, label in blocked(between, task.cell, task.filters)
    )
    return tuple(dict.fromkeys(said))


def _facts(request: PlanRequest, file: PlanFile, task: PlanTask) -> tuple[Fact, ...]:
    errors = tuple(s.label for s in task.measuring.sources)
    words = ", ".join(k if len(task.weights) == 1 else f"{w:g} {k}" for k, w in task.weights.items())
    return (
        VERSION,
        Fact("source", "plan file or robot", request.source, request.source),
        Fact("robot", "robot", file.robot, file.robot),
        Fact("criterion", "criterion", words, words),
        Fact("drawn", "configurations drawn", task.draw.count, str(task.draw.count)),
        Fact("errors", "errors counted", errors, "; ".join(errors) or "none stated: 10 um per number"),
        Fact("repeats", "readings of each pose", task.repeats, str(task.repeats)),
        Fact("seed", "seed", request.seed, str(request.seed)),
    )
