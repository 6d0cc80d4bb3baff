"""Robot, objects, contacts and forces as seen along z, for the contour-tracking picture (002 figure 1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from elastocal.errors import InputError
from elastocal.measure.campaign import Campaign
from elastocal.measure.contact_force import ContactForce
from elastocal.measure.contact_gap import ContactGap
from elastocal.measure.position import Position
from elastocal.model.frames import BASE
from elastocal.model.kinematics import kinematics
from elastocal.model.robot import Robot
from elastocal.spatial.entries import Array


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


def contact_scene(model: Robot, campaign: Campaign) -> ContactScene:
    """What a model makes of the contacts of a campaign that felt a force."""
    kind = campaign.measurement
    if not isinstance(kind, ContactForce):
        raise InputError(f"a measurement of {kind.kind} has no contacts to draw")
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
    found = [(getattr(s, "centre", None), getattr(s, "radius", None)) for s in kind.touches.surfaces]
    return [np.asarray(c[:2]) + r * circle for c, r in found if c is not None and r is not None]
