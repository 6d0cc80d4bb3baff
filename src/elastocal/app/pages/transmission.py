"""A transmission as a report: structure matrix, entries, gear ratios, outliers, tables compared, noise."""

from __future__ import annotations

from math import degrees, isnan
from typing import TYPE_CHECKING

from elastocal.app.pages.result_columns import filled, or_reason
from elastocal.quantities import probability
from elastocal.report.blocks import Cell, Code, Column, Fact, Lines, Report, Section, Series, Table, Unknown
from elastocal.results import as_sentence

if TYPE_CHECKING:
    from elastocal.app.commands.transmission import TransmissionResult
    from elastocal.procedures.transmission import Transmission
    from elastocal.procedures.transmission.ratios import Simple

UNSEEN = "no table reads this motor's counts while this joint moves; it counts as zero"
NO_SPARE = "no equation to spare"
OPEN = "there are as many unknowns as rows; it may be zero"
NO_TURNS = "no table has motor angles of this axis"
NO_TURNS_OF_ALL = "counts per turn of some axes are unknown"


def page(result: TransmissionResult) -> Report:
    fit = result.fit
    sections = (
        Section("Structure matrix", (matrix_table(fit), regularity_table(fit))),
        Section("Entries", (entry_table(fit),)),
        Section("Counts per motor turn", (counts_table(fit),)),
        Section("Gear ratios", (ratio_table(fit),)),
        Section("Outliers", filled(outlier_table(fit))),
        Section("Tables compared", (compared_table(fit),)),
        Section("Noise", (noise_table(fit), residual_lines(fit))),
        Section("For the robot file", (Code("controller", result.fragment),) if result.fragment else ()),
    )
    return Report("Transmission: motors and joints", verdict(result.fit), sections, result.notes, facts(result))


def facts(result: TransmissionResult) -> tuple[Fact, ...]:
    tables = tuple(str(t) for t in result.tables)
    zero, word = result.fit.zero, "zero" if result.fit.system.from_zero else "free"
    if zero is None:
        offsets = f"as asked: {word}"
    elif zero.decided:
        offsets = f"{word}, by a test (probability {zero.chance} if all are zero)"
    else:
        offsets = f"{word}, not tested: {zero.reason}"
    return (
        Fact("tables", "tables", tables),
        Fact("robot", "robot", result.robot),
        Fact("offsets", "counts at joint value zero", offsets),
    )


def verdict(fit: Transmission) -> tuple[str, ...]:
    out = [*([fit.doubt] if fit.doubt else []), _coupling(fit), *(_outliers(fit)), _simple_ratios(fit)]
    r = fit.regularity
    if not fit.regular:
        out.append(
            f"THE MATRIX IS NOT REGULAR: rank {r.rank} of {len(fit.axes)}, and its determinant is {r.sigmas:.2g} "
            "standard deviations from zero; motors do not determine the joints."
        )
    return tuple(out)


def _coupling(fit: Transmission) -> str:
    beside = [(i, j) for i, j in fit.coupled() if i != j]
    if not beside:
        if fit.undetermined:
            return "Every motor moves its own joint; what others it turns with is not known."
        return "No coupling between axes stands out of the noise: every motor moves its own joint only."
    notes = []
    for motor in fit.axes:
        joints = [j for i, j in beside if i == motor]
        if joints:
            notes.append(f"motor {motor} also turns with {' and '.join(joints)}")
    return as_sentence("; ".join(notes))


def _outliers(fit: Transmission) -> tuple[str, ...]:
    if not fit.outliers:
        return ("There are no outliers.",)
    count = "One outlier is" if len(fit.outliers) == 1 else f"{len(fit.outliers)} outliers are"
    return (f"{count} left out:", *(f"{b.text()}." for b in fit.outliers))


