"""A plan as a report: what to measure, what to expect of it, how good it is, and what the cell ruled out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elastocal.app.commands.plan import PlanResult
from elastocal.app.configurations import axes_of
from elastocal.app.pages.identify.judgement import budget_table
from elastocal.app.pages.plan.kinds import COUNTED, contact_table, noun, sweep_table
from elastocal.app.pages.plan.pictures import curve, pictures
from elastocal.app.pages.plan.scene import scenes
from elastocal.report.blocks import Block, Cell, Column, Paragraphs, Report, Section, Table, Unknown

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
    errors, names = found.errors, found.offer.observed.names
    share = (
        100 * found.plan.known.sd[: len(names)] / np.abs(np.where(found.offer.values == 0, np.nan, found.offer.values))
    )
    known = np.any(np.isfinite(share))
    how = (
        f" to {np.nanmin(share):.2g} to {np.nanmax(share):.2g} % (worst: {names[int(np.nanargmax(share))]})"
        if known
        else ""
    )
    counted = COUNTED[result.task.measuring.counted]
    size = counted.factor * errors
    lines = [
        f"{len(result.pool)} {noun(result)} out of {len(found.offer.pool)} feasible candidates determine {len(names)} "
        f"parameters{how}.",
        f"{counted.sentence} at the test poses ({found.offer.tests.words}): "
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
        lines.append(
            f"In this order the motion takes {100 * result.order.time / result.order.before:.0f} % of the time that it "
            f"takes in the order in which the {noun(result)} were chosen{equal}."
        )
    return tuple(lines)


def _efficient(found: PlannedStudy) -> str:
    """By the criterion that the plan was made for, and by the determinant where that is another."""
    kind = found.offer.criterion.kind
    said = f"by the determinant at least {100 * found.by_determinant.efficiency:.1f} %"
    if found.certificate is found.by_determinant:
        return f"The plan is {said} efficient."
    if found.certificate is None:
        return f"The plan is {said} efficient; its own criterion ({kind}) has no bound to compare with."
    own = f"at least {100 * found.certificate.efficiency:.1f} % efficient by its own criterion ({kind})"
    return f"The plan is {own}, {said}."


def plan_table_of(result: PlanResult) -> Table:
    """What is to be done, in the words of the kind of measurement."""
    makers = {"contact": contact_table, "joint_torque": sweep_table}
    return makers.get(result.task.measuring.kind, plan_table)(result)


def plan_table(result: PlanResult) -> Table:
    pool, axes = result.pool, axes_of(result.task.model)
    shown = pool.model.controller.to_controller(pool.q) / axes.factors
    units = [(a, u) for a, u in zip(axes.names, axes.units, strict=True)]
    columns = (
        Column("pose", "pose"),
        *(Column(f"{a}_{u}", a, u, 2) for a, u in units),
        Column("load", "load"),
        *(Column(f"{w}_{'N' if w[0] == 'f' else 'Nm'}", "", shown=False) for w in ("fx", "fy", "fz", "mx", "my", "mz")),
        *(Column(f"{c}_mm", f"tool {c}", "mm", 0, part=1) for c in "xyz"),
    )
    at = 1e3 * pool.poses.origin(pool.model.tool)[pool.at]
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (f"P{i + 1}", *(float(v) + 0.0 for v in shown[i]), pool.label(i), *(float(v) for v in pool.wrenches[i]),
         *(float(v) for v in at[i]))
        for i in range(len(pool))
    )  # fmt: skip
    times = result.task.repeats
    notes = (f"In the order of the program; every pose is read {times} times.",) if times > 1 else ()
    return Table("plan", "", columns, rows, notes)


def parameter_table(result: PlanResult) -> Table:
    """Parameters, then unknowns of the campaign: friction is sought too, others are estimated along."""
    columns = (
        Column("parameter", "parameter"),
        Column("value", "value", digits=4),
        Column("sd", "standard deviation", digits=3),
        Column("percent", "accuracy", "%", 2),
        Column("unit", "unit"),
    )
    found, offer, method = result.planned, result.planned.offer, result.task.measuring
    table, kind = offer.task.model.parameters, method.readings(result.pool)
    units = {u.name: u.unit for s in method.sources if s.common for u in s.unknowns(kind, offer.task.model)}
    rows: list[tuple[Cell, ...]] = []
    for i, name in enumerate(offer.candidates.names):
        sd = float(found.plan.known.sd[i])
        if i >= len(offer.observed.names):
            none = Unknown("an error, not a parameter")
            rows.append((name, none, sd, none, units[name] if method.errors_sought else "nuisance"))
            continue
        value = float(offer.values[i])
        percent: Cell = 100 * sd / abs(value) if value else Unknown("its value is zero")
        rows.append((name, value, sd, percent, table.rows[table.index(name)].unit))
    return Table("parameters", "", columns, tuple(rows))


def task_table(result: PlanResult) -> Table:
    import numpy as np

    found, counted = result.planned, COUNTED[result.task.measuring.counted]
    errors = counted.factor * found.errors
    rows: tuple[tuple[Cell, ...], ...] = (
        ("root mean square", float(np.sqrt(np.mean(errors**2)))),
        ("median", float(np.median(errors))),
        ("largest", float(errors.max())),
    )
    columns = (
        Column("what", "expected error afterwards"),
        Column(f"error_{counted.key}", counted.what, counted.unit, 4),
    )
    frame = f", frame {found.offer.tests.frame}" if counted.unit == "mm" else ""
    note = (
        f"At {found.offer.tests.words}{frame}: what the parameters' uncertainty leaves; "
        "errors of the model itself come on top."
    )
    return Table("task", "", columns, rows, (note,))


def quality_table(found: PlannedStudy) -> Table:
    own = found.certificate
    kind = found.offer.criterion.kind
    none = Unknown("this criterion is not concave, so that there is no bound")
    rows: list[tuple[Cell, ...]] = []
    if kind != "d":
        efficiency: Cell = none if own is None else 100 * own.efficiency
        rows.append((kind, found.plan.value, efficiency))
    by_d = found.by_determinant
    from elastocal.design.criteria.d import Determinant

    rows.append(("d", Determinant().value(found.plan.known), 100 * by_d.efficiency))
    columns = (
        Column("criterion", "criterion"),
        Column("value", "value", digits=5),
        Column("efficiency_percent", "at least this efficient", "%", 1),
    )
    return Table("quality", "", columns, tuple(rows))


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


def curve_table(result: PlanResult) -> Table:
    import numpy as np

    found, counted = result.planned, COUNTED[result.task.measuring.counted]
    names = found.offer.observed.names
    columns = (
        Column("poses", noun(result)),
        Column(f"error_{counted.key}", "rms error at the test poses", counted.unit, 4),
        Column(f"largest_{counted.key}", "largest error", counted.unit, 4),
        *(Column(f"{n}_percent", n, "%", 2) for n in names[:8]),
    )
    size = np.where(found.offer.values == 0, np.nan, np.abs(found.offer.values))
    rows = []
    for point in found.curve:
        errors = counted.factor * found.offer.errors(point.plan.known)
        share = 100 * point.sd[: len(names)] / size
        rows.append((point.count, float(np.sqrt(np.mean(errors**2))), float(errors.max()), *map(float, share[:8])))
    few = (f"The first 8 of {len(names)} parameters.",) if len(names) > 8 else ()
    notes = (*few, "Sizes that leave a parameter open are not listed.")
    return Table("curve", "", columns, tuple(rows), notes)


def removal_table(found: PlannedStudy) -> Table:
    columns = (Column("filter", "filter"), Column("removed", "removed"), Column("left", "left"))
    rows = tuple((s.label, s.removed, s.left) for s in found.offer.steps)
    what = {"contact": "one object, place and force", "joint_torque": "one sweep"}
    each = what.get(found.offer.task.measuring.kind, "a configuration under one load")
    note = f"A candidate is {each}; each filter sees what those before it left."
    return Table("removed", "", columns, rows, (note,))
