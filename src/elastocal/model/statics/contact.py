"""Contact of a robot with known objects: the tip lies on the surface, the force is normal to it, or there is none.

    phi(x) >= 0,   lambda >= 0,   lambda phi(x) = 0,   force on the robot = lambda n(x), no friction

at the loaded equilibrium (002 eq. 9, 11).  First the arm without contact: where its tip is clear of the object, the
force is zero.  Elsewhere ``contact_newton`` finds bends and force together.  Where backlash lets the tip be pushed
clear of the object, the force is zero too: a gap transmits none before it is closed.
"""

from __future__ import annotations

from dataclasses import fields, replace
from enum import IntEnum

import numpy as np

from elastocal.errors import MissingError, ShapeError
from elastocal.model.posture import Configurations, Posture
from elastocal.model.robot import Robot
from elastocal.model.statics.contact_newton import ContactSearch, Pressed, at_rest, grip, press, too_deep, unsure
from elastocal.model.statics.equilibrium import LARGEST_BEND
from elastocal.model.statics.flexibility import Flexibility, flexible
from elastocal.model.statics.forces import chunk_size, state_at
from elastocal.model.surfaces.surface import Touches
from elastocal.spatial.entries import Array, Bools, Ints
from elastocal.values import dataclass


class ContactStatus(IntEnum):
    """Outcome of one contact; ``text`` is the help."""

    CONTACT = 0
    NO_CONTACT = 1
    UNDETERMINED_BACKLASH = 2
    SLIPS = 3
    PENETRATES = 4
    NOT_CONVERGED = 5

    @property
    def text(self) -> str:
        return _TEXT[self]

    @property
    def known(self) -> bool:
        """Whether the force is known (zero without contact)."""
        return self <= ContactStatus.NO_CONTACT


_TEXT = {
    ContactStatus.CONTACT: "in contact",
    ContactStatus.NO_CONTACT: "no contact: the tip is clear of the object, or the backlash lets it be pushed clear, so "
    "the force is zero",
    ContactStatus.UNDETERMINED_BACKLASH: "undetermined: a joint or gripper with backlash carries almost no force in "
    "this contact, floats inside its gap or could rest on either side; press elsewhere or from another direction",
    ContactStatus.SLIPS: "slips: the arm is too soft across the normal to stay on so round an object; press less or "
    "touch a larger one",
    ContactStatus.PENETRATES: "penetrates: the commanded tip lies deeper in the object than the arm can give way on "
    "that side; check joint values, the object's place and size",
    ContactStatus.NOT_CONVERGED: "not converged: no equilibrium in contact was found near the commanded pose; check "
    "compliances (a rigid arm has no contact force) and the object's place",
}


@dataclass(frozen=True, eq=False)
class ContactState:
    """N contacts.

    ``theta`` (N, m) all degrees of freedom of the chain, ``point`` (N, 3) the tip, ``normal`` (N, 3) outwards,
    ``force`` (N, 3) on the robot in base axes, ``size`` (N,) its length, ``gap`` (N,) the distance of tip and object,
    ``torque`` (N, n) what the drives hold (minus what the loads put on the joints).  nan where the status is not known;
    without contact the tip may still float within the backlash, ``theta`` and ``point`` are one place of it.
    """

    frame: str
    theta: Array
    point: Array
    normal: Array
    force: Array
    size: Array
    gap: Array
    torque: Array
    status: Ints
    steps: Ints

    def counts(self) -> dict[str, int]:
        return {s.name.lower(): int(np.sum(self.status == s)) for s in ContactStatus if np.any(self.status == s)}

    @property
    def known(self) -> Bools:
        return np.asarray(self.status <= ContactStatus.NO_CONTACT)


def contact(
    model: Robot,
    q: object,
    touches: Touches,
    near: ContactState | None = None,
    *,
    chunk: int | None = None,
) -> ContactState:
    """Contacts of joint values (N, n); ``near`` is a state to start from, such as that of slightly other parameters."""
    configurations = checked(model, q, touches)
    total = len(configurations)
    flex = flexible(model)
    size = chunk or chunk_size(flex.n)
    parts = []
    for first in range(0, total, size):
        rows = slice(first, min(first + size, total))
        known = None if near is None else (near.theta[rows].T[list(flex.dofs)], near.size[rows], near.status[rows])
        parts.append(_chunk(flex, model.posture(configurations[rows]), touches.rows(rows), known))
    if len(parts) == 1:
        return parts[0]
    joined = (np.concatenate([getattr(p, f.name) for p in parts]) for f in fields(ContactState)[1:])
    return ContactState(touches.frame, *joined)


def checked(model: Robot, q: object, touches: Touches) -> Configurations:
    configurations = model.configurations(q)
    model.tree.frame(touches.frame)
    if len(touches) != len(configurations):
        raise ShapeError(
            f"{len(touches)} contacts are named for {len(configurations)} configurations; give one each",
            value=(len(touches), len(configurations)),
        )
    if not len(configurations):
        raise MissingError("no contact is given; add at least one configuration")
    return configurations


