"""Algorithm 1 (000 eq. 8-17): centre, radius and axis of a point's arc from points and their joint angles.

In the plane both senses of rotation are tried.  In space turning the axis round swaps them, so the sense is the one
about a stated axis, and the other one is tried about the axis found.

The covariance is that of the least-squares problem at its solution; in the plane it reads
var L = var x_0 = var y_0 = sigma^2 / (m - |sum u|^2 / m).  The text takes sum |u^|^2 = m in (32) and neglects the
error of R in (34); ``paper_radius_sd`` and ``paper_centre_covariance`` are its formulas, for comparison.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from elastocal.arcs.angle_checks import as_angles, check_angles, check_sense, check_units
from elastocal.arcs.estimate import Estimate, estimated
from elastocal.arcs.frame import AxisFrame
from elastocal.arcs.points import as_noise, as_points, refuse_straight
from elastocal.arcs.procrustes import KnownAngleProblem, directions, procrustes
from elastocal.errors import InputError
from elastocal.spatial.entries import Array, Ints

FINE = 1e-3
"""Residuals below this part of the arc's extent cannot come from angles in a wrong unit."""


@dataclass(frozen=True, eq=False)
class KnownAngleArc:
    """An arc of Algorithm 1.  ``sense`` is 1 where the point moves right-handed about the axis with growing angle.

    ``angles`` (m,) and ``problem`` hold the points that were seen; ``other_sd`` is the residual standard deviation
    with the other sense about the same axis.
    """

    problem: KnownAngleProblem
    angles: Array
    sense: int
    estimate: Estimate
    other_sd: float

    @property
    def dimension(self) -> int:
        return int(self.problem.points.shape[1])

    @property
    def centre(self) -> Array:
        return self.problem.frame.origin

    @property
    def radius(self) -> float:
        return self.problem.radius

    @property
    def axis(self) -> Array:
        return self.problem.frame.axis

    @property
    def zero_direction(self) -> Array:
        """Unit vector from the centre to the point at angle zero."""
        return self.problem.frame.matrix[:, 0]

    @property
    def residuals(self) -> Array:
        """(m, d) measured minus model."""
        return self.problem.residuals()

    @property
    def residual_sd(self) -> float:
        return self.estimate.residual_sd

    @property
    def radius_sd(self) -> float:
        d = self.dimension
        return float(np.sqrt(self.estimate.covariance[d, d]))

    @property
    def centre_covariance(self) -> Array:
        return self.estimate.covariance[: self.dimension, : self.dimension]

    @property
    def zero_direction_slopes(self) -> Array:
        """(d, p): it moves by the turn in the plane and, in space, by the tilt towards itself."""
        d, matrix = self.dimension, self.problem.frame.matrix
        out = np.zeros((d, len(self.estimate.unit_covariance)))
        out[:, d + 1] = matrix[:, 1]
        if d == 3:
            out[:, 5] = -matrix[:, 2]
        return out

    @property
    def turn_sd(self) -> float:
        """Of the angle at which the point stands in its plane when the joint is at zero, in rad."""
        return float(np.sqrt(self.estimate.covariance[self.dimension + 1, self.dimension + 1]))

    @property
    def axis_covariance(self) -> Array:
        """(3, 3) of the unit vector, zero along it; only in space."""
        if self.dimension == 2:
            raise InputError("points in a plane do not say how its axis is inclined; give three coordinates")
        plane = self.problem.frame.plane
        return np.asarray(plane @ self.estimate.covariance[5:, 5:] @ plane.T)

    def at(self, angles: ArrayLike) -> Array:
        """(n, d) points of the arc at joint angles."""
        u = directions(np.atleast_1d(np.asarray(angles, dtype=np.float64)), self.sense, self.dimension)
        return np.asarray(self.centre + self.radius * u @ self.problem.frame.matrix.T)

    def words(self) -> tuple[str, ...]:
        """Sense of rotation, and the residuals against the stated noise, in mm."""
        way = "with" if self.sense == 1 else "against"
        out = [
            f"The point runs {way} the angle: residuals {1e3 * self.residual_sd:.4g} mm, with the other sense "
            f"{1e3 * self.other_sd:.4g} mm."
        ]
        if self.estimate.disturbed:
            out.append(
                f"The residuals are {self.residual_sd / (self.estimate.noise or 1.0):.3g} times the stated noise: the "
                "point is no marker on a rigid link, an angle is wrong, or the noise is larger."
            )
        return tuple(out)

    @property
    def paper_radius_sd(self) -> float:
        """sigma / sqrt(m): (32) as the text simplifies it."""
        return float(self.estimate.sigma / np.sqrt(len(self.angles)))

    @property
    def paper_centre_covariance(self) -> Array:
        """sigma^2 / m (I + R (sum u) (sum u)^T R^T / m^2), eq. (34)."""
        m = len(self.angles)
        mean = self.problem.frame.matrix @ self.problem.directions.mean(axis=0)
        return np.asarray(self.estimate.sigma**2 / m * (np.eye(self.dimension) + np.outer(mean, mean)))


