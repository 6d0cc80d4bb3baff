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

    def known(value: float, stage: str, why: str) -> Cell:
        return or_reason(value, "the fit is that of the next row" if stage == "algebraic" else why)

    note = (
        "Unknowns count nuisance parameters too. Leave-one-out error: root mean square, per axis, of predicting a pose "
        "from all others. A model with more unknowns fits better and may predict worse: that is overfitting."
    )
    return Table.of("path", study.identification.stages, {
        Column("stage", "stage"): lambda s: s.name,
        Column("parameters", "unknowns"): lambda s: s.parameters,
        Column("identifiable", "identifiable"): lambda s: s.identifiable,
        Column("scatter", "residuals / noise", "", 3): lambda s: known(s.scatter, s.name, "no spare equations"),
        Column(shown.key("left_out"), "leave-one-out error", shown.unit, shown.decimals, digits=shown.digits):
            lambda s: known(shown.factor * s.left_out, s.name, _ALONE),
        Column("action", "what it does"): lambda s: s.action,
    }, note)  # fmt: skip


_ALONE = "a pose alone holds up a parameter, or nothing was measured twice"


def physical_table(study: Study) -> Table:
    """What symmetry and template took away: many, and all alike."""
    gone: dict[tuple[str, str], list[str]] = {}
    for d in study.identification.dropped:
        if d.stage not in _OWN:
            place, symbol = d.name.rsplit(".", 1)
            gone.setdefault((place, d.stage), []).append(symbol)
    return Table.of("physical", gone.items(), {
        (Column("place", "spring"), Column("stage", "stage")): lambda g: g[0],
        Column("count", "count"): lambda g: len(g[1]),
        Column("elements", "elements"): lambda g: " ".join(g[1]),
    }, "M1: equal to the mirrored element. M2: zero in the template of a beam along x.")  # fmt: skip


_OWN = ("algebraic", "resolved", "M3")


def dropped_table(study: Study) -> Table:
    """What the readings do not give; unknowns of the set-up have no estimate of their own and are not listed."""
    why = "not estimated on its own"
    units = {p.name: p.unit for p in study.identification.sought.parameters.rows}
    rows = [d for d in study.identification.dropped if d.stage in _OWN and d.name in units]
    return Table.of("dropped", rows, {
        Column("parameter", "parameter"): lambda d: d.name,
        Column("stage", "stage"): lambda d: d.stage,
        Column("group", "group before M3"): lambda d: _group(study, d.name),
        Column("value", "estimate (sd)", si=True, sd="sd"): lambda d: or_reason(d.value, why),
        Column("unit", "unit"): lambda d: units[d.name],
        Column("sd", "sd", shown=False, si=True): lambda d: or_reason(d.sd, why),
        Column("ratio", "value / sd", "", 2): lambda d: or_reason(d.ratio, why),
        Column("fixed_at", "fixed at", digits=4, si=True):
            lambda d: or_reason(d.fixed_at, "follows from the description"),
        Column("reason", "why it is not estimated"): lambda d: d.reason,
    }, "Fixed at: the value that the robot file gives, in the same unit.")  # fmt: skip


def _group(study: Study, name: str) -> str:
    """Practical subgroup (G1+, G1~, G1-) before M3 of what was determined alone, else the theoretical group."""
    identification = study.identification
    group = identification.groups.group[identification.groups.names.index(name)]
    kind = identification.kinds.get(name)
    if kind is None:
        return str(group)
    return str(kind) if group is Group.IDENTIFIABLE else f"{group}{str(kind)[2:]}"


def combination_table(groups: Groups) -> Table:
    every = [(number, s, c) for number, s in enumerate(groups.subgroups, 1) for c in s.combinations]
    note = (
        "Parameters of a subgroup act only through these combinations. Kept are the actuated joints first, then the "
        "order of the robot file; the others are absorbed with the factor shown (SI units)."
    )
    return Table.of("combinations", every, {
        Column("subgroup", "subgroup"): lambda e: e[0],
        Column("acts_as", "acts as"): lambda e: f"{len(e[1].members)} as {len(e[1].combinations)}",
        Column("combination", "combination"): lambda e: e[2].text(),
    }, note)  # fmt: skip


