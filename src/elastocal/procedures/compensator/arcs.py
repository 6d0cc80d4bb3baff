"""Arcs of tracked markers: those that turn by known joint angles, and all others about one common axis.

A circle without angles uses only the distance of each point from the centre.  On a short arc centre and radius then
move together: their standard deviations grow with the square of one over the arc's length, with known angles only with
one over the length (000 section 4.1).  ``AngleGain`` is what the angles are worth.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from elastocal.errors import InputError, UnknownNameError
from elastocal.procedures.compensator.axis import as_points
from elastocal.procedures.compensator.concentric import ConcentricArcs, fit_circle
from elastocal.procedures.compensator.free_arcs import (
    FreeArcs,
    PointResiduals,
    free_arcs,
    of_markers,
    size_notes,
    without,
)
from elastocal.procedures.compensator.known_angle_arc import KnownAngleArc
from elastocal.procedures.compensator.known_angles import fit_known_angles
from elastocal.procedures.compensator.outliers import Outlier, UndecidedError
from elastocal.procedures.compensator.robust import RobustFit, robust_known_angles
from elastocal.spatial.entries import Array

FAR_AXIS = np.radians(20.0)
"""Angle between a stated axis and the one fitted beyond which a note is due."""


@dataclass(frozen=True, eq=False)
class AngleGain:
    """The same points fitted with their angles and without, for the same noise."""

    known: KnownAngleArc
    algebraic: ConcentricArcs
    geometric: ConcentricArcs

    @property
    def radius(self) -> float:
        """How many times smaller the radius' standard deviation is with the angles, noise being equal."""
        d = self.known.dimension
        plain = self.geometric.estimate.unit_covariance[2 * (d - 1), 2 * (d - 1)]
        return float(np.sqrt(plain / self.known.estimate.unit_covariance[d, d]))

    @property
    def centre(self) -> float:
        """The same for the centre: ratio of the roots of the traces."""
        d = self.known.dimension
        jacobian = self.geometric.centre_jacobian
        plain = np.trace(jacobian @ self.geometric.estimate.unit_covariance @ jacobian.T)
        return float(np.sqrt(plain / np.trace(self.known.estimate.unit_covariance[:d, :d])))


def angle_gain(points: ArrayLike, angles: ArrayLike, *, noise: float | None = None) -> AngleGain:
    """Fit the points in all three ways."""
    seen = np.asarray(points, dtype=np.float64)
    return _circles(fit_known_angles(seen, angles, noise=noise), seen, noise)


def _circles(known: KnownAngleArc, points: Array, noise: float | None) -> AngleGain:
    algebraic = fit_circle(points, noise=noise, method="algebraic")
    return AngleGain(known, algebraic, fit_circle(points, noise=noise))


@dataclass(frozen=True, eq=False)
class KnownArc:
    """A marker fitted with its angles, without outliers (``fit``) and with them; ``gain`` None without a circle."""

    marker: str
    all_points: KnownAngleArc
    fit: KnownAngleArc
    gain: AngleGain | None
    outliers: tuple[Outlier, ...]
    notes: tuple[str, ...]

    def residuals(self) -> PointResiduals:
        problem = self.all_points.problem
        local, u = self.fit.problem.frame.local(problem.points), problem.directions
        turn = self.fit.sense * np.angle((local[:, 0] + 1j * local[:, 1]) * (u[:, 0] - 1j * u[:, 1]))
        distance = np.hypot(local[:, 0], local[:, 1])
        used = ~np.isin(problem.poses, [o.pose for o in self.outliers])
        height = local[:, 2] if self.fit.dimension == 3 else None
        return PointResiduals(problem.poses, distance - self.fit.radius, distance * turn, height, used)


