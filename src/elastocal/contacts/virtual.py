"""Virtual contacts: a robot under force control goes to the planned points, and its joints and forces are read.

The true robot stops where its own bends and plays give the planned force on the objects as they really lie; what is
read of joints and forces then has every stated error.
"""

from __future__ import annotations

import numpy as np

from elastocal.contacts.plan import ContactPlan, commanded, contact_plan_of, on_objects
from elastocal.errors import InputError
from elastocal.measure.campaign import Campaign
from elastocal.measure.contact_force import ContactForce
from elastocal.measure.sources.encoder import Encoder
from elastocal.measure.sources.object_places import ObjectPlaces
from elastocal.measure.sources.source import ErrorSource
from elastocal.measure.virtual import Virtual, plant
from elastocal.model.robot import RobotModel
from elastocal.model.statics.contact import ContactStatus
from elastocal.model.surfaces.touches import Touches
from elastocal.spatial.entries import Array


def virtual_contacts(
    described: RobotModel,
    truth: RobotModel,
    kind: ContactForce,
    sources: tuple[ErrorSource, ...],
    rng: np.random.Generator,
    *,
    gross: int = 0,
    gross_size: float = 20.0,
) -> Virtual:
    """Contacts planned for the robot as ``described``, felt by the ``truth``; ``gross`` forces are off by so much."""
    plan, rows = contact_plan_of(described, kind)
    if len(rows) < kind.count:
        lost = int(np.setdiff1d(np.arange(kind.count), rows)[0])
        raise InputError(f"contact {lost + 1} of the plan does not touch: {_why(kind, described, lost)}")
    touches, drawn = _placed(plan.touches, kind, truth, sources, rng)
    aimed = ContactPlan(touches, on_objects(touches, plan.points), plan.sizes, plan.axes)
    found = commanded(truth, aimed, kind.q)
    real = ContactForce(found.q, touches, kind.axes)
    exact = real.predict(truth)
    unsure = np.flatnonzero(~found.reached | ~np.isfinite(exact).all(axis=1))
    if len(unsure):
        i = int(unsure[0])
        why = _why(real, truth, i) if found.reached[i] else "no joint values within the limits"
        raise InputError(f"contact {i + 1}: the true robot cannot press as planned: {why}")
    readings, q = exact.copy(), found.q.copy()
    for source in (s for s in sources if not s.common):
        u = _scatter(source, real, truth, rng)
        if isinstance(source, Encoder):
            q += u
        else:
            readings += np.einsum("nrk,nk->nr", source.columns(real, truth), u)
    planted = plant(readings, range(readings.shape[1]), rng, gross, gross_size)
    read = ContactForce(np.round(q, 12), kind.touches, kind.axes)
    return Virtual(Campaign(read, np.round(readings, 9), sources), exact, drawn, planted)


def _why(kind: ContactForce, model: RobotModel, i: int) -> str:
    return ContactStatus(int(kind.touched(model).status[i])).text


def _placed(
    touches: Touches, kind: ContactForce, truth: RobotModel, sources: tuple[ErrorSource, ...], rng: np.random.Generator
) -> tuple[Touches, dict[str, float]]:
    """The objects where they really are, and what was drawn of them."""
    drawn: dict[str, float] = {}
    for source in (s for s in sources if s.common):
        if not isinstance(source, ObjectPlaces):
            raise InputError(f"error source {source.kind}: virtual contacts do not know it; leave it out of the plan")
        unknowns = source.unknowns(kind, truth)
        drawn |= {u.name: float(v) * u.sd for u, v in zip(unknowns, rng.normal(size=len(unknowns)), strict=True)}
    values = [p.value + drawn.get(f"object {p.name}", 0.0) for p in touches.parameters]
    return touches.with_values(values), drawn


def _scatter(source: ErrorSource, kind: ContactForce, truth: RobotModel, rng: np.random.Generator) -> Array:
    sd = np.array([u.sd for u in source.unknowns(kind, truth)])
    return np.asarray(rng.normal(size=(kind.count, len(sd))) * sd)