def _simple_ratios(fit: Transmission) -> str:
    ratios = [(i, j, s) for (i, j), s in fit.ratios.fractions.items() if s is not None and fit.ratios.proposed[i, j]]
    if not ratios:
        return "No simple gear ratio is supported by these data."
    unit = {j: " turns/mm" if j in fit.prismatic else "" for j in fit.axes}
    named = ", ".join(f"{i} {'' if i == j else f'by {j} '}{s.text()}{unit[j]}" for i, j, s in ratios)
    every = f" for {len(ratios)} of {len(fit.ratios.fractions)} entries"
    return (
        f"Simple ratios are supported{every}: {named}. The probability that chance gives fractions as simple is "
        f"{probability(fit.chance_of_ratios)} for all {len(ratios)} together, "
        f"{max(s.chance for _, _, s in ratios):.2g} for the least certain one."
    )


def matrix_table(fit: Transmission) -> Table:
    """S as it goes on: rows motors, columns joints."""
    s, axes = fit.robust.structure, fit.axes
    note = (
        "Motor turns for one turn of each joint (rad/m for prismatic joints), without outliers; zeros found by "
        "significance."
    )
    return Table.of("matrix", range(len(axes)), {
        Column("motor", "motor"): lambda i: axes[i],
        tuple(Column(f"by_{a}", f"x {a}", decimals=5) for a in axes):
            lambda i: (_entry(fit, value, axes[i], joint) for value, joint in zip(s[i], axes, strict=True)),
    }, note)  # fmt: skip


def regularity_table(fit: Transmission) -> Table:
    unknown = NO_TURNS_OF_ALL if isnan(fit.regularity.determinant) else NO_SPARE
    note = (
        "Rank and condition are those of T_j with rows of equal length, which S shares; entries that no table tells of "
        "count as zero."
    )
    return Table.of("regularity", (fit.regularity,), {
        Column("rank", "rank"): lambda r: r.rank,
        Column("axes", "of"): lambda r: len(fit.axes),
        Column("determinant", "determinant of S", shown=False): lambda r: or_reason(r.determinant, unknown),
        Column("determinant_sd", "sd", shown=False): lambda r: or_reason(r.determinant_sd, unknown),
        Column("sigmas", "determinant / sd", digits=3): lambda r: or_reason(r.sigmas, NO_SPARE),
        Column("condition", "condition", digits=4): lambda r: or_reason(r.condition, "the rows are dependent"),
    }, note)  # fmt: skip


def _entry(fit: Transmission, value: float, motor: str, joint: str) -> Cell:
    return or_reason(value, _why(fit, motor, joint))


def _why(fit: Transmission, motor: str, joint: str) -> str:
    """Why an entry of S is not known."""
    if (motor, joint) in fit.unseen:
        return UNSEEN
    return OPEN if (motor, joint) in fit.undetermined else NO_TURNS


def table(result: TransmissionResult) -> Table:
    """What --csv writes."""
    return entry_table(result.fit)


def entry_table(fit: Transmission) -> Table:
    """Every entry that was measured, with and without the outliers."""
    columns = (
        Column("motor", "motor"), Column("joint", "joint"),
        Column("s", "S", decimals=5), Column("s_sd", "sd", digits=2),
        Column("s_all", "S, every row", decimals=5), Column("s_all_sd", "sd", digits=2),
        Column("t", "T_j", decimals=3), Column("t_sd", "sd", digits=2), Column("t_unit", "unit"),
        Column("probability", "p if zero", probability=True), Column("coupled", "coupled"),
    )  # fmt: skip
    rows: list[tuple[Cell, ...]] = []
    for motor in fit.axes:
        for joint in fit.axes:
            if (motor, joint) in fit.unseen:
                continue
            k, coupled, why = fit.at(motor, joint), joint in fit.pattern[motor], _why(fit, motor, joint)
            unit, factor = ("counts/mm", 1e3) if joint in fit.prismatic else ("counts/deg", degrees(1.0))
            numbers = (fit.robust.structure, fit.robust.structure_sd, fit.all_rows.structure, fit.all_rows.structure_sd)
            cells: list[Cell] = [
                or_reason(float(m[k]), NO_SPARE if i % 2 and why == NO_TURNS else why) for i, m in enumerate(numbers)
            ]
            if not coupled:
                cells = [0.0, None, 0.0, None]
            t, sd = float(fit.robust.joint[k]) / factor, float(fit.robust.joint_sd[k]) / factor
            p = or_reason(float(fit.significance[k]), NO_SPARE)
            spread: Cell = or_reason(sd, NO_SPARE) if coupled else None
            known: Cell = Unknown(OPEN) if why == OPEN else coupled
            rows.append((motor, joint, *cells, or_reason(t, why), spread, unit, p, known))
    notes = (
        "An entry beside the diagonal is zero where its probability (Student's t, all entries of the motor free) times "
        "the number of entries is above 0.01, one after another.",
    )
    return Table("entries", "", columns, tuple(rows), notes)


