"""Where to put markers on the body that turns about P0 (000 eq. 36), with the joint's angles or for given ones.

    balance           (sum cos beta)^2 + (sum sin beta)^2, eq. (36): markers on opposite sides
    common rotation   exact variance of the centre where all markers turn by one angle per pose
    concentric        exact variance of the centre by Algorithm 2, in which only the distances count

With theta the angles of the body, w_i = exp(-i theta_i) minus their mean, b_j = R_j exp(i beta_j) and b their mean, the
information on the centre (for a noise of one) is

    concentric        sum over j, i of rho rho^T, rho = exp(i (beta_j + theta_i)) minus its mean over i
    common rotation   k sum |w_i|^2 I - k^2 / (sum |b_j|^2) sum g_i g_i^T,  g_i = (Im, Re) of conj(b) w_i

The text states (36) for the centre of Algorithm 2, where it does not hold: the first line depends on
sum exp(2 i beta_j) only, because a distance from the centre says the same on either side.  It is best where that sum
is zero, two markers a quarter turn apart; opposite places are no better than one place.  (36) is right for the second
line, if radii are equal: it is best where the centre is in the middle of the markers.

Angles and places together (``plan_geometry``) have the least var L + var a_x + var a_y: the angles decide the arc of P1
and, through the spring's direction, how far the body on P0 turns; the places decide how well P0 follows from that.
They are improved in turn, each for the other, from the best angles for the arc alone and from even ones, until nothing
changes.  The height along the axis plays no part: L, a_x and a_y are in the plane, also for points in space.

Plans by eq. (35), (36) and by exact covariance are compared (``plan_arcs``), for each model of the markers; beside what
was measured where there is any.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from elastocal.design.candidates import programmable
from elastocal.errors import RangeError, TooFewError, UnknownNameError
from elastocal.model.limits import limit_text
from elastocal.model.robot import Robot
from elastocal.procedures.compensator.angle_design import GAP, arc_sd, best_angles, best_plan, imbalance, plan_angles
from elastocal.procedures.compensator.geometry import CompensatorGeometry
from elastocal.spatial.entries import Array
from elastocal.values import dataclass

Model = Literal["concentric", "common rotation"]
PlaceCriterion = Literal["balance", "concentric", "common rotation"]
MODELS: tuple[Model, ...] = ("concentric", "common rotation")
PLACE_CRITERIA: tuple[PlaceCriterion, ...] = ("balance", *MODELS)
SINGULAR = 1e-12
ROUNDS = 6
ENOUGH = 1e-9


def pivot_information(places: Array, radii: Array, swing: Array, model: Model) -> Array:
    """(..., 2, 2) for places (..., k) at radii (k,), angles of the body (..., m) and a noise of one."""
    k, rho = places.shape[-1], np.exp(1j * swing)
    rho -= rho.mean(axis=-1, keepdims=True)
    if model == "concentric":
        uneven = np.sum(rho**2, axis=-1) / 2 * np.sum(np.exp(2j * places), axis=-1)
        even = np.broadcast_to(k * np.sum(np.abs(rho) ** 2, axis=-1) / 2, uneven.shape)
        out = np.array([[even + uneven.real, uneven.imag], [uneven.imag, even - uneven.real]])
        return np.moveaxis(out, (0, 1), (-2, -1))
    w = rho.conj()
    lean = np.conj(np.mean(radii * np.exp(1j * places), axis=-1))[..., None] * w
    g = np.stack([lean.imag, lean.real], axis=-1)
    lost = k**2 / np.sum(radii**2) * np.swapaxes(g, -1, -2) @ g
    return np.asarray(k * np.sum(np.abs(w) ** 2, axis=-1)[..., None, None] * np.eye(2) - lost)


def pivot_variance(information: Array, readings: int) -> Array:
    """(n,): trace of the centre's covariance for a noise of one, inf where it is not determined."""
    (a, b), (c, d) = np.moveaxis(information, (-2, -1), (0, 1))
    determinant, trace = a * d - b * c, a + d
    known = determinant > (SINGULAR * readings) ** 2
    return np.where(known, trace / np.where(known, determinant, 1.0), np.inf)


