"""Algorithm 2 (000 eq. 18-30): concentric arcs of several markers about one axis, without known angles.

Each marker has its own radius R_j and height h_j; where on its circle a point is, is free.  With y the local
coordinates of a point in the frame of the axis and the free angle at its best value two residuals remain,

    e_r = |(y_1, y_2)| - R_j,   e_h = y_3 - h_j

whose sum of squares is the squared distance to the circle; ``geometric`` minimises it.  The published, ``algebraic``
form needs no iteration.  The axis n is the direction in which the points, each minus the mean of its marker, spread
least (28)-(30).  With y^ and s^ as in (22), in the plane across n, the centre is the least-squares solution of

    2 y^_i^T p_c = s^_i,   s_i = |y_i|^2        (25)-(26);    R_j^2 = mean |y_i - p_c|^2        (20)

The text solves (26) with the 3 x 3 matrix of the points in space, which is singular for points exactly in a plane and
else divides by the noise along n; solved in the plane it has neither fault.  This form weighs each point by its
squared radius and on short arcs draws the centre towards the points.

Both covariances are exact to first order.  With J the Jacobian of the distances: (J^T J)^-1 for the geometric fit, and
G G^T for the algebraic one, where G is what it makes of a small error of each point (see ``_algebraic_influence``).
A plain circle is the same with one marker: the circle of Kasa (algebraic) or the nearest one (geometric).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from elastocal.errors import ImplausibleError, RangeError, TooFewError
from elastocal.procedures.compensator.arc_problem import (
    AxisFit,
    AxisFrame,
    AxisProblem,
    FitQuality,
    Markers,
    as_markers,
    as_noise,
    estimated,
    minimise,
)
from elastocal.spatial.entries import Array
from elastocal.values import dataclass

Method = Literal["algebraic", "geometric"]
STRAIGHT = 1e-9
"""Points whose spread across a line is below this part of the spread along it lie on the line."""
LOST = 1 / 3
"""A radius with a larger relative standard deviation may as well be infinite: the arc is straight within its noise."""


class MarkersProblem(AxisProblem):
    """Markers at ``heights`` (k,) along the axis.  The first parameters of such a problem are the two shifts of the
    centre in the plane and, in space, the two tilts of the axis.
    """

    heights: Array
    markers: Markers

    @property
    def points(self) -> Array:
        return self.markers.points

    def centred(self) -> Self:
        """The same state with the origin at the mean height of the markers' circles."""
        frame, heights = self.frame.at_mean(self.heights)
        return replace(self, frame=frame, heights=heights)  # type: ignore[type-var]