def counts_table(fit: Transmission) -> Table:
    note = (
        "Round: 1 or 3 times a power of two, or 1, 2, 2.5 or 5 times a power of ten, within 99 %. By chance: how often "
        "an interval of this width holds such a number anyway."
    )
    return Table.of("counts_per_turn", range(len(fit.axes)), {
        Column("axis", "axis"): lambda i: fit.axes[i],
        Column("counts_per_turn", "counts per turn", decimals=2): lambda i: or_reason(fit.robust.per_turn[i], NO_TURNS),
        Column("sd", "sd", digits=2): lambda i: or_reason(fit.robust.per_turn_sd[i], NO_SPARE),
        Column("every_row", "every row", decimals=2): lambda i: or_reason(fit.all_rows.per_turn[i], NO_TURNS),
        _simple_columns("round number"): lambda i: _simple(fit.ratios.counts[i], fit.ratios.counts_proposed[i]),
    }, note)  # fmt: skip


def ratio_table(fit: Transmission) -> Table:
    s, sd = (m * fit.ratios.scale for m in (fit.ratios.matrices.structure, fit.ratios.matrices.structure_sd))
    note = (
        "With the round counts per turn that are proposed above. The fraction is the one of the smallest denominator "
        "within 95 %; as simple inside: how many fractions of at most this denominator an interval of this width holds "
        "on average, by chance: the probability of at least one."
    )
    return Table.of("ratios", fit.ratios.fractions.items(), {
        (Column("motor", "motor"), Column("joint", "joint")): lambda r: r[0],
        Column("ratio", "ratio", decimals=5): lambda r: or_reason(s[fit.at(*r[0])], _why(fit, *r[0])),
        Column("sd", "sd", digits=2): lambda r: or_reason(sd[fit.at(*r[0])], NO_SPARE),
        Column("unit", "unit"): lambda r: "turns/mm" if r[0][1] in fit.prismatic else "1",
        _simple_columns("fraction"): lambda r: _simple(r[1], fit.ratios.proposed[r[0]]),
        Column("rivals", "as simple inside", digits=2): lambda r: None if r[1] is None else r[1].expected,
    }, note)  # fmt: skip


def _simple_columns(name: str) -> tuple[Column, ...]:
    return (Column("simple", name), Column("chance", "by chance", digits=2), Column("proposed", "proposed"))


def _simple(simple: Simple | None, proposed: bool) -> tuple[Cell, ...]:
    return (None, None, False) if simple is None else (simple.text(), simple.chance, proposed)


