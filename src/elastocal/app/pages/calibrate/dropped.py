"""What an identification did not estimate, and why: the path of the reduction, what was dropped, what acts together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elastocal.app.pages.columns import or_reason
from elastocal.app.pages.reading_units import reading_unit
from elastocal.identifiability.groups import Group
from elastocal.report.blocks import Cell, Column, Table
from elastocal.report.display import concise

if TYPE_CHECKING:
    from elastocal.identifiability.groups import Groups
    from elastocal.study.whole import Study


def path_table(study: Study) -> Table:
    shown = reading_unit(study.fit.campaign.measurement)
    columns = (
        Column("stage", "stage"),
        Column("parameters", "unknowns"),
        Column("identifiable", "told apart"),
        Column("scatter", "residuals / noise", "", 3),
        Column(shown.key("left_out"), "pose left out", shown.unit, shown.decimals, digits=shown.digits),
        Column("action", "what it does"),
    )
    rows = tuple(
        (
            s.name,
            s.parameters,
            s.identifiable,
            or_reason(s.scatter, _SAME if s.name == "algebraic" else "no spare equations"),
            or_reason(shown.factor * s.left_out, _SAME if s.name == "algebraic" else _ALONE),
            s.action,
        )
        for s in study.identification.stages
    )
    notes = (
        "Unknowns count nuisances too. Pose left out: root mean square error, per axis, of predicting a pose that took "
        "no part in the fit. A model with more unknowns fits better and predicts worse: that is overfitting.",
    )
    return Table("path", "", columns, rows, notes)


_SAME = "the fit is that of the next row"
_ALONE = "a pose alone holds up a parameter, or nothing was measured twice"


def physical_table(study: Study) -> Table:
    """What symmetry and template took away: many, and all alike."""
    columns = (
        Column("place", "spring"),
        Column("stage", "stage"),
        Column("count", "count"),
        Column("elements", "elements"),
    )
    gone: dict[tuple[str, str], list[str]] = {}
    for d in study.identification.dropped:
        if d.stage not in _OWN:
            place, symbol = d.name.rsplit(".", 1)
            gone.setdefault((place, d.stage), []).append(symbol)
    rows = tuple((place, stage, len(names), " ".join(names)) for (place, stage), names in gone.items())
    notes = ("M1: equal to the mirrored element. M2: zero in the template of a beam along x.",)
    return Table("physical", "", columns, rows, notes)


_OWN = ("algebraic", "resolved", "M3")


def dropped_table(study: Study) -> Table:
    """What the readings do not give."""
    columns = (
        Column("parameter", "parameter"),
        Column("stage", "stage"),
        Column("group", "group before M3"),
        Column("concise", "estimate (sd)"),
        Column("unit", "unit"),
        Column("value", "estimate", shown=False),
        Column("sd", "sd", shown=False),
        Column("ratio", "value / sd", "", 2),
        Column("held_at", "held at", digits=4),
        Column("reason", "why it is not estimated"),
    )
    why = "not estimated on its own"
    units = {p.name: p.unit for p in study.identification.sought.parameters.rows}
    rows = tuple(
        (d.name, d.stage, _group(study, d.name), concise(d.value, d.sd), units[d.name], or_reason(d.value, why),
         or_reason(d.sd, why), or_reason(d.ratio, why), or_reason(d.held_at, "follows from the description"), d.reason)
        for d in study.identification.dropped
        if d.stage in _OWN
    )  # fmt: skip
    return Table("dropped", "", columns, rows, ("Held at: the value that the robot file gives, in the same unit.",))


def _group(study: Study, name: str) -> str:
    """Practical subgroup (G1+, G1~, G1-) before M3 of what was determined alone, else the theoretical group."""
    found = study.identification
    group = found.groups.group[found.groups.names.index(name)]
    kind = found.kinds.get(name)
    if kind is None:
        return str(group)
    return str(kind) if group is Group.IDENTIFIABLE else f"{group}{str(kind)[2:]}"


def combination_table(groups: Groups) -> Table:
    columns = (Column("subgroup", "subgroup"), Column("acts_as", "acts as"), Column("combination", "combination"))
    rows: list[tuple[Cell, ...]] = []
    for number, subgroup in enumerate(groups.subgroups, 1):
        for c in subgroup.combinations:
            rows.append((number, f"{len(subgroup.members)} as {len(subgroup.combinations)}", c.text()))
    notes = (
        "Parameters of a subgroup act only through these combinations. Kept are the actuated joints first, then the "
        "order of the robot file; the others are absorbed with the factor shown (SI units).",
    )
    return Table("combinations", "", columns, tuple(rows), notes)
