"""Markers about one axis: their centre, and what their residuals say.

The first parameters of such a problem are the two shifts of the centre in the plane and, in space, the two tilts of
the axis.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np

from elastocal.arcs.axis_fit import AxisFit
from elastocal.arcs.axis_problem import AxisProblem
from elastocal.arcs.body_problem import BodyProblem
from elastocal.spatial.entries import Array


@dataclass(frozen=True, eq=False)
class MarkersFit(AxisFit):
    """In space ``centre`` is the point of the axis at the mean height of the markers' circles."""

    problem: AxisProblem | BodyProblem

    @property
    def tilts_at(self) -> slice:
        return slice(2, 4)

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

    def words(self) -> tuple[str, ...]:
        """The residuals against the stated noise."""
        if not self.estimate.disturbed:
            return ()
        ratio = self.residual_sd / (self.estimate.noise or 1.0)
        return (
            f"The residuals ({1e3 * self.residual_sd:.4g} mm) are {ratio:.3g} times the stated noise: the points are "
            "not on circles about one axis, or the noise is larger.",
        )
