"""Angles and marker places together, for the geometry of a compensator: least var L + var a_x + var a_y.

The joint's angles decide the arc of P1 and, through the spring's direction, how far the body on P0 turns; the places of
the markers decide how well P0 follows from that.  Angles and places are improved in turn, each for the other, from the
best angles for the arc alone and from even ones, until nothing changes.  The height along the axis plays no part: L,
a_x and a_y are in the plane, also where points are measured in space.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elastocal.arcs.compensator_geometry import CompensatorGeometry
from elastocal.arcs.design import GAP, best_angles, plan_angles
from elastocal.arcs.marker_design import Model, pivot_information, pivot_variance, plan_markers
from elastocal.spatial.entries import Array

ROUNDS = 6
ENOUGH = 1e-9


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
    return plan_angles(count, limits, criterion="radius").angles, np.linspace(*limits, count)


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
    places = plan_markers(len(radii), geometry.swing(angles), radii=radii, criterion=model).places
    return GeometryPlan(angles, places, float(total_variance(angles[None], places, radii, geometry, model)[0]))


def total_variance(plans: Array, places: Array, radii: Array, geometry: CompensatorGeometry, model: Model) -> Array:
    """var L + var a_x + var a_y of plans of angles (n, m), for a noise of one; inf where P0 is not determined."""
    m = plans.shape[1]
    left = m - np.abs(np.sum(np.exp(1j * plans), axis=1)) ** 2 / m
    arc = np.where(left > 0, 1 / np.where(left > 0, left, 1.0), np.inf)
    information = pivot_information(places, radii, geometry.swing(plans), model)
    return np.asarray(3 * arc + pivot_variance(information, len(places) * m))
