"""Design of experiments for arcs with known angles (000 eq. 35): where to stop the joint within its limits.

    balance   (sum cos q)^2 + (sum sin q)^2, eq. (35)
    radius    exact variance of the radius, and of each coordinate of the centre in the plane: the same plans
    centre    exact variance of the centre in space, all three coordinates together
    axis      exact variance of the direction of the axis, both tilts together

Where the limits are less than pi apart (35) is best at the two ends; but two angles fit either sense of rotation, so
every plan has three angles that are at least ``gap`` apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from elastocal.arcs.exchange import Objective, best_plan
from elastocal.arcs.expected import ExpectedArc, expected_arc, height_information, imbalance
from elastocal.errors import InputError, UnknownNameError
from elastocal.spatial.entries import Array, Bools

Criterion = Literal["balance", "radius", "centre", "axis"]
CRITERIA: tuple[Criterion, ...] = ("balance", "radius", "centre", "axis")
LEAST_GAP = 1e-3
GAP = np.pi / 18


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
        raise InputError(f"{count} angles fit either sense of rotation equally well; plan at least three")
    if not gap >= LEAST_GAP:
        raise InputError(f"distinct angles must be at least {LEAST_GAP} rad apart, not {gap}; ask for a larger gap")
    if not high - low >= 2 * gap:
        raise InputError(
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
