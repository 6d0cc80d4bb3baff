"""Design of arcs with known angles (000 eq. 32-35): where to stop the joint, and what accuracy to expect.

The exact covariance of Algorithm 1 at planned angles, with S = |sum exp(i q)|, B = sum of v v^T, v = (1, cos q, sin q):

    var L = var x_0 = var y_0 = sigma^2 / (m - S^2 / m),   var psi = var L / L^2
    var z_0 = sigma^2 (B^-1)_00,   var of the axis' two tilts = sigma^2 ((B^-1)_11, (B^-1)_22) / L^2

000 eq. (32) is this var L, with m - S^2 / m as sum |u^|^2; but the text below it takes that sum for m, and so misses
that the radius depends on the angles too.  Criteria of a plan:

    balance   (sum cos q)^2 + (sum sin q)^2, eq. (35)
    radius    exact variance of the radius, and of each coordinate of the centre in the plane: the same plans
    centre    exact variance of the centre in space, all three coordinates together
    axis      exact variance of the direction of the axis, both tilts together

Where the limits are less than pi apart (35) is best at the two ends; but two angles fit either sense of rotation, so
every plan has three angles that are at least ``gap`` apart.

The search is an exchange over a continuous range: each angle in turn moves to its best place while the others stay,
first on a grid over the whole range, then on finer ones about the place reached; from every start, and the best of the
results, so nothing depends on chance.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from elastocal.design.exchange import exchange
from elastocal.errors import NumberError, RangeError, TooFewError, UnknownNameError, UnobservableError
from elastocal.procedures.compensator.known_angle_arc import procrustes, unit_directions
from elastocal.procedures.compensator.known_angles import distinct_angles
from elastocal.spatial.entries import Array, Bools

Criterion = Literal["balance", "radius", "centre", "axis"]
CRITERIA: tuple[Criterion, ...] = ("balance", "radius", "centre", "axis")
LEAST_GAP = 1e-3
GAP = np.pi / 18
GRID, LEVELS, SWEEPS, FINER = 96, 5, 10, 8
ENOUGH = 1e-10
"""Plans whose values differ by less than this part of 1 or of the value are equal, and the first one stays."""

Objective = Callable[[Array], Array]
"""Values (n,) of plans (n, m); inf where a plan is not allowed."""


@dataclass(frozen=True)
class ExpectedArc:
    """Standard deviations of an arc with known angles, in m and rad; those of height and axis hold in space only.

    ``other_sense``: residual standard deviation that the wrong sense of rotation would leave, in m; below some five
    times the noise the plan cannot tell the sense.
    """

    radius_sd: float
    centre_sd: float
    turn_sd: float
    height_sd: float
    axis_sd: float
    other_sense: float
    paper_radius_sd: float


def expected_arc(angles: ArrayLike, radius: float, noise: float) -> ExpectedArc:
    """``centre_sd`` is that of each coordinate in the plane, ``axis_sd`` that of both tilts of the axis together."""
    q = np.asarray(angles, dtype=np.float64)
    check_plan(q)
    if not (radius > 0 and noise > 0):
        raise RangeError("the radius and the noise of a plan must be positive numbers in metres", code="plan-sizes")
    m = len(q)
    spread = noise / np.sqrt(m - imbalance(q) / m)
    inverse = np.linalg.inv(height_information(q))
    wrong = procrustes(unit_directions(q, 1, 2), unit_directions(q, -1, 2))[2]
    return ExpectedArc(
        radius_sd=float(spread),
        centre_sd=float(spread),
        turn_sd=float(spread / radius),
        height_sd=float(noise * np.sqrt(inverse[0, 0])),
        axis_sd=float(noise / radius * np.sqrt(inverse[1, 1] + inverse[2, 2])),
        other_sense=float(radius * np.sqrt(wrong / (2 * m - 4))),
        paper_radius_sd=float(noise / np.sqrt(m)),
    )


def check_plan(angles: Array) -> None:
    """Refuse plans that cannot tell the sense of rotation."""
    if angles.ndim != 1 or not np.all(np.isfinite(angles)):
        raise NumberError("the angles of a plan must be a list of finite numbers in rad", code="plan-angles")
    if distinct_angles(angles) < 3:
        raise UnobservableError(
            f"the plan has {distinct_angles(angles)} distinct angles, but two fit either sense of rotation equally "
            "well; plan at least three"
        )


def imbalance(angles: Array) -> float:
    """(sum cos)^2 + (sum sin)^2, the objective of 000 eq. (35) and (36)."""
    return float(np.abs(np.sum(np.exp(1j * angles))) ** 2)


def height_information(angles: Array) -> Array:
    """B (3, 3) of heights above a plane that may be shifted and tilted; angles (..., m) give (..., 3, 3)."""
    v = np.stack([np.ones_like(angles), np.cos(angles), np.sin(angles)], axis=-1)
    return np.asarray(np.swapaxes(v, -1, -2) @ v)


@dataclass(frozen=True, eq=False)
class AnglePlan:
    """Angles (m,) in rad, ascending, with repetitions; ``value`` of the criterion for a noise and radius of one."""

    angles: Array
    criterion: Criterion
    value: float

    @property
    def imbalance(self) -> float:
        """The value of (35)."""
        return imbalance(self.angles)

    def expected(self, radius: float, noise: float) -> ExpectedArc:
        """Accuracy to expect of the plan."""
        return expected_arc(self.angles, radius, noise)


def plan_angles(
    count: int, limits: tuple[float, float], *, criterion: Criterion = "balance", gap: float = GAP
) -> AnglePlan:
    """The best ``count`` angles within ``limits`` in rad."""
    if criterion not in CRITERIA:
        raise UnknownNameError("criterion for angles", criterion, CRITERIA)
    angles, value = best_angles(count, limits, gap, lambda plans: _values(plans, criterion))
    return AnglePlan(angles, criterion, value)


def best_angles(
    count: int, limits: tuple[float, float], gap: float, values: Objective, starts: Sequence[Array] = ()
) -> tuple[Array, float]:
    """Angles (m,), ascending, with the least of ``values``, three of them a gap apart; from more ``starts`` too."""
    low, high = (float(v) for v in limits)
    if count < 3:
        raise UnobservableError(
            f"{count} angles fit either sense of rotation equally well; plan at least three", value=count
        )
    if not gap >= LEAST_GAP:
        raise RangeError(
            f"distinct angles must be at least {LEAST_GAP} rad apart, not {gap}; ask for a larger gap",
            value=(LEAST_GAP, gap),
        )
    if not high - low >= 2 * gap:
        raise TooFewError(
            f"the joint moves by {np.degrees(high - low):.4g} deg, too little for three angles "
            f"{np.degrees(gap):.4g} deg apart; widen the limits or ask for a smaller gap"
        )
    high = min(high, low + 2 * np.pi - gap)  # beyond that the angles come round again

    def objective(plans: Array) -> Array:
        out = np.full(len(plans), np.inf)
        allowed = three_distinct(plans, gap)
        out[allowed] = values(plans[allowed])
        return out

    def marks(others: Array) -> Array:
        against = low + (np.angle(-np.sum(np.exp(1j * others))) - low) % (2 * np.pi)
        return np.array([low, high, against, others.min() + gap, others.max() - gap])

    angles, value = best_plan([*_starts(count, low, high, gap), *starts], low, high, objective, marks)
    return np.sort(angles), value


def three_distinct(plans: Array, gap: float) -> Bools:
    """Whether three angles of each plan (n, m) are at least a gap apart."""
    above = plans - plans.min(axis=1, keepdims=True)
    below = plans.max(axis=1, keepdims=True) - plans
    least = gap * (1 - 1e-9)
    return np.asarray(np.any((above >= least) & (below >= least), axis=1))


def _starts(count: int, low: float, high: float, gap: float) -> list[Array]:
    """Regular plans that balance where the range allows them, then even ones, and the ends with a third angle."""
    out = []
    if high - low >= 2 * np.pi * (count - 1) / count:
        out.append(low + 2 * np.pi * np.arange(count) / count)
    pairs = np.resize([low, low + np.pi, high - np.pi, high], count)
    if high - low >= np.pi + gap and count % 2 == 0:
        out.append(pairs)
    if high - low >= 4 * np.pi / 3 and count % 2:
        out.append(np.concatenate([low + 2 * np.pi / 3 * np.arange(3), pairs[: count - 3]]))
    out.append(np.linspace(low, high, count))
    for third in (low + gap, high - gap, (low + high) / 2):
        plan = np.where(np.arange(count) % 2, high, low)
        plan[:3] = third, high, low
        out.append(plan)
    return [plan for plan in out if three_distinct(plan[None], gap)[0]]


def _values(plans: Array, criterion: Criterion) -> Array:
    """The criterion of each plan (n, m), for a noise and a radius of one."""
    m = plans.shape[1]
    square = np.abs(np.sum(np.exp(1j * plans), axis=1)) ** 2
    if criterion == "balance":
        return np.asarray(square)
    if criterion == "radius":
        return np.asarray(1 / (m - square / m))
    inverse = np.linalg.inv(height_information(plans))
    if criterion == "axis":
        return np.asarray(inverse[:, 1, 1] + inverse[:, 2, 2])
    return np.asarray(2 / (m - square / m) + inverse[:, 0, 0])


def best_plan(
    starts: Sequence[Array], low: float, high: float, objective: Objective, marks: Callable[[Array], Array]
) -> tuple[Array, float]:
    """Plan (m,) and its value; ``marks`` gives places worth trying besides the grid, from the others."""
    found = [_exchanged(start, low, high, objective, marks) for start in starts]
    values = [float(objective(plan[None])[0]) for plan in found]
    best = next(i for i, v in enumerate(values) if not _better(min(values), v))
    return found[best], values[best]


def _exchanged(plan: Array, low: float, high: float, objective: Objective, marks: Callable[[Array], Array]) -> Array:
    grid = np.linspace(low, high, GRID + 1)
    for level in range(LEVELS):
        step = (high - low) / GRID / FINER**level

        def better(angles: Sequence[float], i: int, level: int = level, step: float = step) -> float | None:
            at = np.array(angles)
            near = grid if level == 0 else at[i] + step * np.arange(-FINER, FINER + 1)
            places = np.clip(np.concatenate([near, marks(np.delete(at, i))]), low, high)
            trials = np.repeat(at[None], len(places) + 1, axis=0)
            trials[1:, i] = places
            values = objective(trials)
            best = int(np.argmin(values))
            return float(trials[best, i]) if _better(values[best], values[0]) else None

        plan = np.array(exchange([float(v) for v in plan], better, SWEEPS)[0])
    return plan


def _better(new: float, old: float) -> bool:
    return bool(new < old if np.isinf(old) else new < old - ENOUGH * max(1.0, abs(old)))
