"""Structure matrix of the KUKA KR5 (Hayat, Udai and Saha 2013, section II): Tables I and II to S, with every row and
without those that the others contradict.
"""

from __future__ import annotations

from math import pi

import numpy as np

from elastocal.procedures.transmission import Transmission, identify
from elastocal.procedures.transmission.equations import AxisColumn, EncoderSeries
from elastocal.procedures.transmission.ratios import together
from elastocal.published.case import Case, Figure, Listing, Outcome, Progress, Row
from elastocal.quantities import probability

PRINTED = Case("kr5-transmission")
MOTOR_DEG: tuple[float, ...] = tuple(PRINTED.table("motor_deg"))
TABLE_1: tuple[tuple[tuple[float, ...], tuple[float, ...]], ...] = tuple(
    (tuple(row["counts"]), tuple(row["joint_deg"])) for row in PRINTED.table("I")
)
"""Encoder counts and joint angles in deg after each motor turn, joint by joint."""
TABLE_2: tuple[tuple[float, ...], ...] = tuple(tuple(row) for row in PRINTED.table("II"))
"""Joint angles 4 to 6 in deg, encoder counts 4 to 6."""
ENTRIES = ((1, 1), (2, 2), (3, 3), (4, 4), (5, 5), (6, 6), (5, 4), (6, 4), (6, 5))
"""Of (6) and (9) that are not zero, by motor and joint."""


def series() -> tuple[EncoderSeries, ...]:
    """Both tables; each joint of Table I moved alone."""

    def columns(letter: str, of: dict[int, tuple[float, ...]], factor: float) -> dict[str, AxisColumn]:
        return {f"A{i}": AxisColumn.of(f"{letter}_{i}", values, factor) for i, values in of.items()}

    alone = [
        EncoderSeries("I", (1, 2, 3, 4, 5), columns("epsilon", {i: counts}, 1.0),
                      columns("theta", {i: angles}, pi / 180), columns("phi", {i: MOTOR_DEG}, pi / 180))
        for i, (counts, angles) in enumerate(TABLE_1, start=1)
    ]  # fmt: skip
    by_column = [tuple(float(v) for v in column) for column in zip(*TABLE_2, strict=True)]
    angles, counts = (dict(zip((4, 5, 6), part, strict=True)) for part in (by_column[:3], by_column[3:]))
    wrist = EncoderSeries("II", tuple(range(1, 8)), columns("epsilon", counts, 1.0), columns("theta", angles, pi / 180))
    return (*alone, wrist)


def run(rng: np.random.Generator, progress: Progress) -> Outcome:
    fit = identify(series())
    figures = (*_counts(fit), *_entries(fit), *_ratios(fit))
    simple = [s for s in fit.ratios.fractions.values() if s is not None]
    return PRINTED.outcome(
        figures, (), _outliers(fit), count=len(fit.outliers), named="; ".join(b.text() for b in fit.outliers),
        rounds=_round_counts(fit), ratios=", ".join(s.text() for s in simple), chance=probability(together(simple)),
    )  # fmt: skip


def _counts(fit: Transmission) -> tuple[Figure, ...]:
    out = []
    for i, (counts, _) in enumerate(TABLE_1):
        simple, name = fit.ratios.counts[i], f"counts_per_turn_{i + 1}"
        nearby = "none" if simple is None else simple.text()
        out += [
            PRINTED.figure(f"{name}_all", (counts[-1] - counts[0]) / (len(MOTOR_DEG) - 1)),
            PRINTED.figure(name, float(fit.robust.per_turn[i]), sd=fit.robust.per_turn_sd[i], nearby=nearby),
        ]
    return tuple(out)


