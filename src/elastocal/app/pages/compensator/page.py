"""A compensator's geometry as a report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elastocal.app.commands.compensator import CompensatorResult, plane_axes
from elastocal.app.pages.arcs.tables import NO_SPARE, bad_table
from elastocal.app.pages.columns import or_reason
from elastocal.app.pages.compensator.plan import plan_section, plan_sentences
from elastocal.app.pages.compensator.spring import spring_section, spring_sentences
from elastocal.report.blocks import Cell, Code, Column, Fact, Paragraphs, Report, Section, Table

if TYPE_CHECKING:
    from elastocal.arcs.variants import Tension

NAMES = (("L", "mm"), ("a_x", "mm"), ("a_y", "mm"), ("phi0", "deg"))


def page(result: CompensatorResult) -> Report:
    sections = [
        Section("Geometry", (geometry_table(result),)),
        Section("Length of the spring", (length_table(result), Paragraphs(result.geometry.words()))),
    ]
    bad = bad_table(result.table, (result.moving,), result.pivot)
    sections += [Section("Points that the others contradict", (bad,))] if bad.rows else []
    if result.spring is not None:
        sections.append(spring_section(result.spring))
    if result.plan is not None:
        sections.append(plan_section(result.plan))
    sections.append(Section("For the robot file, under elements", (Code("yaml", result.yaml),)))
    title = f"Gravity compensator of joint {result.request.joint}"
    return Report(title, verdict(result), tuple(sections), result.notes, facts(result))


def facts(result: CompensatorResult) -> tuple[Fact, ...]:
    from elastocal.app.version import VERSION

    r, noise = result.request, None if result.noise is None else 1e6 * result.noise
    spring = result.spring
    robot = () if spring is None else (
        Fact("robot", "robot", r.robot, f"{spring.robot}, other axes at {spring.others}"),)  # fmt: skip
    return (
        VERSION,
        Fact("points", "points", result.table.file, result.table.file),
        Fact("moving", "P1", r.moving, f"{r.moving}, turns about P2 with {r.joint}"),
        Fact("pivots", "about P0", r.pivots, ", ".join(r.pivots)),
        Fact("joint", "", r.joint),
        Fact("noise_um", "noise", noise, "from the residuals" if noise is None else f"{noise:g} um per coordinate"),
        *robot,
    )


def verdict(result: CompensatorResult) -> tuple[str, ...]:
    import numpy as np

    g = result.geometry
    sd = {k: 1e3 * v for k, v in g.sd.items()}
    out = [
        f"L = {1e3 * g.L:.3f} +- {_sd(sd['L'])} mm, a_x = {1e3 * g.a_x:.3f} +- {_sd(sd['a_x'])} mm, "
        f"a_y = {1e3 * g.a_y:.3f} +- {_sd(sd['a_y'])} mm, phi0 = {np.degrees(g.phi0):.3f} +- "
        f"{_sd(np.degrees(g.sd['phi0']))} deg (one standard deviation); the measured lengths of the spring agree to "
        f"{1e3 * g.s_rms:.2g} mm."
    ]
    if result.table.dimension == 3:
        out.append(f"a = |P0 P2| = {1e3 * g.a:.3f} +- {_sd(sd['a'])} mm; {_direction(result)}")
    bad = len(result.moving.bad) + len(result.pivot.bad)
    if bad:
        out.append(f"The others contradict {'one point' if bad == 1 else f'{bad} points'}, named below and left out.")
    spring = spring_sentences(result.spring) if result.spring else ()
    return (*out, *_tests(result), *spring, *(plan_sentences(result.plan) if result.plan else ()))


def _sd(value: float) -> str:
    return f"{value:.2g}" if value == value else f"unknown ({NO_SPARE})"


def _direction(result: CompensatorResult) -> str:
    """In space: what a_x is measured along."""
    axes = plane_axes(result.moving.rest)
    assert axes is not None
    along = ", ".join(f"{c:.4f}" for c in axes[0])
    normal = ", ".join(f"{c:.4f}" for c in result.moving.rest.axis)
    return (
        f"a_x is along ({along}) of the data, its {'y' if abs(result.moving.rest.axis[0]) > 0.9 else 'x'} laid into "
        f"the plane of the arc, a_y right-handed about ({normal}); a, L and phi0 do not depend on that choice."
    )


def _tests(result: CompensatorResult) -> tuple[str, ...]:
    """What the rigid variants say."""
    tested = [m for m in result.models if m.tension is not None]
    rejected = [m.name for m in tested if m.tension is not None and m.tension.rejected]
    apart = result.pivot.variants.axes_words() if result.pivot.variants and result.pivot.variants.apart else ()
    if not tested:
        return (*apart, *result.pivot.geometric.words())
    if not rejected:
        return (
            *result.pivot.geometric.words(),
            f"The stricter models ({', '.join(m.name for m in tested)}) agree with the points.",
        )
    return (
        *result.pivot.geometric.words(),
        f"The points reject: {', '.join(rejected)}; do not use its smaller accuracy.",
    )


def geometry_table(result: CompensatorResult) -> Table:
    """One row for each model of the markers; the first is the result."""
    import numpy as np

    columns = (
        Column("model", "model of the markers"),
        *(c for n, u in NAMES for c in (Column(f"{n}_{u}", n, u, 4), Column(f"{n}_sd_{u}", "sd", u, 4))),
        Column("residual_sd_mm", "residual sd", "mm", 4),
        Column("a_mm", "a", "mm", 4, part=1), Column("a_sd_mm", "sd", "mm", 4, part=1), Column("test", "test", part=1),
        Column("probability", "probability", digits=2, part=1), Column("agrees", "the points", part=1),
    )  # fmt: skip
    rows = []
    for m in result.models:
        values, sd = (m.geometry.L, m.geometry.a_x, m.geometry.a_y, m.geometry.phi0), m.geometry.sd
        cells: list[Cell] = [m.name]
        for (name, unit), value in zip(NAMES, values, strict=True):
            scale = 1e3 if unit == "mm" else 180 / np.pi
            cells += [float(scale * value), or_reason(float(scale * sd[name]), NO_SPARE)]
        a = (1e3 * m.geometry.a, or_reason(1e3 * sd["a"], NO_SPARE))
        rows.append((*cells, or_reason(1e3 * m.residual_sd, NO_SPARE), *a, *_test_cells(m.tension)))
    notes = (
        "The first row is the result (Algorithms 1 and 2); the others test it. A model that the points reject is not "
        "true, however small its standard deviations. L and phi0 of P1, a = P2 - P0.",
    )
    return Table("geometry", "", columns, tuple(rows), notes)


def _test_cells(tension: Tension | None) -> tuple[Cell, ...]:
    if tension is None:
        return None, None, None
    said = "reject it" if tension.rejected else "agree" if tension.probability == tension.probability else "cannot tell"
    return tension.text(), or_reason(tension.probability, NO_SPARE), said


def length_table(result: CompensatorResult) -> Table:
    """s as measured and by eq. (1)."""
    import numpy as np

    g = result.geometry
    columns = (
        Column("q_deg", "q", "deg", 4), Column("measured_mm", "measured", "mm", 3),
        Column("model_mm", "eq. (1)", "mm", 3), Column("off_mm", "difference", "mm", 3),
    )  # fmt: skip
    rows = tuple(
        (float(np.round(np.degrees(q), 10)), *(float(1e3 * v) for v in (s, m, s - m)))
        for q, s, m in zip(g.angles, g.lengths, g.length(g.angles), strict=True)
    )
    return Table("lengths", "", columns, rows)
