"""Fitted arcs as a report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elastocal.app.commands.arcs import ArcsResult, CirclePointsResult
from elastocal.app.pages.arcs import circle_points
from elastocal.app.pages.arcs.tables import arc_table, known_table, outlier_table, variant_table
from elastocal.app.pages.result_columns import or_reason
from elastocal.quantities import concise
from elastocal.report.blocks import Cell, Column, Fact, Lines, Report, Section, Series, Table

if TYPE_CHECKING:
    from elastocal.procedures.compensator.arcs import Arcs, FreeArcs, KnownArc
    from elastocal.spatial.entries import Array

NO_ANGLE = "the angle is not used"
_MEANS = (
    "Accuracies are standard deviations: exact first-order covariance of the fit, for the noise stated or, where the "
    "residuals are larger or none is stated, for that of the residuals."
)


def page(result: ArcsResult | CirclePointsResult) -> Report:
    if isinstance(result, CirclePointsResult):
        return circle_points.page(result)
    known, free, d = result.arcs.known, result.arcs.free, result.table.dimension
    variants = None if free is None else free.variants
    outliers = outlier_table(result.table, known, free)
    sections = (
        Section("Arcs", (arc_table(result.arcs, d),)),
        Section("Markers with known angles", (known_table(known),) if known else ()),
        Section("Rigid-body test", () if variants is None else (variant_table(variants, d),)),
        Section("Outliers", (outliers,) if outliers.rows else ()),
        Section("Residuals", (table(result), _residual_lines(result.arcs))),
    )
    return Report("Arcs of tracked points", _verdict(result.arcs), sections, result.notes, _facts(result))


def _facts(result: ArcsResult) -> tuple[Fact, ...]:
    table, known = result.table, tuple(a.marker for a in result.arcs.known)
    noise = None if result.arcs.noise is None else 1e6 * result.arcs.noise
    return (
        Fact("points", "points", table.file, f"{table.file}, {table.dimension} coordinates"),
        Fact("markers", "markers", table.markers, ", ".join(table.markers)),
        Fact("known", "with known angles", known, ", ".join(known) or "none"),
        Fact("noise_um", "noise", noise, "from the residuals" if noise is None else f"{noise:g} um per coordinate"),
        Fact("accuracy", "accuracy", _MEANS, "standard deviations"),
    )


def _verdict(arcs: Arcs) -> tuple[str, ...]:
    out = [_known_sentence(a) for a in arcs.known]
    if arcs.free is not None:
        out.append(_free_sentence(arcs.free))
        if arcs.free.variants is not None and arcs.free.variants.apart:
            out += arcs.free.variants.axes_sentences()
        out += arcs.free.geometric.sentences()
    n = arcs.outliers
    left = "left out of these figures and named under Outliers; the table of arcs has the results with and without."
    out.append(f"{n} outlier{'s' * (n > 1)}: {left}" if n else "No outliers.")
    return tuple(out)


def _known_sentence(arc: KnownArc) -> str:
    fit = arc.fit
    way = "with" if fit.sense == 1 else "against"
    about = "the angle" if fit.dimension == 2 else f"the angle about the axis {_direction(fit.axis)}"
    gain = (
        ""
        if arc.gain is None
        else f"; without the angles its standard deviation is {arc.gain.radius:.3g} times as large"
    )
    return (
        f"{arc.marker}: radius {_with_sd(fit.radius, fit.radius_sd)} mm about {_place(fit.centre)} mm, turning {way} "
        f"{about}{gain}."
    )


def _free_sentence(free: FreeArcs) -> str:
    fit = free.fit
    word = "radius" if len(free.markers) == 1 else "radii"
    radii = ", ".join(f"{m} {_with_sd(r, s)}" for m, r, s in zip(free.markers, fit.radii, fit.radii_sd, strict=True))
    place = f"centre {_place(fit.centre)} mm"
    if fit.dimension == 3:
        place = f"axis through {_place(fit.centre)} mm along {_direction(fit.axis)}"
        if len(free.markers) > 1:
            heights = ", ".join(f"{m} {1e3 * h:.3f}" for m, h in zip(free.markers, fit.heights, strict=True))
            radii += f" mm, heights along it {heights}"
    return f"Without angles: {place}, {word} {radii} mm."


def _with_sd(value: float, sd: float) -> str:
    """Both in mm; a standard deviation needs an equation to spare."""
    return concise(1e3 * value, 1e3 * sd) if sd > 0 else f"{1e3 * value:.4f} (sd unknown: no equation to spare)"


def _place(centre: Array) -> str:
    return "(" + ", ".join(f"{1e3 * c:.3f}" for c in centre) + ")"


def _direction(axis: Array) -> str:
    return "(" + ", ".join(f"{c:.4f}" for c in axis) + ")"


def table(result: ArcsResult | CirclePointsResult) -> Table:
    if isinstance(result, CirclePointsResult):
        return circle_points.axis_table(result)
    """Residual of every point, outliers included."""
    import numpy as np

    points = result.table
    d, angle = points.dimension, points.angle is not None
    columns = (
        Column("marker", "marker"), Column("pose", "pose"), Column("line", "line"),
        *((Column("angle_deg", "angle", "deg", 4),) if angle else ()),
        Column("radial_mm", "beyond the radius", "mm", 4), Column("along_mm", "along the arc", "mm", 4),
        *((Column("height_mm", "above its plane", "mm", 4),) if d == 3 else ()), Column("used", "used"),
    )  # fmt: skip
    rows: list[tuple[Cell, ...]] = []
    for marker in points.markers:
        r = result.arcs.residuals(marker)
        off = np.column_stack([v for v in (r.radial, r.along, r.height) if v is not None])
        for i, cells, used in zip(r.poses, off, r.used, strict=True):
            q = points.angles[marker][i]
            at = (float(np.round(np.degrees(q), 10)) if np.isfinite(q) else None,) if angle else ()
            out = (or_reason(1e3 * float(v), NO_ANGLE) for v in cells)
            rows.append((marker, points.poses[i], int(points.lines[marker][i]), *at, *out, bool(used)))
    return Table("points", "", columns, tuple(rows), ("Measured minus fitted, without outliers in the fit.",))


def _residual_lines(arcs: Arcs) -> Lines:
    """Distances beyond the radius, over the poses, with twice the standard deviation of the residuals."""
    series = list(_bands(arcs))
    for arc in arcs.known:
        r = arc.residuals()
        y = tuple(float(1e3 * v) for v in r.radial)
        series.append(Series(arc.marker, tuple(i + 1.0 for i in r.poses), y, points=True))
    for marker in arcs.free.markers if arcs.free is not None else ():
        r = arcs.residuals(marker)
        kept = [(i + 1.0, float(1e3 * v)) for i, v, used in zip(r.poses, r.radial, r.used, strict=True) if used]
        series.append(Series(marker, tuple(x for x, _ in kept), tuple(y for _, y in kept), points=True))
    notes = ("Outliers of markers without angles are not drawn.",) if arcs.free and arcs.free.outliers else ()
    return Lines("radial", "Residuals across the arc", "pose", "", "residual", "mm", tuple(series), notes)


def _bands(arcs: Arcs) -> tuple[Series, ...]:
    """The widest of them, which holds for all that is drawn."""
    sizes = [a.fit.residual_sd for a in arcs.known] + ([] if arcs.free is None else [arcs.free.fit.residual_sd])
    known = [1e3 * s for s in sizes if s == s]
    poses = [i + 1.0 for m in _markers(arcs) for i in arcs.residuals(m).poses]
    if not known or not poses:
        return ()
    top = 2 * max(known)
    ends = (min(poses), max(poses))
    return (Series("+-2 sd of the residuals", ends, (top, top), role="noise", low=(-top, -top)),)


def _markers(arcs: Arcs) -> tuple[str, ...]:
    return (*(a.marker for a in arcs.known), *(() if arcs.free is None else arcs.free.markers))
