"""Arcs of tracked markers whose angles are not used: one axis, bad points, and what the markers have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from elastocal.app.tracking.tracked import said_of, size_notes, unseen_notes, without
from elastocal.errors import InputError

if TYPE_CHECKING:
    from elastocal.arcs.bad_points import BadPoint
    from elastocal.arcs.concentric import ConcentricArcs
    from elastocal.arcs.variants import Variants
    from elastocal.files.tables.points import PointTable
    from elastocal.spatial.entries import Array


@dataclass(frozen=True, eq=False)
class FreeArcs:
    """Markers about one axis, angles not used.  ``variants`` (of the good points) where poses are shared."""

    markers: tuple[str, ...]
    everything: ConcentricArcs
    rest: ConcentricArcs
    geometric: ConcentricArcs
    variants: Variants | None
    bad: tuple[BadPoint, ...]
    notes: tuple[str, ...]


def free_arcs(
    table: PointTable, markers: tuple[str, ...], noise: float | None, targets: Array | None = None
) -> FreeArcs:
    """Algorithm 2 of some markers, and the rigid-body variants where two or more share poses."""
    from elastocal.arcs.concentric import concentric_of, fit_concentric

    for name in markers:
        if table.seen(name) < 2:
            raise InputError(
                f"{table.file}, marker {name}: {table.seen(name)} points draw no arc; measure it in more poses"
            )
    points = [table.points[m] for m in markers]
    with said_of(table, markers):
        bad, said = _bad(points, noise)
        good = [without(p, bad, j) for j, p in enumerate(points)]
        rest = fit_concentric(good, noise=noise)
        everything = concentric_of(points, noise=noise) if bad else rest
        geometric = fit_concentric(good, noise=noise, method="geometric")
        variants, more = _variants(good, noise, targets)
    sizes = size_notes(table, zip(markers, rest.radii, strict=True))
    notes = (*unseen_notes(table, markers), *said, *more, *sizes)
    return FreeArcs(markers, everything, rest, geometric, variants, bad, notes)


def _bad(points: list[Array], noise: float | None) -> tuple[tuple[BadPoint, ...], tuple[str, ...]]:
    """Bad points: by the rigid body where it fits the others, since it names the coordinate, else by the arcs.

    Where a common axis would cost a marker half of its points the markers do not share it, and each is tested alone.
    """
    from elastocal.arcs.robust import robust_common_rotation, robust_concentric

    if len(points) > 1:
        try:
            bad = robust_common_rotation(points, noise=noise).bad
            found, _ = _variants([without(p, bad, j) for j, p in enumerate(points)], noise, None)
            tension = found.models[1].tension if found and not found.apart else None
            if tension is not None and not tension.rejected and not _half_lost(points, bad):
                return bad, ()
        except InputError:
            pass
    try:
        bad = robust_concentric(points, noise=noise, method="geometric").bad
        if not _half_lost(points, bad):
            return bad, ()
    except InputError as error:
        if len(points) == 1:
            return (), (f"The points could not be tested one by one: {error}.",)
    return _bad_alone(points, noise)


def _half_lost(points: list[Array], bad: tuple[BadPoint, ...]) -> bool:
    """Whether a marker would lose half of its points or more."""
    import numpy as np

    lost = np.bincount([b.marker for b in bad], minlength=len(points))
    return any(2 * n >= np.sum(~np.isnan(p[:, 0])) for n, p in zip(lost, points, strict=True))


def _bad_alone(points: list[Array], noise: float | None) -> tuple[tuple[BadPoint, ...], tuple[str, ...]]:
    """Each marker against a circle of its own."""
    from dataclasses import replace

    from elastocal.arcs.robust import robust_concentric

    out: list[BadPoint] = []
    untested = []
    for j, p in enumerate(points):
        try:
            found = robust_concentric([p], noise=noise, method="geometric").bad
        except InputError:
            untested.append(j)
            continue
        own = tuple(replace(b, marker=j, instead=tuple((j, i) for _, i in b.instead)) for b in found)
        out += () if _half_lost([p], found) else own
    said = "On one common axis no more than half of the points agree, so each marker is tested on a circle of its own."
    lost = f" {len(untested)} of {len(points)} markers have none." if untested else ""
    return tuple(out), (said + lost,)


def _variants(
    points: list[Array], noise: float | None, targets: Array | None
) -> tuple[Variants | None, tuple[str, ...]]:
    from elastocal.arcs.variants import compare_variants

    if len(points) < 2:
        return None, ()
    try:
        return compare_variants(points, targets, noise=noise), ()
    except InputError as error:
        if targets is None:
            return None, (f"The markers are not compared as one rigid body: {error}.",)
        found, _ = _variants(points, noise, None)
        return found, (f"Whether the body points along the spring is not tested: {error}.",)
