"""Points that turn about an axis: the data, the frame of the axis, a least-squares problem of them, and its accuracy.

Points are checked arrays, one row per pose, a row of nan where a marker was not seen.  An ``AxisFrame`` is a place on
the axis with the plane across it: local coordinates, and small moves of them.  An ``ArcProblem`` is a model with values
for its parameters, residuals and Jacobian.  With J the Jacobian at the minimum the covariance of the parameters is
sigma^2 (J^T J)^-1, exact to first order; sigma is the noise stated, or the residuals' where that is more or none is
stated.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from elastocal.errors import InputError
from elastocal.solve.linear import solve_linear
from elastocal.solve.nonlinear import minimise as least_squares
from elastocal.spatial.entries import Array, Ints
from elastocal.spatial.rotation import rotations

COORDINATES = ("x", "y", "z")
STRAIGHT = 1e-9
"""Points whose spread across a line is below this part of the spread along it lie on the line."""
DISTURBED = 1e-3
"""Residuals so far above the stated noise come by chance less often than this."""


@dataclass(frozen=True, eq=False)
class Markers:
    """All seen points of k markers: ``points`` (M, d), and for each its ``marker`` and ``pose`` (M,)."""

    points: Array
    marker: Ints
    pose: Ints
    count: int
    poses: int

    @property
    def dimension(self) -> int:
        return int(self.points.shape[1])

    def of(self, marker: int) -> Array:
        return np.asarray(self.points[self.marker == marker])


def as_points(points: ArrayLike, what: str) -> Array:
    """(m, 2) or (m, 3) numbers; a row is all numbers, or all nan where nothing was seen."""
    out = np.asarray(points, dtype=np.float64)
    if out.ndim != 2 or out.shape[1] not in (2, 3):
        raise InputError(f"{what}: points must be rows of two or three coordinates, not an array of shape {out.shape}")
    odd = np.flatnonzero(np.isinf(out).any(axis=1) | (np.isnan(out).any(axis=1) & ~np.isnan(out).all(axis=1)))
    if len(odd):
        raise InputError(f"{what}, point {odd[0] + 1}: a coordinate is missing or not finite; give all or leave it out")
    return out


def as_noise(noise: float | None) -> float | None:
    """Standard deviation of one coordinate in metres, or None to take it from the residuals."""
    if noise is not None and not (np.isfinite(noise) and noise > 0):
        raise InputError(f"the noise of a coordinate must be a positive number, not {noise}; leave it out if unknown")
    return None if noise is None else float(noise)


def as_markers(markers: Sequence[ArrayLike], *, same_poses: bool = False) -> Markers:
    """Markers as a list of point sets, each of any length; of one length where row i is pose i for all of them."""
    sets = [as_points(p, f"marker {j + 1}") for j, p in enumerate(markers)]
    if not sets:
        raise InputError("there is no marker; give the points of at least one")
    if len({p.shape[1] for p in sets}) > 1:
        raise InputError("some markers have two coordinates and others three; give all of them the same")
    lengths = [len(p) for p in sets]
    if same_poses and len(set(lengths)) > 1:
        raise InputError(
            f"the markers have {', '.join(map(str, lengths))} poses, but row i of each must be pose i; "
            "fill rows that were not seen with nan"
        )
    seen = [np.flatnonzero(~np.isnan(p[:, 0])) for p in sets]
    for j, rows in enumerate(seen):
        if len(rows) < 2:
            raise InputError(f"marker {j + 1} was seen {len(rows)} times and draws no arc; measure it in more poses")
    return Markers(
        points=np.concatenate([p[rows] for p, rows in zip(sets, seen, strict=True)]),
        marker=np.repeat(np.arange(len(sets)), [len(r) for r in seen]),
        pose=np.concatenate(seen),
        count=len(sets),
        poses=max(lengths),
    )


def refuse_straight(spread: Array, what: str) -> None:
    """``spread``: singular values of points about their mean, largest first; needs a second direction."""
    if not spread[0] > 0:
        raise InputError(f"{what}: all points are the same; nothing has moved between the poses")
    if spread[1] <= STRAIGHT * spread[0]:
        raise InputError(f"{what}: the points lie on a straight line, which has no centre; measure a longer arc")


def centred(markers: Markers) -> Array:
    """Points minus the mean of their own marker (000 eq. 22)."""
    out = markers.points.copy()
    for j in range(markers.count):
        out[markers.marker == j] -= markers.of(j).mean(axis=0)
    return out


@dataclass(frozen=True, eq=False)
class AxisFrame:
    """``origin`` (d,) on the axis and ``matrix`` (d, d): two columns in the plane, in 3-D the axis as the third.

    Local coordinates of a point p are matrix^T (p - origin): two in the plane and, in 3-D, the height.
    """

    origin: Array
    matrix: Array

    @property
    def spatial(self) -> bool:
        return len(self.origin) == 3

    @property
    def plane(self) -> Array:
        """(d, 2): the directions in the plane."""
        return self.matrix[:, :2]

    @property
    def axis(self) -> Array:
        """The unit vector of the axis; in 2-D it is out of the page."""
        return self.matrix[:, 2] if self.spatial else np.array([0.0, 0.0, 1.0])

    def local(self, points: Array) -> Array:
        return np.asarray((points - self.origin) @ self.matrix)

    def shifted(self, local: Array) -> Self:
        """With the origin moved by local coordinates (d,) or, within the plane, (2,)."""
        return type(self)(self.origin + self.matrix[:, : len(local)] @ local, self.matrix)

    def turned(self, angle: float) -> Self:
        """Turned in its plane."""
        c, s = np.cos(angle), np.sin(angle)
        turn = np.eye(len(self.origin))
        turn[:2, :2] = [[c, -s], [s, c]]
        return type(self)(self.origin, self.matrix @ turn)

    def at_mean(self, heights: Array) -> tuple[Self, Array]:
        """With the origin at the mean of some heights, and the heights from there; in the plane nothing changes."""
        if not self.spatial:
            return self, heights
        mean = float(heights.mean())
        return self.shifted(np.array([0.0, 0.0, mean])), heights - mean

    def tilted(self, tilt: Array) -> Self:
        """With the axis moved towards the plane's directions by angles (2,): n + t_1 e_1 + t_2 e_2 to first order."""
        turn = rotations(np.array([[-tilt[1]], [tilt[0]], [0.0]]))[:, :, 0]
        return type(self)(self.origin, self.matrix @ turn)


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


