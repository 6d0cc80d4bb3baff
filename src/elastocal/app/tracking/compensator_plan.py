"""Where to stop the joint and where to put the markers next time, and how well the geometry would then be known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from elastocal.app.commands.compensator import CompensatorRequest
    from elastocal.app.tracking.tracked import KnownArc
    from elastocal.app.tracking.tracked_free import FreeArcs
    from elastocal.arcs.compensator_geometry import CompensatorGeometry
    from elastocal.arcs.marker_design import ExpectedGeometry, Model
    from elastocal.model.robot import RobotModel
    from elastocal.spatial.entries import Array

BALANCE, EXACT = "eq. (35) and (36)", "exact covariance"


@dataclass(frozen=True, eq=False)
class PlanRow:
    """Angles (m,) of the joint and places (k,) of the markers from the spring, in rad, and what to expect of them."""

    name: str
    model: Model
    angles: Array
    places: Array
    expected: ExpectedGeometry


@dataclass(frozen=True, eq=False)
class PlannedArcs:
    """``limits`` of the joint in rad; ``noise`` in m assumed, ``stated`` or from the residuals; ``radii`` in words."""

    limits: tuple[float, float]
    noise: float
    stated: bool
    radii: str
    rows: tuple[PlanRow, ...]

    def best(self, model: Model) -> PlanRow:
        """The plan by exact covariance."""
        return next(r for r in self.rows if (r.name, r.model) == (EXACT, model))


def planned_arcs(
    request: CompensatorRequest, arc: KnownArc, pivot: FreeArcs, geometry: CompensatorGeometry, noise: float | None,
    robot: RobotModel | None,
) -> PlannedArcs | None:  # fmt: skip
    """The plan asked for, beside what was measured."""
    from elastocal.app.tracking.compensator_spring import joint_range

    if request.plan is None:
        return None
    limits = joint_range(robot, request.joint, request.limits, geometry)
    sd = noise or _scatter(arc, pivot)
    rows = plan_rows(geometry, request.plan, limits, pivot.rest.radii, sd, _places(arc, pivot, geometry))
    return PlannedArcs(limits, sd, noise is not None, "the markers' present radii", rows)


def plan_rows(
    geometry: CompensatorGeometry, count: int, limits: tuple[float, float], radii: Array, noise: float,
    now: Array | None = None,
) -> tuple[PlanRow, ...]:  # fmt: skip
    """By eq. (35), (36) and by exact covariance, for each model of the markers; ``now``: where they were measured."""
    from elastocal.arcs.design import plan_angles
    from elastocal.arcs.geometry_design import plan_geometry
    from elastocal.arcs.marker_design import expected_geometry, plan_markers

    by_balance = plan_angles(count, limits).angles
    sets: list[tuple[str, Array, Array, Model]] = []
    models: tuple[Model, ...] = ("concentric", "common rotation") if len(radii) > 1 else ("concentric",)
    for model in models:
        opposite = plan_markers(len(radii), geometry.swing(by_balance), criterion="balance").places
        best = plan_geometry(count, limits, geometry, radii, model)
        if now is not None:
            sets.append(("as measured", geometry.angles, now, model))
            sets.append(("planned angles, markers as measured", best.angles, now, model))
        sets += [(BALANCE, by_balance, opposite, model), (EXACT, best.angles, best.places, model)]
    return tuple(PlanRow(n, m, q, p, expected_geometry(geometry, q, p, radii, noise, m)) for n, q, p, m in sets)


def _scatter(arc: KnownArc, pivot: FreeArcs) -> float:
    """Noise that the residuals of all arcs show together."""
    import numpy as np

    both = (arc.rest.estimate, pivot.rest.estimate)
    return float(np.sqrt(sum(e.squares for e in both) / max(1, sum(e.freedom for e in both))))


def _places(arc: KnownArc, pivot: FreeArcs, geometry: CompensatorGeometry) -> Array:
    """Angles (k,) of the markers from the spring's direction, seen from P0: mean over the poses."""
    import numpy as np

    from elastocal.app.commands.compensator import plane_axes

    across = plane_axes(arc.rest)
    data = pivot.rest.problem.markers
    spokes = (data.points - pivot.rest.centre) @ (np.eye(2) if across is None else across).T
    swing = np.full(data.poses, np.nan)
    swing[list(arc.rest.problem.poses)] = geometry.swing(geometry.angles)
    turned = np.exp(1j * (np.arctan2(spokes[:, 1], spokes[:, 0]) - swing[data.pose]))
    return np.array([float(np.angle(np.nanmean(turned[data.marker == j]))) for j in range(data.count)])
