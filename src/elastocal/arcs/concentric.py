"""Algorithm 2 (000 eq. 18-30): concentric arcs of several markers about one axis, without known angles.

The axis n is the direction in which the points, each minus the mean of its marker, spread least (28)-(30).  With y the
points in the plane across n, y^ and s^ as in (22), the centre is the least-squares solution of

    2 y^_i^T p_c = s^_i,   s_i = |y_i|^2        (25)-(26);    R_j^2 = mean |y_i - p_c|^2        (20)

The text solves (26) with the 3 x 3 matrix of the points in space, which is singular for points exactly in a plane and
else divides by the noise along n; solved in the plane it has neither fault.  This form weighs each point by its
squared radius and on short arcs draws the centre towards the points; ``geometric`` minimises the distances themselves.

Both covariances are exact to first order.  With J the slopes of the distances: (J^T J)^-1 for the geometric fit, and
G G^T for the algebraic one, where G is what it makes of a small error of each point (see ``_algebraic_influence``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from elastocal.arcs.axis_problem import AxisProblem
from elastocal.arcs.estimate import FitQuality, estimated
from elastocal.arcs.frame import plane_frame
from elastocal.arcs.markers_fit import MarkersFit
from elastocal.arcs.points import Markers, as_markers, as_noise, centred, refuse_straight
from elastocal.arcs.problem import minimise
from elastocal.errors import InputError
from elastocal.spatial.entries import Array

Method = Literal["algebraic", "geometric"]
LOST = 1 / 3
"""A radius with a larger relative standard deviation may as well be infinite: the arc is straight within its noise."""


@dataclass(frozen=True, eq=False)
class ConcentricArcs(MarkersFit):
    """Arcs about one axis, each marker turning by angles of its own."""

    problem: AxisProblem
    method: Method

    @property
    def radii(self) -> Array:
        return self.problem.radii

    @property
    def heights(self) -> Array:
        """(k,) of the markers' circles along the axis, from the centre; zero in the plane."""
        return self.problem.heights

    @property
    def heights_at(self) -> slice:
        return slice(4 + len(self.radii), None)

    def circle_centre(self, marker: int) -> tuple[Array, Array]:
        """Centre (d,) of one marker's own circle and its covariance (d, d); in the plane that of all of them."""
        if self.dimension == 2:
            return self.centre, self.centre_covariance
        slopes = np.zeros((3, len(self.estimate.unit_covariance)))
        slopes[:, :2] = self.problem.frame.plane
        slopes[:, 2:4] = self.heights[marker] * self.problem.frame.plane  # a tilted axis has moved at this height
        slopes[:, 4 + len(self.radii) + marker] = self.axis
        return self.centre + self.heights[marker] * self.axis, self.estimate.of(slopes)

    @property
    def radii_sd(self) -> Array:
        first = 2 * (self.dimension - 1)
        return np.asarray(np.sqrt(np.diag(self.estimate.covariance)[first : first + len(self.radii)]))


def fit_concentric(
    markers: Sequence[ArrayLike], *, noise: float | None = None, method: Method = "algebraic"
) -> ConcentricArcs:
    """Fit the points of each marker, (m_j, 2) or (m_j, 3) in metres; rows of nan were not seen.

    ``algebraic`` is the published algorithm, ``geometric`` the most likely arcs for equal normal noise.
    """
    found = concentric_of(markers, noise=noise, method=method)
    if np.all(found.radii_sd > LOST * found.radii):
        raise InputError(
            f"the points lie on a straight line within their noise (radius {1e3 * found.radii[0]:.4g} +- "
            f"{1e3 * found.radii_sd[0]:.2g} mm); measure a longer arc or use the joint angles"
        )
    return found


def concentric_of(
    markers: Sequence[ArrayLike], *, noise: float | None = None, method: Method = "algebraic"
) -> ConcentricArcs:
    """The same, also where the arc may as well be straight."""
    if method not in ("algebraic", "geometric"):
        raise InputError(f"there is no method {method!r} for arcs; valid: algebraic, geometric")
    data = as_markers(markers)
    start = algebraic(data)
    problem = start.centred() if method == "algebraic" else minimise(start).centred()
    d, k = data.dimension, data.count
    spare = (d - 1) * (len(data.points) - k - 2)
    estimate = estimated(problem, as_noise(noise), data.points.size, spare, "arcs")
    if method == "algebraic":
        influence = _algebraic_influence(problem)
        estimate = FitQuality(influence @ influence.T, estimate.squares, spare, data.points.size, estimate.noise)
    return ConcentricArcs(problem, estimate, method)


def algebraic(markers: Markers) -> AxisProblem:
    """Eq. (20)-(30), solved in the plane."""
    needed = markers.count + 2
    if len(markers.points) < needed:
        raise InputError(
            f"{len(markers.points)} points of {'one marker' if markers.count == 1 else f'{markers.count} markers'} do "
            f"not give a centre; measure at least {needed}"
        )
    spread = centred(markers)
    refuse_straight(np.asarray(np.linalg.svd(spread, compute_uv=False)), "arcs")
    frame = plane_frame(markers.points, spread)
    local = frame.local(markers.points)
    y = local[:, :2]
    means = np.array([[*y[markers.marker == j].mean(axis=0)] for j in range(markers.count)])
    squares = np.sum(y**2, axis=1)
    offsets = np.array([squares[markers.marker == j].mean() for j in range(markers.count)])
    centre = np.linalg.lstsq(2 * (y - means[markers.marker]), squares - offsets[markers.marker])[0]
    distances = np.sum((y - centre) ** 2, axis=1)
    radii = np.sqrt([distances[markers.marker == j].mean() for j in range(markers.count)])
    heights = np.zeros(markers.count)
    if markers.dimension == 3:
        heights = np.array([local[markers.marker == j, 2].mean() for j in range(markers.count)])
    return AxisProblem(frame.shifted(centre), radii, heights, markers)


def _algebraic_influence(problem: AxisProblem) -> Array:
    """G (p, rows): change of the algebraic solution by an error of 1 in each radius and height.

    Tilt and heights follow the heights alone (28).  Centre and radii follow the radii, a point of marker j weighing
    R_j^2 because s - 2 y^T p_c changes by 2 R_j times its radial error, after what the tilt has moved them.
    """
    slopes, k = problem.slopes(), problem.markers.count
    radial, weight = slopes[:, 0], problem.radii[problem.markers.marker][:, None]
    first = 4 if problem.frame.spatial else 2
    inner = [0, 1, *range(first, first + k)]
    solve = np.linalg.pinv(weight * radial[:, inner]) * weight.T
    if not problem.frame.spatial:
        return np.asarray(solve)
    m = len(radial)
    out = np.zeros((slopes.shape[2], m, 2))
    outer = [2, 3, *range(4 + k, 4 + 2 * k)]
    out[outer, :, 1] = np.linalg.pinv(slopes[:, 1][:, outer])
    out[inner, :, 0] = solve
    out[inner, :, 1] = -solve @ radial[:, 2:4] @ out[2:4, :, 1]
    return out.reshape(slopes.shape[2], -1)
