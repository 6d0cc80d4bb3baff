"""From everything sought to what the data support: the path of the reduction, what was dropped, what is not separately
identifiable, and elements of springs that are derived.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from elastocal.app.pages.result_columns import or_reason
from elastocal.measure.kind import reading_unit
from elastocal.report.blocks import Cell, Column, Table
from elastocal.solve.identifiability import Group

if TYPE_CHECKING:
    from elastocal.reduction.springs import PossibleSprings
    from elastocal.reduction.study import Study
    from elastocal.solve.identifiability import Groups


def path_table(study: Study) -> Table:
    shown = reading_unit(study.fit.campaign.measurement)
    columns = (
        Column("stage", "stage"),
        Column("parameters", "unknowns"),
        Column("identifiable", "identifiable"),
        Column("scatter", "residuals / noise", "", 3),
        Column(shown.key("left_out"), "leave-one-out error", shown.unit, shown.decimals, digits=shown.digits),
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
        "Unknowns count nuisance parameters too. Leave-one-out error: root mean square, per axis, of predicting a pose "
        "from all others. A model with more unknowns fits better and may predict worse: that is overfitting.",
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
    """What the readings do not give; unknowns of the set-up have no estimate of their own and are not listed."""
    columns = (
        Column("parameter", "parameter"),
        Column("stage", "stage"),
        Column("group", "group before M3"),
        Column("value", "estimate (sd)", si=True, sd="sd"),
        Column("unit", "unit"),
        Column("sd", "sd", shown=False, si=True),
        Column("ratio", "value / sd", "", 2),
        Column("held_at", "fixed at", digits=4, si=True),
        Column("reason", "why it is not estimated"),
    )
    why = "not estimated on its own"
    units = {p.name: p.unit for p in study.identification.sought.parameters.rows}
    rows = tuple(
        (d.name, d.stage, _group(study, d.name), or_reason(d.value, why), units[d.name],
         or_reason(d.sd, why), or_reason(d.ratio, why), or_reason(d.fixed_at, "follows from the description"), d.reason)
        for d in study.identification.dropped
        if d.stage in _OWN and d.name in units
    )  # fmt: skip
    return Table("dropped", "", columns, rows, ("Fixed at: the value that the robot file gives, in the same unit.",))


def _group(study: Study, name: str) -> str:
    """Practical subgroup (G1+, G1~, G1-) before M3 of what was determined alone, else the theoretical group."""
    identification = study.identification
    group = identification.groups.group[identification.groups.names.index(name)]
    kind = identification.kinds.get(name)
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


def spring_table(springs: PossibleSprings) -> Table:
    """Matrices that physics allows, element by element; in SI for programs."""
    columns = (
        Column("place", "spring"),
        Column("smallest_free", "smallest eigenvalue, free fit", decimals=5),
        Column("smallest", "smallest eigenvalue, possible", decimals=5),
        Column("constrained", "held at the edge"),
        *(
            Column(f"k{i}{j}", f"k{i}{j}", decimals=4, scale=1e6, part=1 if i < 3 else 2)
            for i in range(1, 7)
            for j in range(i, 7)
        ),
    )
    rows: list[tuple[Cell, ...]] = []
    for s in springs.springs:
        if s.matrix.shape == (6, 6):
            entries = (float(s.matrix[i, j]) for i in range(6) for j in range(i, 6))
            rows.append((s.place, s.smallest_free, s.smallest, s.constrained, *entries))
    notes = [
        "Least squares of the symmetric model with every matrix positive semidefinite, before algebraic reduction; "
        "what the readings do not determine stays near the robot file by a weak prior. Eigenvalues of the matrix "
        "scaled by its nominal diagonal; elements in um and urad per N and N m.",
        "No accuracy is stated here: at the edge an interval would not cover what it says.",
        f"The constraints raise the sum of squares by {springs.cost:.3g}, in units of the noise squared.",
    ]
    if not springs.converged:
        notes.append("The constrained fit stopped before it was as close as wanted: take the matrices as approximate.")
    return Table("springs", "", columns, tuple(rows), tuple(notes))


def derived_table(study: Study) -> Table:
    columns = (
        Column("parameter", "element"),
        Column("value", "value (sd)", si=True, sd="sd"),
        Column("unit", "unit"),
        Column("sd", "sd", shown=False, si=True),
        Column("relation", "derived from"),
        Column("conflict", "other ways differ by", "sd", 1),
    )
    rows: list[tuple[Cell, ...]] = []
    for place, spring in study.derived.items():
        for r in spring.derived:
            value, sd = or_reason(r.value, "nothing leads to it"), or_reason(r.sd, "nothing leads to it")
            other = or_reason(r.conflict, "there is no other way")
            rows.append((f"{place}.{r.symbol}", value, _unit(r.symbol), sd, r.relation, other))
    notes = ("Reconstructed by beam relations with the nominal section's ratios, not measured.",)
    return Table("derived", "", columns, tuple(rows), notes)


def _unit(symbol: str) -> str:
    """Of an entry kij of a compliance: rows 1 to 3 are lengths, columns 1 to 3 forces."""
    row, column = (int(c) for c in symbol[-2:])
    return f"{'m' if row <= 3 else 'rad'}/{'N' if column <= 3 else '(N m)'}"


def check_table(study: Study) -> Table:
    """Relations between elements that were all found: they show where a section is not the nominal one."""
    columns = (
        Column("parameter", "element"),
        Column("measured", "estimate", digits=4, si=True),
        Column("expected", "expected", digits=4, si=True),
        Column("unit", "unit"),
        Column("deviation", "differs by", "sd", 1),
        Column("relation", "relation"),
    )
    rows = tuple(
        (
            f"{place}.{c.symbol}",
            c.measured,
            c.expected,
            _unit(c.symbol),
            or_reason(c.deviation, "both are without error"),
            c.relation,
        )
        for place, spring in study.derived.items()
        for c in spring.checks
    )
    notes = ("Beyond 3 sd the link is not the beam that the robot file describes: do not derive elements with it.",)
    return Table("beam_checks", "", columns, rows, notes)
