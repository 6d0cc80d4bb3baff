"""A plain circle through one point's positions, and what the joint angles add to it (000 section 4.1).

A circle without angles uses only the distance of each point from the centre.  On a short arc centre and radius then
move together: their standard deviations grow with the square of one over the arc's length, with known angles only with
one over the length.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from elastocal.arcs.concentric import ConcentricArcs, Method, fit_concentric
from elastocal.arcs.known_angle_arc import KnownAngleArc
from elastocal.arcs.known_angles import fit_known_angles


def fit_circle(points: ArrayLike, *, noise: float | None = None, method: Method = "geometric") -> ConcentricArcs:
    """One marker: ``algebraic`` is the circle of Kasa (|p|^2 = 2 p^T c + const), ``geometric`` the nearest one."""
    return fit_concentric([points], noise=noise, method=method)


@dataclass(frozen=True, eq=False)
class AngleGain:
    """The same points fitted with their angles and without, for the same noise."""

    known: KnownAngleArc
    algebraic: ConcentricArcs
    geometric: ConcentricArcs

    @property
    def radius(self) -> float:
        """How many times smaller the radius' standard deviation is with the angles, noise being equal."""
        d = self.known.dimension
        plain = self.geometric.estimate.unit_covariance[2 * (d - 1), 2 * (d - 1)]
        return float(np.sqrt(plain / self.known.estimate.unit_covariance[d, d]))

    @property
    def centre(self) -> float:
        """The same for the centre: ratio of the roots of the traces."""
        d = self.known.dimension
        slopes = self.geometric.centre_slopes
        plain = np.trace(slopes @ self.geometric.estimate.unit_covariance @ slopes.T)
        return float(np.sqrt(plain / np.trace(self.known.estimate.unit_covariance[:d, :d])))


def angle_gain(points: ArrayLike, angles: ArrayLike, *, noise: float | None = None) -> AngleGain:
    """Fit the points in all three ways."""
    seen = np.asarray(points, dtype=np.float64)
    return AngleGain(
        fit_known_angles(seen, angles, noise=noise),
        fit_circle(seen, noise=noise, method="algebraic"),
        fit_circle(seen, noise=noise),
    )
