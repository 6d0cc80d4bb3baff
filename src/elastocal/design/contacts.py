"""Contacts to choose from: object, place on it and pressing force, with the joint values that bring them about.

Configurations all over the joint space say which places the tip can be at; those are moved onto the nearest point of
every object, and the joints found that hold the bent arm there against the force (002 eq. 4).  What is chosen among
them then needs no more than ``derivative`` of the contact's measurement.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elastocal.design.feasibility.filter import Removed, nothing_left
from elastocal.design.poses import Poses
from elastocal.errors import InputError
from elastocal.model.pose_status import PoseStatus
from elastocal.model.robot import RobotModel
from elastocal.model.statics.contact import ContactStatus, contact
from elastocal.model.statics.kinetostatics_inverse import inverse
from elastocal.model.surfaces.surface import Surface
from elastocal.model.surfaces.touches import Touches
from elastocal.spatial.entries import Array

NEAR = 0.5
"""Of the robot's size: a configuration stands for places at most so far from its tip."""


@dataclass(frozen=True, eq=False)
class ContactPool:
    """Contact i presses ``frame`` on object ``touches.which[i]`` with ``level[i]`` (N) at joint values q (N, n).

    ``steps`` say what was left out on the way.
    """

    model: RobotModel
    q: Array
    touches: Touches
    level: Array
    steps: tuple[Removed, ...]

    def __len__(self) -> int:
        return len(self.q)


def contacts_from(
    model: RobotModel,
    start: Array,
    surfaces: tuple[Surface, ...],
    levels: tuple[float, ...],
    frame: str | None = None,
) -> ContactPool:
    """Configurations (C, n), each brought to every object near it and pressed on it with every force of ``levels``.

    The model must have a determined state under every force: play without force does not count as contact.
    """
    if not surfaces or not levels or not min(levels) > 0:
        raise InputError("contacts: give one or more objects, and one or more positive forces")
    tip, count = frame or model.tool, len(start)
    places = np.repeat(Poses(model, start).origin(tip), len(surfaces), axis=0)
    touches = Touches(tip, surfaces, np.tile(np.arange(len(surfaces)), count))
    near = touches.near(np.ascontiguousarray(places.T))
    close = np.flatnonzero((near.distance > 0) & (near.distance < NEAR * model.size))
    on = places[close] - (near.distance * near.normal).T[close]
    each = np.repeat(np.arange(len(close)), len(levels))
    level = np.tile(np.array(levels, dtype=np.float64), len(close))
    asked = touches.rows(close[each])
    every = count * len(surfaces) * len(levels)
    steps = [Removed("too far from an object, or inside it", every - len(each), len(each))]
    if not len(each):
        raise nothing_left(steps)
    push = level[:, None] * near.normal.T[close][each]
    held = inverse(model, on[each], push, start[close[each] // len(surfaces)], tip)
    good = held.status == PoseStatus.REACHED
    q = np.where(good[:, None], held.q, 0.0)
    good[[row for row, _, _ in model.beyond_limits(q)]] = False
    steps.append(Removed("not held by the joints", int(np.sum(~good)), int(np.sum(good))))
    if not np.any(good):
        raise nothing_left(steps)
    pool = ContactPool(model, q[good], asked.rows(good), level[good], tuple(steps))
    return _touching(pool)


def _touching(pool: ContactPool) -> ContactPool:
    """Those whose contact is where it was asked for: an arm may also slip past an object, or find another rest."""
    found = contact(pool.model, pool.q, pool.touches)
    size = np.nan_to_num(found.size)
    good = (found.status == ContactStatus.CONTACT) & (np.abs(size - pool.level) < 1e-3 * pool.level)
    steps = (*pool.steps, Removed("another force than asked for", int(np.sum(~good)), int(np.sum(good))))
    if not np.any(good):
        raise nothing_left(steps)
    return ContactPool(pool.model, pool.q[good], pool.touches.rows(good), pool.level[good], steps)
