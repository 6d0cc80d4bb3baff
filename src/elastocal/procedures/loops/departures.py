"""Ways in which a loop is not four parallel straight lines, each tested by one more column.

    |F|               the two senses have different slopes p +- d
    F |F|             curved: the slope is p + 2 b |F|; b < 0 is stiffening
    -|F| sign(dF)     the hysteresis grows with the force (friction of the load itself)
    -sign(F) sign(dF) the hysteresis is not the same in both senses

and, where forces were repeated, all of them and more at once by the scatter of the repeats (pure error).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elastocal.procedures.loops.loop import COMPLIANCE, LEVEL, Estimate, FTest, Loop, f_test, model_columns, unknown
from elastocal.solve.linear import LinearSolution, solve_linear
from elastocal.spatial.entries import Array, Bools

NAMES = ("different slopes", "curved", "growing hysteresis", "uneven hysteresis")
_OPEN = "these readings do not tell it from the rest of the model"


@dataclass(frozen=True, eq=False)
class Departure:
    """``coefficient`` of the added column in its own SI unit."""

    name: str
    coefficient: Estimate
    test: FTest


@dataclass(frozen=True, eq=False)
class Departures:
    """``slopes`` are p for pushing and for pulling; ``repeats`` is the test of the model by repeated forces.

    ``level`` is the probability below which a test rejects: one per cent shared by all tests of all loops.
    """

    each: tuple[Departure, ...]
    slopes: tuple[Estimate, Estimate]
    repeats: FTest
    level: float

    def named(self, name: str) -> Departure:
        return next(d for d in self.each if d.name == name)

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
    level = LEVEL / (loops * (len(NAMES) + 1))
    each = tuple(_departure(n, base, fit) for n, fit in zip(NAMES, fits, strict=True))
    uneven = each[0].test.probability < level  # then the scatter about one slope is no noise
    slopes = _slopes(fits[0], base, side, *((fits[0].scatter, fits[0].freedom) if uneven else noise))
    return Departures(each, slopes, _repeats(x, y, base), level)


def _departure(name: str, base: LinearSolution, fit: LinearSolution) -> Departure:
    if not fit.known[-1] or fit.freedom < 1:
        reason = _OPEN if not fit.known[-1] else "no reading to spare"
        return Departure(name, unknown(reason), FTest(np.nan, (1, fit.freedom), np.nan, reason))
    s = fit.scatter
    coefficient = Estimate(float(fit.values[-1]), float(s * np.sqrt(fit.unit_covariance[-1, -1])), fit.freedom)
    gain = float(np.sum(base.residuals**2) - np.sum(fit.residuals**2)) / s**2
    return Departure(name, coefficient, f_test(gain, 1, fit.freedom))


def _slopes(
    fit: LinearSolution, base: LinearSolution, side: Array, sigma: float, freedom: float
) -> tuple[Estimate, Estimate]:
    """p + d for F > 0 and p - d for F < 0; with one sense only, its slope is that of the loop."""
    senses = [bool(np.any(side == s)) for s in (1, -1)]
    if not all(senses):
        i = base.names.index(COMPLIANCE)
        if not base.known[i]:
            return unknown(_OPEN), unknown(_OPEN)
        only = Estimate(float(base.values[i]), float(sigma * np.sqrt(base.unit_covariance[i, i])), freedom)
        none = unknown("no reading in this sense")
        return (only, none) if senses[0] else (none, only)
    if not (fit.known[0] and fit.known[-1]):
        return unknown(_OPEN), unknown(_OPEN)
    out = []
    for sign in (1.0, -1.0):
        row = np.zeros(len(fit.values))
        row[0], row[-1] = 1.0, sign
        sd = float(sigma * np.sqrt(row @ fit.unit_covariance @ row))
        out.append(Estimate(float(row @ fit.values), sd, freedom))
    return out[0], out[1]


def _repeats(x: Array, y: Array, base: LinearSolution) -> FTest:
    """The model against one mean for each force and branch, cycle offsets in both."""
    cells, which = np.unique(x[:, :3], axis=0, return_inverse=True)
    free = np.column_stack([(which.reshape(-1, 1) == np.arange(len(cells))).astype(float), x[:, 3:]])
    fit = solve_linear(free, y)
    if fit.freedom < 1:
        return FTest(np.nan, (0, 0.0), np.nan, "no force was repeated on the same branch")
    gain = float(np.sum(base.residuals**2) - np.sum(fit.residuals**2)) / fit.scatter**2
    return f_test(gain, base.freedom - fit.freedom, fit.freedom)
