"""What a plan can tell, as a report; of a plan of contacts also the cheapest change that lets it tell more."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from elastocal.app.commands.assess import AssessResult
from elastocal.app.pages.calibrate.reduction import combination_table
from elastocal.app.pages.calibrate.trust import budget_table
from elastocal.app.pages.result_columns import or_reason
from elastocal.quantities import listed
from elastocal.report.blocks import Cell, Column, Paragraphs, Report, Section, Table, Unknown
from elastocal.solve.identifiability import Expectation, Group, Practical

if TYPE_CHECKING:
    from elastocal.model.parameters import Parameter
    from elastocal.procedures.contact.repair import Repair, RepairOption


_NOT_KEPT = "not separately identifiable from others; see the combination of the parameter that absorbs it"
_TOGETHER = "not separated from others at this plan"
_UNOBSERVABLE = "nothing that is measured depends on it"


def page(result: AssessResult) -> Report:
    g, several = result.assessment.expected.groups, len(result.assessment.expected.budget.sources) > 1
    sections = (
        Section("Plan", (Paragraphs(_plan(result)),)),
        Section("Parameters", (table(result),)),
        Section("Proposed changes", changes(result)),
        Section("Uncertainty budget", (budget_table(result.assessment.expected.budget),) if several else ()),
        Section(
            "Not separately identifiable",
            (combination_table(result.assessment.expected.groups),) if g.subgroups else (),
        ),
    )
    title = f"Assessment of a plan for {result.assessment.robot.name}"
    return Report(title, verdict(result), sections, result.notes, result.facts)


def verdict(result: AssessResult) -> tuple[str, ...]:
    assessment, g = result.assessment, result.assessment.expected.groups
    practical = {kind: len(each) for kind, each in assessment.practical.items()}
    lines = [
        f"{_counted(len(g.names), len(assessment.nuisances))}: the plan determines {g.rank.rank} combinations of them "
        f"({g.count(Group.IDENTIFIABLE)} alone, {g.count(Group.COMBINED)} only together, "
        f"{len(assessment.unobservable)} not at all)."
    ]
    if result.repair is None:
        lines.append(
            f"At this noise {practical[Practical.IDENTIFIABLE]} of these are identifiable in practice (G1+), "
            f"{practical[Practical.HARDLY]} barely (G1~), {practical[Practical.NOT]} not (G1-)."
        )
    lines += [w.text for w in assessment.warnings]
    return (*lines, *repair_verdict(result))


def _counted(unknowns: int, nuisances: int) -> str:
    """Nuisances take part in what can be told apart."""
    if not nuisances:
        return f"{unknowns} parameters"
    return f"{unknowns - nuisances} parameters and {nuisances} nuisance{'s' * (nuisances > 1)}"


def _plan(result: AssessResult) -> tuple[str, ...]:
    if result.repair is not None:
        return plan_paragraphs(result)
    setup = result.assessment.campaign.measurement.setup
    frames = ", ".join(f"{m.frame} ({m.what})" for m in setup.markers)
    return (
        f"{setup.count} readings, {result.assessment.expected.equations} equations, markers: {frames}.",
        f"Load: {result.load_text}.",
        result.noise_text,
        "Compliances alone are judged by the linear model: deflection = sum of J k J^T W (Klimchik et al. 2013, IMECE, "
        "eq. 8).",
    )


def table(result: AssessResult) -> Table:
    """Of contacts the accuracy before and after a repair."""
    if result.repair is not None:
        return accuracy_table(result.repair)
    whole = result.assessment.expected
    expected = {e.name: e for e in whole.expectations}
    note = "G3 with a value: kept for its subgroup; value and accuracy are those of the combination below."
    return Table.of("parameters", zip(whole.parameters, whole.groups.group, strict=True), {
        Column("parameter", "parameter"): lambda p: p[0].name,
        (
            Column("group", "group"), Column("value", "value", digits=4, si=True),
            Column("sd", "standard deviation", digits=3, si=True), Column("percent", "accuracy", "%", 2),
            Column("unit", "unit"), Column("ratio", "value / noise", "", 1),
        ): lambda p: _cells(*p, expected.get(p[0].name)),
    }, note)  # fmt: skip


def _cells(p: Parameter, group: Group, e: Expectation | None) -> tuple[Cell, ...]:
    if e is None:
        why = Unknown(_UNOBSERVABLE if group is Group.UNOBSERVABLE else _NOT_KEPT)
        return str(group), p.value, why, why, p.unit, why
    if p.kind == "nuisance":
        none = Unknown("an error, not a parameter")
        return "nuisance", none, e.sd, none, p.unit, none
    label = str(e.group) if group is Group.IDENTIFIABLE else f"{group}{str(e.group)[2:]}"
    return label, e.value, e.sd, 100 / e.ratio if e.ratio > 0.01 else Unknown("far below the noise"), p.unit, e.ratio


def plan_paragraphs(result: AssessResult) -> tuple[str, ...]:
    from elastocal.measure.contacts import contacts_of

    kind, repair = contacts_of(result.assessment.campaign.measurement), result.repair
    assert repair is not None
    sizes = sorted({round(float(s), 6) for s in repair.options[0].plan.sizes})
    forces = ", ".join(f"{s:.4g}" for s in sizes[:6]) + (" ..." if len(sizes) > 6 else "")
    used = ", ".join(s.label for i, s in enumerate(kind.touches.surfaces) if i in set(kind.touches.which))
    return (
        f"{kind.count} contacts of {kind.touches.frame} with {used}; {result.assessment.expected.equations} equations.",
        f"Forces: {forces} N.",
        result.noise_text,
    )


def changes(result: AssessResult) -> tuple[Table, ...]:
    """Nothing for plans of other measurements, and for those that need no repair."""
    if result.repair is None or result.repair.chosen is None:
        return ()
    return (change_table(result, result.repair.chosen),)


def repair_verdict(result: AssessResult) -> tuple[str, ...]:
    from elastocal.procedures.contact.calibrate import combinations

    repair = result.repair
    if repair is None:
        return ()
    now = repair.options[0].accuracy
    units = {p.name: p.unit for p in result.assessment.expected.parameters}
    good = now.resolved(repair.threshold)
    lines = [
        f"{int(good.sum())} of {len(good)} parameters are resolved by the plan as it is: their standard deviation is "
        f"at most their size / {repair.threshold:g}."
    ]
    lines += [f"NOT SEPARABLE: {text}; they cannot be told apart." for text in combinations(now.groups, units)]
    if repair.chosen is None:
        return tuple(lines)
    change, verb = f"{repair.chosen.title}{_levels(repair)}", "is" if len(repair.unresolved) == 1 else "are"
    if not repair.unresolved:
        return (*lines, f"REPAIR: {change}.")
    return (
        *lines,
        f"NO REPAIR FOUND: neither a second force nor more contacts between these resolve everything; after {change}, "
        f"the last that was tried, {listed(repair.unresolved)} {verb} still above size / {repair.threshold:g}. Lower "
        "the noise, touch other objects or places, or seek fewer parameters.",
    )


def _levels(repair: Repair) -> str:
    chosen = repair.chosen
    assert chosen is not None
    levels = sorted({round(float(s), 6) for s in chosen.plan.sizes})
    return f" ({' and '.join(f'{s:.4g} N' for s in levels)})" if len(levels) <= 3 else ""


def accuracy_table(repair: Repair) -> Table:
    """Standard deviations by option."""
    first, sds = repair.options[0].accuracy, np.array([o.accuracy.sd for o in repair.options])
    notes = (
        "Size: the larger of a parameter's value and of a change that matters in practice (nominal backlash is 0). "
        f"Resolved is an sd of at most size / {repair.threshold:g}.",
        "Changes are tried from cheap to dear and the first that resolves everything is proposed: half the force on as "
        "few contacts as resolve what is not separable, then on every second contact, then more contacts between them.",
    )
    return Table.of("parameters", range(len(first.names)), {
        Column("parameter", "parameter"): lambda i: first.names[i],
        Column("unit", "unit"): lambda i: first.units[i],
        Column("size", "size", digits=3, si=True): lambda i: first.size[i],
        tuple(Column(f"sd_{i}", f"sd, {o.title}", digits=3, si=True) for i, o in enumerate(repair.options)):
            lambda i: (or_reason(sd, _TOGETHER) for sd in sds[:, i]),
    }, *notes)  # fmt: skip


def change_table(result: AssessResult, option: RepairOption) -> Table:
    """Rows of the plan that press with another force, and new contacts."""
    repair = result.repair
    assert repair is not None
    places = result.assessment.campaign.places or tuple(
        f"contact {i + 1}" for i in range(result.assessment.campaign.measurement.count)
    )
    plan, origin, before = option.plan, option.origin, repair.options[0].plan.sizes
    rows = [i for i, o in enumerate(origin) if o < 0 or plan.sizes[i] != before[o]]
    return Table.of("changes", rows, {
        Column("place", "contact"): lambda i: "new" if origin[i] < 0 else places[repair.rows[origin[i]]],
        Column("object", "object"): lambda i: plan.touches.surfaces[plan.touches.which[i]].name,
        tuple(Column(f"{a}_mm", a, "mm", 1, "place") for a in "xyz"): lambda i: 1e3 * plan.points[i],
        Column("force_N", "force", "N", digits=4): lambda i: plan.sizes[i],
    }, title=option.title)  # fmt: skip