def outlier_table(fit: Transmission) -> Table:
    return Table.of("outliers", fit.outliers, {
        Column("table", "table"): lambda o: o.table,
        Column("row", "row"): lambda o: o.row,
        Column("column", "column"): lambda o: o.column,
        Column("axis", "axis"): lambda o: o.axis,
        Column("printed", "printed"): lambda o: o.printed,
        Column("predicted", "predicted"): lambda o: o.predicted,
        Column("sd", "sd", digits=2): lambda o: o.predicted_sd,
        Column("probability", "probability", probability=True): lambda o: o.probability,
        Column("slip", "slip"): lambda o: o.slip or None,
        Column("instead", "or instead"): lambda o: ", ".join(f"{c} ({v:.6g})" for c, v in o.instead) or None,
    }, "Row: line of the file. Probability: that any number of good tables would be so far off.")  # fmt: skip


def compared_table(fit: Transmission) -> Table:
    notes = tuple(
        f"{a.motor} by {a.joint}: {a.table} and {b.table} differ by {sigmas:.2g} standard deviations."
        for a, b, sigmas in fit.disagreements()
        if not isnan(sigmas)
    )
    return Table.of("by_table", sorted(fit.tables, key=lambda e: fit.at(e.motor, e.joint)), {
        Column("motor", "motor"): lambda e: e.motor,
        Column("joint", "joint"): lambda e: e.joint,
        Column("table", "table"): lambda e: e.table,
        Column("s_all", "S, every row", decimals=5): lambda e: _entry(fit, e.all_rows, e.motor, e.joint),
        Column("s_all_sd", "sd", digits=2): lambda e: or_reason(e.all_rows_sd, NO_SPARE),
        Column("s", "S without outliers", decimals=5): lambda e: _entry(fit, e.robust, e.motor, e.joint),
        Column("s_sd", "sd", digits=2): lambda e: or_reason(e.robust_sd, NO_SPARE),
    }, "Each table alone; sd of the counts per joint value only.", *notes)  # fmt: skip


def noise_table(fit: Transmission) -> Table:
    both = zip(fit.system.levels, fit.rest.levels, strict=True)
    return Table.of("noise", [(*of, level) for of, level in both if level is not None], {
        Column("table", "table"): lambda n: n[0],
        Column("relation", "counts against"): lambda n: f"{n[1]} values",
        (Column("angle_deg", "angle", "deg", digits=3), Column("length_mm", "length", "mm", digits=3)):
            lambda n: _input_noise(fit, n[0], n[1], n[2].angle),
        Column("count", "count", "counts", digits=3): lambda n: n[2].count,
        Column("spare", "spare equations", digits=3): lambda n: n[2].spare,
    }, "Standard deviation of an angle (or a length) and of a count, without outliers.")  # fmt: skip


def _input_noise(fit: Transmission, table: str, relation: str, sd: float) -> tuple[Cell, Cell]:
    """As an angle or as a length, whichever the table's inputs are; both where it has joints of both kinds."""
    joints = {j for s in fit.system.series if s.table == table for j in s.joints}
    kinds = {"revolute"} if relation == "motor" else {"prismatic" if j in fit.prismatic else "revolute" for j in joints}
    return degrees(sd) if "revolute" in kinds else None, 1e3 * sd if "prismatic" in kinds else None


def residual_lines(fit: Transmission) -> Lines:
    """Residuals of what was kept, in standard deviations, motor by motor."""
    ends = (0.5, len(fit.axes) + 0.5)
    series = [Series("+-2 sd", ends, (2.0, 2.0), role="noise", low=(-2.0, -2.0))]
    for relation in ("joint", "motor"):
        blocks = [b for b in fit.rest.blocks if b.block.relation == relation]
        y = [float(v) for b in blocks for v in b.standardized[b.kept]]
        if y:
            x = [1.0 + fit.axes.index(b.block.axis) + 0.8 * n / max(len(b.kept), 1) - 0.4
                 for b in blocks for n, kept in enumerate(b.kept) if kept]  # fmt: skip
            series.append(Series(f"counts against {relation} values", tuple(x), tuple(y), points=True))
    return Lines("residuals", "Residuals without outliers", f"motor ({', '.join(fit.axes)})", "", "residual", "sd",
                 tuple(series))  # fmt: skip
