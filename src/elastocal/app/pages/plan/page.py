"""A plan as a report: what to measure, what to expect of it, how good it is, and what the cell ruled out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elastocal.app.commands.plan import PlanResult
from elastocal.app.pages.calibrate.trust import budget_table
from elastocal.app.pages.plan.kinds import COUNTED, noun
from elastocal.app.pages.plan.pictures import curve, pictures
from elastocal.app.pages.plan.scene import scenes
from elastocal.app.pages.plan.tables import (
    LOST,
    curve_table,
    parameter_table,
    plan_table_of,
    quality_table,
    removal_table,
    task_table,
)
from elastocal.report.blocks import Block, Paragraphs, Report, Section

if TYPE_CHECKING:
    from elastocal.design.study import PlannedStudy

ON_SCREEN = ("The plan", "What to expect of every parameter", "What to expect at the task", "What the cell rules out")


def page(result: PlanResult) -> Report:
    found = result.planned
    sections = (
        Section("The plan", (plan_table_of(result),)),
        Section("Where the tool goes", (*scenes(result), *pictures(result))),
        Section("What to expect of every parameter", (parameter_table(result),)),
        Section("What to expect at the task", (task_table(result),)),
        Section(
            "Where the uncertainty would come from", () if result.budget is None else (budget_table(result.budget),)
        ),
        Section("How good the plan is", (quality_table(found), Paragraphs(_quality(found)))),
        Section(f"How many {noun(result)}", _many(result)),
        Section("What the cell rules out", (removal_table(found),)),
    )
    shown = tuple(s for s in sections if s.blocks)
    return Report(f"Plan: {result.name}", verdict(result), shown, result.notes, result.facts)


def verdict(result: PlanResult) -> tuple[str, ...]:
    import numpy as np

    found = result.planned
    errors, names = found.errors, found.problem.names
    share = (
        100
        * found.plan.known.sd[: len(names)]
        / np.abs(np.where(found.problem.values == 0, np.nan, found.problem.values))
    )
    lost = [n for n, s in zip(names, share, strict=True) if s > LOST]
    share[share > LOST] = np.nan
    known = np.any(np.isfinite(share))
    how = (
        f" to {np.nanmin(share):.2g} to {np.nanmax(share):.2g} % (worst: {names[int(np.nanargmax(share))]})"
        if known
        else ""
    )
    open_ = f"; not determined: {', '.join(lost)}" if lost else ""
    counted = COUNTED[result.task.measuring.counted]
    size = counted.factor * errors
    lines = [
        f"{len(result.candidates)} {noun(result)} out of {len(found.problem.candidates)} feasible candidates determine "
        f"{len(names) - len(lost)} parameters{how}{open_}.",
        f"{counted.sentence} at the test poses ({found.problem.tests.words}): "
        f"{np.sqrt(np.mean(size**2)):.3g} {counted.unit} rms, {size.max():.3g} {counted.unit} at the worst.",
        _efficient(found),
    ]
    if found.needed is not None:
        lines.append(
            f"{len(found.plan.chosen)} {noun(result)} are the smallest plan found that meets what is required."
        )
    saved = result.order.before - result.order.time
    if saved > 0:
        equal = "" if result.speeds_known else " (axes without a stated speed count with 1 rad/s or 1 m/s)"
        share_of_time = 100 * result.order.time / result.order.before
        changes = " with the changes of load" if result.task.loadings else ""
        lines.append(
            f"In this order the motion{changes} takes {share_of_time:.0f} % of the time "
            f"that it takes in the order in which the {noun(result)} were chosen{equal}."
        )
    return tuple(lines)


def _efficient(found: PlannedStudy) -> str:
    """By the criterion that the plan was made for, and by the determinant where that is another."""
    kind = found.problem.criterion.kind
    said = f"by the determinant at least {100 * found.by_determinant.efficiency:.1f} %"
    if found.certificate is found.by_determinant:
        return f"The plan is {said} efficient."
    if found.certificate is None:
        return f"The plan is {said} efficient; its own criterion ({kind}) has no bound to compare with."
    own = f"at least {100 * found.certificate.efficiency:.1f} % efficient by its own criterion ({kind})"
    return f"The plan is {own}, {said}."


def _quality(found: PlannedStudy) -> tuple[str, ...]:
    plan = found.plan
    drift = max(c.drift for c in plan.climbs)
    return (
        f"{sum(plan.agreed)} of {len(plan.climbs)} searches ended at the value of the best one; the matrices that are "
        f"updated drifted by at most {drift:.0e}.",
        "Efficiency compares with an upper bound of all plans of this size among these candidates: a best plan would "
        "need at least this share of the readings for the same criterion.",
    )


def _many(result: PlanResult) -> tuple[Block, ...]:
    found, what = result.planned, noun(result)
    out: list[Block] = []
    if found.curve:
        out += [curve_table(result), *curve(result)]
    if found.needed is not None:
        greedy = found.needed.greedy
        tried = ", ".join(f"{p.count} ({p.ratio:.2f})" for p in found.needed.tried)
        said = "more than were allowed" if greedy is None else str(greedy)
        out.append(Paragraphs((f"Plans compared, with their largest error in units of its limit: {tried}. "
                         f"{what.capitalize()} taken one by one without exchange would need {said}.",)))  # fmt: skip
    return tuple(out)
