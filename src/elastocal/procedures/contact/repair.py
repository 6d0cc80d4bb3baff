"""What a plan of contacts resolves, and the cheapest change of it that resolves what is sought.

The expected accuracy is a sum over contacts, so that plans made of the same contacts are compared at once,

    information G = sum_i A_i^T A_i + priors,    A_i the rows of contact i in units of their noise.

Nothing is measured yet: G does not depend on readings.  At nominal values a backlash is zero, so that a parameter is
judged by its size, the larger of its value and of what matters in practice (``Parameter.scale``): it is resolved where
its standard deviation is at most size / threshold.

One force level everywhere shows gripper compliance and backlash only as force * p + g (002 has 40 N everywhere).
Changes are tried from cheap to dear, and the first that resolves every parameter is proposed:

1. half the force on k of the contacts, the smallest k at which what cannot be separated is resolved; each further
   contact is the one that most reduces the sum of (sd / size)^2,
2. half the force on every second contact of each object,
3. the same with contacts between the contacts, twice and four times as many.

A contact that cannot be reached so is left out of a change.  If none resolves everything, the last is given all the
same, and what remains is named.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from elastocal.errors import InfeasibleError
from elastocal.measure.contacts import ContactForce, contacts_of
from elastocal.measure.measured import Measured
from elastocal.model.robot import Robot
from elastocal.model.surfaces.surface import Touches
from elastocal.procedures.contact.plan import ContactPlan, as_measurement, contact_plan_of, on_objects
from elastocal.reduction.problem import ABSURD, unknowns, with_nuisances
from elastocal.solve.identifiability import Group, Groups, classify, covariance
from elastocal.spatial.entries import Array, Bools, Ints
from elastocal.values import dataclass


@dataclass(frozen=True, eq=False)
class ContactRows:
    """Whitened rows ``each`` (N, R, p) of the contacts and ``prior`` rows, columns times ``size``; parameters first."""

    names: tuple[str, ...]
    units: tuple[str, ...]
    size: Array
    parameters: int
    each: Array
    prior: Array

    @property
    def information(self) -> Array:
        """(N, p, p)"""
        return np.asarray(np.einsum("nri,nrj->nij", self.each, self.each))

    @property
    def known(self) -> Array:
        """What is known before any contact (p, p)."""
        return np.asarray(self.prior.T @ self.prior + np.eye(len(self.names)) / ABSURD**2)


@dataclass(frozen=True, eq=False)
class Accuracy:
    """Of the parameters, without nuisances: ``sd`` in their units, inf where the contacts cannot separate them."""

    names: tuple[str, ...]
    units: tuple[str, ...]
    size: Array
    sd: Array
    groups: Groups

    def resolved(self, threshold: float) -> Bools:
        return np.asarray(self.sd <= self.size / threshold)


def contact_blocks(model: Robot, campaign: Measured, names: Sequence[str]) -> ContactRows:
    """The rows of every contact at a model; contacts without a determined state have none."""
    kind = campaign.measurement
    exact = Measured(kind, kind.predict(model), campaign.sources, priors=campaign.priors)
    problem, extra = with_nuisances(exact, model, names), unknowns(exact, model)
    values = np.abs(problem.start[: problem.parameters])
    own = np.maximum(values, problem.scales[: problem.parameters])
    size = np.concatenate([own, [u.sd if np.isfinite(u.sd) else 1e-3 for u in extra]])
    n, r = problem.shape
    rows = problem.matrix * size
    return ContactRows(
        problem.names, problem.units, size, problem.parameters, rows[: n * r].reshape(n, r, -1), rows[n * r :]
    )


def accuracy(contacts: ContactRows, model: Robot) -> Accuracy:
    """From the rows of all contacts."""
    scaled = np.concatenate([contacts.each.reshape(-1, len(contacts.names)), contacts.prior])
    rows = np.linalg.qr(scaled, mode="r") / contacts.size
    groups = classify(contacts.names, rows, contacts.size, model.joint_parameters)
    sd = np.full(len(contacts.names), np.inf)
    kept = list(groups.kept)
    if kept:
        sd[kept] = np.sqrt(np.diag(covariance(rows, kept)))
    sd[[g is not Group.IDENTIFIABLE for g in groups.group]] = np.inf
    p = contacts.parameters
    return Accuracy(contacts.names[:p], contacts.units[:p], contacts.size[:p], sd[:p], groups)


LOWER = 0.5
DOUBLINGS = 2


@dataclass(frozen=True, eq=False)
class RepairOption:
    """A changed plan; ``origin`` (M,) is the number of each contact in the plan as it was, -1 for a new one."""

    title: str
    plan: ContactPlan
    origin: Ints
    accuracy: Accuracy


@dataclass(frozen=True, eq=False)
class Repair:
    """``options`` from the plan as it is to the dearest that was tried; ``chosen`` is None where nothing is to do.

    ``rows`` are the numbers of the readings that touch at all, which the plans count in.
    """

    threshold: float
    rows: Ints
    options: tuple[RepairOption, ...]
    chosen: RepairOption | None

    @property
    def unresolved(self) -> tuple[str, ...]:
        """What the last option leaves."""
        last = self.options[-1].accuracy
        return tuple(n for n, good in zip(last.names, last.resolved(self.threshold), strict=True) if not good)


def repair(model: Robot, campaign: Measured, names: Sequence[str], threshold: float) -> Repair:
    """Options for a campaign of planned contacts; ``model`` is the robot as it is known."""
    kind = contacts_of(campaign.measurement)
    plan, rows = contact_plan_of(model, kind)
    if not len(rows):
        raise InfeasibleError("no contact of the plan touches its object; check joint values, objects and their units")
    desk, q = _Desk(model, replace(campaign, places=None), tuple(names)), kind.q[rows]
    blocks, _ = desk.blocks(plan, q)
    own = np.arange(len(rows))
    options = [RepairOption("as planned", plan, own, accuracy(blocks, model))]

    def done() -> bool:
        return bool(options[-1].accuracy.resolved(threshold).all())

    def ended() -> Repair:
        return Repair(threshold, rows, tuple(options), options[-1] if len(options) > 1 else None)

    if done():
        return ended()
    lower = plan.with_sizes(LOWER * plan.sizes)
    single = ~np.isfinite(options[0].accuracy.sd)
    if single.any():
        low, reached = desk.blocks(lower, q)
        chosen = _fewest(blocks, low, single, threshold) if reached.all() else None
        if chosen is not None:
            many = f"{len(chosen)} contacts" if len(chosen) > 1 else "one contact"
            options.append(desk.option(f"half the force on {many}", _mixed(plan, chosen), q, own)[0])
            if done():
                return ended()
    title = "half the force on every second contact"
    option, reached = desk.option(title, _mixed(plan, _alternate(plan.touches)), q, own)
    options.append(option)
    for _ in range(DOUBLINGS):
        if done():
            break
        more, q, origin = _denser(option.plan, q[reached], option.origin)
        option, reached = desk.option("", more, q, origin)
        added = int(np.sum(option.origin < 0))
        option = replace(option, title=f"{title} and {added} contacts more, between the others")
        options.append(option)
    return ended()


@dataclass(frozen=True, eq=False)
class _Desk:
    """What stays the same for all options."""

    model: Robot
    campaign: Measured
    names: tuple[str, ...]

    def blocks(self, plan: ContactPlan, near: Array) -> tuple[ContactRows, Bools]:
        """Of the contacts that can be pressed so, and which these are."""
        whole, reached = as_measurement(self.model, plan, near)
        kind = ContactForce(whole.q[reached], plan.touches.rows(reached), plan.axes)
        readings = np.full((kind.count, len(kind.rows)), np.nan)
        return contact_blocks(
            self.model, replace(self.campaign, measurement=kind, readings=readings), self.names
        ), reached

    def option(self, title: str, plan: ContactPlan, near: Array, origin: Ints) -> tuple[RepairOption, Bools]:
        """Without the contacts that cannot be pressed so, and which are left."""
        blocks, reached = self.blocks(plan, near)
        return RepairOption(title, plan.rows(reached), origin[reached], accuracy(blocks, self.model)), reached


def _fewest(high: ContactRows, low: ContactRows, wanted: Bools, threshold: float) -> Ints | None:
    """Numbers of the fewest contacts to press less, so that the ``wanted`` parameters are resolved; None if none do."""
    gain = low.information - high.information
    total = high.known + high.information.sum(axis=0)
    p = high.parameters
    free = list(range(len(gain)))
    chosen: list[int] = []
    while len(chosen) < len(gain) // 2:
        sd = np.sqrt(np.diagonal(np.linalg.inv(total + gain[free]), axis1=1, axis2=2))[:, :p]
        best = int(np.argmin(np.sum(sd**2, axis=1)))
        total = total + gain[free[best]]
        chosen.append(free.pop(best))
        if np.all(sd[best][wanted] <= 1 / threshold):
            return np.array(sorted(chosen))
    return None


def _mixed(plan: ContactPlan, lower: Ints | Bools) -> ContactPlan:
    sizes = plan.sizes.copy()
    sizes[lower] *= LOWER
    return plan.with_sizes(sizes)


def _alternate(touches: Touches) -> Bools:
    """Every second contact of each object."""
    out = np.zeros(len(touches), dtype=bool)
    for i in np.unique(touches.which):
        out[np.flatnonzero(touches.which == i)[::2]] = True
    return out


def _denser(plan: ContactPlan, q: Array, origin: Ints) -> tuple[ContactPlan, Array, Ints]:
    """With one more contact after every contact, half way to the next on the object, pressed like the one after it.

    Also joint values near them, and their numbers in the plan as it was.
    """
    order, points, sizes = [], [], []
    for i in np.unique(plan.touches.which):
        mine = np.flatnonzero(plan.touches.which == i)
        after = np.roll(mine, -1)
        between = on_objects(plan.touches.rows(mine), (plan.points[mine] + plan.points[after]) / 2)
        order.append(np.repeat(mine, 2))
        points.append(np.stack([plan.points[mine], between], axis=1).reshape(-1, 3))
        sizes.append(np.stack([plan.sizes[mine], plan.sizes[after]], axis=1).reshape(-1))
    at = np.concatenate(order)
    new = np.where(np.arange(len(at)) % 2 == 0, origin[at], -1)
    return ContactPlan(plan.touches.rows(at), np.concatenate(points), np.concatenate(sizes), plan.axes), q[at], new
