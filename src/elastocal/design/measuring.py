"""Markers of a loaded arm: deflections or positions at any configurations and loads.

A search needs nothing of a kind but ``derivative`` and ``predict``; a new kind that is planned by poses and loads is
one more line of ``KINDS``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from elastocal.design.drawing import drawn
from elastocal.design.feasibility.filter import Removed
from elastocal.design.method import Method
from elastocal.design.pool import Pool
from elastocal.errors import UnknownNameError
from elastocal.measure.deflection import Deflection, Statics
from elastocal.measure.kind import Measurement
from elastocal.measure.position import Position
from elastocal.measure.setup import Setup
from elastocal.measure.sources.source import ErrorSource
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.robot import RobotModel
from elastocal.model.statics.observation import Marker
from elastocal.spatial.entries import Array

if TYPE_CHECKING:
    from elastocal.design.task import PlanTask

KINDS: dict[str, Callable[[Setup, Statics], Measurement]] = {
    "deflection": Deflection,
    "position": lambda where, statics: Position(where),
}


@dataclass(frozen=True)
class Measuring(Method):
    """``kind`` of measurement of ``markers`` with its ``sources`` of error; ``statics`` is of deflections."""

    kind: str
    markers: tuple[Marker, ...]
    sources: tuple[ErrorSource, ...] = ()
    statics: Statics = "loaded"

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise UnknownNameError("kind of measurement", self.kind, KINDS)

    def at(self, q: Array, load: AppliedWrenches, markers: tuple[Marker, ...] | None = None) -> Measurement:
        """The readings of (N, n) configurations under their loads."""
        return KINDS[self.kind](Setup(q, load, markers or self.markers), self.statics)

    def choices(self, task: PlanTask, rng: np.random.Generator) -> tuple[Pool, tuple[Removed, ...]]:
        """Every configuration drawn under every load."""
        poses, missed = drawn(task.model, task.draw, rng)
        options = tuple(o for load in task.loadings for o in load.options(task.model))
        pool = Pool.of(poses, options, task.load_frame or task.model.tool)
        reach = Removed("reach of the task", missed * max(1, len(options)), len(pool))
        return pool, (reach,) if task.draw.around else ()

    def readings(self, pool: Pool) -> Measurement:
        return self.at(pool.q, pool.load)

    def at_tests(self, q: Array, load: AppliedWrenches, frame: str, model: RobotModel, names: Sequence[str]) -> Array:
        return self.at(q, load, (Marker(frame),)).derivative(model, names)
