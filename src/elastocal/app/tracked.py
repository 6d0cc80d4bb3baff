"""Arcs of the markers in a table of tracked points: fits, screening, and every complaint with the marker's name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from elastocal.errors import InputError, UnknownNameError

if TYPE_CHECKING:
    from elastocal.arcs.circle import AngleGain
    from elastocal.arcs.concentric import ConcentricArcs
    from elastocal.arcs.known_angles import KnownAngleArc
    from elastocal.arcs.robust import BadPoint
    from elastocal.arcs.variants import Variants
    from elastocal.files.point_table import PointTable
    from elastocal.spatial.entries import Array


@dataclass(frozen=True, eq=False)
class KnownArc:
    """A marker fitted with its angles: all points, and without those that the rest contradicts."""

    marker: str
    everything: KnownAngleArc
    rest: KnownAngleArc
    gain: AngleGain | None
    bad: tuple[BadPoint, ...]
    notes: tuple[str, ...]


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


@contextmanager
def said_of(table: PointTable, markers: Sequence[str]) -> Iterator[None]:
    """Complaints about points name the file and the markers."""
    try:
        yield
    except InputError as error:
        said = str(error).removeprefix("arc: ").removeprefix("arcs: ")
        raise InputError(f"{table.file}, {_called(markers)}: {said}") from None


def _called(markers: Sequence[str]) -> str:
    return f"marker {markers[0]}" if len(markers) == 1 else f"markers {', '.join(markers)}"


def check_markers(table: PointTable, asked: Sequence[str], option: str) -> None:
    for name in asked:
        if name not in table.points:
            raise UnknownNameError("marker", name, table.markers, f"{option} {name}: {table.file}")


def check_same_poses(table: PointTable, markers: Sequence[str]) -> None:
    """Counted poses need markers of one length; named ones do not."""
    counts = {m: int((table.lines[m] > 0).sum()) for m in markers}
    if table.numbered and len(set(counts.values())) > 1:
        each = ", ".join(f"{m} {n}" for m, n in counts.items())
        raise InputError(
            f"{table.file}: the markers have different numbers of rows ({each}), and without a column pose row i of "
            "each must be pose i; add a column pose or the missing rows"
        )


def check_angles(table: PointTable, marker: str) -> None:
    """Every point of a marker that turns by known angles has one."""
    import numpy as np

    if table.angle is None:
        raise InputError(f"{table.file}: there is no column with the joint's angle; add one such as q_deg")
    lost = np.flatnonzero(np.isnan(table.angles[marker]) & (table.lines[marker] > 0))
    if len(lost):
        raise InputError(
            f"{table.place(marker, int(lost[0]))}, column {table.angle}: is empty, but marker {marker} turns by this "
            "angle; give it or leave the row out"
        )


def known_arc(
    table: PointTable, marker: str, noise: float | None, sense: int | None, axis: Array | None, angles: Array
) -> KnownArc:
    """Algorithm 1 of one marker at joint ``angles`` (poses,), with the plain circles beside it."""
    import numpy as np

    from elastocal.arcs.known_angles import fit_known_angles
    from elastocal.arcs.robust import RobustFit, robust_known_angles

    points = table.points[marker]
    q = np.where(np.isnan(points[:, 0]), 0.0, angles)
    with said_of(table, (marker,)):
        everything = fit_known_angles(points, q, noise=noise, sense=sense, axis=axis)
    said: tuple[str, ...] = ()
    try:
        found = robust_known_angles(points, q, noise=noise, sense=sense, axis=axis)
    except InputError as error:
        found, said = RobustFit(everything, everything, ()), (f"The points could not be tested one by one: {error}.",)
    rest, bad = found.rest, found.bad
    gain, more = _gain(rest, without(points, bad, 0), noise)
    notes = tuple(f"{marker}: {word}" for word in (*rest.words(), *more, *said))
    return KnownArc(marker, everything, rest, gain, bad, notes)


def _gain(arc: KnownAngleArc, points: Array, noise: float | None) -> tuple[AngleGain | None, tuple[str, ...]]:
    """Plain circles through the same points; a short arc may have none."""
    from elastocal.arcs.circle import AngleGain, fit_circle

    try:
        algebraic = fit_circle(points, noise=noise, method="algebraic")
        geometric = fit_circle(points, noise=noise)
    except InputError as error:
        return None, (f"Without its angles there is no circle: {error}.",)
    return AngleGain(arc, algebraic, geometric), ()


def free_arcs(
    table: PointTable, markers: tuple[str, ...], noise: float | None, targets: Array | None = None
) -> FreeArcs:
    """Algorithm 2 of some markers, and the rigid-body variants where two or more share poses."""
    from elastocal.arcs.concentric import fit_concentric

    for name in markers:
        if table.seen(name) < 2:
            raise InputError(
                f"{table.file}, marker {name}: {table.seen(name)} points draw no arc; measure it in more poses"
            )
    points = [table.points[m] for m in markers]
    with said_of(table, markers):
        everything = fit_concentric(points, noise=noise)
        bad, said = _bad(points, noise)
        good = [without(p, bad, j) for j, p in enumerate(points)]
        rest = fit_concentric(good, noise=noise) if bad else everything
        geometric = fit_concentric(good, noise=noise, method="geometric")
        variants, more = _variants(good, noise, targets)
    return FreeArcs(markers, everything, rest, geometric, variants, bad, (*said, *more))


def without(points: Array, bad: Sequence[BadPoint], marker: int) -> Array:
    """A marker's points with the bad ones as not seen."""
    import numpy as np

    out = points.copy()
    out[[b.pose for b in bad if b.marker == marker]] = np.nan
    return out


def _bad(points: list[Array], noise: float | None) -> tuple[tuple[BadPoint, ...], tuple[str, ...]]:
    """Bad points: by the rigid body where it fits the others, since it names the coordinate, else by the arcs."""
    from elastocal.arcs.robust import robust_common_rotation, robust_concentric

    if len(points) > 1:
        try:
            bad = robust_common_rotation(points, noise=noise).bad
            found, _ = _variants([without(p, bad, j) for j, p in enumerate(points)], noise, None)
            tension = found.models[1].tension if found else None
            if tension is not None and not tension.rejected:
                return bad, ()
        except InputError:
            pass
    try:
        return robust_concentric(points, noise=noise, method="geometric").bad, ()
    except InputError as error:
        return (), (f"The points could not be tested one by one: {error}.",)


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
