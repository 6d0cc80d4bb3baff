"""The gravity compensator of a joint (000): from tracked points to its geometry, its spring and the next plan.

    points         tracked points, and the axis they turn about
    least_squares  the problem of an arc and its covariance
    known_angles   Algorithm 1, the arc (known_angle_arc) of a point at known joint angles
    concentric     Algorithm 2, arcs of several markers about one axis; rigid_body: all turned by one angle per pose
    variants       tests of the one model against the other
    outliers       which points the others contradict; robust: where the search for them starts
    arcs           all this for a set of tracked markers (``fit_arcs``)
    geometry       P0, P1, P2 from their arcs, eq. (1)
    angle_design   angles of the joint, eq. (35); marker_design: places of the markers, eq. (36), and plans of both
    spring         what the spring does to its joint, and the one that balances the arm best

P1, the spring's end on the moving link, is fitted by Algorithm 1 with the joint's angles; the markers on the body that
turns about P0 by Algorithm 2, which gives the result, and by the stricter models of ``variants``, which test it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from elastocal.arguments import checked
from elastocal.errors import DuplicateError, UnknownNameError
from elastocal.model.loads.gravity_compensator import GravityCompensator
from elastocal.model.robot import Robot
from elastocal.procedures.compensator.arcs import FreeArcs, KnownArc, free_arcs, known_arc, of_markers, without
from elastocal.procedures.compensator.geometry import CompensatorGeometry, axes_angle, compensator_geometry, plane_axes
from elastocal.procedures.compensator.marker_design import ArcPlan, plan_arcs
from elastocal.procedures.compensator.spring import SpringOnRobot, joint_range, spring_on_robot
from elastocal.results import as_frame
from elastocal.solve.nested import NestedTest
from elastocal.spatial.entries import Array
from elastocal.spatial.threads import one_thread
from elastocal.values import dataclass

__all__ = ["Compensator", "identify"]


@dataclass(frozen=True, eq=False)
class PivotModel:
    """The geometry with one model of the markers on P0; ``test`` against the freer one before it."""

    name: str
    geometry: CompensatorGeometry
    residual_sd: float
    test: NestedTest | None


@dataclass(frozen=True, eq=False, repr=False)
class Compensator:
    """``models``: the first is the result, the others are tests of it.  ``noise`` of a coordinate in m where stated."""

    joint: str
    noise: float | None
    moving: KnownArc
    pivot: FreeArcs
    models: tuple[PivotModel, ...]
    spring: SpringOnRobot | None
    plan: ArcPlan | None
    notes: tuple[str, ...]

    @property
    def geometry(self) -> CompensatorGeometry:
        return self.models[0].geometry

    @property
    def outliers(self) -> int:
        return len(self.moving.outliers) + len(self.pivot.outliers)

    @property
    def element(self) -> GravityCompensator | None:
        """With the spring of the robot, else with the one that balances; None where neither is known."""
        return None if self.spring is None else self.spring.best

    def to_frame(self) -> object:
        """Geometry with standard deviations, m and rad."""
        g = self.geometry
        return as_frame(
            [{"name": n, "value": float(getattr(g, n)), "sd": float(g.sd[n])} for n in ("L", "a_x", "a_y", "phi0")]
        )

    def __repr__(self) -> str:
        g, sd = self.geometry, self.geometry.sd
        lengths = ", ".join(f"{n} {1e3 * getattr(g, n):.3f} +- {1e3 * sd[n]:.2g} mm" for n in ("L", "a_x", "a_y"))
        angle = f"phi0 {np.degrees(g.phi0):.3f} +- {np.degrees(sd['phi0']):.2g} deg"
        return f"Compensator({self.joint}: {lengths}, {angle}; outliers {self.outliers})"


@checked()
@one_thread
def identify(
    points: Mapping[str, ArrayLike], angles: ArrayLike, *, moving: str, pivots: Sequence[str], joint: str,
    robot: Robot | None = None, at: ArrayLike | None = None, limits: tuple[float, float] | None = None,
    plan: int | None = None, noise: float | None = None, sense: int | None = None, axis: ArrayLike | None = None,
) -> Compensator:  # fmt: skip
    """Geometry of the compensator of a joint from ``points`` by marker, (poses, 2 or 3) in m, rows of nan not seen.

    ``angles`` (poses,) in rad are values of the joint; ``moving`` is the marker on P1, ``pivots`` those about P0.  With
    a ``robot`` also its spring, the other joints at values ``at`` (n,); with ``plan`` also the best so many angles.
    ``limits`` of the joint in rad: by default the robot's, or what was measured.  ``sense`` and ``axis`` as in
    ``fit_known_angles``.
    """
    for name in (moving, *pivots):
        if name not in points:
            raise UnknownNameError("marker", name, points)
    if moving in pivots or len(set(pivots)) < len(pivots):
        raise DuplicateError("a marker is named twice; one marker cannot be on both links")
    arc = known_arc(moving, points[moving], angles, noise, sense, axis)
    targets = without(points[moving], arc.outliers, 0)
    pivot = free_arcs({m: points[m] for m in pivots}, noise, targets)
    with of_markers((moving, *pivots)):
        models = _models(arc, pivot)
    geometry = models[0].geometry
    spring = None if robot is None else spring_on_robot(robot, joint, geometry, at, limits)
    next_plan = None
    if plan is not None:
        reach = joint_range(robot, joint, limits, geometry)
        next_plan = plan_arcs(
            geometry, plan, reach, pivot.fit.radii, noise or _scatter(arc, pivot), _places(arc, pivot, geometry)
        )
    apart = axes_angle(arc.fit, pivot.fit)
    notes = (*arc.notes, *pivot.notes, *(apart.sentences() if apart else ()), *(spring.notes if spring else ()))
    return Compensator(joint, noise, arc, pivot, models, spring, next_plan, notes)


def _models(arc: KnownArc, pivot: FreeArcs) -> tuple[PivotModel, ...]:
    """Algorithm 2 first, then the variants."""
    axes = plane_axes(arc.fit)
    variants = pivot.variants.models[1:] if pivot.variants else ()
    fits = (
        ("common axis", pivot.fit, None),
        ("common axis, geometric", pivot.geometric, None),
        *((m.name, m.fit, m.test) for m in variants),
    )
    return tuple(PivotModel(n, compensator_geometry(arc.fit, f, axes), f.residual_sd, test) for n, f, test in fits)


def _scatter(arc: KnownArc, pivot: FreeArcs) -> float:
    """Noise that the residuals of all arcs show together."""
    both = (arc.fit.estimate, pivot.fit.estimate)
    return float(np.sqrt(sum(e.squares for e in both) / max(1, sum(e.freedom for e in both))))


def _places(arc: KnownArc, pivot: FreeArcs, geometry: CompensatorGeometry) -> Array:
    """Angles (k,) of the markers from the spring's direction, seen from P0: mean over the poses."""
    across = plane_axes(arc.fit)
    data = pivot.fit.problem.markers
    spokes = (data.points - pivot.fit.centre) @ (np.eye(2) if across is None else across).T
    swing = np.full(data.poses, np.nan)
    swing[list(arc.fit.problem.poses)] = geometry.swing(geometry.angles)
    turned = np.exp(1j * (np.arctan2(spokes[:, 1], spokes[:, 0]) - swing[data.pose]))
    return np.array([float(np.angle(np.nanmean(turned[data.marker == j]))) for j in range(data.count)])
