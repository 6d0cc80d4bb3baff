"""What a plan can tell, as a report."""

from __future__ import annotations

from elastocal.app.commands.assess import AssessResult
from elastocal.app.pages.assess import contacts as assess_contacts
from elastocal.app.pages.calibrate.reduction import combination_table
from elastocal.app.pages.calibrate.trust import budget_table
from elastocal.identifiability.groups import Group
from elastocal.identifiability.practical import Practical
from elastocal.report.blocks import Cell, Column, Paragraphs, Report, Section, Table, Unknown

_NOT_KEPT = "acts only together with others; see the combination of the parameter that absorbs it"
_SILENT = "nothing that is measured depends on it"


def page(result: AssessResult) -> Report:
    g, several = result.expected.groups, len(result.expected.budget.sources) > 1
    sections = (
        Section("The plan", (Paragraphs(_plan(result)),)),
        Section("Parameters", (parameter_table(result),)),
        Section("What to change", assess_contacts.changes(result)),
        Section("Where the uncertainty would come from", (budget_table(result.expected.budget),) if several else ()),
        Section("What acts together", (combination_table(result.expected.groups),) if g.subgroups else ()),
    )
    title = f"What the plan tells about {result.model.name}"
    return Report(title, verdict(result), tuple(s for s in sections if s.blocks), result.notes, result.facts)


def verdict(result: AssessResult) -> tuple[str, ...]:
    g = result.expected.groups
    nuisances = {p.name for p in result.expected.parameters if p.kind == "nuisance"}
    own = [e for e in result.expected.expectations if e.name not in nuisances]
    found = {kind: [e for e in own if e.group is kind] for kind in Practical}
    lines = [
        f"{_counted(len(g.names), len(nuisances))}: the plan determines {g.rank.rank} combinations of them "
        f"({g.count(Group.IDENTIFIABLE)} alone, {g.count(Group.COMBINED)} only together, "
        f"{g.count(Group.SILENT)} not at all).",
    ]
    if result.repair is None:
        lines.append(
            f"At this noise {len(found[Practical.IDENTIFIABLE])} are identifiable in practice (G1+), "
            f"{len(found[Practical.HARDLY])} hardly (G1~), {len(found[Practical.NOT])} are lost in it (G1-)."
        )
    if result.expected.lost:
        lines.append(
            f"NO STATE: {result.expected.lost} readings of the plan have no determined loaded state (a load that the "
            "arm cannot hold, or backlash without force); they would be lost."
        )
    if not g.rank.clear:
        lines.append(
            f"The rank is not clear-cut: the singular values fall by a factor of only {g.rank.gap:.0f} there; "
            "add configurations that differ more."
        )
    if result.expected.equations < len(g.names):
        lines.append(
            f"{result.expected.equations} equations for {len(g.names)} parameters: add configurations or markers."
        )
    if g.count(Group.SILENT):
        silent = [n for n, kind in zip(g.names, g.group, strict=True) if kind is Group.SILENT]
        lines.append(
            f"Not seen at all: {', '.join(silent[:8])}{' ...' if len(silent) > 8 else ''}; load other directions."
        )
    return (*lines, *assess_contacts.repair_verdict(result))


def _counted(unknowns: int, nuisances: int) -> str:
    """Nuisances take part in what can be told apart."""
    if not nuisances:
        return f"{unknowns} parameters"
    return f"{unknowns - nuisances} parameters and {nuisances} nuisance{'s' * (nuisances > 1)}"


def _plan(result: AssessResult) -> tuple[str, ...]:
    if result.repair is not None:
        return assess_contacts.plan_paragraphs(result)
    setup = result.campaign.measurement.setup
    frames = ", ".join(f"{m.frame} ({m.what})" for m in setup.markers)
    return (
        f"{setup.count} readings, {result.expected.equations} equations, markers: {frames}.",
        f"Load: {result.load_text}.",
        result.noise_text,
        "Compliances alone are judged by the linear model: deflection = sum of J k J^T W (Klimchik et al. 2013, IMECE, "
        "eq. 8).",
    )


def parameter_table(result: AssessResult) -> Table:
    """Of contacts the accuracy before and after a repair."""
    if result.repair is not None:
        return assess_contacts.accuracy_table(result.repair)
    columns = (
        Column("parameter", "parameter"),
        Column("group", "group"),
        Column("value", "value", digits=4),
        Column("sd", "standard deviation", digits=3),
        Column("percent", "accuracy", "%", 2),
        Column("unit", "unit"),
        Column("ratio", "value / noise", "", 1),
    )
    expected = {e.name: e for e in result.expected.expectations}
    rows: list[tuple[Cell, ...]] = []
    for p, group in zip(result.expected.parameters, result.expected.groups.group, strict=True):
        e = expected.get(p.name)
        if e is not None and p.kind == "nuisance":
            none = Unknown("an error, not a parameter")
            rows.append((p.name, "nuisance", none, e.sd, none, p.unit, none))
            continue
        if e is None:
            why = Unknown(_SILENT if group is Group.SILENT else _NOT_KEPT)
            rows.append((p.name, str(group), p.value, why, why, p.unit, why))
            continue
        label = str(e.group) if group is Group.IDENTIFIABLE else f"{group}{str(e.group)[2:]}"
        percent: Cell = 100 / e.ratio if e.ratio > 0.01 else Unknown("far below the noise")
        rows.append((p.name, label, e.value, e.sd, percent, p.unit, e.ratio))
    notes = ("G3 with a value: kept for its subgroup; value and accuracy are those of the combination below.",)
    return Table("parameters", "", columns, tuple(rows), notes)
