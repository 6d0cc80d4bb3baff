"""Slips of tables, each undone: in what the controller shows of its axes, c -> turn c + shift, or in points, x -> A x.

The list that whoever doubts a table goes through.  ``calibration`` places instrument and markers anew for every slip,
``reduction`` takes them where the campaign file says they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from elastocal.model.robot import Robot
from elastocal.spatial.entries import Array
from elastocal.values import dataclass

LENGTHS = {1e3: ("m", "mm"), 1e-3: ("mm", "m"), 25.4: ("inch", "mm"), 1 / 25.4: ("mm", "inch")}
"""What lengths are, and what they were taken for, if they must be multiplied by this."""
BETTER, ALIKE = 0.2, 1.1
"""A slip must bring readings to this share of what they are off; one that brings them within this multiple of the best
is not told from it."""
ZEROS = (90.0, -90.0, 180.0)
"""Degrees by which zeros of axes differ between makers."""


@dataclass(frozen=True, eq=False)
class AxisSlip:
    """``word`` names and accepts it, ``text`` says what is likely wrong and what to do.

    ``coupling``: it belongs to the robot, not to the table.  ``unit``: numbers of the table are in another one.
    """

    word: str
    text: str
    turn: Array
    shift: Array
    coupling: bool = False
    unit: bool = False

    def undone(self, shown: Array) -> Array:
        """Values (N, n) of the controller without the slip."""
        return np.asarray(shown @ self.turn.T + self.shift)


@dataclass(frozen=True, eq=False)
class PointSlip:
    """``matrix`` (3, 3) undoes it."""

    word: str
    text: str
    matrix: Array

    def undone(self, points: Array) -> Array:
        return np.asarray(points @ self.matrix.T)


MIRROR = PointSlip(
    "mirrored frame", "the points are mirrored; read them in right-handed axes", np.diag([-1.0, 1.0, 1.0])
)


def axis_slips(robot: Robot) -> Iterator[AxisSlip]:
    """Couplings of neighbours first, then signs, zeros, units and order of the axes."""
    axes, n = robot.controller.axes, robot.n
    one, still = np.eye(n), np.zeros(n)
    turning = np.array([m.kind == "revolute" for m in robot.motions])
    for i in range(n - 1):
        for a, b in ((i + 1, i), (i, i + 1)):
            for sign in (1.0, -1.0):
                word = f"{axes[a]} {'+' if sign > 0 else '-'}= {axes[b]}"
                text = f"the controller couples its axes ({word}), which the robot file does not say; add it there"
                yield AxisSlip(word, text, one + sign * np.outer(one[a], one[b]), still, coupling=True)
    for i, axis in enumerate(axes):
        text = f"axis {axis} has the other sign; turn it"
        yield AxisSlip(f"{axis} reversed", text, one - 2 * np.diag(one[i]), still)
    for i in np.flatnonzero(turning).tolist():
        for degrees in ZEROS:
            word = f"{axes[i]} {degrees:+g} deg"
            text = f"axis {axes[i]} has another zero ({word}); correct it in the table or in the robot file"
            yield AxisSlip(word, text, one, np.radians(degrees) * one[i])
    for i in np.flatnonzero(~turning).tolist():
        for unit, factor in (("mm", 1e-3), ("m", 1e3)):
            text = f"axis {axes[i]} is in {unit}; correct its unit"
            yield AxisSlip(f"{axes[i]} in {unit}", text, one + (factor - 1) * np.diag(one[i]), still)
    for i, j in combinations(range(n), 2):
        if turning[i] == turning[j]:
            order = one.copy()
            order[[i, j]] = one[[j, i]]
            text = f"axes {axes[i]} and {axes[j]} are swapped; correct their columns"
            yield AxisSlip(f"{axes[i]} and {axes[j]} swapped", text, order, still)
    for unit, other, factor in (("rad", "deg", 180 / np.pi), ("deg", "rad", np.pi / 180)):
        text = f"the axes are in {unit} where the table says {other}; name them _{unit}"
        yield AxisSlip(f"angles in {unit}", text, np.diag(np.where(turning, factor, 1.0)), still, unit=True)


def length_slips() -> Iterator[PointSlip]:
    for factor, (unit, other) in LENGTHS.items():
        text = f"the points are in {unit}, not {other}; correct their unit"
        yield PointSlip(f"lengths in {unit}" + (" for inch" if other == "inch" else ""), text, factor * np.eye(3))


def coordinate_slips() -> Iterator[PointSlip]:
    """Two coordinates swapped, or one with the other sign; in axes of the instrument's own that is a mirrored frame."""
    one = np.eye(3)
    for i, j in combinations(range(3), 2):
        order = one.copy()
        order[[i, j]] = one[[j, i]]
        a, b = "xyz"[i], "xyz"[j]
        yield PointSlip(f"{a} and {b} swapped", f"{a} and {b} of the points are swapped; correct their columns", order)
    for i, a in enumerate("xyz"):
        yield PointSlip(f"{a} reversed", f"{a} of the points has the other sign; turn it", one - 2 * np.diag(one[i]))
