"""Least squares of arcs: a problem with residuals and Jacobian, the way to its minimum, and how well it is known.

With J the Jacobian at the minimum the covariance of the parameters is sigma^2 (J^T J)^-1, exact to first order; sigma
is the noise stated, or the residuals' where that is more or none is stated.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from math import inf
from typing import Self, TypeVar

import numpy as np

from elastocal.errors import TooFewError, UnobservableError
from elastocal.procedures.compensator.points import COORDINATES, AxisFrame
from elastocal.solve.linear import minimise as least_squares
from elastocal.solve.linear import solve_linear
from elastocal.solve.nested import f_test
from elastocal.spatial.entries import Array
from elastocal.values import dataclass

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
