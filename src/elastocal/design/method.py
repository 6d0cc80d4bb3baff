"""How a campaign is measured, as far as a plan asks: what there is to choose from, and what each choice reads.

One file = one method: ``measuring`` (markers of a loaded arm), ``touching`` (contacts), ``sweeping`` (joint torques).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from elastocal.design.feasibility.filter import Removed
from elastocal.design.observed import determined
from elastocal.design.pool import Pool
from elastocal.measure.kind import Measurement
from elastocal.measure.sources.source import ErrorSource
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.robot import RobotModel
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
    def choices(self, task: PlanTask, rng: np.random.Generator) -> tuple[Pool, tuple[Removed, ...]]:
        """Everything drawn, and what could not be had whatever the cell is like."""

    @abstractmethod
    def readings(self, pool: Pool) -> Measurement:
        """What is read of these candidates."""

    @abstractmethod
    def at_tests(self, q: Array, load: AppliedWrenches, frame: str, model: RobotModel, names: Sequence[str]) -> Array:
        """How what counts depends on the parameters at configurations (T, n) under their loads, (T, r, p)."""

    def stations(self, pool: Pool) -> tuple[Pool, Ints]:
        """Every configuration that a candidate takes the arm to, and whose it is."""
        return pool, np.arange(len(pool))

    def stops(self, pool: Pool) -> Array:
        """Joint values (N, n) that the arm comes from and goes on from."""
        return pool.q

    def measured(self, pool: Pool) -> Bools | None:
        """(readings, R) numbers that are read; None: all."""
        return None

    def owner(self, pool: Pool) -> Ints | None:
        """The candidate of every reading where several are taken as one; None: each is its own."""
        return None

    def determined(self, pool: Pool) -> Bools:
        """(N,) candidates whose state is determined."""
        return determined(self.readings(pool), pool.model)
