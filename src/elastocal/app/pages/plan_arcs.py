"""A plan of arcs as a report."""

from __future__ import annotations

from elastocal.app.configurations import axes_of
from elastocal.app.inputs import VERSION
from elastocal.app.pages.compensator_plan import plan_table
from elastocal.app.planning.arcs import ArcPlanResult
from elastocal.report.blocks import Cell, Column, Fact, Report, Section, Table


def page(result: ArcPlanResult) -> Report:
    file = result.file
    facts = (
        VERSION,
        Fact("source", "plan file", result.request.source, result.request.source),
        Fact("robot", "robot", file.robot, file.robot),
        Fact("joint", "joint", file.compensator.joint, file.compensator.joint),
        Fact("noise_mm", "noise per coordinate", 1e3 * file.noise, f"{1e3 * file.noise:.3g} mm"),
    )
    radii = ", ".join(f"{1e3 * r:g}" for r in file.radii)
    sections = (
        Section("The plan", (pose_table(result), place_table(result))),
        Section("Plans compared", (plan_table(result.plan, f"(stated) and markers {radii} mm from P0"),)),
    )
    best = result.best.expected
    verdict = (
        f"{len(result.q)} poses and {len(file.radii)} markers ({result.best.model}) let expect standard deviations of "
        f"{1e3 * best.L:.4f} mm for L, {1e3 * best.a_x:.4f} mm for a_x and {1e3 * best.a_y:.4f} mm for a_y.",
    )
    return Report(f"Plan: {file.name}", verdict, sections, result.notes, facts)


def pose_table(result: ArcPlanResult) -> Table:
    model, axes = result.file.model, axes_of(result.file.model)
    shown = model.controller.to_controller(result.q) / axes.factors
    columns = (
        Column("pose", "pose"),
        *(Column(f"{a}_{u}", a, u, 2) for a, u in zip(axes.names, axes.units, strict=True)),
    )
    rows: tuple[tuple[Cell, ...], ...] = tuple((i + 1, *(float(v) + 0.0 for v in row)) for i, row in enumerate(shown))
    return Table("poses", "", columns, rows, (f"Every pose: {', '.join(result.markers)} are read.",))


def place_table(result: ArcPlanResult) -> Table:
    import numpy as np

    best = result.best
    columns = (
        Column("marker", "marker"), Column("radius_mm", "distance from P0", "mm", 1),
        Column("place_deg", "angle from the spring, seen from P0", "deg", 1),
    )  # fmt: skip
    turned = (np.degrees(best.places) + 180) % 360 - 180
    pairs = zip(result.markers[1:], 1e3 * result.file.radii, turned, strict=True)
    rows: tuple[tuple[Cell, ...], ...] = tuple((m, float(r), float(p)) for m, r, p in pairs)
    return Table("places", "", columns, rows, (f"Best for markers taken as {best.model}.",))
