"""Compliance, half gap and half hysteresis of loops, by least squares on all readings of each (see ``loop``).

With as many readings on each branch the estimators are those of the four lines' intercepts a,

    4 g = (a+load + a+unload) - (a-load + a-unload),   4 h = (a+unload - a+load) - (a-unload - a-load)

The noise is that of one gauge: the residuals of all loops together, each on its own spare readings.  A loop that
scatters clearly more than the others (F test) keeps its own scatter and stays out of the common one.

What the division of the gauge adds is not in the residuals (``solve.dependent``): it is found from the readings of each
loop, counted in every accuracy, and no test takes less than its standard deviation for noise.

Outliers are decided by ``solve.outliers``, reading by reading; none is one by a division.

Departures are ways in which a loop is not four parallel straight lines, each tested by one more column,

    |F|               the two senses have different slopes p +- d
    F |F|             curved: the slope is p + 2 b |F|; b < 0 is stiffening
    -|F| sign(dF)     the hysteresis grows with the force (friction of the load itself)
    -sign(F) sign(dF) the hysteresis is not the same in both senses

and, where forces were repeated, all of them and more at once by the scatter of the repeats (pure error).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from math import inf, nan

import numpy as np

from elastocal.procedures.loops.loop import (
    COMPLIANCE,
    GAP,
    HYSTERESIS,
    OFFSET,
    Estimate,
    Loop,
    model_columns,
    unknown,
    usable,
)
from elastocal.solve.dependent import division_of, mean_error
from elastocal.solve.linear import ROUNDING, LinearSolution, solve_linear
from elastocal.solve.nested import LEVEL, NestedTest, f_test, undecided
from elastocal.solve.outliers import LinearJudge, screen_units
from elastocal.spatial.entries import Array, Bools
from elastocal.values import dataclass

MOST, FEW = 0.1, 2
"""Share of the readings that may be outliers, and the number that always may."""
NAMES = ("different slopes", "curved", "growing hysteresis", "uneven hysteresis")
_OPEN = "these readings do not tell it from the rest of the model"


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
    """The readings kept, those left out (at most a tenth, or two), the worst first, and the fit of the kept.

    The level is shared by all ``loops``, so that one set of loops in a hundred names a good reading.
    """
    names, columns = model_columns(loop)
    size = float(np.max(np.abs(loop.displacement[used]), initial=0.0))
    floor = max(noise or 0.0, division_of(loop.displacement) / 2, ROUNDING * size, np.finfo(float).tiny)
    judge = LinearJudge(loop.displacement[:, None], columns[:, None], used[:, None], np.zeros(1, dtype=np.int64), floor)
    most = max(FEW, int(MOST * used.sum())) / max(1, used.sum())
    none = np.zeros_like(judge.used)
    dropped, units, _ = screen_units(
        judge, judge.used, none, level=LEVEL / loops, levels=("number",), most=most, back=1.0
    )
    kept = used & ~dropped[:, 0]
    fit = solve_linear(columns[kept], loop.displacement[kept], names)
    predicted, sd = (loop.displacement[:, None] - judge.residuals(dropped))[:, 0], np.fmax(fit.scatter, floor)
    outliers = [
        Outlier(u.block, float(loop.displacement[u.block]), float(predicted[u.block]), float(u.size / sd),
                float(u.probability * used.sum()))
        for u in units
    ]  # fmt: skip
    return kept, tuple(outliers), fit


@dataclass(frozen=True, eq=False)
class Departure:
    """``coefficient`` of the added column in its own SI unit."""

    name: str
    coefficient: Estimate
    test: NestedTest


@dataclass(frozen=True, eq=False)
class Departures:
    """``slopes`` are p for pushing and for pulling; ``repeats`` is the test of the model by repeated forces.

    ``level`` is the probability below which a test rejects: one per cent shared by all tests of all loops.
    """

    each: tuple[Departure, ...]
    slopes: tuple[Estimate, Estimate]
    repeats: NestedTest
    level: float

    @property
    def rejected(self) -> tuple[Departure, ...]:
        return tuple(d for d in self.each if d.test.probability < self.level)

    @property
    def straight(self) -> bool:
        """Whether nothing rejects four straight parallel lines."""
        return not self.rejected and not self.repeats.probability < self.level


def departures(loop: Loop, used: Bools, base: LinearSolution, noise: tuple[float, float], loops: int) -> Departures:
    """``noise`` (sd, freedom) is what the slopes are stated with; tests use the loop's own scatter, as one of many."""
    names, columns = model_columns(loop)
    x, y = columns[used], loop.displacement[used]
    f, side, lag = x[:, 0], x[:, 1], x[:, 2]
    extra = (np.abs(f), f * np.abs(f), np.abs(f) * lag, side * lag)
    fits = [solve_linear(np.column_stack([x, z]), y, (*names, n)) for n, z in zip(NAMES, extra, strict=True)]
    level, division = LEVEL / (loops * (len(NAMES) + 1)), division_of(loop.displacement)
    each = tuple(_departure(n, base, fit, division) for n, fit in zip(NAMES, fits, strict=True))
    uneven = each[0].test.probability < level  # then the scatter about one slope is no noise
    sigma, freedom = (fits[0].scatter, float(fits[0].freedom)) if uneven else noise
    extended = np.column_stack([x, extra[0]])
    slopes = _slopes((fits[0], extended), (base, x), side, sigma, freedom, _mean_error(fits[0], division, sigma))
    return Departures(each, slopes, _repeats(x, y, base, division), level)


