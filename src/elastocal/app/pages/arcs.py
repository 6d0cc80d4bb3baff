"""Fitted arcs as a report, and circle-point analysis as one."""

from __future__ import annotations

from math import degrees
from typing import TYPE_CHECKING

import numpy as np

from elastocal.app.commands.arcs import ArcsResult, CirclePointsResult
from elastocal.app.pages.arc_tables import arc_table, known_table, outlier_table, variant_table
from elastocal.app.pages.result_columns import filled, or_reason
from elastocal.quantities import concise
from elastocal.report.blocks import Cell, Column, Fact, Lines, Report, Section, Series, Table

if TYPE_CHECKING:
    from elastocal.app.commands.arcs import CirclePointsResult
    from elastocal.model.frames import DHRow
    from elastocal.procedures.compensator.arcs import Arcs, FreeArcs, KnownArc
    from elastocal.spatial.entries import Array


NO_ANGLE = "the angle is not used"
_MEANS = (
    "Accuracies are standard deviations: exact first-order covariance of the fit, for the noise stated or, where the "
    "residuals are larger or none is stated, for that of the residuals."
)


def page(result: ArcsResult | CirclePointsResult) -> Report:
    if isinstance(result, CirclePointsResult):
        return circle_points_page(result)
    known, free, d = result.arcs.known, result.arcs.free, result.table.dimension
    variants = None if free is None else free.variants
    sections = (
        Section("Arcs", (arc_table(result.arcs, d),)),
        Section("Markers with known angles", (known_table(known),) if known else ()),
        Section("Rigid-body test", () if variants is None else (variant_table(variants, d),)),
        Section("Outliers", filled(outlier_table(result.table, known, free))),
        Section("Residuals", (table(result), _residual_lines(result.arcs))),
    )
    return Report("Arcs of tracked points", _verdict(result.arcs), sections, result.notes, _facts(result))