@dataclass(frozen=True, eq=False)
class ConcentricProblem(MarkersProblem):
    """Moves: centre in the plane (2), tilt (2, in space), radii (k), heights (k, in space)."""

    frame: AxisFrame
    radii: Array
    heights: Array
    markers: Markers

    @property
    def components(self) -> tuple[str, ...]:
        return ("radius", "height") if self.frame.spatial else ("radius",)

    @property
    def labels(self) -> tuple[tuple[int, int], ...]:
        return tuple(zip(self.markers.marker.tolist(), self.markers.pose.tolist(), strict=True))

    @property
    def readings(self) -> Array:
        local = self.frame.local(self.markers.points)
        return np.column_stack([np.hypot(local[:, 0], local[:, 1]), local[:, 2:]])

    def residuals(self) -> Array:
        model = np.column_stack([self.radii, self.heights]) if self.frame.spatial else self.radii[:, None]
        return np.asarray(self.readings - model[self.markers.marker])

    def jacobian(self) -> Array:
        local, j = self.frame.local(self.markers.points), self.markers.marker
        k, at = self.markers.count, np.arange(len(j))
        outward = local[:, :2] / np.linalg.norm(local[:, :2], axis=1)[:, None]
        if not self.frame.spatial:
            out = np.zeros((len(j), 1, 2 + k))
            out[:, 0, :2] = outward
            out[at, 0, 2 + j] = 1.0
            return out
        out = np.zeros((len(j), 2, 4 + 2 * k))
        out[:, 0, :2] = outward
        out[:, 0, 2:4] = local[:, 2:] * outward  # a tilted axis has moved at this height
        out[at, 0, 4 + j] = 1.0
        out[:, 1, 2:4] = -local[:, :2]
        out[at, 1, 4 + k + j] = 1.0
        return out

    def moved(self, step: Array) -> Self:
        k, first = self.markers.count, 4 if self.frame.spatial else 2
        frame = self.frame.shifted(step[:2])
        if not self.frame.spatial:
            return replace(self, frame=frame, radii=self.radii + step[2:])
        return replace(
            self, frame=frame.tilted(step[2:4]), radii=self.radii + step[first : first + k],
            heights=self.heights + step[first + k :],
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class MarkersFit(AxisFit):
    """In space ``centre`` is the point of the axis at the mean height of the markers' circles."""

    problem: MarkersProblem

    @property
    def tilts_at(self) -> slice:
        return slice(2, 4)

    @property
    @abstractmethod
    def heights_at(self) -> slice:
        """Places of the heights among the parameters."""

    @property
    def centre_jacobian(self) -> Array:
        """(d, p): in the plane by itself, along the axis by the mean of the heights."""
        out = np.zeros((self.dimension, len(self.estimate.unit_covariance)))
        out[:, :2] = self.problem.frame.plane
        if self.dimension == 3:
            out[:, self.heights_at] = self.axis[:, None] / self.problem.markers.count
        return out

    @property
    def centre_covariance(self) -> Array:
        return self.estimate.propagate(self.centre_jacobian)

    def sentences(self) -> tuple[str, ...]:
        """The residuals against the stated noise."""
        if not self.estimate.disturbed:
            return ()
        ratio = self.residual_sd / (self.estimate.noise or 1.0)
        return (
            f"The residuals ({1e3 * self.residual_sd:.4g} mm) are {ratio:.3g} times the stated noise: the points are "
            "not on circles about one axis, or the noise is larger.",
        )


@dataclass(frozen=True, eq=False)
class ConcentricArcs(MarkersFit):
    """Arcs about one axis, each marker turning by angles of its own."""

    problem: ConcentricProblem
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
        jacobian = np.zeros((3, len(self.estimate.unit_covariance)))
        jacobian[:, :2] = self.problem.frame.plane
        jacobian[:, 2:4] = self.heights[marker] * self.problem.frame.plane  # a tilted axis has moved at this height
        jacobian[:, 4 + len(self.radii) + marker] = self.axis
        return self.centre + self.heights[marker] * self.axis, self.estimate.propagate(jacobian)

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
    fitted = concentric_of(markers, noise=noise, method=method)
    if np.all(fitted.radii_sd > LOST * fitted.radii):
        raise ImplausibleError(
            f"the points lie on a straight line within their noise (radius {1e3 * fitted.radii[0]:.4g} +- "
            f"{1e3 * fitted.radii_sd[0]:.2g} mm); measure a longer arc or use the joint angles",
            value=(1000.0 * fitted.radii[0], 1000.0 * fitted.radii_sd[0]),
            code="straight-line",
        )
    return fitted


def fit_circle(points: ArrayLike, *, noise: float | None = None, method: Method = "geometric") -> ConcentricArcs:
    """A plain circle through the points of one marker."""
    return fit_concentric([points], noise=noise, method=method)


def concentric_of(
    markers: Sequence[ArrayLike], *, noise: float | None = None, method: Method = "algebraic"
) -> ConcentricArcs:
    """The same, also where the arc may as well be straight."""
    if method not in ("algebraic", "geometric"):
        raise RangeError(f"there is no method {method!r} for arcs; valid: algebraic, geometric", value=method)
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


def refuse_straight(spread: Array, what: str) -> None:
    """``spread``: singular values of points about their mean, largest first; needs a second direction."""
    if not spread[0] > 0:
        raise ImplausibleError(
            f"{what}: all points are the same; nothing has moved between the poses", code="no-motion"
        )
    if spread[1] <= STRAIGHT * spread[0]:
        raise ImplausibleError(
            f"{what}: the points lie on a straight line, which has no centre; measure a longer arc",
            code="straight-line",
        )


def centred(markers: Markers) -> Array:
    """Points minus the mean of their own marker (000 eq. 22)."""
    return np.asarray(markers.points - markers.each(markers.points)[markers.marker])


def plane_frame(points: Array, spread: Array) -> AxisFrame:
    """Origin at the mean of ``points``; in 3-D the axis is the direction in which ``spread`` (M, 3) is least (eq. 30).

    The sign of the axis is the one whose largest component is positive, so that it does not depend on the data.
    """
    origin = points.mean(axis=0)
    if points.shape[1] == 2:
        return AxisFrame(origin, np.eye(2))
    directions = np.linalg.svd(spread, full_matrices=True)[2]
    axis = directions[2] * np.sign(directions[2][np.argmax(np.abs(directions[2]))])
    first = directions[0] * np.sign(directions[0][np.argmax(np.abs(directions[0]))])
    return AxisFrame(origin, np.column_stack([first, np.cross(axis, first), axis]))


def algebraic(markers: Markers) -> ConcentricProblem:
    """Eq. (20)-(30), solved in the plane."""
    needed = markers.count + 2
    if len(markers.points) < needed:
        raise TooFewError(
            f"{len(markers.points)} points of {'one marker' if markers.count == 1 else f'{markers.count} markers'} do "
            f"not give a centre; measure at least {needed}",
            value=(len(markers.points), needed),
        )
    spread = centred(markers)
    refuse_straight(np.asarray(np.linalg.svd(spread, compute_uv=False)), "arcs")
    frame = plane_frame(markers.points, spread)
    local = frame.local(markers.points)
    y = local[:, :2]
    means, squares = markers.each(y), np.sum(y**2, axis=1)
    offsets = markers.each(squares)
    centre = np.linalg.lstsq(2 * (y - means[markers.marker]), squares - offsets[markers.marker])[0]
    radii = np.sqrt(markers.each(np.sum((y - centre) ** 2, axis=1)))
    heights = markers.each(local[:, 2]) if markers.dimension == 3 else np.zeros(markers.count)
    return ConcentricProblem(frame.shifted(centre), radii, heights, markers)


def _algebraic_influence(problem: ConcentricProblem) -> Array:
    """G (p, rows): change of the algebraic solution by an error of 1 in each radius and height.

    Tilt and heights follow the heights alone (28).  Centre and radii follow the radii, a point of marker j weighing
    R_j^2 because s - 2 y^T p_c changes by 2 R_j times its radial error, after what the tilt has moved them.
    """
    jacobian, k = problem.jacobian(), problem.markers.count
    radial, weight = jacobian[:, 0], problem.radii[problem.markers.marker][:, None]
    first = 4 if problem.frame.spatial else 2
    inner = [0, 1, *range(first, first + k)]
    solve = np.linalg.pinv(weight * radial[:, inner]) * weight.T
    if not problem.frame.spatial:
        return np.asarray(solve)
    m = len(radial)
    out = np.zeros((jacobian.shape[2], m, 2))
    outer = [2, 3, *range(4 + k, 4 + 2 * k)]
    out[outer, :, 1] = np.linalg.pinv(jacobian[:, 1][:, outer])
    out[inner, :, 0] = solve
    out[inner, :, 1] = -solve @ radial[:, 2:4] @ out[2:4, :, 1]
    return out.reshape(jacobian.shape[2], -1)
