"""The arc of a point whose joint angles are known (000 eq. 8-17): scaled Procrustes match, and how well it is known.

    p_i = p_0 + L R u_i,   u_i = [cos q_i, sense sin q_i (, 0)],   R^T R = I, det R = +1        (8)

With p^ and u^ the points and u minus their means, and sum u^_i p^_i^T = U S V^T:

    R = V D U^T,   D = diag(1, .., det V U^T)                                                    (16-17)
    L = trace(S D) / sum |u^_i|^2,   p_0 = mean p - L R mean u                                   (13, 10)

The text has no D; without it a mirrored arc would be fitted by a reflection.

The covariance is that of the least-squares problem at its solution; in the plane it reads
var L = var x_0 = var y_0 = sigma^2 / (m - |sum u|^2 / m).  The text (000) takes sum |u^|^2 = m in (32) and neglects the
error of R in (34); ``paper_radius_sd`` and ``paper_centre_covariance`` are its formulas, for comparison.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from elastocal.procedures.compensator.arc_problem import AxisFit, AxisFrame, AxisProblem, as_noise, estimated
from elastocal.spatial.entries import Array, Ints
from elastocal.values import dataclass


def unit_directions(angles: Array, sense: int, dimension: int) -> Array:
    """u_i of eq. (8), (m, d)."""
    out = np.zeros((len(angles), dimension))
    out[:, 0], out[:, 1] = np.cos(angles), sense * np.sin(angles)
    return out


def procrustes(points: Array, u: Array) -> tuple[AxisFrame, float, float]:
    """Eq. (10)-(17): (p_0, R), L and the sum of squared residuals."""
    p, v = points - points.mean(axis=0), u - u.mean(axis=0)
    left, singular, right = np.linalg.svd(v.T @ p)
    signs = np.ones(points.shape[1])
    signs[-1] = np.sign(np.linalg.det(right.T @ left.T))
    rotation = right.T @ (signs[:, None] * left.T)
    radius = float(singular @ signs / np.sum(v**2))
    frame = AxisFrame(points.mean(axis=0) - radius * rotation @ u.mean(axis=0), rotation)
    return frame, radius, float(np.sum((p - radius * v @ rotation.T) ** 2))


@dataclass(frozen=True, eq=False)
class KnownAngleProblem(AxisProblem):
    """Eq. (9) at ``frame`` = (p_0, R) and ``radius`` L.  Moves: centre (d), radius, turn in the plane, two tilts."""

    frame: AxisFrame
    radius: float
    directions: Array
    measured: Array
    poses: tuple[int, ...]

    @property
    def labels(self) -> tuple[tuple[int, int], ...]:
        return tuple((0, i) for i in self.poses)

    @property
    def points(self) -> Array:
        return self.measured

    def residuals(self) -> Array:
        return np.asarray(self.measured - self.frame.origin - self.radius * self.directions @ self.frame.matrix.T)

    def jacobian(self) -> Array:
        m, d = self.measured.shape
        out = np.zeros((m, d, 4 if d == 2 else 7))
        out[:, :, :d] = np.eye(d)
        out[:, :, d] = self.directions @ self.frame.matrix.T
        across = np.column_stack([-self.directions[:, 1], self.directions[:, 0]])
        out[:, :, d + 1] = self.radius * across @ self.frame.plane.T
        if d == 3:
            out[:, :, 5:] = -self.radius * self.directions[:, None, :2] * self.frame.axis[:, None]
        return out

    def moved(self, step: Array) -> Self:
        d = len(self.frame.origin)
        frame = AxisFrame(self.frame.origin + step[:d], self.frame.matrix).turned(step[d + 1])
        frame = frame.tilted(step[d + 2 :]) if d == 3 else frame
        return replace(self, frame=frame, radius=self.radius + float(step[d]))


@dataclass(frozen=True, eq=False)
class KnownAngleArc(AxisFit):
    """An arc of Algorithm 1.  ``sense`` is 1 where the point moves right-handed about the axis with growing angle.

    ``angles`` (m,) and ``problem`` hold the points that were seen; ``other_sd`` is the residual standard deviation
    with the other sense about the same axis.
    """

    problem: KnownAngleProblem
    angles: Array
    sense: int
    other_sd: float

    @property
    def tilts_at(self) -> slice:
        return slice(5, None)

    @property
    def radius(self) -> float:
        return self.problem.radius

    @property
    def zero_direction(self) -> Array:
        """Unit vector from the centre to the point at angle zero."""
        return self.problem.frame.matrix[:, 0]

    @property
    def radius_sd(self) -> float:
        d = self.dimension
        return float(np.sqrt(self.estimate.covariance[d, d]))

    @property
    def centre_covariance(self) -> Array:
        return self.estimate.covariance[: self.dimension, : self.dimension]

    @property
    def zero_direction_jacobian(self) -> Array:
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

    def at(self, angles: ArrayLike) -> Array:
        """(n, d) points of the arc at joint angles."""
        u = unit_directions(np.atleast_1d(np.asarray(angles, dtype=np.float64)), self.sense, self.dimension)
        return np.asarray(self.centre + self.radius * u @ self.problem.frame.matrix.T)

    def sentences(self) -> tuple[str, ...]:
        """Sense of rotation, and the residuals against the stated noise, in mm."""
        way = "with" if self.sense == 1 else "against"
        about = "" if self.dimension == 2 else f" about the axis ({', '.join(f'{c:.4f}' for c in self.axis)})"
        out = [
            f"The point runs {way} the angle{about}: residuals {1e3 * self.residual_sd:.4g} mm, with the other sense "
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
    def paper_centre_sd(self) -> float:
        """Root mean square over the coordinates of (34)."""
        return float(np.sqrt(np.trace(self.paper_centre_covariance) / self.dimension))

    @property
    def paper_centre_covariance(self) -> Array:
        """sigma^2 / m (I + R (sum u) (sum u)^T R^T / m^2), eq. (34)."""
        m = len(self.angles)
        mean = self.problem.frame.matrix @ self.problem.directions.mean(axis=0)
        return np.asarray(self.estimate.sigma**2 / m * (np.eye(self.dimension) + np.outer(mean, mean)))


def arc_of_sense(points: Array, angles: Array, seen: Ints, sense: int, noise: float | None) -> KnownAngleArc:
    """The arc with a given sense of rotation, right or wrong."""
    d, freedom = points.shape[1], spare_equations(points)
    u = unit_directions(angles, sense, d)
    frame, radius, _ = procrustes(points, u)
    problem = KnownAngleProblem(frame, radius, u, points, tuple(int(i) for i in seen))
    estimate = estimated(problem, as_noise(noise), points.size, freedom, "arc")
    if d == 2:
        other = procrustes(points, unit_directions(angles, -sense, 2))[2]
    else:
        other = other_sense_squares(frame, points, angles, -sense)
    return KnownAngleArc(problem, estimate, angles, sense, float(np.sqrt(other / freedom)))


def spare_equations(points: Array) -> int:
    return int(points.size) - (4 if points.shape[1] == 2 else 7)


def other_sense_squares(frame: AxisFrame, points: Array, angles: Array, sense: int) -> float:
    """Sum of squares with a sense in the plane across an axis in space."""
    local = frame.local(points)
    in_plane = procrustes(local[:, :2], unit_directions(angles, sense, 2))[2]
    return in_plane + float(np.sum((local[:, 2] - local[:, 2].mean()) ** 2))