def _facts(result: ArcsResult) -> tuple[Fact, ...]:
    table, known = result.table, tuple(a.marker for a in result.arcs.known)
    noise = None if result.arcs.noise is None else 1e6 * result.arcs.noise
    return (
        Fact("points", "points", table.file, f"{table.file}, {table.dimension} coordinates"),
        Fact("markers", "markers", table.markers),
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
        return axis_table(result)
    """Residual of every point, outliers included."""
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
    markers = (*(a.marker for a in arcs.known), *(() if arcs.free is None else arcs.free.markers))
    poses = [i + 1.0 for m in markers for i in arcs.residuals(m).poses]
    if not known or not poses:
        return ()
    top = 2 * max(known)
    ends = (min(poses), max(poses))
    return (Series("+-2 sd of the residuals", ends, (top, top), role="noise", low=(-top, -top)),)


_FEW = "fewer than three targets, or axes in line"


def circle_points_page(result: CirclePointsResult) -> Report:
    return Report(
        f"Circle-point analysis of {result.robot.name}",
        _axes_verdict(result),
        (
            Section("Axes", (axis_table(result),)),
            Section("Angles and distances of neighbouring axes", (_neighbour_table(result),)),
            *((Section("DH and Hayati parameters", (_dh_table(result),)),) if result.circle_points.dh else ()),
            Section("Frame errors", (_error_table(result),)),
            Section("Ratios and couplings", (_coupling_table(result),)),
        ),
        result.notes,
    )


def _axes_verdict(result: CirclePointsResult) -> tuple[str, ...]:
    axes = result.circle_points
    worst = max(axes.axes, key=lambda a: a.tilt_sd)
    out = [
        f"{len(axes.axes)} axes measured; the least certain, {worst.joint}, has standard deviations of "
        f"{1e6 * worst.tilt_sd:.2f} urad in direction and {1e6 * worst.shift_sd:.2f} um in place."
    ]
    if axes.errors:
        far = max(axes.errors, key=lambda e: e.angle)
        out.append(f"The axis farthest from the robot file is that of {far.joint}: {1e3 * far.angle:.4f} mrad.")
    for axis in axes.axes:
        if abs(axis.ratio - 1) > 5 * max(axis.ratio_sd, 1e-6):
            out.append(f"RATIO: {axis.joint} turns {axis.ratio:.6f}({axis.ratio_sd:.1g}) times what it is told.")
    return tuple(out)


def axis_table(result: CirclePointsResult) -> Table:
    note = "In the axes of the instrument, at home. All targets of a sweep turn by the same angles."
    return Table.of("axes", result.circle_points.axes, {
        Column("joint", "joint"): lambda a: a.joint,
        tuple(Column(f"a{c}", f"direction {c}", decimals=6) for c in "xyz"): lambda a: a.axis,
        tuple(Column(f"{c}_mm", f"point {c}", "mm", 4) for c in "xyz"): lambda a: 1e3 * a.centre,
        Column("tilt_sd_urad", "sd of direction", "urad", 2): lambda a: 1e6 * a.tilt_sd,
        Column("shift_sd_um", "sd of place", "um", 2): lambda a: 1e6 * a.shift_sd,
        Column("swept_deg", "swept", "deg", 1, part=1): lambda a: degrees(a.swept),
        Column("ratio", "ratio", decimals=6, part=1): lambda a: a.ratio,
        Column("ratio_sd", "sd of ratio", decimals=6, part=1): lambda a: a.ratio_sd,
        Column("residual_um", "residual", "um", 2, part=1): lambda a: 1e6 * a.residual,
        Column("least_radius_mm", "least radius", "mm", 1, part=1): lambda a: 1e3 * min(a.radii),
    }, note)  # fmt: skip


def _neighbour_table(result: CirclePointsResult) -> Table:
    note = "DH alpha and a. The distance is of the common normal, or across the first axis where they are within 5 deg."
    return Table.of("neighbours", result.circle_points.neighbours, {
        Column("first", "axis"): lambda n: n.first,
        Column("second", "and"): lambda n: n.second,
        Column("angle_deg", "angle", "deg", 5): lambda n: degrees(n.angle),
        Column("angle_sd_urad", "sd", "urad", 2): lambda n: 1e6 * n.angle_sd,
        Column("angle_error_mrad", "minus robot file", "mrad", 4): lambda n: 1e3 * (n.angle - n.nominal_angle),
        Column("distance_mm", "distance", "mm", 4): lambda n: 1e3 * n.distance,
        Column("distance_sd_um", "sd", "um", 2): lambda n: 1e6 * n.distance_sd,
        Column("distance_error_um", "minus robot file", "um", 2): lambda n: 1e6 * (n.distance - n.nominal_distance),
    }, note)  # fmt: skip


def _dh_table(result: CirclePointsResult) -> Table:
    note = (
        "Standard DH; nearly parallel neighbours have Hayati's row, with beta and without d. The first d counts from "
        "the base's origin; the last joint has no row, since nothing follows it. theta is without the joint value."
    )
    units = {"a": ("mm", 1e3, "um"), "alpha": ("deg", degrees(1), "urad"), "d": ("mm", 1e3, "um"),
             "theta": ("deg", degrees(1), "urad"), "beta": ("deg", degrees(1), "urad")}  # fmt: skip

    def value(row: DHRow, word: str) -> float | None:
        return None if word == "d" and row.beta is not None else getattr(row, word)

    every = zip(result.circle_points.dh, result.circle_points.dh_errors, strict=True)
    return Table.of("dh", every, {
        Column("joint", "joint"): lambda r: r[0].name,
        tuple(Column(f"{w}_{u}", w, u, decimals=5) for w, (u, _, _) in units.items()):
            lambda r: (None if (v := value(r[0], w)) is None else f * v for w, (_, f, _) in units.items()),
        tuple(Column(f"{w}_error_{u}", f"{w} minus robot file", u, decimals=2, part=1)
              for w, (_, _, u) in units.items()):
            lambda r: (None if value(r[0], w) is None else 1e6 * getattr(r[1], w) for w in units),
    }, note)  # fmt: skip


def _error_table(result: CirclePointsResult) -> Table:
    note = "Tilt and shift across each axis that lay the robot file on what was measured; the first places the base."
    return Table.of("frame_errors", result.circle_points.errors, {
        Column("joint", "axis of"): lambda e: e.joint,
        Column("frame", "in frame"): lambda e: e.frame,
        tuple(Column(f"{c}_um", c, "um", 2) for c in "xyz"): lambda e: (1e6 * v for v in e.shift),
        tuple(Column(f"r{c}_urad", f"r{c}", "urad", 2) for c in "xyz"): lambda e: (1e6 * v for v in e.turn),
    }, note)  # fmt: skip


def _coupling_table(result: CirclePointsResult) -> Table:
    joints, couplings = result.robot.joints, result.circle_points.couplings
    note = (
        "Turned per moved joint, seen from the axes of the robot file: their own tilt (1 mrad is 0.001) is part of it."
    )
    return Table.of("couplings", range(len(joints)), {
        Column("joint", "turned"): lambda i: joints[i],
        tuple(Column(j, f"by {j}", decimals=5) for j in joints): lambda i: (or_reason(v, _FEW) for v in couplings[i]),
    }, note)  # fmt: skip
