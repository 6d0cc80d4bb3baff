"""Outliers of a loop.

A reading is judged by its deletion residual (``solve.deletion``), studentised by the scatter of the others.  The worst
is left out where its probability times the number of readings is below a level (Bonferroni), then the rest is judged
again.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elastocal.procedures.loops.estimate import LEVEL
from elastocal.procedures.loops.loop import Loop, model_columns
from elastocal.solve.deletion import Deletion
from elastocal.solve.linear import ROUNDING, LinearSolution, solve_linear
from elastocal.solve.outliers import worst_unit
from elastocal.spatial.entries import Bools

MOST, FEW = 0.1, 2
"""Share of the readings that may be outliers, and the number that always may."""


@dataclass(frozen=True)
class Outlier:
    """Reading ``row`` of a loop (from 0): read, what the rest predicts, and how likely such a reading is."""

    row: int
    value: float
    predicted: float
    sigmas: float
    probability: float


def screened_loop(
    loop: Loop, used: Bools, noise: float | None, loops: int = 1
) -> tuple[Bools, tuple[Outlier, ...], LinearSolution]:
    """The readings kept, those left out (at most a tenth, or two) in order of discovery, and the fit of the kept.

    The level is shared by all ``loops``, so that one set of loops in a hundred names a good reading.
    """
    names, columns = model_columns(loop)
    kept, found = used.copy(), list[Outlier]()
    most = max(FEW, int(MOST * used.sum()))
    while True:
        rows = np.flatnonzero(kept)
        fit = solve_linear(columns[rows], loop.displacement[rows], names)
        worst = None if len(found) == most else _worst(fit, noise, LEVEL / loops)
        if worst is None:
            return kept, tuple(found), fit
        at, t, probability = worst
        row = int(rows[at])
        away = fit.residuals[at] / (1 - fit.leverage[at])
        value = float(loop.displacement[row])
        found.append(Outlier(row, value, float(value - away), abs(t), probability))
        kept[row] = False


def _worst(fit: LinearSolution, noise: float | None, level: float) -> tuple[int, float, float] | None:
    floor = max(noise or 0.0, ROUNDING * fit.size, np.finfo(float).tiny) ** 2
    each = Deletion(
        np.ones((len(fit.residuals), 1), dtype=bool), (1 - fit.leverage)[:, None, None], fit.residuals[:, None],
        fit.squares, fit.freedom, np.zeros(1, dtype=np.int64), floor=floor,
    )  # fmt: skip
    found = worst_unit(each, level, ("pose",))
    if found is None:
        return None
    scale = max((fit.squares - found.size**2) / (fit.freedom - 1), floor) ** 0.5
    return found.block, found.size / scale, found.probability * len(fit.residuals)