def expected_pivot(
    places: ArrayLike, radii: ArrayLike, swing: ArrayLike, noise: float, model: Model = "concentric"
) -> Array:
    """(2, 2) covariance of the centre in the plane, in m^2.

    Markers at angles ``places`` (k,) in the body and distances ``radii`` (k,) or one for all; the body stands at the
    angles ``swing`` (m,), in rad.
    """
    if model not in MODELS:
        raise UnknownNameError("model of the markers", model, MODELS)
    beta, theta = np.asarray(places, dtype=np.float64), np.asarray(swing, dtype=np.float64)
    if beta.ndim != 1 or theta.ndim != 1 or not noise > 0:
        raise RangeError(
            "places and swing must be lists of angles in rad, the noise a positive number in metres", code="places"
        )
    r = _radii(radii, len(beta))
    information = pivot_information(beta[None], r, theta, model)[0]
    values = np.linalg.eigvalsh(information)
    if not values[0] > SINGULAR * len(beta) * len(theta):
        raise TooFewError(
            "this plan does not determine the centre; let the body turn further or through more poses", code="no-centre"
        )
    return np.asarray(noise**2 * np.linalg.inv(information))


def _radii(radii: ArrayLike, count: int) -> Array:
    """(k,), from one for each marker or one for all."""
    out = np.asarray(radii, dtype=np.float64)
    if out.shape not in ((), (count,)) or not np.all(out > 0):
        raise RangeError(f"{count} markers need one radius or {count}, positive numbers in metres", value=count)
    return np.broadcast_to(out, (count,))


def plan_markers(
    count: int, swing: ArrayLike, radii: ArrayLike = 1.0, criterion: PlaceCriterion = "common rotation"
) -> tuple[Array, float]:
    """Places (k,) in rad from the spring, in the order of the radii, best for angles ``swing`` (m,) of the body; and
    the value of the criterion for a noise of one."""
    if criterion not in PLACE_CRITERIA:
        raise UnknownNameError("criterion for places", criterion, PLACE_CRITERIA)
    if count < 1:
        raise RangeError("a plan needs at least one marker", code="plan-limits")
    r = _radii(radii, count)
    theta = np.asarray(swing, dtype=np.float64)

    def objective(plans: Array) -> Array:
        if criterion == "balance":
            return imbalance(plans)
        return pivot_variance(pivot_information(plans, r, theta, criterion), count * len(theta))

    def marks(others: Array) -> Array:
        total = np.exp(1j * others)
        turns = np.array([np.angle(-np.sum(total)), np.angle(-np.sum(total**2)) / 2])
        return np.concatenate([[-np.pi, np.pi], *((turns + turn) % (2 * np.pi) - np.pi for turn in (np.pi, 0.0))])

    fans = [part * 2 * np.pi * np.arange(count) / max(count, 2) - np.pi for part in (1.0, 0.5, 0.25)]
    places, value = best_plan(fans, -np.pi, np.pi, objective, marks)
    places = np.sort(places) if np.all(r == r[0]) else places
    if not np.isfinite(value):
        raise TooFewError(
            "no places determine the centre; let the body turn further or through more poses", code="no-centre"
        )
    return places, value


@dataclass(frozen=True)
class ExpectedGeometry:
    """Standard deviations in m to expect of L, a_x and a_y."""

    L: float
    a_x: float
    a_y: float


def expected_geometry(
    geometry: CompensatorGeometry, angles: ArrayLike, places: ArrayLike, radii: ArrayLike, noise: float,
    model: Model = "concentric",
) -> ExpectedGeometry:  # fmt: skip
    """For joint angles and markers planned, ``geometry`` being known roughly; places from the spring's direction."""
    q = np.asarray(angles, dtype=np.float64)
    arc = arc_sd(q, noise)
    pivot = expected_pivot(places, radii, geometry.swing(q), noise, model)
    a_x, a_y = np.sqrt(np.diag(pivot) + arc**2)
    return ExpectedGeometry(arc, float(a_x), float(a_y))


@dataclass(frozen=True, eq=False)
class GeometryPlan:
    """Angles (m,) of the joint and places (k,) of the markers from the spring; ``value`` for a noise of one."""

    angles: Array
    places: Array
    value: float


def plan_geometry(
    count: int, limits: tuple[float, float], geometry: CompensatorGeometry, radii: Array, model: Model
) -> GeometryPlan:
    """The best ``count`` angles within ``limits`` in rad and places for markers at ``radii`` (k,)."""
    ends = [_improved(start, count, limits, geometry, radii, model) for start in _starts(count, limits)]
    return min(ends, key=lambda plan: plan.value)


def _starts(count: int, limits: tuple[float, float]) -> tuple[Array, ...]:
    return plan_angles(count, limits), np.linspace(*limits, count)


def _improved(
    angles: Array, count: int, limits: tuple[float, float], geometry: CompensatorGeometry, radii: Array, model: Model
) -> GeometryPlan:
    best = _placed(angles, geometry, radii, model)
    for _ in range(ROUNDS):

        def values(plans: Array, places: Array = best.places) -> Array:
            return total_variance(plans, places, radii, geometry, model)

        trial = _placed(best_angles(count, limits, GAP, values, (best.angles,))[0], geometry, radii, model)
        if not trial.value < best.value * (1 - ENOUGH):
            break
        best = trial
    return best


