"""Structure matrix of the KUKA KR5 (Hayat, Udai and Saha 2013, section II): Tables I and II to S, with every row and
without those that the others contradict."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from elastocal.cases.case import Case, Figure, Listing, Outcome, Progress, Why, unwatched
from elastocal.cases.kr5_tables import COUNTS, COUNTS_PER_TURN, MOTOR_DEG, STRUCTURE, TABLE_1, TABLE_2, series

if TYPE_CHECKING:
    import numpy as np

    from elastocal.procedures.transmission import Transmission

PER_TURN_SOURCE = "least squares with a free start of the marker; +- {:.1f}; round number nearby: {}"


class TransmissionCase(Case):
    name: ClassVar[str] = "kr5-transmission"
    title: ClassVar[str] = "KUKA KR5: structure matrix from encoder counts"
    source: ClassVar[str] = "Hayat, Udai and Saha 2013 (iNaCoMM), section II, Tables I and II, eq. (1)-(9)"

    def run(self, rng: np.random.Generator, progress: Progress = unwatched) -> Outcome:
        from elastocal.procedures.transmission import identify

        fit = identify(series())
        figures = (*_counts(fit), *_entries(fit), *_ratios(fit))
        return Outcome(self.name, _verdict(fit), figures, (), (_outliers(fit),))


def _counts(fit: Transmission) -> tuple[Figure, ...]:
    out = []
    for i, printed in enumerate(COUNTS_PER_TURN):
        simple = fit.ratios.counts[i]
        note = PER_TURN_SOURCE.format(fit.robust.per_turn_sd[i], "none" if simple is None else simple.text())
        rule = (TABLE_1[i][0][-1] - TABLE_1[i][0][0]) / (len(MOTOR_DEG) - 1)
        found, name = float(fit.robust.per_turn[i]), f"counts_per_turn_{i + 1}"
        out += [
            Figure(f"{name}_all", printed, rule, "counts", _DIFFERENCES, "eq. (4)", Why.CONTRADICTION),
            Figure(name, printed, found, "counts", note, "eq. (4)", Why.RULE),
        ]
    return tuple(out)


_DIFFERENCES = "mean of the differences of Table I, the rule stated below (4)"


def _entries(fit: Transmission) -> tuple[Figure, ...]:
    """Each entry by the paper's route with every row, and by the robust fit of both tables."""
    out = []
    s, sd = fit.robust.structure, fit.robust.structure_sd
    for (i, j), value in every_row().items():
        k, printed = fit.at(f"A{i}", f"A{j}"), STRUCTURE[i, j]
        note = (
            f"Table {'I' if i <= 4 else 'II'}, every row, as in eq. (7{'a' if i <= 4 else 'b'}); T_m and T_j from zero"
        )
        if i == j <= 4 and abs(value - printed) > 0.015:
            note += (
                f"; the mean of counts over angles, in place of least squares, gives {mean_ratio(i):.2f}: the rules "
                "part where a row is wrong"
            )
        elif abs(value - printed) > 0.005:
            note += "; the printed digits need a T_m or a rounding of their own"
        robust = f"both tables, without the outliers; +- {sd[k]:.2g}"
        out += [
            Figure(f"s{i}{j}_all", printed, value, "1", note, "eq. (9)", Why.RULE, 0.01),
            Figure(f"s{i}{j}", printed, float(s[k]), "1", robust, "eq. (9)", _robust_why(i), 0.01),
        ]
    return (*out, *_per_degree())


def _robust_why(i: int) -> Why:
    """Rows of motors 4 and 5 hold the numbers that the others contradict."""
    return Why.CONTRADICTION if i in (4, 5) else Why.RULE


def _per_degree() -> tuple[Figure, ...]:
    """T_j of eq. (6), every row."""
    return tuple(
        Figure(f"t{i}{j}_all", COUNTS[i, j], 1e-3 * value, "1e3 counts/deg", _CUT, "eq. (6)", Why.RULE, 0.01)
        for (i, j), value in counts_per_degree().items()
    )


_CUT = "least squares of every row without offsets; the document cuts digits off, where they are not rounded"


def every_row() -> dict[tuple[int, int], float]:
    """Entries of S = T_m T_j, both without offsets."""
    import numpy as np

    turns = np.array(MOTOR_DEG) / 360
    per_turn = {i: np.array(counts) @ turns / (turns @ turns) for i, (counts, _) in enumerate(TABLE_1, 1)}
    return {(i, j): float(360 * t / per_turn[i]) for (i, j), t in counts_per_degree().items()}


