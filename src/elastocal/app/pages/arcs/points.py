"""Residuals of tracked points: every point against its arc, as a table and as a drawing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elastocal.app.pages.columns import or_reason
from elastocal.app.tracking.tracked import KnownArc
from elastocal.report.blocks import Cell, Column, Lines, Series, Table

if TYPE_CHECKING:
    from elastocal.app.commands.arcs import ArcsResult
    from elastocal.spatial.entries import Array, Ints

NO_ANGLE = "the angle is not used"


def point_table(result: ArcsResult) -> Table:
    """Every point against its arc, bad ones included."""
    import numpy as np

    table = result.table
    d, angle = table.dimension, table.angle is not None
    columns = (
        Column("marker", "marker"), Column("pose", "pose"), Column("line", "line"),
        *((Column("angle_deg", "angle", "deg", 4),) if angle else ()),
        Column("radial_mm", "beyond the radius", "mm", 4), Column("along_mm", "along the arc", "mm", 4),
        *((Column("height_mm", "above its plane", "mm", 4),) if d == 3 else ()), Column("used", "used"),
    )  # fmt: skip
    rows: list[tuple[Cell, ...]] = []
    for marker in table.markers:
        seen = np.flatnonzero(~np.isnan(table.points[marker][:, 0]))
        off, bad = _residuals(result, marker, seen)
        for i, cells in zip(seen, off, strict=True):
            q = table.angles[marker][i]
            at = (float(np.round(np.degrees(q), 10)) if np.isfinite(q) else None,) if angle else ()
            out = (or_reason(1e3 * float(v), NO_ANGLE) for v in cells)
            rows.append((marker, table.poses[i], int(table.lines[marker][i]), *at, *out, int(i) not in bad))
    return Table("points", "", columns, tuple(rows), ("Measured minus fitted, without the bad points in the fit.",))


def _residuals(result: ArcsResult, marker: str, seen: Ints) -> tuple[Array, set[int]]:
    """(points, 2 or 3): radial, along the arc (nan without angles) and, in space, along the axis; and bad poses."""
    import numpy as np

    for arc in result.known:
        if arc.marker == marker:
            local, u = (
                arc.rest.problem.frame.local(result.table.points[marker][seen]),
                arc.everything.problem.directions,
            )
            turn = arc.rest.sense * np.angle((local[:, 0] + 1j * local[:, 1]) * (u[:, 0] - 1j * u[:, 1]))
            distance = np.hypot(local[:, 0], local[:, 1])
            radial, along = distance - arc.rest.radius, distance * turn
            return np.column_stack([radial, along, local[:, 2:]]), {b.pose for b in arc.bad}
    assert result.free is not None
    j, problem = result.free.markers.index(marker), result.free.rest.problem
    local = problem.frame.local(result.table.points[marker][seen])
    radial = np.hypot(local[:, 0], local[:, 1]) - problem.radii[j]
    out = np.column_stack([radial, np.full(len(local), np.nan), local[:, 2:] - problem.heights[j]])
    return out, {b.pose for b in result.free.bad if b.marker == j}


def residual_lines(result: ArcsResult) -> Lines:
    """Distances beyond the radius, over the poses."""
    series = []
    for arc in result.known:
        poses = [i + 1.0 for i in arc.everything.problem.poses]
        series.append(Series(arc.marker, tuple(poses), _beyond(arc), points=True))
    if result.free is not None:
        problem = result.free.rest.problem
        for j, marker in enumerate(result.free.markers):
            rows = problem.markers.marker == j
            y = tuple(float(1e3 * v) for v in problem.residuals()[rows, 0])
            series.append(Series(marker, tuple(float(i + 1) for i in problem.markers.pose[rows]), y, points=True))
    notes = ("Bad points of markers without angles are not drawn.",) if result.free and result.free.bad else ()
    return Lines("radial", "Distance beyond the arc", "pose", "", "beyond", "mm", tuple(series), notes)


def _beyond(arc: KnownArc) -> tuple[float, ...]:
    import numpy as np

    fit = arc.rest
    local = fit.problem.frame.local(arc.everything.problem.measured)
    return tuple(float(1e3 * v) for v in np.hypot(local[:, 0], local[:, 1]) - fit.radius)
