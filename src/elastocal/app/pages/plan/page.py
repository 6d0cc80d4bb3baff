"""A plan as a report: what to measure, what to expect of it, how good it is, and what the cell ruled out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from elastocal.app.configurations import axes_of
from elastocal.app.pages.calibrate.trust import budget_table
from elastocal.app.pages.plan.figures import COUNTED, curve, pictures, scenes
from elastocal.app.pages.plan.verdict import tiles, verdict
from elastocal.app.pages.result_columns import WRENCH_UNITS, axis_columns
from elastocal.report.blocks import Block, Cell, Column, Paragraphs, Report, Section, Table, Unknown
from elastocal.solve.summary import rms

if TYPE_CHECKING:
    from elastocal.app.commands.plan import ArcPlanResult, PlanResult
    from elastocal.design.result import ExpectedParameter, Plan


def page(result: PlanResult | ArcPlanResult) -> Report:
    from elastocal.app.commands.plan import ArcPlanResult
    from elastocal.app.pages.arc_plan import arcs_page

    return arcs_page(result) if isinstance(result, ArcPlanResult) else _page(result)


def _page(result: PlanResult) -> Report:
    plan = result.plan
    by_priors = plan.task.prior is not None
    sections = (
        Section("Poses and loads", scenes(plan)),
        Section("Plan", (plan_table_of(plan),)),
        Section("Tool positions", pictures(plan), folded=True),
        Section("Expected error by effect", (effect_table(plan),) if by_priors else ()),
        Section(
            "Expected accuracy of the parameters",
            (prior_table(plan) if by_priors else parameter_table(plan),),
            folded=by_priors,
        ),
        Section("Expected error at the test poses", (task_table(plan),)),
        Section("Uncertainty budget", () if plan.budget is None else (budget_table(plan.budget),)),
        Section("Efficiency", (quality_table(plan), Paragraphs(_quality(plan))), folded=True),
        Section(f"Number of {plan.task.measuring.noun}", _many(plan), folded=True),
        Section("Feasibility", (check_table(plan), removal_table(plan)), folded=True),
    )
    return Report(f"Plan: {result.name}", verdict(plan), sections, result.notes, result.facts, tiles=tiles(plan))


def _quality(plan: Plan) -> tuple[str, ...]:
    best = plan.selection
    return (
        f"{sum(best.agreed)} of {len(best.climbs)} searches ended at the value of the best one.",
        "Efficiency compares with an upper bound of all plans of this size among these candidates: a best plan would "
        "need at least this share of the readings for the same criterion.",
    )


def _many(plan: Plan) -> tuple[Block, ...]:
    what = plan.task.measuring.noun
    out: list[Block] = []
    if plan.curve:
        out += [curve_table(plan), *curve(plan)]
    if plan.needed is not None:
        greedy = plan.needed.greedy
        tried = ", ".join(f"{p.count} ({p.ratio:.2f})" for p in plan.needed.tried)
        message = "more than were allowed" if greedy is None else str(greedy)
        out.append(Paragraphs((f"Plans compared, with their largest error in units of its limit: {tried}. "
                         f"{what.capitalize()} taken one by one without exchange would need {message}.",)))  # fmt: skip
    return tuple(out)


def plan_table_of(plan: Plan) -> Table:
    """What is to be done, in the words of the kind of measurement."""
    makers = {"contact": contact_table, "joint_torque": sweep_table}
    return makers.get(plan.task.measuring.kind, plan_table)(plan)


def plan_table(plan: Plan) -> Table:
    candidates, axes, times = plan.chosen, axes_of(plan.task.model), plan.task.repeats
    shown = candidates.model.controller.to_controller(candidates.q) / axes.factors
    tool = 1e3 * candidates.poses.origin(candidates.model.tool)[candidates.at]
    notes = (f"In the order of the program; every pose is read {times} times.",) if times > 1 else ()
    return Table.of("plan", range(len(candidates)), {
        Column("pose", "pose"): lambda i: f"P{i + 1}",
        axis_columns(axes, 2, ""): lambda i: shown[i] + 0.0,
        Column("load", "load"): candidates.label,
        tuple(Column(f"{w}_{u}", "", shown=False) for w, u in WRENCH_UNITS.items()): lambda i: candidates.wrenches[i],
        tuple(Column(f"{c}_mm", f"tool {c}", "mm", 0, part=1) for c in "xyz"): lambda i: tool[i],
    }, *notes)  # fmt: skip


def parameter_table(plan: Plan) -> Table:
    """Parameters, then unknowns of the campaign: friction is sought too, others are estimated along."""
    sought, none = plan.task.measuring.errors_sought, Unknown("an error, not a parameter")

    def percent(p: ExpectedParameter) -> Cell:
        share: Cell = 100 * p.share if p.value else Unknown("its value is zero")
        return none if p.nuisance else share if p.determined else Unknown("not determined")

    return Table.of("parameters", plan.parameters, {
        Column("parameter", "parameter"): lambda p: p.name,
        Column("value", "value", digits=4, si=True): lambda p: none if p.nuisance else p.value,
        Column("sd", "standard deviation", digits=3, si=True): lambda p: p.sd,
        Column("percent", "accuracy", "%", digits=3): percent,
        Column("unit", "unit"): lambda p: "nuisance" if p.nuisance and not sought else p.unit,
    })  # fmt: skip


def prior_table(plan: Plan) -> Table:
    """Parameters of a calibration by priors: those that share an effect are known together, not one by one."""
    note = "Directions that readings cannot tell apart are settled by the priors: single values are no measurements."
    return Table.of("parameters", [p for p in plan.parameters if not p.nuisance], {
        Column("parameter", "parameter"): lambda p: p.name,
        Column("prior_sd", "prior", digits=3, si=True): lambda p: p.prior,
        Column("sd", "standard deviation", digits=3, si=True): lambda p: p.sd,
        Column("known_percent", "known by the readings", "%", digits=0): lambda p: 100 * p.known,
        Column("unit", "unit"): lambda p: p.unit,
    }, note)  # fmt: skip


def effect_table(plan: Plan) -> Table:
    """What every effect would do to an uncalibrated robot."""
    assert plan.uncalibrated is not None
    note = "By the prior of the effect alone, instrument and markers fitted to the nominal robot."
    return Table.of("effects", (*plan.effects, ("all", len(plan.problem.names), rms(plan.uncalibrated))), {
        Column("effect", "effect"): lambda e: e[0],
        Column("parameters", "parameters"): lambda e: e[1],
        Column("uncalibrated_um", f"RMS error {plan.before}", "um", 0): lambda e: 1e6 * e[2],
    }, note)  # fmt: skip


def task_table(plan: Plan) -> Table:
    counted = COUNTED[plan.task.measuring.counted]
    frame = f", frame {plan.problem.tests.frame}" if counted.unit == "mm" else ""
    note = (
        f"At {plan.problem.tests.words}{frame}: what the parameters' uncertainty leaves; "
        "errors of the model itself come on top."
    )
    errors = ("root mean square", plan.rms_error), ("median", plan.median_error), ("largest", float(plan.errors.max()))
    return Table.of("task", errors, {
        Column("what", "expected error after compensation"): lambda e: e[0],
        Column(f"error_{counted.key}", counted.what, counted.unit, 4): lambda e: counted.factor * e[1],
    }, note)  # fmt: skip


def quality_table(plan: Plan) -> Table:
    own = plan.certificate
    kind = plan.problem.criterion.kind
    none = Unknown("this criterion is not concave, so that there is no bound")
    rows: list[tuple[Cell, ...]] = []
    if kind != "d":
        efficiency: Cell = none if own is None else 100 * own.efficiency
        rows.append((kind, plan.selection.value, efficiency))
    by_d = plan.by_determinant
    if by_d is not None:
        from elastocal.design.criteria.alphabetic import Determinant

        rows.append(("d", Determinant().value(plan.selection.known), 100 * by_d.efficiency))
    columns = (
        Column("criterion", "criterion"),
        Column("value", "value", shown=False),
        Column("efficiency_percent", "at least this efficient", "%", 1),
    )
    return Table("quality", "", columns, tuple(rows))


def curve_table(plan: Plan) -> Table:
    counted, names = COUNTED[plan.task.measuring.counted], plan.problem.names
    errors, shares = counted.factor * np.array(plan.curve_errors), 100 * plan.curve_shares[:, :8]
    few = (f"The first 8 of {len(names)} parameters.",) if len(names) > 8 else ()
    return Table.of("curve", range(len(plan.curve)), {
        Column("poses", plan.task.measuring.noun): lambda i: plan.curve[i].count,
        Column(f"error_{counted.key}", "RMS error at the test poses", counted.unit, 4): lambda i: errors[i, 0],
        Column(f"largest_{counted.key}", "largest error", counted.unit, 4): lambda i: errors[i, 1],
        tuple(Column(f"{n}_percent", n, "%", 2) for n in names[:8]): lambda i: shares[i],
    }, *few, "Sizes that leave a parameter open are not listed.")  # fmt: skip


def check_table(plan: Plan) -> Table:
    return Table.of("checks", plan.checks, {
        Column("check", "safety of poses and ways"): lambda c: c.text,
        Column("code", "", shown=False): lambda c: c.code,
        Column("done", "checked"): lambda c: "yes" if c.done else "NO",
    })  # fmt: skip


def removal_table(plan: Plan) -> Table:
    what = {"contact": "one object, place and force", "joint_torque": "one sweep"}
    each = what.get(plan.problem.task.measuring.kind, "a configuration under one load")
    return Table.of("removed", plan.problem.steps, {
        Column("filter", "filter"): lambda s: s.label,
        Column("removed", "removed"): lambda s: s.removed,
        Column("left", "left"): lambda s: s.left,
    }, f"A candidate is {each}; each filter sees what those before it left.")  # fmt: skip


def contact_table(plan: Plan) -> Table:
    """Object, force and place, the way to press, and the joint values in contact."""
    from elastocal.design.touching import Touching

    candidates, axes, method = plan.chosen, axes_of(plan.task.model), plan.task.measuring
    assert isinstance(method, Touching)
    kind = method.readings(candidates)
    state = kind.touched(candidates.model)
    shown = candidates.model.controller.to_controller(candidates.q) / axes.factors
    notes = [
        f"In the order of the program; the arm starts {1e3 * method.standoff:g} mm in front of each place. Joint "
        "values are those of the robot as described: the force decides where it stops."
    ]
    if plan.task.repeats > 1:
        notes.append(f"Every contact is read {plan.task.repeats} times.")
    return Table.of("plan", range(len(candidates)), {
        Column("pose", "contact"): lambda i: f"P{i + 1}",
        Column("object", "object"): lambda i: method.surfaces[kind.touches.which[i]].name,
        Column("force_N", "force", "N", 3): lambda i: state.size[i],
        tuple(Column(f"{c}_mm", c, "mm", 2) for c in "xyz"): lambda i: 1e3 * state.point[i],
        tuple(Column(f"press_{c}", f"press {c}", "", 3) for c in "xyz"): lambda i: 0.0 - state.normal[i],
        axis_columns(axes, 4, "", part=1): lambda i: shown[i] + 0.0,
    }, *notes)  # fmt: skip


def sweep_table(plan: Plan) -> Table:
    """Which joint, from where to where, how fast, and where all axes are at the start."""
    from elastocal.design.sweeping import Sweeping

    candidates, axes, method = plan.chosen, axes_of(plan.task.model), plan.task.measuring
    assert isinstance(method, Sweeping)
    start = candidates.model.controller.to_controller(candidates.q) / axes.factors
    end = candidates.model.controller.to_controller(method.ends(candidates)) / axes.factors
    strokes = [method.stroke(candidates, i) for i in range(len(candidates))]

    def far(i: int) -> str:
        moved = np.flatnonzero(np.abs(end[i] - start[i]) > 1e-9)
        return ", ".join(f"{axes.names[j]} {end[i, j] + 0.0:.2f} {axes.units[j]}" for j in moved)

    notes = (
        "In the order of the program: axes at the start, and those that move at the other end.",
        f"Each way counts as {method.samples} independent readings of the moving joint"
        + (f", {plan.task.repeats} times." if plan.task.repeats > 1 else "."),
    )
    return Table.of("plan", range(len(candidates)), {
        Column("pose", "sweep"): lambda i: f"S{i + 1}",
        Column("joint", "joint"): lambda i: candidates.model.joints[strokes[i].joint],
        Column("speed_deg_s", "speed", "deg/s", 3): lambda i: np.degrees(strokes[i].speed),
        axis_columns(axes, 2, ""): lambda i: start[i] + 0.0,
        Column("to", "and back from"): far,
    }, *notes)  # fmt: skip