def counts_per_degree() -> dict[tuple[int, int], float]:
    """Entries of T_j by plain least squares without offsets: (7a) on Table I, (7b) on Table II."""
    import numpy as np

    wrist, out = np.array(TABLE_2, dtype=np.float64), {}
    for i, j in STRUCTURE:
        counts, angles = (np.array(column) for column in TABLE_1[i - 1])
        x = angles[:, None] if i <= 4 else wrist[:, : i - 3]
        t = np.linalg.lstsq(x, counts if i <= 4 else wrist[:, i - 1], rcond=None)[0]
        out[i, j] = float(t[0 if i <= 4 else j - 4])
    return out


def mean_ratio(i: int) -> float:
    """s_ii of Table I with T_j as the mean of counts over joint angles, T_m from zero."""
    import numpy as np

    turns, (counts, angles) = np.array(MOTOR_DEG) / 360, (np.array(column) for column in TABLE_1[i - 1])
    return float(360 * np.mean(counts / angles) * (turns @ turns) / (counts @ turns))


def _ratios(fit: Transmission) -> tuple[Figure, ...]:
    """The same with round counts per turn, and what fraction that is."""
    s, sd = fit.ratios.matrices.structure, fit.ratios.matrices.structure_sd
    out = []
    for i, j in STRUCTURE:
        k, simple = fit.at(f"A{i}", f"A{j}"), fit.ratios.fractions[f"A{i}", f"A{j}"]
        said = "" if simple is None else f"; {simple.text()}, which chance would give in {100 * simple.chance:.2g} %"
        note = f"with {fit.ratios.per_turn[k[0]]:.6g} counts per turn; +- {sd[k]:.2g}{said}"
        out.append(Figure(f"s{i}{j}_ratio", None, float(s[k]), "1", note))
    chance = max(s.chance for s in fit.ratios.fractions.values() if s is not None)
    r = fit.regularity
    return (
        *out,
        Figure("ratios_proposed", None, float(sum(fit.ratios.proposed.values())), "1", f"of {len(out)} entries"),
        Figure("ratio_chance_largest", None, chance, "1", "the least certain of the fractions"),
        Figure("determinant", None, r.determinant, "1", f"+- {r.determinant_sd:.2g}; rank {r.rank}"),
        Figure("offset_probability", None, fit.zero.probability, "1", "that counts are zero where joints are, F test"),
    )


def _outliers(fit: Transmission) -> Listing:
    rows: list[dict[str, str | int | float]] = [
        {"table": b.table, "row": b.row, "column": b.column, "printed": b.printed, "predicted": b.predicted,
         "predicted_sd": b.predicted_sd, "slip": b.slip}
        for b in fit.outliers
    ]  # fmt: skip
    note = "numbers of Tables I and II that all others contradict, found from the tables alone"
    return Listing("outliers", tuple(rows), note)


def _verdict(fit: Transmission) -> str:
    from elastocal.procedures.transmission.ratios import together

    s = fit.robust.structure
    s44, s54, s55 = (float(s[fit.at(f"A{i}", f"A{j}")]) for i, j in ((4, 4), (5, 4), (5, 5)))
    named = "; ".join(b.text() for b in fit.outliers)
    simple = [s for s in fit.ratios.fractions.values() if s is not None]
    ratios = ", ".join(s.text() for s in simple)
    return (
        f"The tables contradict themselves in {len(fit.outliers)} numbers: {named}. Without them s44 = {s44:.2f}, "
        f"s54 = {s54:.2f} and s55 = {s55:.2f} instead of {STRUCTURE[4, 4]:.2f}, {STRUCTURE[5, 4]:.2f} and "
        f"{STRUCTURE[5, 5]:.2f}. Counts per turn agree with {_round_counts(fit)}, and with these the entries with "
        f"{ratios}, row by row; chance would do as well for all of them with the probability "
        f"{together(simple):.1g}."
    )


def _round_counts(fit: Transmission) -> str:
    """Round counts per turn with their axes, such as 16384 (A1, A2)."""
    axes: dict[str, list[str]] = {}
    for axis, simple, proposed in zip(fit.axes, fit.ratios.counts, fit.ratios.counts_proposed, strict=True):
        axes.setdefault(simple.text() if simple is not None and proposed else "no round number", []).append(axis)
    return " and ".join(f"{number} ({', '.join(of)})" for number, of in axes.items())
