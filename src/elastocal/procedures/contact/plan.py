"""A plan of contacts: where to touch which object and how hard; the joint values follow, and so do simulated readings.

A robot under force control is told a point and a force, and stops at whatever joint values give them.  They are the
inverse kinetostatics (002 eq. 4) of the robot that touches: of the nominal one in a plan, of the true one in a cell.

Simulated contacts: the true robot stops where its own deflection and backlash give the planned force on the objects as
they really lie; what is read of joints and forces then has every stated error.

Robot, objects, contacts and forces as seen along z, for the contour-tracking picture (002 figure 1).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from elastocal.errors import InfeasibleError, UnsupportedError
from elastocal.measure.contacts import ContactForce, ContactGap, contacts_of
from elastocal.measure.markers import Position
from elastocal.measure.measured import Measured, Virtual, plant
from elastocal.measure.sources.arm import Encoder
from elastocal.measure.sources.places import ObjectPlaces
from elastocal.measure.sources.source import ErrorSource
from elastocal.model.frames import BASE
from elastocal.model.inverse_kinematics import PoseStatus
from elastocal.model.kinematics import kinematics
from elastocal.model.limits import middle, starts
from elastocal.model.robot import Robot
from elastocal.model.statics.contact import ContactStatus
from elastocal.model.statics.kinetostatics import inverse
from elastocal.model.surfaces.surface import Touches
from elastocal.spatial.entries import Array, Bools, Ints
from elastocal.values import dataclass


@dataclass(frozen=True, eq=False)
class ContactScene:
    """All in m and N: ``arms`` and ``outlines`` are lines (k, 2), the others (N, 2).

    ``points`` are where the model has the tips under the ``felt`` forces, ``expected`` what it expects to be felt (nan
    where nothing is known).
    """

    arms: Sequence[Array]
    outlines: Sequence[Array]
    points: Array
    felt: Array
    expected: Array


def contact_scene(model: Robot, campaign: Measured) -> ContactScene:
    """What a model makes of the contacts of a campaign that felt a force."""
    kind = contacts_of(campaign.measurement)
    felt = np.nan_to_num(campaign.readings)
    rows = np.flatnonzero(np.any(felt != 0, axis=1))
    part = kind.picked(rows)
    gap = ContactGap.of(part, felt[rows])
    points = Position(gap.pushed).predict(model)
    first = [int(np.flatnonzero(part.touches.which == i)[0]) for i in np.unique(part.touches.which)]
    arms = _arms(model, part.q[first], part.touches.frame)
    return ContactScene(arms, _outlines(part), points[:, :2], gap.force[:, :2], part.touched(model).force[:, :2])


def _arms(model: Robot, q: Array, frame: str) -> list[Array]:
    """The frames from base to tip at each configuration."""
    chain = [frame]
    while chain[0] != BASE:
        chain.insert(0, model.tree.frame(chain[0]).parent)
    return list(np.stack([kinematics(model, q, f).position[:, :2] for f in chain], axis=1))


def _outlines(kind: ContactForce) -> list[Array]:
    """Circles of round objects; bars and faces have none."""
    turn = np.linspace(0.0, 2 * np.pi, 73)
    circle = np.column_stack([np.cos(turn), np.sin(turn)])
    discs = [(getattr(s, "centre", None), getattr(s, "radius", None)) for s in kind.touches.surfaces]
    return [np.asarray(c[:2]) + r * circle for c, r in discs if c is not None and r is not None]


STARTS = 24
AT_ONCE = 500
"""Contacts whose starts are tried at once."""


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


def on_objects(touches: Touches, points: Array) -> Array:
    """The nearest points (N, 3) of the objects."""
    near = touches.near(np.ascontiguousarray(points.T))
    return np.asarray(points - (near.distance * near.normal).T)


def rest_height(model: Robot, frame: str) -> float:
    """Height of a frame in the middle of the joint ranges: where a planar robot always is."""
    return float(kinematics(model, middle(model), frame).position[0, 2])


def contact_plan_of(model: Robot, kind: ContactForce) -> tuple[ContactPlan, Ints]:
    """The contacts that joint values mean for a model, and the numbers of those that touch."""
    contacts = kind.touched(model)
    rows = np.flatnonzero(contacts.status == ContactStatus.CONTACT)
    return ContactPlan(kind.touches.rows(rows), contacts.point[rows], contacts.size[rows], kind.axes), rows


def as_measurement(model: Robot, plan: ContactPlan, near: Array | None = None) -> tuple[ContactForce, Bools]:
    """At joint values that press as planned, and which contacts (N,) have any within the limits.

    ``near`` (N, n) is where to look first.  Else many starts are spread over the joint ranges; of those that arrive,
    the first contact takes the one nearest to the middle of the ranges, each other the one nearest to the contact
    before: the arm moves as little as it can.
    """
    q = np.full((len(plan.points), model.n), np.nan)
    reached = np.zeros(len(q), dtype=bool)
    if near is not None:
        q, reached = _tried(model, plan, near)
    every = np.flatnonzero(~reached)
    for first in range(0, len(every), AT_ONCE):
        lost = every[first : first + AT_ONCE]
        each = np.repeat(lost, STARTS)
        tries, there = _tried(model, plan.rows(each), np.tile(starts(model, STARTS), (len(lost), 1)))
        shape = (len(lost), STARTS)
        tries, there = tries.reshape(*shape, model.n), there.reshape(shape)
        before = middle(model)
        for i, row in enumerate(lost):
            if row > 0 and reached[row - 1]:
                before = q[row - 1]
            far = np.linalg.norm(tries[i] - before, axis=1) + np.where(there[i], 0.0, np.inf)
            best = int(np.argmin(np.nan_to_num(far, nan=np.inf)))
            q[row], reached[row] = tries[i, best], there[i, best]
    return ContactForce(q, plan.touches, plan.axes), reached


def _tried(model: Robot, plan: ContactPlan, near: Array) -> tuple[Array, Bools]:
    """Turned to within half a turn where limits are not in the way."""
    solution = inverse(model, plan.points, plan.force, near, plan.touches.frame)
    q = solution.q.copy()
    for j, motion in enumerate(model.motions):
        if motion.kind == "revolute":
            q[:, j] = (q[:, j] + np.pi) % (2 * np.pi) - np.pi
    reached = solution.status == PoseStatus.REACHED
    reached[[row for row, _, _ in model.beyond_limits(q)]] = False
    return q, reached


def virtual_contacts(
    described: Robot,
    truth: Robot,
    kind: ContactForce,
    sources: tuple[ErrorSource, ...],
    rng: np.random.Generator,
    *,
    outliers: int = 0,
    outlier_size: float = 20.0,
) -> Virtual:
    """Contacts planned for the robot as ``described``, felt by the ``truth``; ``outliers`` forces are off."""
    plan, rows = contact_plan_of(described, kind)
    if len(rows) < kind.count:
        lost = int(np.setdiff1d(np.arange(kind.count), rows)[0])
        raise InfeasibleError(
            f"contact {lost + 1} of the plan does not touch: {_why(kind, described, lost)}", value=lost + 1
        )
    touches, drawn = _placed(plan.touches, kind, truth, sources, rng)
    aimed = ContactPlan(touches, on_objects(touches, plan.points), plan.sizes, plan.axes)
    real, reached = as_measurement(truth, aimed, kind.q)
    exact = real.predict(truth)
    unsure = np.flatnonzero(~reached | ~np.isfinite(exact).all(axis=1))
    if len(unsure):
        i = int(unsure[0])
        why = _why(real, truth, i) if reached[i] else "no joint values within the limits"
        raise InfeasibleError(f"contact {i + 1}: the true robot cannot press as planned: {why}", value=i + 1)
    readings, q = exact.copy(), real.q.copy()
    for source in (s for s in sources if not s.common):
        u = _scatter(source, real, truth, rng)
        if isinstance(source, Encoder):
            q += u
        else:
            readings += np.einsum("nrk,nk->nr", source.columns(real, truth), u)
    planted = plant(readings, range(readings.shape[1]), rng, outliers, outlier_size)
    read = ContactForce(np.round(q, 12), kind.touches, kind.axes)
    return Virtual(Measured(read, np.round(readings, 9), sources), exact, drawn, planted)


def _why(kind: ContactForce, model: Robot, i: int) -> str:
    return ContactStatus(int(kind.touched(model).status[i])).text


def _placed(
    touches: Touches, kind: ContactForce, truth: Robot, sources: tuple[ErrorSource, ...], rng: np.random.Generator
) -> tuple[Touches, dict[str, float]]:
    """The objects where they really are, and what was drawn of them."""
    drawn: dict[str, float] = {}
    for source in (s for s in sources if s.common):
        if not isinstance(source, ObjectPlaces):
            raise UnsupportedError(
                f"error source {source.kind}: virtual contacts do not know it; leave it out of the plan"
            )
        unknowns = source.unknowns(kind, truth)
        drawn |= {u.name: float(v) * u.sd for u, v in zip(unknowns, rng.normal(size=len(unknowns)), strict=True)}
    values = [p.value + drawn.get(f"object {p.name}", 0.0) for p in touches.parameters]
    return touches.with_values(values), drawn


def _scatter(source: ErrorSource, kind: ContactForce, truth: Robot, rng: np.random.Generator) -> Array:
    sd = np.array([u.sd for u in source.unknowns(kind, truth)])
    return np.asarray(rng.normal(size=(kind.count, len(sd))) * sd)
