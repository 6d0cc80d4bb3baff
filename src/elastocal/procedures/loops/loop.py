"""One loop of force against displacement, and the state of the contact in each of its readings.

    s = p F + g sign(F) - h sign(dF) + c_cycle

p compliance, g half of the backlash (it lies on the side of the force, 002 eq. 6), h half of the friction
hysteresis (friction Fc takes its share of the force, so the displacement lags: p (F - Fc) while the force grows,
p (F + Fc) while it falls, h = p Fc > 0, and a closed loop costs work), c where the gauge was set to zero, anew in every
cycle.  So a loop is four parallel lines whose intercepts, seen from c, are

    +g-h  loading with F > 0        +g+h  unloading
    -g+h  loading with F < 0        -g-h  unloading

The gap between the loading lines is 2(g-h), between the unloading lines (what is left at zero force) 2(g+h): one
branch alone gives neither g nor h, both together give both.

A number with its accuracy, or the reason why there is none.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, isfinite, nan, sqrt

import numpy as np

from elastocal.arguments import vector
from elastocal.errors import NumberError, ShapeError
from elastocal.solve.nested import NestedTest, f_test, undecided
from elastocal.spatial.entries import Array, Bools, Ints
from elastocal.values import dataclass


@dataclass(frozen=True)
class Estimate:
    """``sd`` rests on ``freedom`` spare readings (inf: a stated noise); ``reason`` says why a number is nan.

    ``division`` is the part of the sd that the division of the gauge adds, which several loops have in common.
    """

    value: float
    sd: float
    freedom: float = inf
    reason: str = ""
    division: float = 0.0

    @property
    def known(self) -> bool:
        return isfinite(self.value)

    def half_width(self, level: float = 0.95) -> float:
        """Half of the two-sided interval (Student's t)."""
        from scipy.special import ndtri, stdtrit

        if not isfinite(self.sd):
            return nan
        at = 0.5 * (1 + level)
        return float(self.sd * (ndtri(at) if self.freedom == inf else stdtrit(self.freedom, at)))

    @property
    def absent(self) -> bool:
        """Known, but not told from zero: its 95 % interval holds zero."""
        return self.known and self.value <= self.half_width()

    def times(self, factor: float) -> Estimate:
        size = abs(factor)
        return Estimate(factor * self.value, size * self.sd, self.freedom, self.reason, size * self.division)

    def with_division(self, division: float) -> Estimate:
        """The same with what a division adds; freedom by Welch and Satterthwaite."""
        share = self.sd**2 + division**2
        freedom = self.freedom * (share / self.sd**2) ** 2 if division > 0 and self.sd > 0 else self.freedom
        return Estimate(self.value, share**0.5, freedom, self.reason, division)

    def minus(self, other: Estimate) -> Estimate:
        """The difference of numbers independent but for the division; freedom by Welch and Satterthwaite."""
        reason, division = self.reason or other.reason, self.division + other.division
        variance = self.sd**2 + other.sd**2 + 2 * self.division * other.division
        parts = self.sd**4 / self.freedom + other.sd**4 / other.freedom
        freedom = variance**2 / parts if parts > 0 else inf
        return Estimate(self.value - other.value, variance**0.5, freedom, reason, division)


def unknown(reason: str) -> Estimate:
    return Estimate(nan, nan, nan, reason)


def mean_of(numbers: Sequence[Estimate]) -> tuple[Estimate, NestedTest]:
    """Inverse-variance mean of numbers that have an accuracy, and the test that they are one number.

    Where they are not, the sd is raised to their scatter about the mean.  Numbers are independent but for what the
    division adds, which no mean makes smaller.
    """
    given = [e for e in numbers if e.known and isfinite(e.sd) and e.sd > 0]
    if not given:
        reason = next((e.reason for e in numbers if e.reason), "nothing was measured")
        return unknown(reason), undecided(0, nan, reason)
    freedom = min(e.freedom for e in given)
    weight = sum(e.sd**-2 for e in given)
    value = sum(e.value * e.sd**-2 for e in given) / weight
    test = f_test(sum(((e.value - value) / e.sd) ** 2 for e in given), len(given) - 1, freedom)
    raised = max(1.0, test.statistic) if test.rejected else 1.0
    division = sum(e.division * e.sd**-2 for e in given) / weight
    alone = sum((e.division * e.sd**-2) ** 2 for e in given) / weight**2
    return Estimate(value, sqrt(raised / weight - alone + division**2), freedom, division=division), test


COMPLIANCE, GAP, HYSTERESIS, OFFSET = "compliance", "gap", "hysteresis", "offset"


@dataclass(frozen=True, eq=False)
class Loop:
    """Force (n,) in N and displacement (n,) in m along the same direction, in the order of reading; cycle numbers (n,).

    Forces, and changes of force, up to ``threshold`` are not told from zero.
    """

    force: Array
    displacement: Array
    cycle: Ints
    threshold: float = 0.0

    def __post_init__(self) -> None:
        if not self.force.shape == self.displacement.shape == self.cycle.shape or self.force.ndim != 1:
            raise ShapeError(
                "a loop needs one force, one displacement and one cycle number for each reading", code="loop-lengths"
            )
        if not (np.all(np.isfinite(self.force)) and np.all(np.isfinite(self.displacement))):
            raise NumberError(
                "a loop needs finite forces and displacements; leave out readings that were not taken",
                code="loop-numbers",
            )

    @property
    def side(self) -> Array:
        """sign(F); 0 where it is not told from zero and the backlash may lie anywhere."""
        return np.where(np.abs(self.force) <= self.threshold, 0.0, np.sign(self.force))

    @property
    def branch(self) -> Array:
        """sign(dF) of the way to each reading.

        A cycle starts from zero force; a reading without a change of force stays on its branch.
        """
        out = np.zeros(len(self.force))
        for c in np.unique(self.cycle):
            at, last = 0.0, 0.0
            for i in np.flatnonzero(self.cycle == c):
                step = self.force[i] - at
                if abs(step) > self.threshold:
                    at, last = self.force[i], float(np.sign(step))
                out[i] = last
        return out


@dataclass(frozen=True, eq=False)
class NamedLoop:
    """A loop and where it was read: ``direction`` is a unit vector (2,) or (3,), None where it is not known.

    ``joint`` is None for a loop at the gripper; ``lever`` in m, None where it is not given.  ``lines`` (n,) of the file
    ``source``.
    """

    name: str
    loop: Loop
    joint: str | None = None
    direction: Array | None = None
    lever: float | None = None
    lines: Ints | None = None
    source: str = "loops"

    def place(self, row: int) -> str:
        return f"{self.source}, {f'reading {row + 1}' if self.lines is None else f'line {self.lines[row]}'}"


def loop_of(force: object, displacement: object, cycle: object = None, threshold: float = 0.0) -> Loop:
    """A loop from lists; without ``cycle`` all readings are one."""
    f = vector("force", force)
    numbers = np.zeros(len(f)) if cycle is None else vector("cycle", cycle)
    return Loop(f, vector("displacement", displacement), numbers.astype(np.int64), threshold)


def model_columns(loop: Loop) -> tuple[tuple[str, ...], Array]:
    """(n, 3 + cycles): F, sign(F), -sign(dF), one offset for each cycle."""
    cycles = np.unique(loop.cycle)
    offsets = (loop.cycle[:, None] == cycles).astype(float)
    names = (COMPLIANCE, GAP, HYSTERESIS, *(f"{OFFSET} {c}" for c in cycles))
    return names, np.column_stack([loop.force, loop.side, -loop.branch, offsets])


def usable(loop: Loop) -> Bools:
    """Readings whose side and branch are known."""
    return np.asarray((loop.side != 0) & (loop.branch != 0))