class ArcProblem(ABC):
    """A model with values for its parameters.  Residuals are measured minus model, in metres.

    Each point has one row per name in ``components``; ``labels`` gives its marker and pose, both from 0.
    """

    @property
    @abstractmethod
    def components(self) -> tuple[str, ...]: ...

    @property
    @abstractmethod
    def labels(self) -> tuple[tuple[int, int], ...]: ...

    @property
    @abstractmethod
    def readings(self) -> Array:
        """(points, components): what the components are in the data."""

    @property
    @abstractmethod
    def points(self) -> Array:
        """(points, d) as measured."""

    @abstractmethod
    def residuals(self) -> Array:
        """(points, components)."""

    @abstractmethod
    def jacobian(self) -> Array:
        """(points, components, p): derivative of the model by small moves of its parameters."""

    @abstractmethod
    def moved(self, step: Array) -> Self:
        """The state after small moves (p,)."""


class AxisProblem(ArcProblem):
    """One whose points turn about the axis of ``frame``."""

    frame: AxisFrame


P = TypeVar("P", bound=ArcProblem)


def weighted_rows(problem: ArcProblem, weights: Array | None = None) -> tuple[Array, Array]:
    """Residuals (n,) and Jacobian (n, p), each point times the square root of its weight."""
    r, j = problem.residuals(), problem.jacobian()
    if weights is not None:
        root = np.sqrt(weights)[:, None]
        r, j = r * root, j * root[:, :, None]
    return r.reshape(-1), j.reshape(-1, j.shape[2])


def minimise(problem: P, weights: Array | None = None) -> P:
    """From a start: least sum of ``weights`` (points,) times squared residuals."""
    return least_squares(
        problem, lambda p: weighted_rows(p, weights), lambda p, step: p.moved(step),
        float(np.max(np.abs(problem.points))),
        "the fit of the arc does not converge; the arc is too short for its noise, measure a longer one",
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class FitQuality:
    """Quality of a fit.  ``unit_covariance`` (p, p) holds for a noise of 1 m per coordinate.

    ``squares`` is the sum of the squared residuals in m^2, with ``freedom`` equations to spare; ``equations`` counts
    the coordinates read; ``noise`` is the stated standard deviation of a coordinate, None where it is unknown.
    """

    unit_covariance: Array
    squares: float
    freedom: int
    equations: int
    noise: float | None

    @property
    def residual_sd(self) -> float:
        """Noise that the residuals show, corrected for the parameters fitted; nan without spare equations."""
        return float(np.sqrt(self.squares / self.freedom)) if self.freedom > 0 else float("nan")

    @property
    def rms(self) -> float:
        """Plain root mean square over the coordinates read."""
        return float(np.sqrt(self.squares / self.equations))

    @property
    def sigma(self) -> float:
        """The noise that is used: the stated one, or the residuals' where that is more or none is stated."""
        if self.noise is None:
            return self.residual_sd
        return float(np.fmax(self.noise, self.residual_sd))

    @property
    def disturbed(self) -> bool:
        """Whether the residuals are larger than the stated noise explains, once in a thousand times by chance."""
        from scipy.special import chdtrc

        if self.noise is None or self.freedom < 1:
            return False
        return bool(chdtrc(self.freedom, self.squares / self.noise**2) < DISTURBED)

    @property
    def covariance(self) -> Array:
        return np.asarray(self.unit_covariance * self.sigma**2)

    def propagate(self, jacobian: Array) -> Array:
        """Covariance of quantities with derivatives ``jacobian`` (..., p) by the parameters."""
        return np.asarray(jacobian @ self.covariance @ np.swapaxes(jacobian, -1, -2))


def estimated(problem: ArcProblem, noise: float | None, equations: int, spare: int, what: str) -> FitQuality:
    """Exact first-order covariance (J^T J)^-1 at the minimum; refused where J has lost rank.

    ``spare`` equations are left when every parameter, also those not in the problem, is counted.
    """
    r, j = weighted_rows(problem)
    solution = solve_linear(j, r)
    if solution.null.size:
        raise InputError(f"{what}: these points do not determine all of the arc; measure more poses or a longer arc")
    return FitQuality(solution.unit_covariance, float(r @ r), spare, equations, noise)


@dataclass(frozen=True, eq=False)
class AxisFit(ABC):
    """A problem at its minimum and the accuracy of its parameters: a place on the axis, and the axis' direction."""

    problem: AxisProblem
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
