"""Places of a workpiece: a plane in base or work-object coordinates, and the joint values that take a tool there."""

from __future__ import annotations

import numpy as np

from elastocal.errors import RangeError
from elastocal.model.inverse_kinematics import inverse_kinematics, task
from elastocal.model.kinematics import kinematics
from elastocal.model.limits import joint_bounds
from elastocal.model.robot import Robot
from elastocal.spatial.entries import Array, Bools
from elastocal.spatial.pose import Pose
from elastocal.values import dataclass

ROUNDS = 4
"""Times that places are tried again from a neighbour that was reached."""


@dataclass(frozen=True, eq=False)
class Plane:
    """``values`` along two ``axes`` (0, 1, 2 for x, y, z) of an ``object`` in base, ``height`` along the third, m."""

    axes: tuple[int, int]
    values: tuple[Array, Array]
    height: float
    object: Pose

    @property
    def normal(self) -> int:
        return 3 - sum(self.axes)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows along the second axis, columns along the first."""
        return len(self.values[1]), len(self.values[0])

    @property
    def position(self) -> Array:
        """(N, 3) in base axes, the first axis fastest."""
        first, second = np.meshgrid(*self.values)
        local = np.full((first.size, 3), self.height)
        local[:, self.axes[0]], local[:, self.axes[1]] = first.ravel(), second.ravel()
        return np.asarray(local @ self.object.rotation.T + self.object.translation)

    def seen(self, points: Array) -> Array:
        """Points (..., 3) of base axes in those of the object."""
        return np.asarray((points - self.object.translation) @ self.object.rotation)


@dataclass(frozen=True, eq=False)
class Reached:
    """Joint values (N, n) at the places of a plane; nan where ``reached`` is False."""

    plane: Plane
    q: Array
    reached: Bools

    def table(self, values: Array) -> tuple[tuple[float, ...], ...]:
        """Values (N,) as rows of a map, nan where not reached."""
        grid = np.where(self.reached, values, np.nan).reshape(self.plane.shape)
        return tuple(tuple(float(v) for v in row) for row in grid)


def box_plane(low: Array, high: Array, object: Pose, counts: tuple[int, int]) -> Plane:
    """The middle plane of a box along its two longer sides."""
    sides = np.asarray(high, dtype=np.float64) - np.asarray(low, dtype=np.float64)
    if not (sides >= 0).all() or np.count_nonzero(sides > 0) < 2:
        raise RangeError("a workpiece needs two sides of some length; give low and high corners of a box", code="sides")
    normal = int(np.argmin(sides))
    first, second = (i for i in range(3) if i != normal)
    spans = (np.linspace(low[first], high[first], counts[0]), np.linspace(low[second], high[second], counts[1]))
    return Plane((first, second), spans, float(low[normal] + sides[normal] / 2), object)


def reach(model: Robot, frame: str, plane: Plane, near: Array) -> Reached:
    """With the orientation that ``frame`` has at joint values ``near`` (n,), and in that way of bending the arm."""
    where = plane.position
    total = len(where)
    at = kinematics(model.nominal, near[None], frame)
    what = task(model, frame)
    turn = np.repeat(at.rotation[0][:, :, None], total, axis=2)
    start = np.repeat(near[:, None], total, axis=1)
    bounds = joint_bounds(model)
    solution = inverse_kinematics(model.nominal, frame, what, where.T, turn, start, bounds)
    q, good = solution.q.copy(), solution.reached.copy()
    for _ in range(ROUNDS):
        lost = np.flatnonzero(~good)
        if not len(lost) or not good.any():
            break
        known = np.flatnonzero(good)
        nearest = known[np.argmin(np.linalg.norm(where[lost][:, None] - where[known][None], axis=2), axis=1)]
        again = inverse_kinematics(model.nominal, frame, what, where[lost].T, turn[:, :, lost], q[:, nearest], bounds)
        q[:, lost[again.reached]] = again.q[:, again.reached]
        good[lost[again.reached]] = True
        if not again.reached.any():
            break
    return Reached(plane, np.where(good, q, np.nan).T, good)
