"""A plan of contacts: where to touch which object and how hard; the joint values follow.

A robot under force control is told a point and a force, and stops at whatever joint values give them.  They are the
inverse kinetostatics (002 eq. 4) of the robot that touches: of the nominal one in a plan, of the true one in a cell.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from elastocal.measure.contact_force import ContactForce
from elastocal.model.configurations import middle, starts
from elastocal.model.kinematics import kinematics
from elastocal.model.pose_status import PoseStatus
from elastocal.model.robot import RobotModel
from elastocal.model.statics.contact import ContactStatus
from elastocal.model.statics.kinetostatics_inverse import inverse
from elastocal.model.surfaces.touches import Touches
from elastocal.spatial.entries import Array, Bools, Ints

STARTS = 24


@dataclass(frozen=True, eq=False)
class ContactPlan:
    """``points`` (N, 3) on the objects that ``touches`` names, ``sizes`` (N,) of the forces, ``axes`` that are read."""

    touches: Touches
    points: Array
    sizes: Array
    axes: str = "xyz"

    @property
    def force(self) -> Array:
        """On the robot, along the outward normal (N, 3)."""
        return np.asarray(self.sizes[:, None] * self.touches.near(np.ascontiguousarray(self.points.T)).normal.T)

    def with_sizes(self, sizes: Array) -> ContactPlan:
        return replace(self, sizes=np.asarray(sizes, dtype=np.float64))

    def rows(self, chosen: Ints | Bools) -> ContactPlan:
        return ContactPlan(self.touches.rows(chosen), self.points[chosen], self.sizes[chosen], self.axes)


@dataclass(frozen=True, eq=False)
class Commanded:
    """Joint values (N, n) of planned contacts; ``reached`` (N,) is False where there are none within the limits."""

    q: Array
    reached: Bools


def on_objects(touches: Touches, points: Array) -> Array:
    """The nearest points (N, 3) of the objects."""
    near = touches.near(np.ascontiguousarray(points.T))
    return np.asarray(points - (near.distance * near.normal).T)


def rest_height(model: RobotModel, frame: str) -> float:
    """Height of a frame in the middle of the joint ranges: where a planar robot always is."""
    return float(kinematics(model, middle(model), frame).position[0, 2])


def contact_plan_of(model: RobotModel, kind: ContactForce) -> tuple[ContactPlan, Ints]:
    """The contacts that joint values mean for a model, and the numbers of those that touch."""
    found = kind.touched(model)
    rows = np.flatnonzero(found.status == ContactStatus.CONTACT)
    return ContactPlan(kind.touches.rows(rows), found.point[rows], found.size[rows], kind.axes), rows


def commanded(model: RobotModel, plan: ContactPlan, near: Array | None = None) -> Commanded:
    """Joint values that press as planned; ``near`` (N, n) is where to look first.

    Else many starts are spread over the joint ranges.  Of those that arrive, the first contact takes the one nearest
    to the middle of the ranges, each other the one nearest to the contact before: the arm moves as little as it can.
    """
    q = np.full((len(plan.points), model.n), np.nan)
    reached = np.zeros(len(q), dtype=bool)
    if near is not None:
        q, reached = _tried(model, plan, near)
    lost = np.flatnonzero(~reached)
    if len(lost):
        each = np.repeat(lost, STARTS)
        found, there = _tried(model, plan.rows(each), np.tile(starts(model, STARTS), (len(lost), 1)))
        shape = (len(lost), STARTS)
        found, there = found.reshape(*shape, model.n), there.reshape(shape)
        before = middle(model)
        for i, row in enumerate(lost):
            if row > 0 and reached[row - 1]:
                before = q[row - 1]
            far = np.linalg.norm(found[i] - before, axis=1) + np.where(there[i], 0.0, np.inf)
            best = int(np.argmin(np.nan_to_num(far, nan=np.inf)))
            q[row], reached[row] = found[i, best], there[i, best]
    return Commanded(q, reached)


def as_measurement(model: RobotModel, plan: ContactPlan, near: Array | None = None) -> tuple[ContactForce, Bools]:
    """The kind of measurement of a plan, and which of its contacts are reached."""
    found = commanded(model, plan, near)
    return ContactForce(found.q, plan.touches, plan.axes), found.reached


def _tried(model: RobotModel, plan: ContactPlan, near: Array) -> tuple[Array, Bools]:
    """Turned to within half a turn where limits are not in the way."""
    found = inverse(model, plan.points, plan.force, near, plan.touches.frame)
    q = found.q.copy()
    for j, motion in enumerate(model.motions):
        if motion.kind == "revolute":
            q[:, j] = (q[:, j] + np.pi) % (2 * np.pi) - np.pi
    reached = found.status == PoseStatus.REACHED
    reached[[row for row, _, _ in model.beyond_limits(q)]] = False
    return q, reached
