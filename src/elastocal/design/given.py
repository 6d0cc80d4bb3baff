"""Poses that somebody has chosen, in place of a search: a plan that was changed by hand."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np

from elastocal.design.candidates import CandidateSet
from elastocal.design.feasibility.filter import Filter, LoadPossible, Removed
from elastocal.design.feasibility.reach import JointLimits
from elastocal.design.method import Measuring
from elastocal.design.poses import Poses
from elastocal.design.problem import possible, spread_tests
from elastocal.design.safety import safe_task
from elastocal.design.task import PlanTask
from elastocal.errors import ConflictError, InfeasibleError, UnsupportedError
from elastocal.measure.measured import Measured
from elastocal.spatial.entries import Array
from elastocal.values import dataclass

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
    _check(safe_task(made))
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


def _check(task: PlanTask) -> None:
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
