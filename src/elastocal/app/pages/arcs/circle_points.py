"""Circle-point analysis as a report."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from elastocal.app.pages.result_columns import or_reason
from elastocal.report.blocks import Cell, Column, Report, Section, Table

if TYPE_CHECKING:
    from elastocal.app.commands.arcs import CirclePointsResult

_FEW = "fewer than three targets, or axes in line"


def page(result: CirclePointsResult) -> Report:
    return Report(
        f"Circle-point analysis of {result.robot.name}",
        _verdict(result),
        (
            Section("Axes", (axis_table(result),)),
            Section("Angles and distances of neighbouring axes", (_neighbour_table(result),)),
            *((Section("DH and Hayati parameters", (_dh_table(result),)),) if result.circle_points.dh else ()),
            Section("Frame errors", (_error_table(result),)),
            Section("Ratios and couplings", (_coupling_table(result),)),
        ),
        result.notes,
    )


def _verdict(result: CirclePointsResult) -> tuple[str, ...]:
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
    columns = (
        Column("joint", "joint"),
        *(Column(f"a{c}", f"direction {c}", decimals=6) for c in "xyz"),
        *(Column(f"{c}_mm", f"point {c}", "mm", decimals=4) for c in "xyz"),
        Column("tilt_sd_urad", "sd of direction", "urad", decimals=2),
        Column("shift_sd_um", "sd of place", "um", decimals=2),
        Column("swept_deg", "swept", "deg", decimals=1, part=1),
        Column("ratio", "ratio", decimals=6, part=1),
        Column("ratio_sd", "sd of ratio", decimals=6, part=1),
        Column("residual_um", "residual", "um", decimals=2, part=1),
        Column("least_radius_mm", "least radius", "mm", decimals=1, part=1),
    )
    rows: list[tuple[Cell, ...]] = [
        (a.joint, *(float(v) for v in a.axis), *(float(1e3 * v) for v in a.centre), 1e6 * a.tilt_sd, 1e6 * a.shift_sd,
         float(np.degrees(a.swept)), a.ratio, a.ratio_sd, 1e6 * a.residual, 1e3 * min(a.radii))
        for a in result.circle_points.axes
    ]  # fmt: skip
    note = "In the axes of the instrument, at home. All targets of a sweep turn by the same angles."
    return Table("axes", "", columns, tuple(rows), (note,))


def _neighbour_table(result: CirclePointsResult) -> Table:
    columns = (
        Column("first", "axis"), Column("second", "and"),
        Column("angle_deg", "angle", "deg", decimals=5), Column("angle_sd_urad", "sd", "urad", decimals=2),
        Column("angle_error_mrad", "minus robot file", "mrad", decimals=4),
        Column("distance_mm", "distance", "mm", decimals=4), Column("distance_sd_um", "sd", "um", decimals=2),
        Column("distance_error_um", "minus robot file", "um", decimals=2),
    )  # fmt: skip
    rows = [
        (n.first, n.second, float(np.degrees(n.angle)), 1e6 * n.angle_sd, 1e3 * (n.angle - n.nominal_angle),
         1e3 * n.distance, 1e6 * n.distance_sd, 1e6 * (n.distance - n.nominal_distance))
        for n in result.circle_points.neighbours
    ]  # fmt: skip
    note = "DH alpha and a. The distance is of the common normal, or across the first axis where they are within 5 deg."
    return Table("neighbours", "", columns, tuple(rows), (note,))


def _dh_table(result: CirclePointsResult) -> Table:
    columns = (
        Column("joint", "joint"),
        *(Column(f"{w}_{u}", w, u, decimals=5) for w, u in (("a", "mm"), ("alpha", "deg"), ("d", "mm"),
                                                          ("theta", "deg"), ("beta", "deg"))),
        *(Column(f"{w}_error_{u}", f"{w} minus robot file", u, decimals=2, part=1)
          for w, u in (("a", "um"), ("alpha", "urad"), ("d", "um"), ("theta", "urad"), ("beta", "urad"))),
    )  # fmt: skip
    rows: list[tuple[Cell, ...]] = []
    for row, error in zip(result.circle_points.dh, result.circle_points.dh_errors, strict=True):
        parallel = row.beta is not None
        shown = (1e3 * row.a, float(np.degrees(row.alpha)), None if parallel else 1e3 * row.d,
                 float(np.degrees(row.theta)), None if row.beta is None else float(np.degrees(row.beta)))  # fmt: skip
        off = (error.a, error.alpha, None if parallel else error.d, error.theta, error.beta)
        rows.append((row.name, *shown, *(None if v is None else 1e6 * v for v in off)))
    note = (
        "Standard DH; nearly parallel neighbours have Hayati's row, with beta and without d. The first d counts from "
        "the base's origin; the last joint has no row, since nothing follows it. theta is without the joint value."
    )
    return Table("dh", "", columns, tuple(rows), (note,))


def _error_table(result: CirclePointsResult) -> Table:
    columns = (
        Column("joint", "axis of"), Column("frame", "in frame"),
        *(Column(f"{c}_um", c, "um", decimals=2) for c in "xyz"),
        *(Column(f"r{c}_urad", f"r{c}", "urad", decimals=2) for c in "xyz"),
    )  # fmt: skip
    rows: list[tuple[Cell, ...]] = [
        (e.joint, e.frame, *(1e6 * v for v in e.shift), *(1e6 * v for v in e.turn)) for e in result.circle_points.errors
    ]
    note = "Tilt and shift across each axis that lay the robot file on what was measured; the first places the base."
    return Table("frame_errors", "", columns, tuple(rows), (note,))


def _coupling_table(result: CirclePointsResult) -> Table:
    joints = result.robot.joints
    columns = (Column("joint", "turned"), *(Column(j, f"by {j}", decimals=5) for j in joints))
    rows = [
        (joint, *(or_reason(float(v), _FEW) for v in result.circle_points.couplings[i]))
        for i, joint in enumerate(joints)
    ]
    note = (
        "Turned per moved joint, seen from the axes of the robot file: their own tilt (1 mrad is 0.001) is part of it."
    )
    return Table("couplings", "", columns, tuple(rows), (note,))