def _scatter(fit: LinearSolution, division: float) -> float:
    """Of the residuals, at least that of the division."""
    return max(fit.scatter, float(division / np.sqrt(12)))


def _mean_error(fit: LinearSolution, division: float, sigma: float) -> float:
    """By the scatter that the readings show; by the stated noise where none is to spare."""
    return mean_error(division, fit.scatter if fit.freedom > 0 else sigma)


def _departure(name: str, base: LinearSolution, fit: LinearSolution, division: float) -> Departure:
    if not fit.known[-1] or fit.freedom < 1:
        reason = _OPEN if not fit.known[-1] else "no reading to spare"
        return Departure(name, unknown(reason), undecided(1, fit.freedom, reason))
    s = _scatter(fit, division)
    coefficient = Estimate(float(fit.values[-1]), float(s * np.sqrt(fit.unit_covariance[-1, -1])), fit.freedom)
    gain = float(np.sum(base.residuals**2) - np.sum(fit.residuals**2)) / s**2
    return Departure(name, coefficient, f_test(gain, 1, fit.freedom))


_Solved = tuple[LinearSolution, Array]
"""A solution and its columns."""


def _slopes(
    fit: _Solved, base: _Solved, side: Array, sigma: float, freedom: float, error: float
) -> tuple[Estimate, Estimate]:
    """p + d for F > 0 and p - d for F < 0; with one sense only, its slope is that of the loop."""
    senses = [bool(np.any(side == s)) for s in (1, -1)]
    if not all(senses):
        i = base[0].names.index(COMPLIANCE)
        if not base[0].known[i]:
            return unknown(_OPEN), unknown(_OPEN)
        only = _combined(*base, np.eye(len(base[0].values))[i], sigma, freedom, error)
        none = unknown("no reading in this sense")
        return (only, none) if senses[0] else (none, only)
    if not (fit[0].known[0] and fit[0].known[-1]):
        return unknown(_OPEN), unknown(_OPEN)
    rows = np.zeros((2, len(fit[0].values)))
    rows[:, 0], rows[:, -1] = 1.0, (1.0, -1.0)
    push, pull = (_combined(*fit, row, sigma, freedom, error) for row in rows)
    return push, pull


def _combined(fit: LinearSolution, columns: Array, row: Array, sigma: float, freedom: float, error: float) -> Estimate:
    """A combination of unknowns; ``error`` is the mean error that the division leaves in a reading."""
    effect = row @ fit.unit_covariance
    out = Estimate(float(row @ fit.values), float(sigma * np.sqrt(effect @ row)), freedom)
    return out.with_division(error * float(np.sum(np.abs(columns @ effect))))


