"""Springs of an identification: matrices that physics allows, elements rebuilt from those that were found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elastocal.app.pages.columns import or_reason
from elastocal.report.blocks import Cell, Column, Table
from elastocal.report.display import concise

if TYPE_CHECKING:
    from elastocal.study.whole import Study
    from elastocal.uncertainty.springs import PossibleSprings


def spring_table(found: PossibleSprings) -> Table:
    """Matrices that physics allows, element by element in SI."""
    columns = (
        Column("place", "spring"),
        Column("smallest_free", "smallest eigenvalue, free fit", digits=3),
        Column("smallest", "smallest eigenvalue, possible", digits=3),
        Column("constrained", "held at the edge"),
        *(Column(f"k{i}{j}", f"k{i}{j}", digits=3, part=1 if i < 3 else 2) for i in range(1, 7) for j in range(i, 7)),
    )
    rows: list[tuple[Cell, ...]] = []
    for s in found.springs:
        if s.matrix.shape == (6, 6):
            entries = (float(s.matrix[i, j]) for i in range(6) for j in range(i, 6))
            rows.append((s.place, s.smallest_free, s.smallest, s.constrained, *entries))
    notes = [
        "Least squares of the symmetric model with every matrix positive semidefinite, before algebraic reduction; "
        "what the readings do not determine stays near the robot file by a weak prior. Eigenvalues of the matrix "
        "scaled by its nominal diagonal; elements in SI units.",
        "No accuracy is stated here: at the edge an interval would not cover what it says.",
        f"The constraints raise the sum of squares by {found.cost:.3g}, in units of the noise squared.",
    ]
    if not found.converged:
        notes.append("The constrained fit stopped before it was as close as wanted: take the matrices as approximate.")
    return Table("springs", "", columns, tuple(rows), tuple(notes))


def rebuilt_table(study: Study) -> Table:
    columns = (
        Column("parameter", "element"),
        Column("concise", "value (sd)"),
        Column("value", "value", shown=False),
        Column("sd", "sd", shown=False),
        Column("relation", "rebuilt from"),
        Column("conflict", "other ways differ by", "sd", 1),
    )
    rows: list[tuple[Cell, ...]] = []
    for spring in study.rebuilt:
        for r in spring.rebuilding.rebuilt:
            value, sd = or_reason(r.value, "nothing leads to it"), or_reason(r.sd, "nothing leads to it")
            other = or_reason(r.conflict, "there is no other way")
            rows.append((f"{spring.place}.{r.symbol}", concise(r.value, r.sd), value, sd, r.relation, other))
    notes = ("Reconstructed by beam relations with the nominal section's ratios, not measured.",)
    return Table("rebuilt", "", columns, tuple(rows), notes)


def check_table(study: Study) -> Table:
    """Relations between elements that were all found: they show where a section is not the nominal one."""
    columns = (
        Column("parameter", "element"),
        Column("measured", "found", digits=4),
        Column("expected", "expected", digits=4),
        Column("deviation", "differs by", "sd", 1),
        Column("relation", "relation"),
    )
    rows = tuple(
        (
            f"{spring.place}.{c.symbol}",
            c.measured,
            c.expected,
            or_reason(c.deviation, "both are without error"),
            c.relation,
        )
        for spring in study.rebuilt
        for c in spring.rebuilding.checks
    )
    notes = ("Beyond 3 sd the link is not the beam that the robot file describes: do not rebuild elements with it.",)
    return Table("beam_checks", "", columns, rows, notes)
