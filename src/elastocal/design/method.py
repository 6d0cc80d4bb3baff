"""How a campaign is measured, as far as a plan asks: what there is to choose from, and what each choice reads.

One file = one method: markers of a loaded arm (``Measuring``, here), contacts (``touching``), joint torques
(``sweeping``).  A search needs nothing of a kind of measurement but ``derivative`` and ``predict``; a new kind that is
planned by poses and loads is one more line of ``KINDS``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from elastocal.design.candidates import CandidateSet
from elastocal.design.feasibility.filter import Removed
from elastocal.design.observed import determined
from elastocal.design.poses import drawn
from elastocal.errors import UnknownNameError
from elastocal.measure.deflection import Deflection, Statics
from elastocal.measure.kind import Measurement
from elastocal.measure.position import Position
from elastocal.measure.setup import Setup
from elastocal.measure.sources.source import ErrorSource
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.robot import RobotModel
from elastocal.model.statics.observation import Marker
from elastocal.spatial.entries import Array, Bools, Ints

if TYPE_CHECKING:
    from elastocal.design.task import PlanTask


class Method(ABC):
    """``counted`` is the unit of what the task asks for: an error of place (m) or of torque (N m).

    ``errors_sought``: unknowns common to the campaign (friction) count in the criterion like parameters.
    """

    kind: str
    sources: tuple[ErrorSource, ...]
    counted: ClassVar[str] = "m"
    errors_sought: ClassVar[bool] = False

    @abstractmethod
    def choices(self, task: PlanTask, rng: np.random.Generator) -> tuple[CandidateSet, tuple[Removed, ...]]:
        """Everything drawn, and what could not be had whatever the cell is like."""

    @abstractmethod
    def readings(self, candidates: CandidateSet) -> Measurement:
        """What is read of these candidates."""

    @abstractmethod
    def at_tests(self, q: Array, load: AppliedWrenches, frame: str, model: RobotModel, names: Sequence[str]) -> Array:
        """How what counts depends on the parameters at configurations (T, n) under their loads, (T, r, p)."""

    def stations(self, candidates: CandidateSet) -> tuple[CandidateSet, Ints]:
        """Every configuration that a candidate takes the arm to, and whose it is."""
        return candidates, np.arange(len(candidates))

    def stops(self, candidates: CandidateSet) -> Array:
        """Joint values (N, n) that the arm comes from and goes on from."""
        return candidates.q

    def measured(self, candidates: CandidateSet) -> Bools | None:
        """(readings, R) numbers that are read; None: all."""
        return None

    def owner(self, candidates: CandidateSet) -> Ints | None:
        """The candidate of every reading where several are taken as one; None: each is its own."""
        return None

    def determined(self, candidates: CandidateSet) -> Bools:
        """(N,) candidates whose state is determined."""
        return determined(self.readings(candidates), candidates.model)


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

    def choices(self, task: PlanTask, rng: np.random.Generator) -> tuple[CandidateSet, tuple[Removed, ...]]:
        """Every configuration drawn under every load."""
        poses, missed = drawn(task.model, task.draw, rng)
        options = tuple(o for load in task.loadings for o in load.options(task.model))
        candidates = CandidateSet.of(poses, options, task.load_frame or task.model.tool)
        reach = Removed("reach of the task", missed * max(1, len(options)), len(candidates))
        return candidates, (reach,) if task.draw.around else ()

    def readings(self, candidates: CandidateSet) -> Measurement:
        return self.at(candidates.q, candidates.load)

    def at_tests(self, q: Array, load: AppliedWrenches, frame: str, model: RobotModel, names: Sequence[str]) -> Array:
        return self.at(q, load, (Marker(frame),)).derivative(model, names)
