"""Matrices (16), (17) and (25) of Klimchik, Caro, Pashkevich 2013 (IMECE) as printed, and what follows from them alone.

Each is one draw of noise: its numbers cannot come back, but its ratios and errors can be formed again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from elastocal.cases import orthoglide_draws as od
from elastocal.cases.case import Figure, Listing, Why
from elastocal.report.blocks import Axis, Heatmap

if TYPE_CHECKING:
    from elastocal.spatial.entries import Array

MATRIX_16 = (
    (-3.05e-8, -8.71e-8, 1.86e-7, 1.59e-7, -7.72e-8, 1.15e-7),
    (4.53e-7, 8.05e-5, -2.07e-7, 1.98e-7, 1.14e-7, 3.98e-4),
    (2.29e-7, 3.76e-7, 3.65e-5, -2.25e-7, -1.71e-4, 1.13e-7),
    (-1.42e-7, 1.83e-6, 7.05e-7, 3.76e-3, 1.11e-6, 4.12e-6),
    (3.27e-6, 1.23e-6, -1.68e-4, 3.99e-6, 1.09e-3, -5.07e-6),
    (-2.61e-6, 3.97e-4, -1.06e-6, 2.81e-7, -4.58e-8, 2.65e-3),
)
RATIOS_17 = (
    (0.12, 0.35, 0.74, 0.64, 0.31, 0.46),
    (1.81, 322, 0.83, 0.79, 0.46, 1593),
    (0.91, 1.50, 146, 0.89, 684, 0.45),
    (0.06, 0.73, 0.28, 1504, 0.44, 1.64),
    (1.31, 0.49, -67.3, 1.60, 436, 2.02),
    (1.04, 159, 0.42, 0.11, 0.02, 1060),
)
BIG_25 = {"k22": 8.05e-5, "k26": 3.98e-4, "k33": 3.64e-5, "k35": -1.71e-4, "k44": 3.76e-3, "k55": 1.09e-3,
          "k66": 2.65e-3}  # fmt: skip
PER_LOAD = (2.5e-7,) * 3 + (2.5e-6,) * 3
"""sigma/load of the rows that the ratios imply, m/N or m/(N m) and rad/N or rad/(N m)."""
HALF = 0.5 + 1e-9
"""Of the last printed digit: how far a printed number may be from what was rounded."""
WORST_16, BELOW_25 = 1.67, 0.4
"""Per cent: the largest error of the big elements of (16), and that below which most of (25) are."""


def print_figures(truth: Array) -> tuple[Figure, ...]:
    """Errors of (16) and (25) against (15), ratios (17) from (16), and the observation matrix of section 3.2."""
    import numpy as np

    from elastocal.files.robot.read import read_robot

    _, matrix = od.observation(read_robot(od.ROBOT).with_link_form("full"))
    drawn = np.array(MATRIX_16)
    exact = {n: truth[int(n[1]) - 1, int(n[2]) - 1] for n in od.LARGE}
    full = {n: abs(drawn[int(n[1]) - 1, int(n[2]) - 1] / k - 1) for n, k in exact.items()}
    beam = {n: abs(k / exact[n] - 1) for n, k in BIG_25.items()}
    worst, rest = (max(errors, key=lambda n: errors[n]) for errors in (full, beam))
    skew = 100 * abs(drawn[2, 4] / drawn[4, 2] - 1)
    room = [100 * abs(end / abs(exact[worst]) - 1) for end in _ends(drawn[int(worst[1]) - 1, int(worst[2]) - 1], 3)]
    inside = min(room) <= WORST_16 <= max(room)
    below = sum(100 * e < BELOW_25 for e in beam.values())
    others = [row for row in ratios().rows if row["agrees"] != "yes"]
    off = ", ".join(f"{r['element']} ({r['|k|/sigma']:g} for {r['ratio of (17)']:g}: {r['agrees']})" for r in others)
    return (
        Figure("observation_rank", 36, int(np.linalg.matrix_rank(matrix)), "1", "six unit loads", "section 3.2"),
        Figure("observation_condition", 1.0, _condition(matrix), "1", "of the same", "section 3.2", last_digit=0.01),
        Figure("asymmetry_percent_print", 2, float(skew), "%", "|k35/k53 - 1| of (16)", "section 3.2"),
        Figure("worst_error_percent_print", WORST_16, 100 * float(full[worst]), "%",
               f"of {worst}, the worst of the nine big elements of (16); the three digits of (16) leave room from "
               f"{min(room):.2f} to {max(room):.2f} %", "section 3.2", Why.ROUNDING if inside else Why.CONTRADICTION),
        Figure("worst_error_percent_print_template", BELOW_25, 100 * float(beam[rest]), "%",
               f"of {rest}, the worst of the seven big elements of (25); printed: most are below, and so are {below}",
               "section 4.2", Why.DEFINITION),
        Figure("ratios_17_agree", None, 36 - len(others), "1",
               "of the 36 ratios of (17), those that are |k| of (16) over the implied sigma, both within their printed "
               f"digits; the others: {off}"),
    )  # fmt: skip


def _ends(value: float, digits: int) -> tuple[float, float]:
    """Between which a number lies that is printed with so many significant digits."""
    from math import floor, log10

    half = HALF * 10.0 ** (floor(log10(abs(value))) - digits + 1)
    return abs(value) - half, abs(value) + half


def _condition(matrix: Array) -> float:
    import numpy as np

    return float(np.linalg.cond(matrix))


def ratios() -> Listing:
    """(17) from (16)."""
    rows: list[dict[str, str | int | float]] = []
    for i, (elements, printed) in enumerate(zip(MATRIX_16, RATIOS_17, strict=True)):
        for j, (k, ratio) in enumerate(zip(elements, printed, strict=True)):
            found = float(f"{abs(k) / PER_LOAD[i]:.4g}")
            low, high = (end / PER_LOAD[i] for end in _ends(k, 3))
            rows.append({"element": f"k{i + 1}{j + 1}", "k of (16)": k, "ratio of (17)": ratio, "|k|/sigma": found,
                         "agrees": _agrees(low, high, abs(ratio))})  # fmt: skip
    return Listing("ratios_17", tuple(rows), "eq. (17) again from (16) and sigma/load 2.5e-7 and 2.5e-6")


def _agrees(low: float, high: float, printed: float) -> str:
    """Whether a number between ``low`` and ``high`` can be printed so: rounded, or with its further digits cut off."""
    digit = 0.01 if printed < 10 else 0.1 if printed < 100 else 1.0
    if low <= printed + HALF * digit and high >= printed - HALF * digit:
        return "yes"
    return "if digits are cut off" if low < printed + digit and high >= printed else "no"


def ratio_maps(of: od.Draws) -> tuple[Heatmap, Heatmap]:
    """(17) and (18) in colour: the first draw here, and the exact matrix."""
    import numpy as np

    sd = of.full.sd.reshape(6, 6)
    first = np.abs(of.full.values[0]).reshape(6, 6) / sd
    exact = np.abs(of.truth) / sd
    return (
        _map("ratios_one_draw", "Parameter-to-noise ratio in one draw, as eq. (17)", first),
        _map("ratios_exact", "Parameter-to-noise ratio of the exact matrix, as eq. (18)", exact),
    )


def _map(key: str, title: str, ratio: Array) -> Heatmap:
    import numpy as np

    with np.errstate(divide="ignore"):
        log = np.where(ratio > 0, np.log10(ratio), np.nan)
    at = tuple(float(i) for i in range(1, 7))
    values = tuple(tuple(float(v) for v in row) for row in log)
    notes = ("Above 0.7 = log10 of 5 an element is identifiable in practice; empty: exactly zero.",)
    column, row = Axis("column of k", "", at), Axis("row of k", "", at)
    return Heatmap(key, title, column, row, "log10 of |k|/sigma", "1", values, notes, True)
