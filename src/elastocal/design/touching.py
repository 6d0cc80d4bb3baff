"""Contacts as a method: object, place and force are chosen, joint values and forces are read.

The arm is sent to a place in front of the object, ``standoff`` along its normal, and pressed on from there; both
configurations must be possible.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from elastocal.design.choice import Choice
from elastocal.design.contacts import contacts_from
from elastocal.design.drawing import drawn
from elastocal.design.feasibility.filter import Removed, nothing_left
from elastocal.design.method import Method
from elastocal.design.pool import Pool, programmable
from elastocal.design.poses import Poses
from elastocal.design.reaching import reached
from elastocal.measure.contact_force import ContactForce
from elastocal.measure.position import Position
from elastocal.measure.setup import Setup
from elastocal.measure.sources.source import ErrorSource
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.robot import RobotModel
from elastocal.model.statics.observation import Marker
from elastocal.model.surfaces.surface import Surface
from elastocal.model.surfaces.touches import Touches
from elastocal.spatial.entries import Array, Bools, Ints

if TYPE_CHECKING:
    from elastocal.design.task import PlanTask


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
    surfaces: tuple[Surface, ...]
    levels: tuple[float, ...]
    frame: str
    axes: str = "xyz"
    sources: tuple[ErrorSource, ...] = ()
    standoff: float = 0.02

    def choices(self, task: PlanTask, rng: np.random.Generator) -> tuple[Pool, tuple[Removed, ...]]:
        """Every configuration drawn at every object near it, with every force."""
        poses, missed = drawn(task.model, task.draw, rng)
        each = len(self.surfaces) * len(self.levels)
        reach = (Removed("reach of the task", missed * each, len(poses) * each),) if task.draw.around else ()
        found = contacts_from(task.model, poses.q, self.surfaces, self.levels, self.frame)
        options = tuple(
            Press(s, i, v, self.frame, f"{v:g} N on {s.name}") for i, s in enumerate(self.surfaces) for v in self.levels
        )
        level = np.searchsorted(np.sort(self.levels), found.level)
        option = found.touches.which * len(self.levels) + np.argsort(self.levels, kind="stable")[level]
        pool = Pool(Poses(task.model, found.q), options, self.frame, np.arange(len(found)), option)
        held = self._approached(pool)[1]
        steps = (*reach, *found.steps, Removed("approach", int(np.sum(~held)), int(np.sum(held))))
        if not np.any(held):
            raise nothing_left(steps)
        return pool.picked(np.flatnonzero(held)), steps

    def readings(self, pool: Pool) -> ContactForce:
        which = np.array([o.which for o in pool.options if isinstance(o, Press)], dtype=np.int64)
        return ContactForce(pool.q, Touches(self.frame, self.surfaces, which[pool.option]), self.axes)

    def stations(self, pool: Pool) -> tuple[Pool, Ints]:
        """In contact, and in front of the object."""
        both = Poses(pool.model, np.concatenate([pool.q, self.stops(pool)]))
        option = np.tile(pool.option, 2)
        where = Pool(both, pool.options, pool.frame, np.arange(len(both)), option)
        return where, np.tile(np.arange(len(pool)), 2)

    def stops(self, pool: Pool) -> Array:
        return self._approached(pool)[0]

    def _approached(self, pool: Pool) -> tuple[Array, Bools]:
        """Joint values (N, n) that put the unloaded tip in front of the place touched, and where there are any."""
        state = self.readings(pool).touched(pool.model)
        front = state.point + self.standoff * state.normal
        q, held = reached(pool.model, pool.q, front, self.frame)
        return programmable(pool.model, q), held

    def at_tests(self, q: Array, load: AppliedWrenches, frame: str, model: RobotModel, names: Sequence[str]) -> Array:
        """The place of the frame under its load."""
        return Position(Setup(q, load, (Marker(frame),))).derivative(model, names)
