"""Tables of a plan: what to measure, what to expect of it, how good it is, and what the cell ruled out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elastocal.app.commands.plan import PlanResult
from elastocal.app.configurations import axes_of
from elastocal.app.pages.plan.kinds import COUNTED, contact_table, noun, sweep_table
from elastocal.report.blocks import Cell, Column, Table, Unknown

if TYPE_CHECKING:
    from elastocal.design.study import PlannedStudy

LOST = 1e4
"""Per cent of its value beyond which a parameter is not determined."""


def plan_table_of(result: PlanResult) -> Table:
    """What is to be done, in the words of the kind of measurement."""
    makers = {"contact": contact_table, "joint_torque": sweep_table}
    return makers.get(result.task.measuring.kind, plan_table)(result)


def plan_table(result: PlanResult) -> Table:
    candidates, axes = result.candidates, axes_of(result.task.model)
    shown = candidates.model.controller.to_controller(candidates.q) / axes.factors
    units = [(a, u) for a, u in zip(axes.names, axes.units, strict=True)]
    columns = (
        Column("pose", "pose"),
        *(Column(f"{a}_{u}", a, u, 2) for a, u in units),
        Column("load", "load"),
        *(Column(f"{w}_{'N' if w[0] == 'f' else 'Nm'}", "", shown=False) for w in ("fx", "fy", "fz", "mx", "my", "mz")),
        *(Column(f"{c}_mm", f"tool {c}", "mm", 0, part=1) for c in "xyz"),
    )
    at = 1e3 * candidates.poses.origin(candidates.model.tool)[candidates.at]
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (f"P{i + 1}", *(float(v) + 0.0 for v in shown[i]), candidates.label(i),
         *(float(v) for v in candidates.wrenches[i]), *(float(v) for v in at[i]))
        for i in range(len(candidates))
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
    found, problem, method = result.planned, result.planned.problem, result.task.measuring
    table, kind = problem.task.model.parameters, method.readings(result.candidates)
    units = {u.name: u.unit for s in method.sources if s.common for u in s.unknowns(kind, problem.task.model)}
    rows: list[tuple[Cell, ...]] = []
    for i, name in enumerate(problem.rows.names):
        sd = float(found.plan.known.sd[i])
        if i >= len(problem.names):
            none = Unknown("an error, not a parameter")
            rows.append((name, none, sd, none, units[name] if method.errors_sought else "nuisance"))
            continue
        value = float(problem.values[i])
        percent: Cell = 100 * sd / abs(value) if value else Unknown("its value is zero")
        if value and 100 * sd / abs(value) > LOST:
            percent = Unknown("not determined")
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
    frame = f", frame {found.problem.tests.frame}" if counted.unit == "mm" else ""
    note = (
        f"At {found.problem.tests.words}{frame}: what the parameters' uncertainty leaves; "
        "errors of the model itself come on top."
    )
    return Table("task", "", columns, rows, (note,))


def quality_table(found: PlannedStudy) -> Table:
    own = found.certificate
    kind = found.problem.criterion.kind
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


def curve_table(result: PlanResult) -> Table:
    import numpy as np

    found, counted = result.planned, COUNTED[result.task.measuring.counted]
    names = found.problem.names
    columns = (
        Column("poses", noun(result)),
        Column(f"error_{counted.key}", "rms error at the test poses", counted.unit, 4),
        Column(f"largest_{counted.key}", "largest error", counted.unit, 4),
        *(Column(f"{n}_percent", n, "%", 2) for n in names[:8]),
    )
    size = np.where(found.problem.values == 0, np.nan, np.abs(found.problem.values))
    rows = []
    for point in found.curve:
        errors = counted.factor * found.problem.errors(point.plan.known)
        share = 100 * point.sd[: len(names)] / size
        rows.append((point.count, float(np.sqrt(np.mean(errors**2))), float(errors.max()), *map(float, share[:8])))
    few = (f"The first 8 of {len(names)} parameters.",) if len(names) > 8 else ()
    notes = (*few, "Sizes that leave a parameter open are not listed.")
    return Table("curve", "", columns, tuple(rows), notes)


def removal_table(found: PlannedStudy) -> Table:
    columns = (Column("filter", "filter"), Column("removed", "removed"), Column("left", "left"))
    rows = tuple((s.label, s.removed, s.left) for s in found.problem.steps)
    what = {"contact": "one object, place and force", "joint_torque": "one sweep"}
    each = what.get(found.problem.task.measuring.kind, "a configuration under one load")
    note = f"A candidate is {each}; each filter sees what those before it left."
    return Table("removed", "", columns, rows, (note,))
