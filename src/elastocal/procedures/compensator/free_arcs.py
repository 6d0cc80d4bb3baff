"""Arcs of markers whose angles are not used: one common axis, its outliers, and what the markers have in common.

Outliers are those of the rigid body where it fits the other points, since it names the coordinate, else those of the
concentric arcs; where a common axis would cost a marker half of its points the markers do not share it, and each is
tested alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from elastocal.errors import InputError
from elastocal.procedures.compensator.axis import as_points
from elastocal.procedures.compensator.concentric import ConcentricArcs, concentric_of, fit_concentric
from elastocal.procedures.compensator.outliers import Outlier
from elastocal.procedures.compensator.robust import robust_common_rotation, robust_concentric
from elastocal.procedures.compensator.variants import Variants, compare_variants
from elastocal.spatial.entries import Array, Bools

LARGE = 20.0
"""Metres of a radius beyond which a note is due."""


class MarkerError(InputError):
    """Points of ``markers`` that give no arc; ``reason`` is the error of the fit."""

    def __init__(self, markers: Sequence[str], reason: InputError) -> None:
        self.markers, self.reason = tuple(markers), reason
        text = str(reason).removeprefix("arc: ").removeprefix("arcs: ")
        super().__init__(f"marker{'s' if len(self.markers) > 1 else ''} {', '.join(self.markers)}: {text}")


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
            raise MarkerError((name,), InputError(f"{seen} points draw no arc; measure it in more poses"))
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
            outliers = robust_common_rotation(points, noise=noise).outliers
            variants, _ = _variants([without(p, outliers, j) for j, p in enumerate(points)], noise, None)
            test = variants.models[1].test if variants and not variants.apart else None
            if test is not None and not test.rejected and not _half_lost(points, outliers):
                return outliers, ()
        except InputError:
            pass
    try:
        outliers = robust_concentric(points, noise=noise, method="geometric").outliers
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
            own = robust_concentric([p], noise=noise, method="geometric").outliers
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