def _placed(angles: Array, geometry: CompensatorGeometry, radii: Array, model: Model) -> GeometryPlan:
    """With the best places for the angles."""
    places, _ = plan_markers(len(radii), geometry.swing(angles), radii, model)
    return GeometryPlan(angles, places, float(total_variance(angles[None], places, radii, geometry, model)[0]))


def total_variance(plans: Array, places: Array, radii: Array, geometry: CompensatorGeometry, model: Model) -> Array:
    """var L + var a_x + var a_y of plans of angles (n, m), for a noise of one; inf where P0 is not determined."""
    m = plans.shape[1]
    left = m - imbalance(plans) / m
    arc = np.where(left > 0, 1 / np.where(left > 0, left, 1.0), np.inf)
    information = pivot_information(places, radii, geometry.swing(plans), model)
    return np.asarray(3 * arc + pivot_variance(information, len(places) * m))


BALANCE, EXACT = "eq. (35) and (36)", "exact covariance"
MEASURED, KEPT = "as measured", "planned angles, markers as measured"


@dataclass(frozen=True, eq=False)
class PlanRow:
    """Angles (m,) of the joint and places (k,) of the markers from the spring, in rad, and what to expect of them."""

    name: str
    model: Model
    angles: Array
    places: Array
    expected: ExpectedGeometry

    @property
    def imbalances(self) -> tuple[float, float]:
        """The values of (35) and (36)."""
        return float(imbalance(self.angles)), float(imbalance(self.places))


@dataclass(frozen=True, eq=False, repr=False)
class ArcPlan:
    """``limits`` of the joint in rad; ``noise`` of a coordinate in m; ``radii`` (k,) of the markers from P0."""

    limits: tuple[float, float]
    noise: float
    radii: Array
    rows: tuple[PlanRow, ...]

    def best(self, model: Model) -> PlanRow:
        """The plan by exact covariance."""
        return next(r for r in self.rows if (r.name, r.model) == (EXACT, model))

    @property
    def inner_angles(self) -> int | None:
        """How many angles of (35) are not at the ends of a range too short to balance them; None where it is not."""
        low, high = self.limits
        angles = next(r.angles for r in self.rows if r.name == BALANCE)
        inner = int(np.sum(np.minimum(angles - low, high - angles) > 1e-6))
        return None if high - low >= np.pi or inner > 1 else inner

    def __repr__(self) -> str:
        best = self.best(self.rows[-1].model)
        sd = ", ".join(f"{n} {1e3 * getattr(best.expected, n):.4f}" for n in ("L", "a_x", "a_y"))
        angles = ", ".join(f"{v:.4g}" for v in np.degrees(best.angles))
        return f"ArcPlan({best.model}: angles {angles} deg, sd of {sd} mm)"


def plan_arcs(
    geometry: CompensatorGeometry, count: int, limits: tuple[float, float], radii: ArrayLike, noise: float,
    measured: Array | None = None,
) -> ArcPlan:  # fmt: skip
    """The best ``count`` angles; ``measured``: places (k,) of the markers at the angles of ``geometry``."""
    r = np.asarray(radii, dtype=np.float64)
    by_balance = plan_angles(count, limits)
    sets: list[tuple[str, Array, Array, Model]] = []
    for model in MODELS if len(r) > 1 else MODELS[:1]:
        opposite, _ = plan_markers(len(r), geometry.swing(by_balance), criterion="balance")
        best = plan_geometry(count, limits, geometry, r, model)
        if measured is not None:
            sets += [(MEASURED, geometry.angles, measured, model), (KEPT, best.angles, measured, model)]
        sets += [(BALANCE, by_balance, opposite, model), (EXACT, best.angles, best.places, model)]
    rows = tuple(PlanRow(n, m, q, p, expected_geometry(geometry, q, p, r, noise, m)) for n, q, p, m in sets)
    return ArcPlan(limits, noise, r, rows)


def plan_configurations(
    model: Robot, joint: str, angles: ArrayLike, at: ArrayLike, limits: tuple[float, float]
) -> Array:
    """Joint values (m, n) that can be programmed: the joint at these angles, the others at values ``at`` (n,)."""
    stops, place = np.asarray(angles, dtype=np.float64), model.joints.index(joint)
    q = np.repeat(np.atleast_2d(np.asarray(at, dtype=np.float64)), len(stops), axis=0)
    q[:, place] = stops
    beyond = model.beyond_limits(q)
    if beyond:
        raise RangeError(limit_text(model, *beyond[0][1:]))
    out = programmable(model, q)
    out[:, place] = np.clip(out[:, place], *limits)
    return np.asarray(out)