def _entries(fit: Transmission) -> tuple[Figure, ...]:
    """Each entry by the paper's route with every row, and by the robust fit of both tables."""
    out = []
    s, sd = fit.robust.structure, fit.robust.structure_sd
    for (i, j), value in every_row().items():
        k = fit.at(f"A{i}", f"A{j}")
        out += [
            PRINTED.figure(f"s{i}{j}_all", value, mean_ratio=mean_ratio(i)),
            PRINTED.figure(f"s{i}{j}", float(s[k]), sd=sd[k]),
        ]
    per_degree = {f"t{i}{j}_all": 1e-3 * value for (i, j), value in counts_per_degree().items()}
    return (*out, *PRINTED.figures(per_degree))


def every_row() -> dict[tuple[int, int], float]:
    """Entries of S = T_m T_j, both without offsets."""
    turns = np.array(MOTOR_DEG) / 360
    per_turn = {i: np.array(counts) @ turns / (turns @ turns) for i, (counts, _) in enumerate(TABLE_1, 1)}
    return {(i, j): float(360 * t / per_turn[i]) for (i, j), t in counts_per_degree().items()}


def counts_per_degree() -> dict[tuple[int, int], float]:
    """Entries of T_j by plain least squares without offsets: (7a) on Table I, (7b) on Table II."""
    wrist, out = np.array(TABLE_2, dtype=np.float64), {}
    for i, j in ENTRIES:
        counts, angles = (np.array(column) for column in TABLE_1[i - 1])
        x = angles[:, None] if i <= 4 else wrist[:, : i - 3]
        t = np.linalg.lstsq(x, counts if i <= 4 else wrist[:, i - 1], rcond=None)[0]
        out[i, j] = float(t[0 if i <= 4 else j - 4])
    return out


def mean_ratio(i: int) -> float:
    """s_ii of Table I with T_j as the mean of counts over joint angles, T_m from zero."""
    turns, (counts, angles) = np.array(MOTOR_DEG) / 360, (np.array(column) for column in TABLE_1[i - 1])
    return float(360 * np.mean(counts / angles) * (turns @ turns) / (counts @ turns))


def _ratios(fit: Transmission) -> tuple[Figure, ...]:
    """The same with round counts per turn, and what fraction that is."""
    s, sd = fit.ratios.matrices.structure, fit.ratios.matrices.structure_sd
    out = []
    for i, j in ENTRIES:
        k, simple = fit.at(f"A{i}", f"A{j}"), fit.ratios.fractions[f"A{i}", f"A{j}"]
        message = "" if simple is None else f"; {simple.text()}, which chance would give in {100 * simple.chance:.2g} %"
        per_turn = fit.ratios.per_turn[k[0]]
        out.append(PRINTED.figure(f"s{i}{j}_ratio", float(s[k]), per_turn=per_turn, sd=sd[k], fraction=message))
    chance = max(s.chance for s in fit.ratios.fractions.values() if s is not None)
    r = fit.regularity
    return (
        *out,
        PRINTED.figure("ratios_proposed", float(sum(fit.ratios.proposed.values())), entries=len(out)),
        PRINTED.figure("ratio_chance_largest", chance),
        PRINTED.figure("determinant", r.determinant, sd=r.determinant_sd, rank=r.rank),
        PRINTED.figure("offset_probability", fit.zero.probability if fit.zero else None),
    )


def _outliers(fit: Transmission) -> Listing:
    rows: list[Row] = [
        {"table": b.table, "row": b.row, "column": b.column, "printed": b.printed, "predicted": b.predicted,
         "predicted_sd": b.predicted_sd, "slip": b.slip}
        for b in fit.outliers
    ]  # fmt: skip
    note = "numbers of Tables I and II that all others contradict, found from the tables alone"
    return Listing("outliers", tuple(rows), note)


def _round_counts(fit: Transmission) -> str:
    """Round counts per turn with their axes, such as 16384 (A1, A2)."""
    axes: dict[str, list[str]] = {}
    for axis, simple, proposed in zip(fit.axes, fit.ratios.counts, fit.ratios.counts_proposed, strict=True):
        axes.setdefault(simple.text() if simple is not None and proposed else "no round number", []).append(axis)
    return " and ".join(f"{number} ({', '.join(of)})" for number, of in axes.items())