def spring_table(springs: PossibleSprings) -> Table:
    """Matrices that physics allows, element by element; in SI for programs."""
    pairs = [(i, j) for i in range(6) for j in range(i, 6)]
    notes = [
        "Least squares of the symmetric model with every matrix positive semidefinite, before algebraic reduction; "
        "what the readings do not determine stays near the robot file by a weak prior. Eigenvalues of the matrix "
        "scaled by its nominal diagonal; elements in um and urad per N and N m.",
        "No accuracy is stated here: at the edge an interval would not cover what it says.",
        f"The constraints raise the sum of squares by {springs.cost:.3g}, in units of the noise squared.",
    ]
    if not springs.converged:
        notes.append("The constrained fit stopped before it was as close as wanted: take the matrices as approximate.")
    return Table.of("springs", [s for s in springs.springs if s.matrix.shape == (6, 6)], {
        Column("place", "spring"): lambda s: s.place,
        Column("smallest_free", "smallest eigenvalue, free fit", decimals=5): lambda s: s.smallest_free,
        Column("smallest", "smallest eigenvalue, possible", decimals=5): lambda s: s.smallest,
        Column("constrained", "fixed at the edge"): lambda s: s.constrained,
        tuple(Column(f"k{i + 1}{j + 1}", f"k{i + 1}{j + 1}", decimals=4, scale=1e6, part=1 if i < 2 else 2)
              for i, j in pairs): lambda s: (s.matrix[i, j] for i, j in pairs),
    }, *notes)  # fmt: skip


def derived_table(study: Study) -> Table:
    rows = [(place, r) for place, s in study.derived.items() for r in s.derived]
    nothing, alone = "nothing leads to it", "there is no other way"
    return Table.of("derived", rows, {
        Column("parameter", "element"): lambda p: f"{p[0]}.{p[1].symbol}",
        Column("value", "value (sd)", si=True, sd="sd"): lambda p: or_reason(p[1].value, nothing),
        Column("unit", "unit"): lambda p: _unit(p[1].symbol),
        Column("sd", "sd", shown=False, si=True): lambda p: or_reason(p[1].sd, nothing),
        Column("relation", "derived from"): lambda p: p[1].relation,
        Column("conflict", "other ways differ by", "sd", 1): lambda p: or_reason(p[1].conflict, alone),
    }, "Reconstructed by beam relations with the nominal section's ratios, not measured.")  # fmt: skip


def _unit(symbol: str) -> str:
    """Of an entry kij of a compliance: rows 1 to 3 are lengths, columns 1 to 3 forces."""
    row, column = (int(c) for c in symbol[-2:])
    return f"{'m' if row <= 3 else 'rad'}/{'N' if column <= 3 else '(N m)'}"


def check_table(study: Study) -> Table:
    """Relations between elements that were all found: they show where a section is not the nominal one."""
    note = "Beyond 3 sd the link is not the beam that the robot file describes: do not derive elements with it."
    return Table.of("beam_checks", [(place, c) for place, s in study.derived.items() for c in s.checks], {
        Column("parameter", "element"): lambda p: f"{p[0]}.{p[1].symbol}",
        Column("measured", "estimate", digits=4, si=True): lambda p: p[1].measured,
        Column("expected", "expected", digits=4, si=True): lambda p: p[1].expected,
        Column("unit", "unit"): lambda p: _unit(p[1].symbol),
        Column("deviation", "differs by", "sd", 1): lambda p: or_reason(p[1].deviation, "both are without error"),
        Column("relation", "relation"): lambda p: p[1].relation,
    }, note)  # fmt: skip
