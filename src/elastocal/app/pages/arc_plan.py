"""Planned angles and marker places of a compensator: compared, and as the report of a plan made ahead."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from elastocal.app.configurations import axes_of
from elastocal.app.pages.result_columns import axis_columns
from elastocal.report.blocks import Column, Fact, Report, Section, Table

if TYPE_CHECKING:
    from elastocal.app.commands.compensator import AheadResult
    from elastocal.app.commands.plan import ArcPlanResult
    from elastocal.procedures.compensator.marker_design import ArcPlan
    from elastocal.spatial.entries import Array


def ahead_page(result: AheadResult) -> Report:
    title = f"Plan to measure the gravity compensator of joint {result.spring.joint}"
    section = Section("Plan for the next measurement", (ahead_table(result),))
    return Report(title, _verdict(result), (section,), result.notes, _facts(result))


def ahead_table(result: AheadResult) -> Table:
    return plan_table(result.plan, f"(stated) and {len(result.plan.radii)} markers at equal distances from P0")


def _facts(result: AheadResult) -> tuple[Fact, ...]:
    g, noise, markers = result.spring, 1e6 * result.plan.noise, len(result.plan.radii)
    shape = f"L {1e3 * g.L:.2f}, a_x {1e3 * g.a_x:.2f}, a_y {1e3 * g.a_y:.2f} mm"
    return (
        Fact("robot", "robot", result.robot, result.model.name),
        Fact("joint", "joint", g.joint),
        Fact("geometry", "geometry", shape, f"{shape}, of the robot file"),
        Fact("markers", "markers about P0", markers),
        Fact("noise_um", "noise", noise, f"{noise:g} um per coordinate"),
    )


def _verdict(result: AheadResult) -> tuple[str, ...]:
    out = []
    for row in (r for r in result.plan.rows if r is result.plan.best(r.model)):
        e, angles = row.expected, ", ".join(f"{v:.4g}" for v in np.degrees(row.angles))
        out.append(
            f"Best plan for {row.model}: {result.spring.joint} at {angles} deg; expect standard deviations of "
            f"{1e3 * e.L:.4f} mm for L, {1e3 * e.a_x:.4f} mm for a_x and {1e3 * e.a_y:.4f} mm for a_y."
        )
    return tuple(out)


def plan_table(plan: ArcPlan, assumed: str) -> Table:
    """``assumed``: where the noise and the markers' radii are from."""
    low, high = np.degrees(plan.limits)
    notes = [
        f"Expected for a noise of {1e3 * plan.noise:.3g} mm per coordinate {assumed}; "
        f"joint within {low:g} to {high:g} deg, three angles at least 10 deg apart.",
        "Exact covariance: the least sum of the variances of L, a_x and a_y, angles and places together, for each "
        "model. Without a common rotation opposite places are no better than one, whatever (36) says: two markers "
        "belong a quarter turn apart.",
        *_ends(plan),
    ]
    return Table.of("plan", plan.rows, {
        Column("name", "plan and model of the markers"): lambda r: f"{r.name}, {r.model}",
        Column("plan", "", shown=False): lambda r: r.name,
        Column("model", "", shown=False): lambda r: r.model,
        tuple(Column(f"{n}_sd_mm", f"sd {n}", "mm", 4) for n in ("L", "a_x", "a_y")):
            lambda r: (1e3 * v for v in (r.expected.L, r.expected.a_x, r.expected.a_y)),
        (Column("imbalance_35", "eq. (35)", "", 4), Column("imbalance_36", "eq. (36)", "", 4)):
            lambda r: r.imbalances,
        Column("angles_deg", "angles [deg]", part=1): lambda r: _degrees(r.angles),
        Column("places_deg", "markers from the spring [deg]", part=1): lambda r: _degrees(r.places),
    }, *notes)  # fmt: skip


def _ends(plan: ArcPlan) -> tuple[str, ...]:
    """Where (35) puts its angles, if the range is too short for it."""
    if plan.inner_angles is None:
        return ()
    third = " but for the third one, without which both senses of rotation fit" if plan.inner_angles else ""
    return (f"The range is under half a turn, so (35) cannot reach zero: its angles lie at the ends{third}.",)


def plan_sentences(plan: ArcPlan) -> tuple[str, ...]:
    """What the best plan brings, with the strictest model compared."""
    model = plan.rows[-1].model
    now, best = next(r for r in plan.rows if r.model == model), plan.best(model)
    before, after = now.expected, best.expected
    return (
        f"The best {len(best.angles)} angles and marker places ({model}) would bring the standard "
        f"deviations of L, a_x, a_y from {1e3 * before.L:.3f}, {1e3 * before.a_x:.3f}, {1e3 * before.a_y:.3f} "
        f"({len(now.angles)} angles as measured) to {1e3 * after.L:.3f}, {1e3 * after.a_x:.3f}, {1e3 * after.a_y:.3f} "
        "mm, noise being equal.",
    )


def _degrees(angles: Array) -> str:
    """Equal angles once, with their number."""
    values, counts = np.unique(np.round(np.degrees(angles), 1) + 0.0, return_counts=True)
    return ", ".join(f"{v:g}" if n == 1 else f"{n} x {v:g}" for v, n in zip(values, counts, strict=True))


def arcs_page(result: ArcPlanResult) -> Report:
    file = result.file
    facts = (
        Fact("source", "plan file", result.request.source),
        Fact("robot", "robot", file.robot),
        Fact("joint", "joint", file.compensator.joint),
        Fact("noise_mm", "noise per coordinate", 1e3 * file.noise, f"{1e3 * file.noise:.3g} mm"),
    )
    radii = ", ".join(f"{1e3 * r:g}" for r in file.radii)
    sections = (
        Section("The plan", (_pose_table(result), _place_table(result))),
        Section("Plans compared", (plan_table(result.plan, f"(stated) and markers {radii} mm from P0"),)),
    )
    best = result.best.expected
    verdict = (
        f"{len(result.q)} poses and {len(file.radii)} markers ({result.best.model}) let expect standard deviations of "
        f"{1e3 * best.L:.4f} mm for L, {1e3 * best.a_x:.4f} mm for a_x and {1e3 * best.a_y:.4f} mm for a_y.",
    )
    return Report(f"Plan: {file.name}", verdict, sections, result.notes, facts)


def _pose_table(result: ArcPlanResult) -> Table:
    model, axes = result.file.model, axes_of(result.file.model)
    shown = model.controller.to_controller(result.q) / axes.factors + 0.0
    return Table.of("poses", range(len(shown)), {
        Column("pose", "pose"): lambda i: i + 1,
        axis_columns(axes, 2, ""): lambda i: shown[i],
    }, f"Every pose: {', '.join(result.markers)} are read.")  # fmt: skip


def _place_table(result: ArcPlanResult) -> Table:
    turned = (np.degrees(result.best.places) + 180) % 360 - 180
    return Table.of("places", range(len(turned)), {
        Column("marker", "marker"): lambda i: result.markers[i + 1],
        Column("radius_mm", "distance from P0", "mm", 1): lambda i: 1e3 * result.file.radii[i],
        Column("place_deg", "angle from the spring, seen from P0", "deg", 1): lambda i: turned[i],
    }, f"Best for markers taken as {result.best.model}.")  # fmt: skip
