"""Contacts as a method: object, place and force are chosen, joint values and forces are read.

Configurations all over the joint space say which places the tip can be at; those are moved onto the nearest point of
every object, and the joints found that hold the bent arm there against the force (002 eq. 4).  The arm is sent to a
place in front of the object, ``standoff`` along its normal, and pressed on from there; both configurations must be
possible.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from elastocal.design.candidates import CandidateSet, Choice, Poses, drawn, programmable, reached
from elastocal.design.feasibility.filter import Removed, nothing_left, screened_by
from elastocal.design.method import Method, Stop
from elastocal.errors import RangeError
from elastocal.measure.contacts import ContactForce
from elastocal.measure.markers import Position
from elastocal.measure.setup import Setup
from elastocal.measure.sources.source import ErrorSource
from elastocal.model.inverse_kinematics import PoseStatus
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.robot import Robot
from elastocal.model.statics.contact import ContactStatus, contact
from elastocal.model.statics.kinetostatics import inverse
from elastocal.model.statics.observation import Marker
from elastocal.model.surfaces.surface import Surface, Touches
from elastocal.spatial.entries import Array, Bools, Ints
from elastocal.values import dataclass

if TYPE_CHECKING:
    from elastocal.design.task import PlanTask


NEAR = 0.5
"""Of the robot's size: a configuration stands for places at most so far from its tip."""


@dataclass(frozen=True, eq=False)
class ContactSet:
    """Contact i presses ``frame`` on object ``touches.which[i]`` with ``level[i]`` (N) at joint values q (N, n).

    ``steps`` say what was left out on the way.
    """

    q: Array
    touches: Touches
    level: Array
    steps: tuple[Removed, ...]

    def __len__(self) -> int:
        return len(self.q)


def contacts_from(
    model: Robot, start: Array, surfaces: tuple[Surface, ...], levels: tuple[float, ...], frame: str | None = None
) -> ContactSet:
    """Configurations (C, n), each brought to every object near it and pressed on it with every force of ``levels``.

    The model must have a determined state under every force: backlash without force does not count as contact.
    """
    if not surfaces or not levels or not min(levels) > 0:
        raise RangeError("contacts: give one or more objects, and one or more positive forces", code="no-contacts")
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
    steps: tuple[Removed, ...] = (Removed("too far from an object, or inside it", every - len(each), len(each)),)
    if not len(each):
        raise nothing_left(steps)
    push = level[:, None] * near.normal.T[close][each]
    held = inverse(model, on[each], push, start[close[each] // len(surfaces)], tip)
    good = held.status == PoseStatus.REACHED
    q = np.where(good[:, None], held.q, 0.0)
    good[[row for row, _, _ in model.beyond_limits(q)]] = False
    steps = screened_by(steps, "not held by the joints", good)
    q, asked, level = q[good], asked.rows(good), level[good]
    contacts = contact(model, q, asked)  # an arm may also slip past an object, or find another rest
    there = (contacts.status == ContactStatus.CONTACT) & (np.abs(np.nan_to_num(contacts.size) - level) < 1e-3 * level)
    steps = screened_by(steps, "another force than asked for", there)
    return ContactSet(q[there], asked.rows(there), level[there], steps)


@dataclass(frozen=True)
class Press(Choice):
    """``level`` (N) on object number ``which``; its force is along the normal nearest to the unloaded tip."""

    surface: Surface
    which: int
    level: float
    point: str
    name: str

    def forces(self, poses: Poses) -> Array:
        touches = Touches.one(self.point, self.surface, len(poses))
        return self.level * touches.near(np.ascontiguousarray(poses.origin(self.point).T)).normal.T


@dataclass(frozen=True)
class Touching(Method):
    """``frame`` presses on ``surfaces`` with one of ``levels`` (N); ``axes`` of the force are read."""

    kind: str = field(default="contact", init=False)
    noun: ClassVar[str] = "contacts"
    surfaces: tuple[Surface, ...]
    levels: tuple[float, ...]
    frame: str
    axes: str = "xyz"
    sources: tuple[ErrorSource, ...] = ()
    standoff: float = 0.02

    def choices(self, task: PlanTask, rng: np.random.Generator) -> tuple[CandidateSet, tuple[Removed, ...]]:
        """Every configuration drawn at every object near it, with every force."""
        poses, missed = drawn(task.model, task.draw, rng)
        each = len(self.surfaces) * len(self.levels)
        reach = (Removed("reach of the task", missed * each, len(poses) * each),) if task.draw.around else ()
        contacts = contacts_from(task.model, poses.q, self.surfaces, self.levels, self.frame)
        options = tuple(
            Press(s, i, v, self.frame, f"{v:g} N on {s.name}") for i, s in enumerate(self.surfaces) for v in self.levels
        )
        level = np.searchsorted(np.sort(self.levels), contacts.level)
        option = contacts.touches.which * len(self.levels) + np.argsort(self.levels, kind="stable")[level]
        candidates = CandidateSet(Poses(task.model, contacts.q), options, self.frame, np.arange(len(contacts)), option)
        held = self._approached(candidates)[1]
        steps = screened_by((*reach, *contacts.steps), "approach", held)
        return candidates.picked(np.flatnonzero(held)), steps

    def readings(self, candidates: CandidateSet) -> ContactForce:
        which = np.array([o.which for o in candidates.options if isinstance(o, Press)], dtype=np.int64)
        return ContactForce(candidates.q, Touches(self.frame, self.surfaces, which[candidates.option]), self.axes)

    def stations(self, candidates: CandidateSet) -> tuple[CandidateSet, Ints]:
        """In contact, and in front of the object."""
        both = Poses(candidates.model, np.concatenate([candidates.q, self.stops(candidates)]))
        option = np.tile(candidates.option, 2)
        where = CandidateSet(both, candidates.options, candidates.frame, np.arange(len(both)), option)
        return where, np.tile(np.arange(len(candidates)), 2)

    def stops(self, candidates: CandidateSet) -> Array:
        return self._approached(candidates)[0]

    def program(self, chosen: CandidateSet, repeats: int, rated: Array) -> tuple[Stop, ...]:
        """To the front of every place, by hand or force control onto it, and back to its front."""
        state = self.readings(chosen).touched(chosen.model)
        times = f" {repeats} times" if repeats > 1 else ""
        out: list[Stop] = []
        for i, front in enumerate(self.stops(chosen)):
            x, y, z = 1e3 * state.point[i]
            u, v, w = -state.normal[i] + 0.0
            ask = f"P{i + 1}: press {chosen.label(i)} along ({u:.2f}, {v:.2f}, {w:.2f}), read{times}"
            note = f"in front of ({x:.2f}, {y:.2f}, {z:.2f}) mm; axes and force are read in contact"
            out += [Stop(front, (ask,), note=note, label=f"P{i + 1}")]
            out += [Stop(front, note="back off before the next contact", label=f"P{i + 1}")]
        return tuple(out)

    def _approached(self, candidates: CandidateSet) -> tuple[Array, Bools]:
        """Joint values (N, n) that put the unloaded tip in front of the place touched, and where there are any."""
        state = self.readings(candidates).touched(candidates.model)
        front = state.point + self.standoff * state.normal
        q, held = reached(candidates.model, candidates.q, front, self.frame)
        return programmable(candidates.model, q), held

    def at_tests(self, q: Array, load: AppliedWrenches, frame: str, model: Robot, names: Sequence[str]) -> Array:
        """The place of the frame under its load."""
        return Position(Setup(q, load, (Marker(frame),))).derivative(model, names)
