"""Tables of fitted arcs, in mm: fits, angles, rigid-body variants, outliers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from elastocal.app.pages.result_columns import or_reason
from elastocal.report.blocks import Cell, Column, Table, Unknown
from elastocal.solve.summary import standard_deviations

if TYPE_CHECKING:
    from elastocal.files.tables.points import PointTable
    from elastocal.procedures.compensator.arcs import Arcs, FreeArcs, KnownArc
    from elastocal.procedures.compensator.concentric import ConcentricArcs
    from elastocal.procedures.compensator.known_angle_arc import KnownAngleArc
    from elastocal.procedures.compensator.outliers import Outlier
    from elastocal.procedures.compensator.variants import Variants
    from elastocal.solve.nested import NestedTest
    from elastocal.spatial.entries import Array


NO_SPARE = "no equation to spare"


def milli(value: float) -> Cell:
    """In mm or mrad; a standard deviation needs an equation to spare."""
    return or_reason(1e3 * value, NO_SPARE)


def _coordinates(prefix: str, name: str, dimension: int, part: int = 0) -> tuple[Column, ...]:
    """Columns of a point in mm."""
    return tuple(Column(f"{prefix}_{c}_mm", f"{name} {c}", "mm", 4, part=part) for c in "xyz"[:dimension])


def arc_table(arcs: Arcs, d: int) -> Table:
    """One row for each marker, method and set of points."""
    axis = (*(Column(f"axis_{c}", f"axis {c}", "", 6, part=1) for c in "xyz"), Column("axis_sd_mrad", "axis sd", "mrad",
            4, part=1)) if d == 3 else ()  # fmt: skip
    columns = (
        Column("name", "arc, points used"), Column("marker", "", shown=False), Column("method", "", shown=False),
        Column("points", "", shown=False),
        Column("radius_mm", "radius", "mm", 4), Column("radius_sd_mm", "sd", "mm", 4),
        *_coordinates("centre", "centre", d), Column("residual_sd_mm", "residual sd", "mm", 4),
        *_coordinates("centre_sd", "sd of centre", d, part=1), Column("rms_mm", "RMS", "mm", 4, part=1), *axis,
    )  # fmt: skip
    rows = [row for arc in arcs.known for row in _known_rows(arc)]
    rows += _free_rows(arcs.free) if arcs.free is not None else []
    notes: tuple[str, ...] = ("residual sd: corrected for the parameters fitted; RMS: plain, over all coordinates.",)
    if d == 3:
        notes += ("centre: of the marker's own circle, where its plane meets the axis.",)
    return Table("arcs", "", columns, tuple(rows), notes)


def _known_rows(arc: KnownArc) -> list[tuple[Cell, ...]]:
    fits = [("all", arc.all_points)] + ([("without outliers", arc.fit)] if arc.outliers else [])
    out = [
        (*_names(arc.marker, "known angles", word), 1e3 * fit.radius, milli(fit.radius_sd),
         *_fit_cells(fit, fit.centre, standard_deviations(fit.centre_covariance)))
        for word, fit in fits
    ]  # fmt: skip
    if arc.gain is not None:
        for circle in (arc.gain.geometric, arc.gain.algebraic):
            out += _circle_rows((arc.marker,), circle, f"plain circle, {circle.method}", fits[-1][0])
    return out


def _names(marker: str, method: str, points: str) -> tuple[str, ...]:
    return f"{marker}, {method}, {points}", marker, method, points


def _free_rows(free: FreeArcs) -> list[tuple[Cell, ...]]:
    word = "without outliers" if free.outliers else "all"
    out = _circle_rows(free.markers, free.all_points, "common axis", "all")
    out += _circle_rows(free.markers, free.fit, "common axis", word) if free.outliers else []
    return out + _circle_rows(free.markers, free.geometric, "common axis, geometric", word)


def _circle_rows(markers: Sequence[str], fit: ConcentricArcs, method: str, points: str) -> list[tuple[Cell, ...]]:
    out = list[tuple[Cell, ...]]()
    for j, (marker, radius, sd) in enumerate(zip(markers, fit.radii, fit.radii_sd, strict=True)):
        centre, covariance = fit.circle_centre(j)
        cells = _fit_cells(fit, centre, standard_deviations(covariance))
        out.append((*_names(marker, method, points), float(1e3 * radius), milli(sd), *cells))
    return out


def _fit_cells(fit: KnownAngleArc | ConcentricArcs, centre: Array, sd: Array) -> tuple[Cell, ...]:
    """Centre, residuals, sd of the centre and, in space, the axis."""
    axis = (*fit.axis.tolist(), milli(fit.axis_sd)) if fit.dimension == 3 else ()
    return *(1e3 * centre).tolist(), milli(fit.residual_sd), *map(milli, sd), 1e3 * fit.estimate.rms, *axis


def known_table(arcs: Sequence[KnownArc]) -> Table:
    """What the angles say, and what they are worth."""
    none = (Unknown("no plain circle"),) * 2
    note = (
        "zero: direction from the centre to the point at angle zero. gain: how many times a plain circle through the "
        "same points is worse, noise being equal. shortcut: Klimchik et al. 2013 (MIM), eq. (32) with its sum taken "
        "for the number of points, as the text below it does (true of evenly spread angles only), and eq. (34), which "
        "builds on that and leaves out the error of the rotation, RMS over the coordinates."
    )
    return Table.of("known_angles", arcs, {
        Column("marker", "marker"): lambda a: a.marker,
        Column("sense", "runs"): lambda a: "with" if a.fit.sense == 1 else "against",
        Column("residual_sd_mm", "residual sd", "mm", 4): lambda a: milli(a.fit.residual_sd),
        Column("other_sense_mm", "other sense", "mm", 4): lambda a: milli(a.fit.other_sd),
        tuple(Column(f"zero_{c}", f"zero {c}", "", 6) for c in "xyz"[: arcs[0].fit.dimension]):
            lambda a: a.fit.zero_direction,
        Column("zero_sd_mrad", "zero sd", "mrad", 3): lambda a: milli(a.fit.turn_sd),
        (Column("gain_radius", "gain radius", "", 2, part=1), Column("gain_centre", "gain centre", "", 2, part=1)):
            lambda a: none if a.gain is None else (a.gain.radius, a.gain.centre),
        Column("paper_radius_sd_mm", "shortcut sd of radius", "mm", 4, part=1):
            lambda a: milli(a.fit.paper_radius_sd),
        Column("paper_centre_sd_mm", "of centre", "mm", 4, part=1): lambda a: milli(a.fit.paper_centre_sd),
    }, note)  # fmt: skip


def _test_cells(test: NestedTest | None) -> tuple[Cell, ...]:
    if test is None:
        return None, None, None, ""
    return test.kind, or_reason(test.value, NO_SPARE), or_reason(test.probability, NO_SPARE), agreement(test, "?")


def variant_table(variants: Variants, d: int) -> Table:
    """Models of markers about one axis, the freest first."""
    test = (
        Column("test", "test", part=1),
        Column("statistic", "value", digits=4, part=1),
        Column("probability", "probability", probability=True, part=1),
        Column("agrees", "the points", part=1),
    )
    return Table.of("variants", variants.models, {
        Column("model", "model"): lambda m: m.name,
        Column("residual_sd_mm", "residual sd", "mm", 4): lambda m: milli(m.fit.residual_sd),
        _coordinates("centre", "centre" if d == 2 else "axis through", d): lambda m: 1e3 * m.fit.centre,
        _coordinates("centre_sd", "sd", d): lambda m: map(milli, m.centre_sd),
        test: lambda m: _test_cells(m.test),
    }, *variants.sentences())  # fmt: skip


def agreement(test: NestedTest, unknown: str) -> str:
    """What the points do with a model, in a word."""
    if test.probability != test.probability:
        return unknown
    return "reject it" if test.rejected else "agree"


def outlier_table(table: PointTable, arcs: Sequence[KnownArc], free: FreeArcs | None) -> Table:
    angle = (
        (Column("angle_deg", "the angle fits at", "deg", 4),)
        if any(o.angle is not None for a in arcs for o in a.outliers)
        else ()
    )
    columns = (
        Column("marker", "marker"), Column("pose", "pose"), Column("line", "line"), Column("coordinate", "what"),
        Column("read_mm", "read", "mm", 3), Column("predicted_mm", "predicted by the others", "mm", 3), *angle,
        Column("probability", "probability", probability=True), Column("instead", "or instead"),
    )  # fmt: skip
    rows = [row for arc in arcs for o in arc.outliers for row in _outlier_rows(table, (arc.marker,), o, bool(angle))]
    rows += [row for o in free.outliers for row in _outlier_rows(table, free.markers, o, bool(angle))] if free else []
    notes: tuple[str, ...] = ("probability: of a point so far off among all points, if there is no outlier.",)
    if angle:
        notes += ("Where an angle is given the point lies on the circle, and only the joint's angle is wrong.",)
    return Table("outliers", "", columns, tuple(rows), notes)


def _outlier_rows(table: PointTable, markers: Sequence[str], outlier: Outlier, angles: bool) -> list[tuple[Cell, ...]]:
    """One row for each component, or one for the angle where that explains it and no single component does."""
    name = markers[outlier.marker]
    instead = "; ".join(
        f"{markers[j]}, pose {table.poses[i]}, line {table.lines[markers[j]][i]}" for j, i in outlier.instead
    )
    fits = () if not angles else (None if outlier.angle is None else float(np.degrees(outlier.angle)),)
    what: list[tuple[Cell, Cell, Cell]] = [
        (c, float(1e3 * v), float(1e3 * p))
        for c, v, p in zip(outlier.components, outlier.value, outlier.predicted, strict=True)
        if outlier.component in (None, c)
    ]
    if outlier.angle is not None and outlier.component is None:
        what = [("angle", None, None)]
    at = (name, table.poses[outlier.pose], int(table.lines[name][outlier.pose]))
    return [(*at, *w, *fits, outlier.probability, instead) for w in what]
