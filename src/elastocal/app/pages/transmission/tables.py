"""Tables of a transmission: matrix, entries, counts per turn, simple ratios, gross errors."""

from __future__ import annotations

from math import degrees, isnan
from typing import TYPE_CHECKING

from elastocal.app.pages.columns import or_reason
from elastocal.report.blocks import Cell, Column, Table, Unknown

if TYPE_CHECKING:
    from elastocal.app.commands.transmission import TransmissionResult
    from elastocal.encoders.identify import TransmissionFit
    from elastocal.encoders.rational import Simple

UNSEEN = "no table reads this motor's counts while this joint moves; it counts as zero"
NO_SPARE = "no equation to spare"
NO_TURNS = "no table has motor angles of this axis"
NO_TURNS_OF_ALL = "counts per turn of some axes are unknown"


def matrix_table(result: TransmissionResult) -> Table:
    """S as it goes on: rows motors, columns joints."""
    fit = result.fit
    columns = (Column("motor", "motor"), *(Column(f"by_{a}", f"x {a}", decimals=5) for a in fit.axes))
    s = fit.robust.structure
    rows = tuple(
        (axis, *(_entry(fit, float(s[i, j]), axis, other) for j, other in enumerate(fit.axes)))
        for i, axis in enumerate(fit.axes)
    )
    notes = (
        "Motor turns for one turn of each joint (rad/m for prismatic joints), without gross errors; zeros found by "
        "significance.",
    )
    return Table("matrix", "", columns, rows, notes)


def regularity_table(fit: TransmissionFit) -> Table:
    columns = (
        Column("rank", "rank"), Column("axes", "of"), Column("determinant", "determinant of S", digits=6),
        Column("determinant_sd", "sd", digits=2), Column("sigmas", "over its sd", digits=3),
        Column("condition", "condition", digits=4),
    )  # fmt: skip
    r = fit.regularity
    unknown = NO_TURNS_OF_ALL if isnan(r.determinant) else NO_SPARE
    row = (
        r.rank, len(fit.axes), or_reason(r.determinant, unknown), or_reason(r.determinant_sd, unknown),
        or_reason(r.sigmas, NO_SPARE), or_reason(r.condition, "the rows are dependent"),
    )  # fmt: skip
    notes = (
        "Rank and condition are those of T_j with rows of equal length, which S shares; entries that no table tells of "
        "count as zero.",
    )
    return Table("regularity", "", columns, (row,), notes)


def _entry(fit: TransmissionFit, value: float, motor: str, joint: str) -> Cell:
    if (motor, joint) in fit.unseen:
        return Unknown(UNSEEN)
    return or_reason(value, NO_TURNS)


def entry_table(result: TransmissionResult) -> Table:
    """Every entry that was measured, with and without the gross errors."""
    fit = result.fit
    columns = (
        Column("motor", "motor"), Column("joint", "joint"),
        Column("s", "S", decimals=5), Column("s_sd", "sd", digits=2),
        Column("s_all", "S, every row", decimals=5), Column("s_all_sd", "sd", digits=2),
        Column("t", "T_j", decimals=3), Column("t_sd", "sd", digits=2), Column("t_unit", "unit"),
        Column("probability", "p if zero", digits=2), Column("coupled", "coupled"),
    )  # fmt: skip
    rows: list[tuple[Cell, ...]] = []
    for motor in fit.axes:
        for joint in fit.axes:
            if (motor, joint) in fit.unseen:
                continue
            k, coupled = fit.at(motor, joint), joint in fit.pattern[motor]
            unit, factor = ("counts/deg", degrees(1.0)) if result.kinds.get(joint) == "revolute" else ("counts/mm", 1e3)
            numbers = (fit.robust.structure, fit.robust.structure_sd, fit.all_rows.structure, fit.all_rows.structure_sd)
            cells: list[Cell] = [
                or_reason(float(m[k]), NO_TURNS if i % 2 == 0 else NO_SPARE) for i, m in enumerate(numbers)
            ]
            if not coupled:
                cells = [0.0, None, 0.0, None]
            t, sd = float(fit.robust.joint[k]) / factor, float(fit.robust.joint_sd[k]) / factor
            p = or_reason(float(fit.significance[k]), NO_SPARE)
            rows.append((motor, joint, *cells, t, or_reason(sd, NO_SPARE) if coupled else None, unit, p, coupled))
    notes = (
        "An entry beside the diagonal is zero where its probability (Student's t, all entries of the motor free) times "
        "the number of entries is above 0.01, one after another.",
    )
    return Table("entries", "", columns, tuple(rows), notes)