def fit_known_angles(
    points: ArrayLike, angles: ArrayLike, *, noise: float | None = None, sense: int | None = None,
    axis: ArrayLike | None = None,
) -> KnownAngleArc:  # fmt: skip
    """Fit points (m, 2) or (m, 3) in metres at joint ``angles`` (m,) in rad; rows of nan were not seen.

    ``sense`` is checked if stated, else found.  In space it needs ``axis``, the rough direction of the joint axis;
    without one the axis is the one about which the point turns right-handed.
    """
    p, q, seen = seen_points(points, angles)
    spread = np.linalg.svd(p - p.mean(axis=0), compute_uv=False)
    freedom = _spare(p)
    found, squares, other = _both_senses(p, q, axis)
    extent = float(spread[0]) / np.sqrt(len(p))
    if squares > p.size * (FINE * extent) ** 2:
        in_degrees, twice = (min(_both_senses(p, s * q, None)[1:]) for s in (np.pi / 180, 180 / np.pi))
        check_units(q, squares, in_degrees, twice, freedom, extent)
    if sense is not None and axis is None and p.shape[1] == 3:
        raise InputError("a sense of rotation in space needs the direction of the axis that it refers to; state both")
    variance = max(squares / freedom, (as_noise(noise) or 0.0) ** 2)
    used = check_sense(sense, found, squares, other, variance, freedom)
    if used != found and p.shape[1] == 3:
        raise InputError("the arc is too short to tell the sense of rotation stated; measure a longer one")
    return arc_of_sense(p, q, seen, used, noise)


def seen_points(points: ArrayLike, angles: ArrayLike) -> tuple[Array, Array, Ints]:
    """Points and angles that were seen, and their places among all; refused where they cannot be an arc."""
    everything = as_points(points, "arc")
    seen = np.flatnonzero(~np.isnan(everything[:, 0]))
    p, q = everything[seen], as_angles(angles, everything)[seen]
    check_angles(q)
    refuse_straight(np.asarray(np.linalg.svd(p - p.mean(axis=0), compute_uv=False)), "arc")
    return p, q, seen


def arc_of_sense(points: Array, angles: Array, seen: Ints, sense: int, noise: float | None) -> KnownAngleArc:
    """The arc with a given sense of rotation, right or wrong."""
    d, freedom = points.shape[1], _spare(points)
    u = directions(angles, sense, d)
    frame, radius, _ = procrustes(points, u)
    problem = KnownAngleProblem(frame, radius, u, points, tuple(int(i) for i in seen))
    estimate = estimated(problem, as_noise(noise), points.size, freedom, "arc")
    if d == 2:
        other = procrustes(points, directions(angles, -sense, 2))[2]
    else:
        other = _reversed(frame, points, angles, -sense)
    return KnownAngleArc(problem, angles, sense, estimate, float(np.sqrt(other / freedom)))


def _spare(points: Array) -> int:
    return int(points.size) - (4 if points.shape[1] == 2 else 7)


def _reversed(frame: AxisFrame, points: Array, angles: Array, sense: int) -> float:
    """Sum of squares with a sense in the plane across an axis in space."""
    local = frame.local(points)
    in_plane = procrustes(local[:, :2], directions(angles, sense, 2))[2]
    return in_plane + float(np.sum((local[:, 2] - local[:, 2].mean()) ** 2))


def _both_senses(points: Array, angles: Array, axis: ArrayLike | None) -> tuple[int, float, float]:
    """The better sense, and the sums of squares of it and of the other one."""
    dimension = points.shape[1]
    frame, _, squares = procrustes(points, directions(angles, 1, dimension))
    if dimension == 2:
        other = procrustes(points, directions(angles, -1, 2))[2]
        return (1, squares, other) if squares <= other else (-1, other, squares)
    return (1 if axis is None else _side(frame.axis, axis)), squares, _reversed(frame, points, angles, -1)


def _side(axis: Array, stated: ArrayLike) -> int:
    """On which side of the stated direction the right-handed axis lies."""
    direction = np.asarray(stated, dtype=np.float64)
    if direction.shape != (3,) or not np.linalg.norm(direction) > 0:
        raise InputError(f"the axis must be three numbers that are not all zero, not {direction}")
    cosine = float(axis @ direction / np.linalg.norm(direction))
    if abs(cosine) < 0.1:
        raise InputError("the stated axis lies in the plane of the arc; state the direction about which it turns")
    return 1 if cosine > 0 else -1
