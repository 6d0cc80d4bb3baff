"""A plan to measure a compensator, made before any point is, as a report."""

from __future__ import annotations

from elastocal.app.commands.compensator_ahead import AheadResult
from elastocal.app.pages.compensator.plan import plan_section
from elastocal.report.blocks import Fact, Report


def page(result: AheadResult) -> Report:
    title = f"Plan to measure the gravity compensator of joint {result.spring.joint}"
    return Report(title, verdict(result), (plan_section(result.plan),), result.notes, facts(result))


def facts(result: AheadResult) -> tuple[Fact, ...]:
    from elastocal.app.version import VERSION

    g, noise = result.spring, result.request.noise_um
    shape = f"L {1e3 * g.L:.2f}, a_x {1e3 * g.a_x:.2f}, a_y {1e3 * g.a_y:.2f} mm"
    return (
        VERSION,
        Fact("robot", "robot", result.request.robot, result.robot),
        Fact("joint", "joint", g.joint, g.joint),
        Fact("geometry", "geometry", shape, f"{shape}, of the robot file"),
        Fact("markers", "markers about P0", result.markers, str(result.markers)),
        Fact("noise_um", "noise", noise, f"{noise:g} um per coordinate"),
    )


def verdict(result: AheadResult) -> tuple[str, ...]:
    import numpy as np

    out = []
    for row in (r for r in result.plan.rows if r is result.plan.best(r.model)):
        e, angles = row.expected, ", ".join(f"{v:.4g}" for v in np.degrees(row.angles))
        out.append(
            f"Best plan for {row.model}: {result.spring.joint} at {angles} deg; expect standard deviations of "
            f"{1e3 * e.L:.4f} mm for L, {1e3 * e.a_x:.4f} mm for a_x and {1e3 * e.a_y:.4f} mm for a_y."
        )
    return tuple(out)
