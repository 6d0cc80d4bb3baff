"""Tracked points and the axis they turn about, as all fits take them.

Points are checked arrays, one row per pose, a row of nan where a marker was not seen.  An ``AxisFrame`` is a place on
the axis with the plane across it: local coordinates, and small moves of them.

Least squares of arcs: a problem with residuals and Jacobian, the way to its minimum, and how well it is known.

With J the Jacobian at the minimum the covariance of the parameters is sigma^2 (J^T J)^-1, exact to first order; sigma
is the noise stated, or the residuals' where that is more or none is stated.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from math import inf
from typing import Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from elastocal.errors import (
    ConflictError,
    MissingError,
    NumberError,
    RangeError,
    ShapeError,
    TooFewError,
    UnobservableError,
)
from elastocal.solve.linear import minimise as least_squares
from elastocal.solve.linear import solve_linear
from elastocal.solve.nested import f_test
from elastocal.spatial.entries import Array, Ints
from elastocal.spatial.rotation import rotations
from elastocal.values import dataclass

COORDINATES = ("x", "y", "z")


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

    def each(self, values: Array, of: Callable[..., Array] = np.mean) -> Array:
        """(k, ...): one number for every marker from its own ``values`` (M, ...)."""
        return np.array([of(values[self.marker == j], axis=0) for j in range(self.count)])


def as_points(points: ArrayLike, what: str) -> Array:
    """(m, 2) or (m, 3) numbers; a row is all numbers, or all nan where nothing was seen."""
    out = np.asarray(points, dtype=np.float64)
    if out.ndim != 2 or out.shape[1] not in (2, 3):
        raise ShapeError(
            f"{what}: points must be rows of two or three coordinates, not an array of shape {out.shape}",
            value=out.shape,
        )
    odd = np.flatnonzero(np.isinf(out).any(axis=1) | (np.isnan(out).any(axis=1) & ~np.isnan(out).all(axis=1)))
    if len(odd):
        raise NumberError(
            f"{what}, point {odd[0] + 1}: a coordinate is missing or not finite; give all or leave it out",
            value=odd[0] + 1,
        )
    return out


def as_noise(noise: float | None) -> float | None:
    """Standard deviation of one coordinate in metres, or None to take it from the residuals."""
    if noise is not None and not (np.isfinite(noise) and noise > 0):
        raise RangeError(
            f"the noise of a coordinate must be a positive number, not {noise}; leave it out if unknown", value=noise
        )
    return None if noise is None else float(noise)


def as_markers(markers: Sequence[ArrayLike], *, same_poses: bool = False) -> Markers:
    """Markers as a list of point sets, each of any length; of one length where row i is pose i for all of them."""
    sets = [as_points(p, f"marker {j + 1}") for j, p in enumerate(markers)]
    if not sets:
        raise MissingError("there is no marker; give the points of at least one", code="no-markers")
    if len({p.shape[1] for p in sets}) > 1:
        raise ConflictError(
            "some markers have two coordinates and others three; give all of them the same", code="mixed-dimensions"
        )
    lengths = [len(p) for p in sets]
    if same_poses and len(set(lengths)) > 1:
        raise ShapeError(
            f"the markers have {', '.join(map(str, lengths))} poses, but row i of each must be pose i; "
            "fill rows that were not seen with nan",
            value=tuple(lengths),
        )
    seen = [np.flatnonzero(~np.isnan(p[:, 0])) for p in sets]
    for j, rows in enumerate(seen):
        if len(rows) < 2:
            raise TooFewError(
                f"marker {j + 1} was seen {len(rows)} times and draws no arc; measure it in more poses",
                value=(j + 1, len(rows)),
            )
    return Markers(
        points=np.concatenate([p[rows] for p, rows in zip(sets, seen, strict=True)]),
        marker=np.repeat(np.arange(len(sets)), [len(r) for r in seen]),
        pose=np.concatenate(seen),
        count=len(sets),
        poses=max(lengths),
    )


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


DISTURBED = 1e-3
"""Residuals so far above the stated noise come by chance less often than this."""


class ArcProblem(ABC):
    """A model with values for its parameters.  Residuals are measured minus model, in metres.

    Each point has one row per name in ``components``, by default its coordinates; ``labels`` gives its marker and pose,
    both from 0.
    """

    @property
    @abstractmethod
    def labels(self) -> tuple[tuple[int, int], ...]: ...

    @property
    @abstractmethod
    def points(self) -> Array:
        """(points, d) as measured."""

    @property
    def components(self) -> tuple[str, ...]:
        return COORDINATES[: self.points.shape[1]]

    @property
    def readings(self) -> Array:
        """(points, components): what the components are in the data."""
        return self.points

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
        if self.noise is None:
            return False
        return f_test(self.squares / self.noise**2, self.freedom, inf).probability < DISTURBED

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
        raise TooFewError(
            f"{what}: these points do not determine all of the arc; measure more poses or a longer arc",
            code="short-arc",
        )
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
    def residual_sd(self) -> float:
        return self.estimate.residual_sd

    @property
    @abstractmethod
    def tilts_at(self) -> slice:
        """Places of the two tilts of the axis among the parameters in space."""

    @property
    def axis_sd(self) -> float:
        """Of the direction of the axis in rad, both tilts together; only in space."""
        return float(np.sqrt(np.trace(self.axis_covariance)))

    @property
    def axis_covariance(self) -> Array:
        """(3, 3) of the unit vector, zero along it; only in space."""
        if self.dimension == 2:
            raise UnobservableError(
                "points in a plane do not say how its axis is inclined; give three coordinates", code="plane-points"
            )
        plane = self.problem.frame.plane
        return np.asarray(plane @ self.estimate.covariance[self.tilts_at, self.tilts_at] @ plane.T)
