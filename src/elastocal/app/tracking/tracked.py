"""Arcs of the markers in a table of tracked points: fits, screening, and every complaint with the marker's name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from elastocal.errors import InputError, UnknownNameError

FAR_AXIS = 20.0
LARGE = 20.0
"""Degrees between a stated axis and the one found, and metres of a radius, beyond which a note is due."""

if TYPE_CHECKING:
    from elastocal.arcs.angle_checks import WrongUnitError
    from elastocal.arcs.bad_points import BadPoint
    from elastocal.arcs.circle import AngleGain
    from elastocal.arcs.known_angle_arc import KnownAngleArc
    from elastocal.files.tables.points import PointTable
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


@contextmanager
def said_of(table: PointTable, markers: Sequence[str]) -> Iterator[None]:
    """Complaints about points name the file, the markers and the column of the angle."""
    from elastocal.arcs.angle_checks import WrongUnitError

    try:
        yield
    except WrongUnitError as error:
        raise InputError(f"{table.file}, {_called(markers)}: {_unit_words(table, error)}") from None
    except InputError as error:
        said = str(error).removeprefix("arc: ").removeprefix("arcs: ")
        raise InputError(f"{table.file}, {_called(markers)}: {said}") from None


def _unit_words(table: PointTable, error: WrongUnitError) -> str:
    """The same complaint by the name of the column."""
    name, unit = table.angle, table.angle_unit
    other = {"rad": "deg", "deg": "rad"}.get(unit or "", "")
    if other and (unit == "rad") == (error.factor < 1):
        words = {"deg": "degrees", "rad": "radians"}[other]
        return f"the angles of column {name}_{unit} look like {words}; name it {name}_{other}: {error.left}"
    size = "large" if error.factor < 1 else "small"
    return f"the angles of column {name}_{unit} look 57.3 times too {size}; check their unit: {error.left}"


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


def check_known_angles(table: PointTable, marker: str) -> None:
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
    from elastocal.arcs.screen import UndecidedError

    points = table.points[marker]
    q = np.where(np.isnan(points[:, 0]), 0.0, angles)
    said: tuple[str, ...] = ()
    with said_of(table, (marker,)):
        try:
            found = robust_known_angles(points, q, noise=noise, sense=sense, axis=axis)
        except UndecidedError as error:
            everything = fit_known_angles(points, q, noise=noise, sense=sense, axis=axis)
            found, said = (
                RobustFit(everything, everything, ()),
                (f"The points could not be tested one by one: {error}.",),
            )
    rest, bad = found.rest, found.bad
    gain, more = _gain(rest, without(points, bad, 0), noise)
    words = (*rest.words(), *_axis_notes(rest, axis), *more, *said)
    notes = (*unseen_notes(table, (marker,)), *(f"{marker}: {w}" for w in words))
    notes = (*notes, *size_notes(table, ((marker, rest.radius),)))
    return KnownArc(marker, found.everything or rest, rest, gain, bad, notes)


def _axis_notes(arc: KnownAngleArc, stated: Array | None) -> tuple[str, ...]:
    """Whether a stated axis is far from the one found."""
    import numpy as np

    if stated is None:
        return ()
    off = float(np.degrees(np.arccos(np.clip(arc.axis @ stated / np.linalg.norm(stated), -1, 1))))
    return (f"the axis found is {off:.0f} deg from the one stated; check it.",) if off > FAR_AXIS else ()


def unseen_notes(table: PointTable, markers: Sequence[str]) -> tuple[str, ...]:
    """Rows without coordinates, by line."""
    import numpy as np

    lost = [
        f"{marker} in pose {table.poses[i]} (line {table.lines[marker][i]})"
        for marker in markers
        for i in np.flatnonzero(np.isnan(table.points[marker][:, 0]) & (table.lines[marker] > 0))
    ]
    return (f"Not seen, the row has no coordinates: {', '.join(lost)}.",) if lost else ()


def size_notes(table: PointTable, radii: Iterable[tuple[str, float]]) -> tuple[str, ...]:
    """Radii that no robot has."""
    large = [f"{m} {r:.4g} m" for m, r in radii if r > LARGE]
    return (
        (f"A radius is larger than a robot ({', '.join(large)}): check the unit of the coordinates.",) if large else ()
    )


def _gain(arc: KnownAngleArc, points: Array, noise: float | None) -> tuple[AngleGain | None, tuple[str, ...]]:
    """Plain circles through the same points; a short arc may have none."""
    from elastocal.arcs.circle import AngleGain, fit_circle

    try:
        algebraic = fit_circle(points, noise=noise, method="algebraic")
        geometric = fit_circle(points, noise=noise)
    except InputError as error:
        return None, (f"Without its angles there is no circle: {error}.",)
    return AngleGain(arc, algebraic, geometric), ()


def without(points: Array, bad: Sequence[BadPoint], marker: int) -> Array:
    """A marker's points with the bad ones as not seen."""
    import numpy as np

    out = points.copy()
    out[[b.pose for b in bad if b.marker == marker]] = np.nan
    return out
