"""Planned angles and marker places of a compensator, as a section of its report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elastocal.report.blocks import Column, Section, Table

if TYPE_CHECKING:
    from elastocal.app.compensator_plan import Planned
    from elastocal.spatial.entries import Array


def plan_section(plan: Planned) -> Section:
    import numpy as np

    columns = (
        Column("name", "plan and model of the markers"), Column("plan", "", shown=False),
        Column("model", "", shown=False), *(Column(f"{n}_sd_mm", f"sd {n}", "mm", 4) for n in ("L", "a_x", "a_y")),
        Column("imbalance_35", "(35)", "", 4), Column("imbalance_36", "(36)", "", 4),
        Column("angles_deg", "angles [deg]", part=1), Column("places_deg", "markers from the spring [deg]", part=1),
    )  # fmt: skip
    rows = tuple(
        (f"{r.name}, {r.model}", r.name, r.model, 1e3 * r.expected.L, 1e3 * r.expected.a_x, 1e3 * r.expected.a_y,
         _unbalanced(r.angles), _unbalanced(r.places), _degrees(r.angles), _degrees(r.places))
        for r in plan.rows
    )  # fmt: skip
    low, high = np.degrees(plan.limits)
    source = "stated" if plan.stated else "of the residuals"
    notes = [
        f"Expected for a noise of {1e3 * plan.noise:.3g} mm per coordinate ({source}) and the markers' present radii; "
        f"joint within {low:g} to {high:g} deg, three angles at least 10 deg apart.",
        "Exact covariance: best variance of radius and centre, and the best places for each model. Without a common "
        "rotation opposite places are no better than one, whatever (36) says: two markers belong a quarter turn apart.",
    ]
    if high - low < 180:
        notes.append("The range is under half a turn, so (35) cannot reach zero: the angles lie at its ends.")
    return Section("Plan for the next measurement", (Table("plan", "", columns, rows, tuple(notes)),))


def plan_sentences(plan: Planned) -> tuple[str, ...]:
    """What the best plan brings, with the strictest model compared."""
    own = [r for r in plan.rows if r.model == plan.rows[-1].model]
    now, best = own[0].expected, own[-1].expected
    return (
        f"The best {len(own[-1].angles)} angles and marker places ({own[-1].model}) would bring the standard "
        f"deviations of L, a_x, a_y from {1e3 * now.L:.3f}, {1e3 * now.a_x:.3f}, {1e3 * now.a_y:.3f} to "
        f"{1e3 * best.L:.3f}, {1e3 * best.a_x:.3f}, {1e3 * best.a_y:.3f} mm, noise being equal.",
    )


def _unbalanced(angles: Array) -> float:
    import numpy as np

    return float(np.abs(np.sum(np.exp(1j * angles))) ** 2)


def _degrees(angles: Array) -> str:
    """Equal angles once, with their number."""
    import numpy as np

    values, counts = np.unique(np.round(np.degrees(angles), 1) + 0.0, return_counts=True)
    return ", ".join(f"{v:g}" if n == 1 else f"{n} x {v:g}" for v, n in zip(values, counts, strict=True))
