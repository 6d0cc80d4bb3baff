"""Planned angles and marker places of a compensator, as a section of its report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elastocal.app.tracking.compensator_plan import BALANCE
from elastocal.report.blocks import Column, Section, Table

if TYPE_CHECKING:
    from elastocal.app.tracking.compensator_plan import PlannedArcs
    from elastocal.spatial.entries import Array


def plan_section(plan: PlannedArcs) -> Section:
    return Section("Plan for the next measurement", (plan_table(plan),))


def plan_table(plan: PlannedArcs) -> Table:
    import numpy as np

    from elastocal.arcs.expected import imbalance

    columns = (
        Column("name", "plan and model of the markers"), Column("plan", "", shown=False),
        Column("model", "", shown=False), *(Column(f"{n}_sd_mm", f"sd {n}", "mm", 4) for n in ("L", "a_x", "a_y")),
        Column("imbalance_35", "(35)", "", 4), Column("imbalance_36", "(36)", "", 4),
        Column("angles_deg", "angles [deg]", part=1), Column("places_deg", "markers from the spring [deg]", part=1),
    )  # fmt: skip
    rows = tuple(
        (f"{r.name}, {r.model}", r.name, r.model, 1e3 * r.expected.L, 1e3 * r.expected.a_x, 1e3 * r.expected.a_y,
         imbalance(r.angles), imbalance(r.places), _degrees(r.angles), _degrees(r.places))
        for r in plan.rows
    )  # fmt: skip
    low, high = np.degrees(plan.limits)
    source = "stated" if plan.stated else "of the residuals"
    notes = [
        f"Expected for a noise of {1e3 * plan.noise:.3g} mm per coordinate ({source}) and {plan.radii}; "
        f"joint within {low:g} to {high:g} deg, three angles at least 10 deg apart.",
        "Exact covariance: the least sum of the variances of L, a_x and a_y, angles and places together, for each "
        "model. Without a common rotation opposite places are no better than one, whatever (36) says: two markers "
        "belong a quarter turn apart.",
        *_ends(plan),
    ]
    return Table("plan", "", columns, rows, tuple(notes))


def _ends(plan: PlannedArcs) -> tuple[str, ...]:
    """Where (35) puts its angles, if the range is too short for it."""
    import numpy as np

    low, high = plan.limits
    angles = next(r.angles for r in plan.rows if r.name == BALANCE)
    inner = int(np.sum(np.minimum(angles - low, high - angles) > 1e-6))
    if high - low >= np.pi or inner > 1:
        return ()
    third = " but for the third one, without which both senses of rotation fit" if inner else ""
    return (f"The range is under half a turn, so (35) cannot reach zero: its angles lie at the ends{third}.",)


def plan_sentences(plan: PlannedArcs) -> tuple[str, ...]:
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
    import numpy as np

    values, counts = np.unique(np.round(np.degrees(angles), 1) + 0.0, return_counts=True)
    return ", ".join(f"{v:g}" if n == 1 else f"{n} x {v:g}" for v, n in zip(values, counts, strict=True))
