"""Which poses and loads to measure, what to expect of them, and the files to do it with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from elastocal.app.inputs import VERSION
from elastocal.app.planning.files import check_plan_targets, check_unfilled, plan_files
from elastocal.app.planning.request import PlanRequest, limits_of, plan_file
from elastocal.app.workers import executor, one_thread
from elastocal.report.blocks import Fact

if TYPE_CHECKING:
    from elastocal.design.result import Plan
    from elastocal.design.task import PlanTask
    from elastocal.files.plan.file import PlanFile


@dataclass(frozen=True, eq=False)
class PlanResult:
    """``files`` are to be written; ``notes`` are the plan's warnings and what its files say of themselves."""

    name: str
    plan: Plan
    files: dict[Path, str]
    facts: tuple[Fact, ...]
    notes: tuple[str, ...]


def run(request: PlanRequest, watch: Callable[[int, int], None] | None = None) -> PlanResult:
    from elastocal.design.planning import plan

    file = plan_file(request)
    check_plan_targets(request.out, file.name, file.files)
    limits = limits_of(request.require, file.task.measuring.counted)
    with one_thread(), executor(request.workers, request.cluster) as workers:
        found = plan(
            file.task.model, file.task, tests=file.tests, limits=limits, most=request.most, curve=request.curve,
            restarts=request.restarts, seed=request.seed, speeds=file.speeds, change=file.change, executor=workers,
            progress=watch,
        )  # fmt: skip
        warnings = tuple(w.text for w in found.warnings)
        files, said = plan_files(request, file, found)
    check_unfilled(files)
    return PlanResult(file.name, found, files, _facts(request, file, found.task), (*file.notes, *warnings, *said))


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