def _repeats(x: Array, y: Array, base: LinearSolution, division: float) -> NestedTest:
    """The model against one mean for each force and branch, cycle offsets in both."""
    cells, which = np.unique(x[:, :3], axis=0, return_inverse=True)
    free = np.column_stack([(which.reshape(-1, 1) == np.arange(len(cells))).astype(float), x[:, 3:]])
    fit = solve_linear(free, y)
    if fit.freedom < 1:
        return undecided(0, 0.0, "no force was repeated on the same branch")
    gain = float(np.sum(base.residuals**2) - np.sum(fit.residuals**2)) / _scatter(fit, division) ** 2
    return f_test(gain, base.freedom - fit.freedom, fit.freedom)


_ADVICE = (
    ({COMPLIANCE, GAP}, "use several sizes of force in each sense"),
    ({GAP, OFFSET}, "push in both senses within each cycle"),
    ({GAP, HYSTERESIS}, "read while loading and while unloading"),
    ({HYSTERESIS, OFFSET}, "read going and coming"),
)


@dataclass(frozen=True, eq=False)
class LoopFit:
    """``used`` (n,) are the readings of the fit; ``sigma`` the noise of one reading, known from ``freedom`` others.

    ``alone`` tells that the loop scatters more than the others and its own scatter is its noise.  ``division`` is that
    of the gauge, 0.0 where the readings show none.
    """

    loop: Loop
    used: Bools
    outliers: tuple[Outlier, ...]
    solution: LinearSolution
    sigma: float
    freedom: float
    alone: bool
    departures: Departures
    division: float

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

    @property
    def by_division(self) -> bool:
        """Whether the division of the gauge, and not the noise, decides how well anything is known."""
        return any(e.division > 0.5**0.5 * e.sd for e in (self.compliance, self.half_gap, self.half_hysteresis))

    def _estimate(self, name: str) -> Estimate:
        i = self.solution.names.index(name)
        if not self.solution.known[i]:
            return unknown(_reason(self.solution, name))
        row, error = np.eye(len(self.solution.values))[i], _mean_error(self.solution, self.division, self.sigma)
        out = _combined(self.solution, self._columns, row, self.sigma, self.freedom, error)
        return out if np.isfinite(out.sd) else replace(out, reason="no reading to spare and no noise stated")

    @cached_property
    def _columns(self) -> Array:
        return model_columns(self.loop)[1][self.used]


def fit_loops(loops: Sequence[Loop], noise: float | None = None) -> tuple[LoopFit, ...]:
    """Every loop; ``noise`` is the stated standard deviation of a displacement in m, used where it is the larger."""
    parts = [screened_loop(loop, usable(loop), noise, len(loops)) for loop in loops]
    solutions = [solution for _, _, solution in parts]
    alone = _alone(solutions, max(division_of(loop.displacement) for loop in loops))
    common = _noise([s for s, a in zip(solutions, alone, strict=True) if not a], noise)
    out = []
    for loop, (used, outliers, solution), own in zip(loops, parts, alone, strict=True):
        sigma, freedom = _noise([solution], noise) if own else common
        more = departures(loop, used, solution, (sigma, freedom), len(loops))
        division = division_of(loop.displacement)
        out.append(LoopFit(loop, used, outliers, solution, sigma, freedom, own, more, division))
    return tuple(out)


def _noise(solutions: Sequence[LinearSolution], stated: float | None) -> tuple[float, float]:
    spare = sum(s.freedom for s in solutions)
    pooled = np.sqrt(sum(s.freedom * s.scatter**2 for s in solutions if s.freedom) / spare) if spare else nan
    if stated is not None and not pooled > stated:
        return stated, inf
    return float(pooled), float(spare) if spare else nan


def _alone(solutions: Sequence[LinearSolution], division: float) -> list[bool]:
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
        rest = max(rest, division / np.sqrt(12))
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