def _chunk(
    flex: Flexibility, posture: Posture, touches: Touches, known: tuple[Array, Array, Ints] | None
) -> ContactState:
    total = posture.size
    status = np.full(total, int(ContactStatus.NOT_CONVERGED), dtype=np.int64)
    theta, size = posture.start(flex.dofs), np.zeros(total)
    steps = np.zeros(total, dtype=np.int64)
    open_ = np.ones(total, dtype=bool)
    if known is not None:
        warm = np.flatnonzero(known[2] == ContactStatus.CONTACT)
        contact = press(flex, Pressed(posture, touches, known[0], known[1]).take(warm))
        sure = contact.done & ~contact.slips & ~contact.either
        firm = warm[sure]
        theta[:, firm], size[firm], steps[warm] = contact.theta[:, sure], contact.size[sure], contact.steps
        status[firm], open_[firm] = ContactStatus.CONTACT, False
    rows = np.flatnonzero(open_)
    if len(rows):
        cold = Pressed(posture, touches, theta, size).take(rows)
        theta[:, rows], size[rows], status[rows], more = _from_rest(flex, cold)
        steps[rows] += more
    return _described(flex, Pressed(posture, touches, theta, size), status, steps)


def _from_rest(flex: Flexibility, pressed: Pressed) -> tuple[Array, Array, Ints, Ints]:
    """theta, lambda, status and steps of rows about which nothing is known."""
    theta, rested = at_rest(flex, pressed.posture)
    status = np.full(len(pressed.size), int(ContactStatus.NOT_CONVERGED), dtype=np.int64)
    steps = np.zeros(len(pressed.size), dtype=np.int64)
    size = np.zeros(len(pressed.size))
    state, _ = state_at(flex, pressed.posture, np.where(rested, theta, 0.0))
    free = pressed.touches.near(state.origin(pressed.touches.frame))
    status[rested & (free.distance > 0)] = ContactStatus.NO_CONTACT
    deep = rested & too_deep(free)
    status[deep] = ContactStatus.PENETRATES
    inside = np.flatnonzero(rested & (free.distance <= 0) & ~deep)
    if len(inside):
        contact = press(flex, Pressed(pressed.posture, pressed.touches, theta, size).take(inside))
        theta[:, inside], size[inside], steps[inside] = contact.theta, contact.size, contact.steps
        status[inside] = _judged(flex, pressed.take(inside), contact, free.normal[:, inside])
        size[inside[contact.released]] = 0.0
    return theta, size, status, steps


def _judged(flex: Flexibility, pressed: Pressed, search: ContactSearch, before: Array) -> Ints:
    """Status of rows whose tip would be inside: how the search ended, and whether it ended on the near side."""
    point = state_at(flex, pressed.posture, np.where(np.isfinite(search.theta), search.theta, 0.0))[0].origin(
        pressed.touches.frame
    )
    turned = np.einsum("in,in->n", pressed.touches.near(point).normal, before) < 0.5
    bent = np.any(np.abs(search.theta - pressed.posture.unloaded(flex.dofs))[flex.rotates] > LARGEST_BEND, axis=0)
    out = np.where(search.done, int(ContactStatus.CONTACT), int(ContactStatus.NOT_CONVERGED))
    out[search.done & search.slips] = ContactStatus.SLIPS
    out[(search.wavers & ~search.done) | (search.either & search.done)] = ContactStatus.UNDETERMINED_BACKLASH
    out[turned | bent] = ContactStatus.PENETRATES
    out[search.released & ~turned] = ContactStatus.NO_CONTACT
    return out


def _described(flex: Flexibility, pressed: Pressed, status: Ints, steps: Ints) -> ContactState:
    """Everything about states that were found; gaps whose side the contact does not tell are named."""
    theta = np.where(np.isfinite(pressed.theta), pressed.theta, 0.0)
    settled = replace(pressed, theta=theta, size=np.nan_to_num(pressed.size))
    held = grip(flex, settled, noise=bool(flex.backlashes))
    touching = status == ContactStatus.CONTACT
    if held.noise is not None:
        for coordinate, dofs in flex.backlashes:
            unknown = unsure(coordinate, held.forces.q[list(dofs)], held.noise[list(dofs)])
            status[touching & unknown] = ContactStatus.UNDETERMINED_BACKLASH
    model = pressed.posture.model
    full = pressed.posture.start(tuple(range(len(model.chain.dofs))))
    full[list(flex.dofs)] = settled.theta
    torque = -held.forces.q[[flex.dofs.index(i) for i in model.joint_dofs]]
    torque = torque if model.leads is None else model.leads.T @ torque
    lost = status > ContactStatus.NO_CONTACT

    def rows(part: Array) -> Array:
        return np.asarray(np.where(lost, np.nan, part).T)

    return ContactState(
        pressed.touches.frame,
        theta=rows(full),
        point=rows(held.point),
        normal=rows(held.near.normal),
        force=rows(held.near.normal * settled.size),
        size=rows(settled.size),
        gap=rows(held.near.distance),
        torque=rows(torque),
        status=status,
        steps=steps,
    )
