"""Geometry of a spring compensator from its arcs (000 sections 2, 3): P1 about P2 with known q, markers about P0.

    a = P2 - P0 = (a_x, a_y),   alpha = atan2(a_y, a_x),   psi = direction of P1 seen from P2 at q = 0
    s^2 = |P1 - P0|^2 = a^2 + L^2 + 2 a L cos(phi0 - q),   phi0 = -sense (psi - alpha)          (1)

``sense`` is that of the arc of P1: -1 where it runs against q, then phi0 = psi - alpha.  The text writes alpha in the
place of phi0; ``printed_error`` is what that would do to s.

The points of P0 and P2 are read apart from each other, so their covariances add.  phi0 can also be fitted to the
measured lengths |P1 - P0| alone (``phi0_by_length``): residuals of the arc are independent of what is fitted to it,
so its variance is that of phi0 plus what the residuals bring in.

The model is plane.  With n_2, n_0 the axes through P2 and P0 and d = n_2 - n_0 across them,

    chi^2 = d^T (C_2 + C_0)^-1 d   on 2, in the plane across n_2,

tests whether they are parallel (``axes_angle``).  If not, where P0 is depends on the height at which it is taken: the
mean of its markers, as here, or that of the plane in which P1 moves.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from elastocal.distributions import chdtrc
from elastocal.errors import ShapeError
from elastocal.model.loads.gravity_compensator import GravityCompensator
from elastocal.procedures.compensator.concentric import ConcentricArcs
from elastocal.procedures.compensator.known_angle_arc import KnownAngleArc
from elastocal.procedures.compensator.rigid_body import RigidBody
from elastocal.quantities import probability
from elastocal.solve.linear import minimise
from elastocal.spatial.entries import Array
from elastocal.values import dataclass

UNLIKELY = 0.0027
"""Probability of three standard deviations."""
FAR = np.radians(1.0)
NAMES = ("L", "a_x", "a_y", "phi0")


@dataclass(frozen=True, eq=False)
class CompensatorGeometry:
    """Lengths in m, angles in rad; ``covariance`` (4, 4) of L, a_x, a_y, phi0.

    ``angles`` and ``lengths`` (m,): q and |P1 - P0| as measured.  ``tilt``: angle between the axis of the arc and the
    normal of the plane in which all this is described; in space only.
    """

    L: float
    a_x: float
    a_y: float
    phi0: float
    covariance: Array
    sense: int
    angles: Array
    lengths: Array
    phi0_by_length: float
    phi0_by_length_sd: float
    tilt: float

    @classmethod
    def described(cls, spring: GravityCompensator, sense: int) -> CompensatorGeometry:
        """As a robot file gives it: nothing of it was measured, so its accuracy is unknown (nan)."""
        none, nan = np.zeros(0), float("nan")
        unknown = np.full((len(NAMES), len(NAMES)), nan)
        return cls(spring.L, spring.a_x, spring.a_y, spring.phi0, unknown, sense, none, none, nan, nan, nan)

    @property
    def a(self) -> float:
        return float(np.hypot(self.a_x, self.a_y))

    @property
    def alpha(self) -> float:
        return float(np.arctan2(self.a_y, self.a_x))

    @property
    def sd(self) -> dict[str, float]:
        """Of L, a_x, a_y, phi0, and of a and alpha, which follow from them."""
        out = dict(zip(NAMES, np.sqrt(np.diag(self.covariance)).tolist(), strict=True))
        c, s = self.a_x / self.a, self.a_y / self.a
        block = self.covariance[1:3, 1:3]
        for name, slope in (("a", np.array([c, s])), ("alpha", np.array([-s, c]) / self.a)):
            out[name] = float(np.sqrt(slope @ block @ slope))
        return out

    def element(self, joint: str) -> GravityCompensator:
        """As a load on a joint; its spring is a placeholder."""
        return GravityCompensator(
            joint=joint, a_x=self.a_x, a_y=self.a_y, L=self.L, phi0=self.phi0, k_c=1e-6, s_0=0.0
        )  # fmt: skip

    def length(self, q: ArrayLike, phi0: float | None = None) -> Array:
        """s(q), eq. (1)."""
        x = (self.phi0 if phi0 is None else phi0) - np.asarray(q, dtype=np.float64)
        return np.asarray(np.sqrt(self.a**2 + self.L**2 + 2 * self.a * self.L * np.cos(x)))

    def swing(self, q: ArrayLike) -> Array:
        """Direction of the spring, from P0 to P1, in the plane: the angle by which the body on P0 turns."""
        x = self.alpha - self.sense * self.phi0 + self.sense * np.asarray(q, dtype=np.float64)
        return np.asarray(np.arctan2(self.a_y + self.L * np.sin(x), self.a_x + self.L * np.cos(x)))

    @property
    def s_rms(self) -> float:
        """Root mean square of measured minus modelled length."""
        return float(np.sqrt(np.mean((self.lengths - self.length(self.angles)) ** 2)))

    @property
    def s_rms_by_length(self) -> float:
        """The same with ``phi0_by_length``."""
        return float(np.sqrt(np.mean((self.lengths - self.length(self.angles, self.phi0_by_length)) ** 2)))

    @property
    def printed_error(self) -> float:
        """Largest error of s with alpha in the place of phi0, as eq. (1) is printed."""
        return float(np.max(np.abs(self.lengths - self.length(self.angles, self.alpha))))

    def sentences(self) -> tuple[str, ...]:
        """What the data say of the angle in (1), lengths in mm."""
        out = [
            f"With phi0 = {np.degrees(self.phi0):.3f} +- {np.degrees(self.sd['phi0']):.3f} deg eq. (1) gives the "
            f"measured lengths {1e3 * self.lengths.min():.1f} to {1e3 * self.lengths.max():.1f} mm to "
            f"{1e3 * self.s_rms:.3f} mm; fitted to the lengths alone, phi0 = {np.degrees(self.phi0_by_length):.3f} +- "
            f"{np.degrees(self.phi0_by_length_sd):.3f} deg and {1e3 * self.s_rms_by_length:.3f} mm."
        ]
        if self.tilt > np.radians(1.0):
            out.append(f"The joint's axis is inclined by {np.degrees(self.tilt):.1f} deg to the plane's normal.")
        return tuple(out)


def compensator_geometry(
    arc: KnownAngleArc, pivot: ConcentricArcs | RigidBody, axes: ArrayLike | None = None
) -> CompensatorGeometry:
    """Put the arc of P1 about P2 and the arcs of markers about P0 together.

    In space ``axes`` (2, 3) are the directions of a_x and a_y, taken as exact; by default x and y of the data.
    """
    if pivot.dimension != arc.dimension:
        raise ShapeError(
            f"the arc of P1 has {arc.dimension} coordinates and the markers {pivot.dimension}; give both the same",
            value=(arc.dimension, pivot.dimension),
        )
    across = _axes(axes, arc.dimension)
    cosine = float(arc.axis @ np.cross(*across)) if arc.dimension == 3 else 1.0
    sense = arc.sense if cosine > 0 else -arc.sense
    a, zero = across @ (arc.centre - pivot.centre), across @ arc.zero_direction
    turn = np.arctan2(zero[1], zero[0]) - np.arctan2(a[1], a[0])
    phi0 = float((-sense * turn + np.pi) % (2 * np.pi) - np.pi)
    spokes = (arc.problem.points - pivot.centre) @ across.T
    by_length, by_length_sd = _from_lengths(arc, spokes, across, float(np.hypot(*a)), phi0)
    covariance = _covariance(arc, pivot, across, sense)
    return CompensatorGeometry(
        arc.radius, float(a[0]), float(a[1]), phi0, covariance, sense, arc.angles, np.linalg.norm(spokes, axis=1),
        by_length, float(np.hypot(by_length_sd, np.sqrt(covariance[3, 3]))), float(np.arccos(min(1.0, abs(cosine)))),
    )  # fmt: skip


def plane_axes(arc: KnownAngleArc) -> Array | None:
    """(2, 3) in space: x of the data (or y, where the axis is along x) laid into the plane of the arc, and across it.

    The normal is the axis of the arc, so that the sense of rotation is the one about it.
    """
    if arc.dimension == 2:
        return None
    normal = arc.axis
    start = np.eye(3)[1 if abs(normal[0]) > 0.9 else 0]
    first = start - (start @ normal) * normal
    first /= np.linalg.norm(first)
    return np.array([first, np.cross(normal, first)])


def _axes(axes: ArrayLike | None, dimension: int) -> Array:
    """(2, d) unit vectors at right angles."""
    if axes is None or dimension == 2:
        return np.eye(2, dimension)
    out = np.asarray(axes, dtype=np.float64)
    if out.shape != (2, 3) or not np.allclose(out @ out.T, np.eye(2), atol=1e-6):
        raise ShapeError("the axes of the compensator must be two unit vectors of space at right angles", code="axes")
    return out


def _covariance(arc: KnownAngleArc, pivot: ConcentricArcs | RigidBody, across: Array, sense: int) -> Array:
    """Of L, a_x, a_y and phi0: first of the direction psi of P1, from which phi0 follows with alpha."""
    d, zero, a = arc.dimension, across @ arc.zero_direction, across @ (arc.centre - pivot.centre)
    jacobian = np.zeros((4, len(arc.estimate.unit_covariance)))
    jacobian[0, d], jacobian[1:3, :d] = 1.0, across
    jacobian[3] = np.array([-zero[1], zero[0]]) @ across @ arc.zero_direction_jacobian / (zero @ zero)
    out = arc.estimate.propagate(jacobian)
    out[1:3, 1:3] += across @ pivot.centre_covariance @ across.T
    turn = np.eye(4)
    turn[3] = -sense * np.array([0.0, a[1] / (a @ a), -a[0] / (a @ a), 1.0])
    return np.asarray(turn @ out @ turn.T)


def _from_lengths(arc: KnownAngleArc, spokes: Array, across: Array, a: float, phi0: float) -> tuple[float, float]:
    """phi0 that fits the measured lengths best, a and L given, and the sd of its difference from the one by direction.

    To first order the difference is sum v_i^T r_i with the residuals r of the arc, whose covariance is
    sigma^2 (I - J (J^T J)^-1 J^T).
    """
    s = np.linalg.norm(spokes, axis=1)

    def rows(at: Array) -> tuple[Array, Array]:
        model = np.sqrt(a**2 + arc.radius**2 + 2 * a * arc.radius * np.cos(at - arc.angles))
        return s - model, (-a * arc.radius * np.sin(at - arc.angles) / model)[:, None]

    angle = minimise(np.array([phi0]), rows, np.add, float(np.max(s)))
    slope = rows(angle)[1][:, 0]
    v = ((slope / s / (slope @ slope))[:, None] * spokes @ across).reshape(-1)
    jacobian = arc.problem.jacobian().reshape(len(v), -1)
    rest = v @ v - (v @ jacobian) @ arc.estimate.unit_covariance @ (v @ jacobian)
    return float(angle[0]), float(arc.estimate.sigma * np.sqrt(max(rest, 0.0)))


@dataclass(frozen=True)
class AxesAngle:
    """``angle`` in rad between the axes, ``probability`` of more if they are parallel.

    ``a`` and ``phi0``: change in m and rad if P0 is taken in the plane of P1, ``height`` m from the markers' mean.
    """

    angle: float
    probability: float
    height: float
    a: float
    phi0: float

    def sentences(self) -> tuple[str, ...]:
        if self.probability >= UNLIKELY:
            return ()
        degrees = f"The axes through P0 and P2 are {np.degrees(self.angle):.3g} deg apart"
        if self.angle < FAR:
            return (f"{degrees}, more than their accuracy explains (probability {probability(self.probability)}).",)
        return (
            f"{degrees}, but the model is plane and takes them as parallel. P0 is taken at the mean height of its "
            f"markers; in the plane of P1, {1e3 * abs(self.height):.4g} mm away, a would change by {1e3 * self.a:.3g} "
            f"mm and phi0 by {np.degrees(self.phi0):.3g} deg, far more than their standard deviations tell. Check the "
            "markers, or put them into the plane of P1.",
        )


def axes_angle(arc: KnownAngleArc, pivot: ConcentricArcs) -> AxesAngle | None:
    """None in the plane, where there is nothing to compare."""
    if arc.dimension == 2:
        return None
    normal, other = arc.axis, pivot.axis * np.sign(pivot.axis @ arc.axis)
    plane = arc.problem.frame.plane
    apart = plane.T @ (normal - other)
    spread = plane.T @ (arc.axis_covariance + pivot.axis_covariance) @ plane
    value = float(apart @ np.linalg.solve(spread, apart))
    height = float(normal @ (arc.centre - pivot.centre))
    there = pivot.centre + other * height / float(normal @ other)
    before, after = (plane.T @ (arc.centre - p) for p in (pivot.centre, there))
    turn = _angle(after) - _angle(before)
    return AxesAngle(
        float(np.arccos(min(1.0, float(normal @ other)))),
        float(chdtrc(2, value)),
        height,
        float(np.linalg.norm(after) - np.linalg.norm(before)),
        float(arc.sense * ((turn + np.pi) % (2 * np.pi) - np.pi)),
    )


def _angle(v: Array) -> float:
    return float(np.arctan2(v[1], v[0]))