@dataclass(frozen=True, eq=False, repr=False)
class Arcs:
    """``known``: markers that turn by the angles; ``free``: all others; ``noise`` of a coordinate in m where stated."""

    known: tuple[KnownArc, ...]
    free: FreeArcs | None
    noise: float | None
    notes: tuple[str, ...]

    @property
    def outliers(self) -> int:
        return sum(len(a.outliers) for a in (*self.known, *((self.free,) if self.free else ())))

    def residuals(self, marker: str) -> PointResiduals:
        known = {a.marker: a for a in self.known}
        if marker in known:
            return known[marker].residuals()
        if self.free is None or marker not in self.free.markers:
            raise UnknownNameError("marker", marker, (*known, *(self.free.markers if self.free else ())))
        return self.free.residuals(marker)

    def __repr__(self) -> str:
        radii = [(a.marker, a.fit.radius, a.fit.radius_sd) for a in self.known]
        if self.free is not None:
            radii += zip(self.free.markers, self.free.fit.radii, self.free.fit.radii_sd, strict=True)
        shown = ", ".join(f"{m} {1e3 * r:.3f} +- {1e3 * s:.2g} mm" for m, r, s in radii)
        return f"Arcs(radii {shown}; outliers {self.outliers})"


def fit_arcs(
    points: Mapping[str, ArrayLike], angles: ArrayLike | None = None, *, known: Sequence[str] = (),
    noise: float | None = None, sense: int | None = None, axis: ArrayLike | None = None,
) -> Arcs:  # fmt: skip
    """Arcs of ``points`` by marker, (poses, 2 or 3) in m, row i of all of them pose i, rows of nan not seen.

    Markers named by ``known`` turn by ``angles`` (poses,) in rad; ``sense`` and ``axis`` as in ``fit_known_angles``.
    """
    for name in known:
        if name not in points:
            raise UnknownNameError("marker", name, points)
    if known and angles is None:
        raise InputError("markers with known angles need the angles of their poses")
    arcs = tuple(known_arc(m, points[m], np.asarray(angles), noise, sense, axis) for m in dict.fromkeys(known))
    rest = {m: p for m, p in points.items() if m not in known}
    free = free_arcs(rest, noise) if rest else None
    return Arcs(arcs, free, noise, (*(n for a in arcs for n in a.notes), *(free.notes if free else ())))


def known_arc(
    marker: str, points: ArrayLike, angles: ArrayLike, noise: float | None = None, sense: int | None = None,
    axis: ArrayLike | None = None,
) -> KnownArc:  # fmt: skip
    """Algorithm 1 of one marker, with the plain circles beside it."""
    notes: tuple[str, ...] = ()
    with of_markers((marker,)):
        p = as_points(points, "arc")
        q = np.where(np.isnan(p[:, 0]), 0.0, np.asarray(angles, dtype=np.float64))
        try:
            robust = robust_known_angles(p, q, noise=noise, sense=sense, axis=axis)
        except UndecidedError as error:
            plain = fit_known_angles(p, q, noise=noise, sense=sense, axis=axis)
            robust, notes = RobustFit(plain, plain, ()), (f"The points could not be tested one by one: {error}.",)
    fit, gain = robust.fit, None
    try:
        gain = _circles(fit, without(p, robust.outliers, 0), noise)
    except InputError as error:
        notes = (f"Without its angles there is no circle: {error}.", *notes)
    notes = tuple(f"{marker}: {n}" for n in (*fit.sentences(), *_axis_notes(fit, axis), *notes))
    notes = (*notes, *size_notes(((marker, fit.radius),)))
    return KnownArc(marker, robust.all_points or fit, fit, gain, robust.outliers, notes)


def _axis_notes(arc: KnownAngleArc, stated: ArrayLike | None) -> tuple[str, ...]:
    """Whether a stated axis is far from the one fitted."""
    if stated is None:
        return ()
    direction = np.asarray(stated, dtype=np.float64)
    off = float(np.arccos(np.clip(arc.axis @ direction / np.linalg.norm(direction), -1, 1)))
    return (f"the axis found is {np.degrees(off):.0f} deg from the one stated; check it.",) if off > FAR_AXIS else ()
