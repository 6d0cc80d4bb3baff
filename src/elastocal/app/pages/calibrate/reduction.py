"""From everything sought to what the data support: the path of the reduction, what was dropped, what is not separately
identifiable, and elements of springs that are derived.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from elastocal.app.pages.result_columns import or_reason
from elastocal.measure.kind import reading_unit
from elastocal.report.blocks import Cell, Column, Table
from elastocal.report.listing import Listing
from elastocal.solve.groups import Group

if TYPE_CHECKING:
    from elastocal.reduction.identify import Stage
    from elastocal.reduction.springs import PossibleSprings
    from elastocal.reduction.study import Study
    from elastocal.solve.groups import Groups


def path_table(study: Study) -> Table:
    shown = reading_unit(study.fit.campaign.measurement)

    def known(stage: Stage, value: float, why: str) -> Cell:
        return or_reason(value, "the fit is that of the next row" if stage.name == "algebraic" else why)

    alone = "a pose alone holds up a parameter, or nothing was measured twice"
    return (
        Listing(study.identification.stages)
        .column("stage", lambda s: s.name)
        .column("parameters", lambda s: s.parameters, "unknowns")
        .column("identifiable", lambda s: s.identifiable)
        .column("scatter", lambda s: known(s, s.scatter, "no spare equations"), "residuals / noise", "", 3)
        .column(
            shown.key("left_out"),
            lambda s: known(s, shown.factor * s.left_out, alone),
            "leave-one-out error",
            shown.unit,
            shown.decimals,
            digits=shown.digits,
        )
        .column("action", lambda s: s.action, "what it does")
        .table(
            "path",
            "Unknowns count nuisance parameters too. Leave-one-out error: root mean square, per axis, of predicting a "
            "pose from all others. A model with more unknowns fits better and may predict worse: that is overfitting.",
        )
    )


def physical_table(study: Study) -> Table:
    """What symmetry and template took away: many, and all alike."""
    gone: dict[tuple[str, str], list[str]] = {}
    for d in study.identification.dropped:
        if d.stage not in _OWN:
            place, symbol = d.name.rsplit(".", 1)
            gone.setdefault((place, d.stage), []).append(symbol)
    return (
        Listing(gone.items())
        .column("place", lambda g: g[0][0], "spring")
        .column("stage", lambda g: g[0][1])
        .column("count", lambda g: len(g[1]))
        .column("elements", lambda g: " ".join(g[1]))
        .table("physical", "M1: equal to the mirrored element. M2: zero in the template of a beam along x.")
    )


_OWN = ("algebraic", "resolved", "M3")


def dropped_table(study: Study) -> Table:
    """What the readings do not give; unknowns of the set-up have no estimate of their own and are not listed."""
    why, found = "not estimated on its own", study.identification
    units = {p.name: p.unit for p in found.sought.parameters.rows}
    return (
        Listing(d for d in found.dropped if d.stage in _OWN and d.name in units)
        .column("parameter", lambda d: d.name)
        .column("stage", lambda d: d.stage)
        .column("group", lambda d: _group(study, d.name), "group before M3")
        .column("value", lambda d: or_reason(d.value, why), "estimate (sd)", si=True, sd="sd")
        .column("unit", lambda d: units[d.name])
        .column("sd", lambda d: or_reason(d.sd, why), shown=False, si=True)
        .column("ratio", lambda d: or_reason(d.ratio, why), "value / sd", "", 2)
        .column(
            "held_at", lambda d: or_reason(d.fixed_at, "follows from the description"), "fixed at", digits=4, si=True
        )
        .column("reason", lambda d: d.reason, "why it is not estimated")
        .table("dropped", "Fixed at: the value that the robot file gives, in the same unit.")
    )


def _group(study: Study, name: str) -> str:
    """Practical subgroup (G1+, G1~, G1-) before M3 of what was determined alone, else the theoretical group."""
    found = study.identification
    group = found.groups.group[found.groups.names.index(name)]
    kind = found.kinds.get(name)
    if kind is None:
        return str(group)
    return str(kind) if group is Group.IDENTIFIABLE else f"{group}{str(kind)[2:]}"


def combination_table(groups: Groups) -> Table:
    each = ((number, g, c) for number, g in enumerate(groups.subgroups, 1) for c in g.combinations)
    return (
        Listing(each)
        .column("subgroup", lambda e: e[0])
        .column("acts_as", lambda e: f"{len(e[1].members)} as {len(e[1].combinations)}", "acts as")
        .column("combination", lambda e: e[2].text())
        .table(
            "combinations",
            "Parameters of a subgroup act only through these combinations. Kept are the actuated joints first, then "
            "the order of the robot file; the others are absorbed with the factor shown (SI units).",
        )
    )


def spring_table(found: PossibleSprings) -> Table:
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
    for s in found.springs:
        if s.matrix.shape == (6, 6):
            entries = (float(s.matrix[i, j]) for i in range(6) for j in range(i, 6))
            rows.append((s.place, s.smallest_free, s.smallest, s.constrained, *entries))
    notes = [
        "Least squares of the symmetric model with every matrix positive semidefinite, before algebraic reduction; "
        "what the readings do not determine stays near the robot file by a weak prior. Eigenvalues of the matrix "
        "scaled by its nominal diagonal; elements in um and urad per N and N m.",
        "No accuracy is stated here: at the edge an interval would not cover what it says.",
        f"The constraints raise the sum of squares by {found.cost:.3g}, in units of the noise squared.",
    ]
    if not found.converged:
        notes.append("The constrained fit stopped before it was as close as wanted: take the matrices as approximate.")
    return Table("springs", "", columns, tuple(rows), tuple(notes))


def derived_table(study: Study) -> Table:
    none = "nothing leads to it"
    return (
        Listing((place, r) for place, spring in study.derived.items() for r in spring.derived)
        .column("parameter", lambda d: f"{d[0]}.{d[1].symbol}", "element")
        .column("value", lambda d: or_reason(d[1].value, none), "value (sd)", si=True, sd="sd")
        .column("unit", lambda d: _unit(d[1].symbol))
        .column("sd", lambda d: or_reason(d[1].sd, none), shown=False, si=True)
        .column("relation", lambda d: d[1].relation, "derived from")
        .column(
            "conflict", lambda d: or_reason(d[1].conflict, "there is no other way"), "other ways differ by", "sd", 1
        )
        .table("derived", "Reconstructed by beam relations with the nominal section's ratios, not measured.")
    )


def _unit(symbol: str) -> str:
    """Of an entry kij of a compliance: rows 1 to 3 are lengths, columns 1 to 3 forces."""
    row, column = (int(c) for c in symbol[-2:])
    return f"{'m' if row <= 3 else 'rad'}/{'N' if column <= 3 else '(N m)'}"


def check_table(study: Study) -> Table:
    """Relations between elements that were all found: they show where a section is not the nominal one."""
    return (
        Listing((place, c) for place, spring in study.derived.items() for c in spring.checks)
        .column("parameter", lambda d: f"{d[0]}.{d[1].symbol}", "element")
        .column("measured", lambda d: d[1].measured, "estimate", digits=4, si=True)
        .column("expected", lambda d: d[1].expected, digits=4, si=True)
        .column("unit", lambda d: _unit(d[1].symbol))
        .column("deviation", lambda d: or_reason(d[1].deviation, "both are without error"), "differs by", "sd", 1)
        .column("relation", lambda d: d[1].relation)
        .table(
            "beam_checks",
            "Beyond 3 sd the link is not the beam that the robot file describes: do not derive elements with it.",
        )
    )
