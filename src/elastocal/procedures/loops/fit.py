"""Compliance, half gap and half hysteresis of loops, by least squares on all readings of each (see ``loop``).

With as many readings on each branch the estimators are those of the four lines' intercepts a,

    4 g = (a+load + a+unload) - (a-load + a-unload),   4 h = (a+unload - a+load) - (a-unload - a-load)

The noise is that of one gauge: the residuals of all loops together, each on its own spare readings.  A loop that
scatters clearly more than the others (F test) keeps its own scatter and stays out of the common one.

Outliers.  A reading is judged by its deletion residual (``solve.deletion``), studentised by the scatter of the others.
The worst is left out where its probability times the number of readings is below a level (Bonferroni), then the rest
is judged again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, nan

import numpy as np

from elastocal.procedures.loops.departures import Departures, departures
from elastocal.procedures.loops.loop import (
    COMPLIANCE,
    GAP,
    HYSTERESIS,
    LEVEL,
    OFFSET,
    Estimate,
    Loop,
    f_test,
    model_columns,
    unknown,
    usable,
)
from elastocal.solve.deletion import Deletion
from elastocal.solve.linear import ROUNDING, LinearSolution, solve_linear
from elastocal.solve.outliers import worst_unit
from elastocal.spatial.entries import Array, Bools

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


_ADVICE = (
    ({COMPLIANCE, GAP}, "use several sizes of force in each sense"),
    ({GAP, OFFSET}, "push in both senses within each cycle"),
    ({GAP, HYSTERESIS}, "read while loading and while unloading"),
    ({HYSTERESIS, OFFSET}, "read going and coming"),
)


@dataclass(frozen=True, eq=False)
class LoopFit:
    """``used`` (n,) are the readings of the fit; ``sigma`` the noise of one reading, known from ``freedom`` others.

    ``alone`` tells that the loop scatters more than the others and its own scatter is its noise.
    """

    loop: Loop
    used: Bools
    outliers: tuple[Outlier, ...]
    solution: LinearSolution
    sigma: float
    freedom: float
    alone: bool
    departures: Departures

    @property
    def compliance(self) -> Estimate:
        return self._estimate(COMPLIANCE)

    @property
    def half_gap(self) -> Estimate:
        return self._estimate(GAP)

    @property
    def half_hysteresis(self) -> Estimate:
        return self._estimate(HYSTERESIS)

    @property
    def undetermined(self) -> int:
        """Readings left out because force or branch is not told from zero."""
        return int(np.sum(~usable(self.loop)))

    @property
    def correlation(self) -> float:
        """Between compliance and half gap; nan where either is unknown."""
        c = self.solution.unit_covariance
        return float(c[0, 1] / np.sqrt(c[0, 0] * c[1, 1])) if all(self.solution.known[:2]) else nan

    @property
    def offsets(self) -> Array:
        """Where the gauge's zero stood at each reading (n,)."""
        names = self.solution.names
        return np.array([self.solution.values[names.index(f"{OFFSET} {c}")] for c in self.loop.cycle])

    def _estimate(self, name: str) -> Estimate:
        i = self.solution.names.index(name)
        if not self.solution.known[i]:
            return unknown(_reason(self.solution, name))
        sd = float(self.sigma * np.sqrt(self.solution.unit_covariance[i, i]))
        why = "" if np.isfinite(sd) else "no reading to spare and no noise stated"
        return Estimate(float(self.solution.values[i]), sd, self.freedom, why)


def fit_loops(loops: Sequence[Loop], noise: float | None = None) -> tuple[LoopFit, ...]:
    """Every loop; ``noise`` is the stated standard deviation of a displacement in m, used where it is the larger."""
    parts = [screened_loop(loop, usable(loop), noise, len(loops)) for loop in loops]
    solutions = [solution for _, _, solution in parts]
    alone = _alone(solutions)
    common = _noise([s for s, a in zip(solutions, alone, strict=True) if not a], noise)
    out = []
    for loop, (used, outliers, solution), own in zip(loops, parts, alone, strict=True):
        sigma, freedom = _noise([solution], noise) if own else common
        more = departures(loop, used, solution, (sigma, freedom), len(loops))
        out.append(LoopFit(loop, used, outliers, solution, sigma, freedom, own, more))
    return tuple(out)


def _noise(solutions: Sequence[LinearSolution], stated: float | None) -> tuple[float, float]:
    spare = sum(s.freedom for s in solutions)
    found = np.sqrt(sum(s.freedom * s.scatter**2 for s in solutions if s.freedom) / spare) if spare else nan
    if stated is not None and not found > stated:
        return stated, inf
    return float(found), float(spare) if spare else nan


def _alone(solutions: Sequence[LinearSolution]) -> list[bool]:
    """Loops that scatter more than the rest, the worst first, each against those not yet taken out."""
    out = [s.freedom < 1 for s in solutions]
    silent = out.copy()
    while True:
        left = [i for i, a in enumerate(out) if not a]
        if len(left) < 3:
            break
        worst = max(left, key=lambda i: solutions[i].scatter)
        if solutions[worst].exact:
            break
        rest, spare = _noise([solutions[i] for i in left if i != worst], None)
        test = f_test(
            solutions[worst].freedom * (solutions[worst].scatter / rest) ** 2, solutions[worst].freedom, spare
        )
        if not test.probability * len(left) < LEVEL:
            break
        out[worst] = True
    return [a and not s for a, s in zip(out, silent, strict=True)]


def _reason(solution: LinearSolution, name: str) -> str:
    """Why an unknown is not determined, and what to do."""
    others = tuple(dict.fromkeys(o.partition(" ")[0] for o in solution.entangled(name)))
    if not others:
        return f"no usable reading depends on the {name}; read more"
    tangle = {name, *others}
    do = [advice for pair, advice in _ADVICE if pair <= tangle]
    advice = ", ".join(do[:1] if len(tangle) == 2 else do) or "read more forces in both senses, going and coming"
    return f"{name} and {' and '.join(others)} are not separately identifiable in these readings; {advice}"
