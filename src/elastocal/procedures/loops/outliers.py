"""Outliers of a loop.

Reading i lies t_i = e_i / (s_i sqrt(1 - h_i)) away from what the others predict, s_i being the scatter of the others:
Student's t on their spare readings.  The worst is left out where its probability times the number of readings is below
a level (Bonferroni), then the rest is judged again.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elastocal.procedures.loops.estimate import LEVEL
from elastocal.procedures.loops.loop import Loop, model_columns
from elastocal.solve.linear import ROUNDING, LinearSolution, solve_linear
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
    from scipy.special import ndtr, stdtr

    free = 1 - fit.leverage
    tested = free > 1e-9
    if fit.freedom < 2 or not tested.any():
        return None
    share = np.where(tested, fit.residuals**2 / np.where(tested, free, 1.0), 0.0)
    others = np.sqrt(np.maximum(np.sum(fit.residuals**2) - share, 0.0) / (fit.freedom - 1))
    scale = np.maximum(others, max(noise or 0.0, ROUNDING * fit.size, np.finfo(float).tiny))
    t = np.sqrt(share) / scale
    at = int(np.argmax(t))
    tail = ndtr(-t[at]) if scale[at] == noise else stdtr(fit.freedom - 1, -t[at])
    probability = min(1.0, 2 * float(tail) * int(tested.sum()))
    return (at, float(t[at]), probability) if probability < level else None
