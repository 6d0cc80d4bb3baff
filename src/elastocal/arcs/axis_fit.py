"""What every fit of markers about one axis has: a place on the axis, its direction, and how well both are known.

The first parameters of such a problem are the two shifts of the centre in the plane and, in space, the two tilts of
the axis.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from elastocal.arcs.axis_problem import AxisProblem
from elastocal.arcs.body_problem import BodyProblem
from elastocal.arcs.estimate import Estimate
from elastocal.errors import InputError
from elastocal.spatial.entries import Array


@dataclass(frozen=True, eq=False)
class AxisFit(ABC):
    """In space ``centre`` is the point of the axis at the mean height of the markers' circles."""

    problem: AxisProblem | BodyProblem
    estimate: Estimate

    @property
    def dimension(self) -> int:
        return self.problem.markers.dimension

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
    def heights_at(self) -> slice:
        """Places of the heights among the parameters."""

    @property
    def centre_slopes(self) -> Array:
        """(d, p): in the plane by itself, along the axis by the mean of the heights."""
        out = np.zeros((self.dimension, len(self.estimate.unit_covariance)))
        out[:, :2] = self.problem.frame.plane
        if self.dimension == 3:
            out[:, self.heights_at] = self.axis[:, None] / self.problem.markers.count
        return out

    @property
    def centre_covariance(self) -> Array:
        return self.estimate.of(self.centre_slopes)

    @property
    def axis_covariance(self) -> Array:
        """(3, 3) of the unit vector, zero along it; only in space."""
        if self.dimension == 2:
            raise InputError("points in a plane do not say how its axis is inclined; give three coordinates")
        plane = self.problem.frame.plane
        return np.asarray(plane @ self.estimate.covariance[2:4, 2:4] @ plane.T)

    def words(self) -> tuple[str, ...]:
        """The residuals against the stated noise."""
        if not self.estimate.disturbed:
            return ()
        ratio = self.residual_sd / (self.estimate.noise or 1.0)
        return (
            f"The residuals ({1e3 * self.residual_sd:.4g} mm) are {ratio:.3g} times the stated noise: the points are "
            "not on circles about one axis, or the noise is larger.",
        )
