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
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elastocal.errors import InputError
from elastocal.spatial.entries import Array, Bools, Ints

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
            raise InputError("a loop needs one force, one displacement and one cycle number for each reading")
        if not (np.all(np.isfinite(self.force)) and np.all(np.isfinite(self.displacement))):
            raise InputError("a loop needs finite forces and displacements; leave out readings that were not taken")

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
    f = np.asarray(force, dtype=np.float64)
    numbers = np.zeros(len(f), dtype=np.int64) if cycle is None else np.asarray(cycle, dtype=np.int64)
    return Loop(f, np.asarray(displacement, dtype=np.float64), numbers, threshold)


def model_columns(loop: Loop) -> tuple[tuple[str, ...], Array]:
    """(n, 3 + cycles): F, sign(F), -sign(dF), one offset for each cycle."""
    cycles = np.unique(loop.cycle)
    offsets = (loop.cycle[:, None] == cycles).astype(float)
    names = (COMPLIANCE, GAP, HYSTERESIS, *(f"{OFFSET} {c}" for c in cycles))
    return names, np.column_stack([loop.force, loop.side, -loop.branch, offsets])


def usable(loop: Loop) -> Bools:
    """Readings whose side and branch are known."""
    return np.asarray((loop.side != 0) & (loop.branch != 0))
