"""Tables of fitted arcs, in mm: fits, angles, rigid-body variants, bad points, residuals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from elastocal.app.pages.columns import known
from elastocal.app.tracked import KnownArc
from elastocal.app.tracked_free import FreeArcs
from elastocal.report.blocks import Cell, Column, Table, Unknown

if TYPE_CHECKING:
    from elastocal.app.commands.arcs import ArcsResult
    from elastocal.arcs.bad_points import BadPoint
    from elastocal.arcs.concentric import ConcentricArcs
    from elastocal.arcs.known_angle_arc import KnownAngleArc
    from elastocal.arcs.rigid import RigidBody
    from elastocal.arcs.variants import Variants
    from elastocal.files.point_table import PointTable

NO_SPARE = "no equation to spare"


def coordinates(prefix: str, name: str, dimension: int, digits: int = 4) -> tuple[Column, ...]:
    """Columns of a point in mm."""
    return tuple(Column(f"{prefix}_{c}_mm", f"{name} {c}", "mm", digits) for c in "xyz"[:dimension])


def arc_table(result: ArcsResult) -> Table:
    """One row for each marker, method and set of points."""
    d = result.table.dimension
    axis = (*(Column(f"axis_{c}", f"axis {c}", "", 6, part=1) for c in "xyz"), Column("axis_sd_mrad", "axis sd", "mrad",
            4, part=1)) if d == 3 else ()  # fmt: skip
    columns = (
        Column("marker", "marker"), Column("method", "method"), Column("points", "points"),
        Column("radius_mm", "radius", "mm", 4), Column("radius_sd_mm", "sd", "mm", 4),
        *coordinates("centre", "centre", d), *coordinates("centre_sd", "sd", d),
        Column("residual_sd_mm", "residual sd", "mm", 4), Column("rms_mm", "rms", "mm", 4), *axis,
    )  # fmt: skip
    rows = [row for arc in result.known for row in _known_rows(arc)]
    rows += _free_rows(result.free) if result.free is not None else []
    notes = ("residual sd: corrected for the parameters fitted; rms: plain, over all coordinates.",)
    return Table("arcs", "", columns, tuple(rows), notes)


def _known_rows(arc: KnownArc) -> list[tuple[Cell, ...]]:
    fits = [("all", arc.everything)] + ([("without bad", arc.rest)] if arc.bad else [])
    out = [
        (arc.marker, "known angles", word, 1e3 * fit.radius, known(1e3 * fit.radius_sd, NO_SPARE), *_fit_cells(fit))
        for word, fit in fits
    ]
    if arc.gain is not None:
        for circle in (arc.gain.geometric, arc.gain.algebraic):
            out += _circle_rows((arc.marker,), circle, f"plain circle, {circle.method}", fits[-1][0])
    return out


def _free_rows(free: FreeArcs) -> list[tuple[Cell, ...]]:
    word = "without bad" if free.bad else "all"
    out = _circle_rows(free.markers, free.everything, "common axis", "all")
    out += _circle_rows(free.markers, free.rest, "common axis", word) if free.bad else []
    return out + _circle_rows(free.markers, free.geometric, "common axis, geometric", word)


def _circle_rows(markers: Sequence[str], fit: ConcentricArcs, method: str, points: str) -> list[tuple[Cell, ...]]:
    rows = zip(markers, fit.radii, fit.radii_sd, strict=True)
    return [(m, method, points, float(1e3 * r), known(1e3 * s, NO_SPARE), *_fit_cells(fit)) for m, r, s in rows]


def _fit_cells(fit: KnownAngleArc | ConcentricArcs | RigidBody) -> tuple[Cell, ...]:
    """Centre, its sd, residuals and, in space, the axis."""
    import numpy as np

    sd = np.sqrt(np.diag(fit.centre_covariance))
    cells: list[Cell] = [float(1e3 * c) for c in fit.centre]
    cells += [known(1e3 * s, NO_SPARE) for s in sd]
    cells += [known(1e3 * fit.residual_sd, NO_SPARE), 1e3 * fit.estimate.rms]
    if fit.dimension == 3:
        cells += [float(c) for c in fit.axis]
        cells.append(known(1e3 * float(np.sqrt(np.trace(fit.axis_covariance))), NO_SPARE))
    return tuple(cells)


def known_table(arcs: Sequence[KnownArc]) -> Table:
    """What the angles say, and what they are worth."""
    import numpy as np

    d = arcs[0].everything.dimension
    columns = (
        Column("marker", "marker"), Column("sense", "runs"),
        Column("residual_sd_mm", "residual sd", "mm", 4), Column("other_sense_mm", "other sense", "mm", 4),
        *(Column(f"zero_{c}", f"zero {c}", "", 6) for c in "xyz"[:d]),
        Column("zero_sd_mrad", "zero sd", "mrad", 3),
        Column("gain_radius", "gain radius", "", 2), Column("gain_centre", "gain centre", "", 2),
        Column("paper_radius_sd_mm", "shortcut sd of radius", "mm", 4),
        Column("paper_centre_sd_mm", "of centre", "mm", 4),
    )  # fmt: skip
    rows = []
    for arc in arcs:
        fit = arc.rest
        gain = arc.gain
        gains: tuple[Cell, ...] = (Unknown("no plain circle"),) * 2 if gain is None else (gain.radius, gain.centre)
        paper = 1e3 * float(np.sqrt(np.trace(fit.paper_centre_covariance) / d))
        rows.append((
            arc.marker, "with" if fit.sense == 1 else "against", known(1e3 * fit.residual_sd, NO_SPARE),
            known(1e3 * fit.other_sd, NO_SPARE), *(float(v) for v in fit.zero_direction),
            known(1e3 * fit.turn_sd, NO_SPARE), *gains, known(1e3 * fit.paper_radius_sd, NO_SPARE),
            known(paper, NO_SPARE),
        ))  # fmt: skip
    notes = (
        "zero: direction from the centre to the point at angle zero. gain: how many times a plain circle through the "
        "same points is worse, noise being equal. shortcut: Klimchik et al. 2013 (MIM) eq. (32) and (34), rms over the "
        "coordinates, which count the angles as if they were spread evenly.",
    )
    return Table("known_angles", "", columns, tuple(rows), notes)


def variant_table(variants: Variants, d: int) -> Table:
    """Models of markers about one axis, the freest first."""
    columns = (
        Column("model", "model"), Column("residual_sd_mm", "residual sd", "mm", 4),
        *coordinates("centre", "centre", d), *coordinates("centre_sd", "sd", d),
        Column("test", "test"), Column("statistic", "value", digits=4), Column("probability", "probability", digits=2),
        Column("agrees", "the points"),
    )  # fmt: skip
    rows: list[tuple[Cell, ...]] = []
    for m in variants.models:
        t = m.tension
        said = "" if t is None else "reject it" if t.rejected else "agree" if t.probability == t.probability else "?"
        cells = (*(float(1e3 * c) for c in m.fit.centre), *(known(1e3 * s, NO_SPARE) for s in m.centre_sd))
        test: tuple[Cell, ...] = (None, None, None) if t is None else (
            t.test, known(t.statistic, NO_SPARE), known(t.probability, NO_SPARE))  # fmt: skip
        rows.append((m.name, known(1e3 * m.fit.residual_sd, NO_SPARE), *cells, *test, said))
    return Table("variants", "", columns, tuple(rows), variants.words())


def bad_table(table: PointTable, arcs: Sequence[KnownArc], free: FreeArcs | None) -> Table:
    columns = (
        Column("marker", "marker"), Column("pose", "pose"), Column("line", "line"), Column("coordinate", "what"),
        Column("read_mm", "read", "mm", 3), Column("predicted_mm", "the rest predicts", "mm", 3),
        Column("probability", "probability", digits=2), Column("instead", "or instead"),
    )  # fmt: skip
    rows = [row for arc in arcs for b in arc.bad for row in _bad_rows(table, (arc.marker,), b)]
    rows += [row for b in free.bad for row in _bad_rows(table, free.markers, b)] if free is not None else []
    notes = ("probability: of a point so far off among all points, if none were bad.",)
    return Table("bad_points", "", columns, tuple(rows), notes)


def _bad_rows(table: PointTable, markers: Sequence[str], bad: BadPoint) -> list[tuple[Cell, ...]]:
    name = markers[bad.marker]
    instead = "; ".join(
        f"{markers[j]}, pose {table.poses[i]}, line {table.lines[markers[j]][i]}" for j, i in bad.instead
    )
    shown = [i for i, c in enumerate(bad.components) if bad.component in (None, c)]
    return [
        (name, table.poses[bad.pose], int(table.lines[name][bad.pose]), bad.components[i], float(1e3 * bad.value[i]),
         float(1e3 * bad.predicted[i]), bad.probability, instead)
        for i in shown
    ]  # fmt: skip