def counts_table(fit: TransmissionFit) -> Table:
    columns = (
        Column("axis", "axis"), Column("counts_per_turn", "counts per turn", decimals=2), Column("sd", "sd", digits=2),
        Column("every_row", "every row", decimals=2), *_simple_columns("round number"),
    )  # fmt: skip
    rows = []
    for i, axis in enumerate(fit.axes):
        numbers = (fit.robust.per_turn[i], fit.robust.per_turn_sd[i], fit.all_rows.per_turn[i])
        cells = [or_reason(float(v), why) for v, why in zip(numbers, (NO_TURNS, NO_SPARE, NO_TURNS), strict=True)]
        rows.append((axis, *cells, *_simple(fit.ratios.counts[i], fit.ratios.counts_proposed[i])))
    notes = (
        "Round: 1 or 3 times a power of two, or 1, 2, 2.5 or 5 times a power of ten, within 99 %. By chance: how often "
        "an interval of this width holds such a number anyway.",
    )
    return Table("counts_per_turn", "", columns, tuple(rows), notes)


def ratio_table(result: TransmissionResult) -> Table:
    fit = result.fit
    columns = (
        Column("motor", "motor"), Column("joint", "joint"), Column("ratio", "ratio", decimals=5),
        Column("sd", "sd", digits=2), Column("unit", "unit"), *_simple_columns("fraction"),
        Column("rivals", "as simple inside", digits=2),
    )  # fmt: skip
    s, sd = (m * fit.ratios.scale for m in (fit.ratios.matrices.structure, fit.ratios.matrices.structure_sd))
    rows = []
    for (motor, joint), simple in fit.ratios.fractions.items():
        k = fit.at(motor, joint)
        rivals = None if simple is None else simple.expected
        numbers = (or_reason(float(s[k]), NO_TURNS), or_reason(float(sd[k]), NO_SPARE))
        unit = "turns/mm" if result.kinds.get(joint) == "prismatic" else "1"
        rows.append((motor, joint, *numbers, unit, *_simple(simple, fit.ratios.proposed[motor, joint]), rivals))
    notes = (
        "With the round counts per turn that are proposed above. The fraction is the one of the smallest denominator "
        "within 95 %; as simple inside: how many fractions of at most this denominator an interval of this width holds "
        "on average, by chance: the probability of at least one.",
    )
    return Table("ratios", "", columns, tuple(rows), notes)


def _simple_columns(name: str) -> tuple[Column, ...]:
    return (Column("simple", name), Column("chance", "by chance", digits=2), Column("proposed", "proposed"))


def _simple(found: Simple | None, proposed: bool) -> tuple[Cell, ...]:
    return (None, None, False) if found is None else (found.text(), found.chance, proposed)


def gross_table(fit: TransmissionFit) -> Table:
    columns = (
        Column("table", "table"), Column("row", "row"), Column("column", "column"), Column("axis", "axis"),
        Column("printed", "printed"), Column("predicted", "predicted"), Column("sd", "sd", digits=2),
        Column("probability", "probability", digits=2), Column("slip", "slip"), Column("instead", "or instead"),
    )  # fmt: skip
    rows = tuple(
        (b.table, b.row, b.column, b.axis, b.printed, b.predicted, b.predicted_sd, b.probability, b.slip or None,
         ", ".join(f"{c} ({v:.6g})" for c, v in b.instead) or None)
        for b in fit.bad
    )  # fmt: skip
    notes = ("Row: line of the file. Probability: that any number of good tables would be so far off.",)
    return Table("outliers", "", columns, rows, notes)
