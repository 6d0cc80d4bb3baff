"""What every fit of points that turn about an axis has: a place on the axis, its direction, and how it is inclined."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from elastocal.arcs.axis_problem import AxisProblem
from elastocal.arcs.body_problem import BodyProblem
from elastocal.arcs.estimate import FitQuality
from elastocal.arcs.procrustes import KnownAngleProblem
from elastocal.errors import InputError
from elastocal.spatial.entries import Array


@dataclass(frozen=True, eq=False)
class AxisFit(ABC):
    """A problem at its minimum, and the accuracy of its parameters."""

    problem: AxisProblem | BodyProblem | KnownAngleProblem
    estimate: FitQuality

    @property
    def dimension(self) -> int:
        return int(self.problem.points.shape[1])

    @property
    def centre(self) -> Array:
        return self.problem.frame.origin

    @property
    def axis(self) -> Array:
        """Unit vector along the axis."""
        return self.problem.frame.axis

    @property
    def residuals(self) -> Array:
        """Measured minus model, in the order of ``problem.labels``; see ``problem`` for what its columns are."""
        return self.problem.residuals()

    @property
    def residual_sd(self) -> float:
        return self.estimate.residual_sd

    @property
    @abstractmethod
    def tilts_at(self) -> slice:
        """Places of the two tilts of the axis among the parameters in space."""

    @property
    def axis_covariance(self) -> Array:
        """(3, 3) of the unit vector, zero along it; only in space."""
        if self.dimension == 2:
            raise InputError("points in a plane do not say how its axis is inclined; give three coordinates")
        plane = self.problem.frame.plane
        return np.asarray(plane @ self.estimate.covariance[self.tilts_at, self.tilts_at] @ plane.T)
