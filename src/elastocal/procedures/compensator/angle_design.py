"""Design of arcs with known angles (000 eq. 32-35): where to stop the joint, and what accuracy to expect.

The exact covariance of Algorithm 1 at planned angles, with S = |sum exp(i q)|:

    var L = var x_0 = var y_0 = sigma^2 / (m - S^2 / m),   var psi = var L / L^2

000 eq. (32) is this var L, with m - S^2 / m as sum |u^|^2; but the text below it takes that sum for m, and so misses
that the radius depends on the angles too.  S^2 is the objective of (35), so the plans that it prefers are also best by
the exact variance of the radius and of the centre in the plane.

Where the limits are less than pi apart (35) is best at the two ends; but two angles fit either sense of rotation, so
every plan has three angles that are at least ``gap`` apart.

The search is an exchange over a continuous range: each angle in turn moves to its best place while the others stay,
first on a grid over the whole range, then on finer ones about the place reached; from every start, and the best of the
results, so nothing depends on chance.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from elastocal.design.exchange import exchange
from elastocal.errors import NumberError, RangeError, TooFewError, UnobservableError
from elastocal.procedures.compensator.known_angles import distinct_angles
from elastocal.spatial.entries import Array, Bools

LEAST_GAP = 1e-3
GAP = np.pi / 18
GRID, LEVELS, SWEEPS, FINER = 96, 5, 10, 8
ENOUGH = 1e-10
"""Plans whose values differ by less than this part of 1 or of the value are equal, and the first one stays."""

Objective = Callable[[Array], Array]
"""Values (n,) of plans (n, m); inf where a plan is not allowed."""


def arc_sd(angles: ArrayLike, noise: float) -> float:
    """Standard deviation in m of the radius, and of each coordinate of the centre in the plane.

    Refuses plans that cannot tell the sense of rotation.
    """
    q = np.asarray(angles, dtype=np.float64)
    if q.ndim != 1 or not np.all(np.isfinite(q)):
        raise NumberError("the angles of a plan must be a list of finite numbers in rad", code="plan-angles")
    if not noise > 0:
        raise RangeError("the noise of a plan must be a positive number in metres", code="plan-sizes")
    if (distinct := distinct_angles(q)) < 3:
        raise UnobservableError(
            f"the plan has {distinct} distinct angles, but two fit either sense of rotation equally well; plan at "
            "least three"
        )
    return float(noise / np.sqrt(len(q) - imbalance(q) / len(q)))


def imbalance(angles: Array) -> Array:
    """(sum cos)^2 + (sum sin)^2 of angles (..., m), the objective of 000 eq. (35) and (36)."""
    return np.asarray(np.abs(np.sum(np.exp(1j * angles), axis=-1)) ** 2)


def plan_angles(count: int, limits: tuple[float, float], gap: float = GAP) -> Array:
    """The best ``count`` angles within ``limits`` in rad by (35), and by the variance of the radius."""
    return best_angles(count, limits, gap, imbalance)[0]


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


def best_plan(
    starts: Sequence[Array], low: float, high: float, objective: Objective, marks: Callable[[Array], Array]
) -> tuple[Array, float]:
    """Plan (m,) and its value; ``marks`` gives places worth trying besides the grid, from the others."""
    plans = [_exchanged(start, low, high, objective, marks) for start in starts]
    values = [float(objective(plan[None])[0]) for plan in plans]
    best = next(i for i, v in enumerate(values) if not _better(min(values), v))
    return plans[best], values[best]


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
