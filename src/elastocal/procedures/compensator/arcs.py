"""Arcs of tracked markers: those that turn by known joint angles, and all others about one common axis.

A circle without angles uses only the distance of each point from the centre.  On a short arc centre and radius then
move together: their standard deviations grow with the square of one over the arc's length, with known angles only with
one over the length (000 section 4.1).  ``AngleGain`` is what the angles are worth.

Without angles, outliers are those of the rigid body where it fits the other points, since it names the coordinate, else
those of the concentric arcs; where a common axis would cost a marker half of its points the markers do not share it,
and each is tested alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from elastocal.errors import InputError, MissingError, ShapeError, TooFewError, UnknownNameError
from elastocal.procedures.compensator.arc_problem import as_points
from elastocal.procedures.compensator.concentric import ConcentricArcs, concentric_of, fit_circle, fit_concentric
from elastocal.procedures.compensator.known_angle_arc import KnownAngleArc
from elastocal.procedures.compensator.known_angles import fit_known_angles
from elastocal.procedures.compensator.outliers import Outlier, UndecidedError
from elastocal.procedures.compensator.robust import RobustArc, outliers_of_arcs, outliers_of_body, robust_known_angles
from elastocal.procedures.compensator.variants import Variants, compare_variants
from elastocal.spatial.entries import Array, Bools
from elastocal.values import dataclass

LARGE = 20.0
"""Metres of a radius beyond which a note is due."""
FAR_AXIS = np.radians(20.0)
"""Angle between a stated axis and the one fitted beyond which a note is due."""


class MarkerError(InputError):
    """Points of ``markers`` that give no arc; ``reason`` is the error of the fit, whose code it has."""

    code = "no-arc"

    def __init__(self, markers: Sequence[str], reason: InputError) -> None:
        self.markers, self.reason = tuple(markers), reason
        text = str(reason).removeprefix("arc: ").removeprefix("arcs: ")
        super().__init__(
            f"marker{'s' if len(self.markers) > 1 else ''} {', '.join(self.markers)}: {text}", code=reason.code
        )


@contextmanager
def of_markers(markers: Sequence[str]) -> Iterator[None]:
    """Errors about points name their markers."""
    try:
        yield
    except InputError as error:
        raise MarkerError(markers, error) from error


@dataclass(frozen=True, eq=False)
class PointResiduals:
    """Points of a marker in the ``poses`` (m,) in which it was seen against its arc, in m: measured minus fitted.

    ``along`` the arc is nan without angles; ``height`` above its plane is None where points have two coordinates.
    """

    poses: tuple[int, ...]
    radial: Array
    along: Array
    height: Array | None
    used: Bools


@dataclass(frozen=True, eq=False)
class FreeArcs:
    """Markers about one axis, angles not used.  ``variants`` (without outliers) where poses are shared."""

    markers: tuple[str, ...]
    all_points: ConcentricArcs
    fit: ConcentricArcs
    geometric: ConcentricArcs
    variants: Variants | None
    outliers: tuple[Outlier, ...]
    notes: tuple[str, ...]

    def residuals(self, marker: str) -> PointResiduals:
        j, problem, data = self.markers.index(marker), self.fit.problem, self.all_points.problem.markers
        poses = tuple(int(i) for i in data.pose[data.marker == j])
        local = problem.frame.local(data.of(j))
        used = ~np.isin(poses, [o.pose for o in self.outliers if o.marker == j])
        height = local[:, 2] - problem.heights[j] if data.dimension == 3 else None
        radial = np.hypot(local[:, 0], local[:, 1]) - problem.radii[j]
        return PointResiduals(poses, radial, np.full(len(poses), np.nan), height, used)


def free_arcs(
    points: Mapping[str, ArrayLike], noise: float | None = None, targets: ArrayLike | None = None
) -> FreeArcs:
    """Algorithm 2 of some markers, and the rigid-body variants where two or more share poses."""
    markers = tuple(points)
    with of_markers(markers):
        sets = [as_points(p, m) for m, p in points.items()]
    for name, p in zip(markers, sets, strict=True):
        seen = int(np.sum(~np.isnan(p[:, 0])))
        if seen < 2:
            raise MarkerError((name,), TooFewError(f"{seen} points draw no arc; measure it in more poses"))
    with of_markers(markers):
        outliers, notes = _outliers(sets, noise)
        good = [without(p, outliers, j) for j, p in enumerate(sets)]
        fit = fit_concentric(good, noise=noise)
        all_points = concentric_of(sets, noise=noise) if outliers else fit
        geometric = fit_concentric(good, noise=noise, method="geometric")
        variants, more = _variants(good, noise, targets)
    notes = (*notes, *more, *size_notes(zip(markers, fit.radii.tolist(), strict=True)))
    return FreeArcs(markers, all_points, fit, geometric, variants, outliers, notes)


def _outliers(points: list[Array], noise: float | None) -> tuple[tuple[Outlier, ...], tuple[str, ...]]:
    """By the rigid body, by the concentric arcs, or by a circle for each marker; and what could not be tested."""
    if len(points) > 1:
        try:
            outliers = outliers_of_body(points, noise)
            variants, _ = _variants([without(p, outliers, j) for j, p in enumerate(points)], noise, None)
            test = variants.models[1].test if variants and not variants.apart else None
            if test is not None and not test.rejected and not _half_lost(points, outliers):
                return outliers, ()
        except InputError:
            pass
    try:
        outliers = outliers_of_arcs(points, noise)
        if not _half_lost(points, outliers):
            return outliers, ()
    except InputError as error:
        if len(points) == 1:
            return (), (f"The points could not be tested one by one: {error}.",)
    return _outliers_alone(points, noise)


def _half_lost(points: list[Array], outliers: tuple[Outlier, ...]) -> bool:
    """Whether a marker would lose half of its points or more."""
    lost = np.bincount([o.marker for o in outliers], minlength=len(points))
    return any(2 * n >= np.sum(~np.isnan(p[:, 0])) for n, p in zip(lost, points, strict=True))


def _outliers_alone(points: list[Array], noise: float | None) -> tuple[tuple[Outlier, ...], tuple[str, ...]]:
    """Each marker against a circle of its own."""
    out: list[Outlier] = []
    untested = 0
    for j, p in enumerate(points):
        try:
            own = outliers_of_arcs([p], noise)
        except InputError:
            untested += 1
            continue
        if not _half_lost([p], own):
            out += (replace(o, marker=j, instead=tuple((j, i) for _, i in o.instead)) for o in own)
    note = "On one common axis no more than half of the points agree, so each marker is tested on a circle of its own."
    return tuple(out), (note + (f" {untested} of {len(points)} markers have none." if untested else ""),)


def _variants(
    points: list[Array], noise: float | None, targets: ArrayLike | None
) -> tuple[Variants | None, tuple[str, ...]]:
    if len(points) < 2:
        return None, ()
    try:
        return compare_variants(points, targets, noise=noise), ()
    except InputError as error:
        if targets is None:
            return None, (f"The markers are not compared as one rigid body: {error}.",)
        return _variants(points, noise, None)[0], (f"Whether the body points along the spring is not tested: {error}.",)


def size_notes(radii: Iterable[tuple[str, float]]) -> tuple[str, ...]:
    """Radii that no robot has."""
    large = [f"{m} {r:.4g} m" for m, r in radii if r > LARGE]
    return (
        (f"A radius is larger than a robot ({', '.join(large)}): check the unit of the coordinates.",) if large else ()
    )


def without(points: ArrayLike, outliers: Sequence[Outlier], marker: int) -> Array:
    """A marker's points with outliers as not seen."""
    out = np.array(points, dtype=np.float64)
    out[[o.pose for o in outliers if o.marker == marker]] = np.nan
    return out


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
        raise MissingError("markers with known angles need the angles of their poses")
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
    count, turned = len(np.atleast_1d(points)), np.asarray(angles, dtype=np.float64)
    if turned.shape != (count,):
        raise ShapeError(
            f"angles has shape {turned.shape}, {count} points were read; give one for each",
            parameter="angles", value=turned.shape, allowed=(count,),
        )  # fmt: skip
    with of_markers((marker,)):
        p = as_points(points, "arc")
        q = np.where(np.isnan(p[:, 0]), 0.0, turned)
        try:
            robust = robust_known_angles(p, q, noise=noise, sense=sense, axis=axis)
        except UndecidedError as error:
            plain = fit_known_angles(p, q, noise=noise, sense=sense, axis=axis)
            robust, notes = RobustArc(plain, plain, ()), (f"The points could not be tested one by one: {error}.",)
    fit, gain = robust.fit, None
    try:
        gain = _circles(fit, without(p, robust.outliers, 0), noise)
    except InputError as error:
        notes = (f"Without its angles there is no circle: {error}.", *notes)
    notes = tuple(f"{marker}: {n}" for n in (*fit.sentences(), *_axis_notes(fit, axis), *notes))
    notes = (*notes, *size_notes(((marker, fit.radius),)))
    return KnownArc(marker, robust.all_points, fit, gain, robust.outliers, notes)


def _axis_notes(arc: KnownAngleArc, stated: ArrayLike | None) -> tuple[str, ...]:
    """Whether a stated axis is far from the one fitted."""
    if stated is None:
        return ()
    direction = np.asarray(stated, dtype=np.float64)
    off = float(np.arccos(np.clip(arc.axis @ direction / np.linalg.norm(direction), -1, 1)))
    return (f"the axis found is {np.degrees(off):.0f} deg from the one stated; check it.",) if off > FAR_AXIS else ()
