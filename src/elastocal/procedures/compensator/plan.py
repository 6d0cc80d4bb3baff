"""Where to stop the joint and where to put the markers, and how well the geometry would then be known.

Plans by eq. (35), (36) and by exact covariance are compared, for each model of the markers; beside what was measured
where there is any.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from elastocal.design.poses import programmable
from elastocal.errors import InputError
from elastocal.model.limits import limit_text
from elastocal.model.robot import Robot
from elastocal.procedures.compensator.angle_design import imbalance, plan_angles
from elastocal.procedures.compensator.geometry import CompensatorGeometry
from elastocal.procedures.compensator.marker_design import (
    MODELS,
    ExpectedGeometry,
    Model,
    expected_geometry,
    plan_geometry,
    plan_markers,
)
from elastocal.spatial.entries import Array

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
        return imbalance(self.angles), imbalance(self.places)


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
    by_balance = plan_angles(count, limits).angles
    sets: list[tuple[str, Array, Array, Model]] = []
    for model in MODELS if len(r) > 1 else MODELS[:1]:
        opposite = plan_markers(len(r), geometry.swing(by_balance), criterion="balance").places
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
        raise InputError(limit_text(model, *beyond[0][1:]))
    out = programmable(model, q)
    out[:, place] = np.clip(out[:, place], *limits)
    return np.asarray(out)
