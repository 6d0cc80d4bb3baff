"""A gravity compensator as a report: its geometry, and what its spring does to a robot's joint."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from elastocal.app.commands.compensator import AheadResult, CompensatorResult
from elastocal.app.configurations import axes_of
from elastocal.app.pages.arc_plan import ahead_page, ahead_table, plan_sentences, plan_table
from elastocal.app.pages.arc_tables import NO_SPARE, agreement, milli, outlier_table
from elastocal.app.pages.result_columns import filled, or_reason
from elastocal.procedures.compensator.geometry import plane_axes
from elastocal.report.blocks import (
    Block,
    Cell,
    Code,
    Column,
    Fact,
    Lines,
    Paragraphs,
    Report,
    Section,
    Series,
    Table,
    floats,
)

if TYPE_CHECKING:
    from elastocal.model.loads.gravity_compensator import GravityCompensator
    from elastocal.procedures.compensator import Compensator
    from elastocal.procedures.compensator.geometry import CompensatorGeometry
    from elastocal.procedures.compensator.known_angle_arc import KnownAngleArc
    from elastocal.procedures.compensator.spring import SpringOnRobot
    from elastocal.solve.nested import NestedTest
    from elastocal.spatial.entries import Array


NAMES = (("L", "mm"), ("a_x", "mm"), ("a_y", "mm"), ("phi0", "deg"))


def page(result: CompensatorResult | AheadResult) -> Report:
    if isinstance(result, AheadResult):
        return ahead_page(result)
    fit = result.compensator
    noise = f"({'of the residuals' if fit.noise is None else 'stated'}) and the markers' present radii"
    sections = (
        Section("Geometry", (_geometry_table(fit),)),
        Section("Length of the spring", (_length_table(fit.geometry), Paragraphs(fit.geometry.sentences()))),
        Section("Outliers", filled(outlier_table(result.table, (fit.moving,), fit.pivot))),
        *(() if fit.spring is None else (spring_section(fit.spring),)),
        Section("Plan for the next measurement", () if fit.plan is None else (plan_table(fit.plan, noise),)),
        Section("For the robot file, under elements", (Code("yaml", _element_text(fit, result.table.file)),)),
    )
    title = f"Gravity compensator of joint {fit.joint}"
    return Report(title, _verdict(fit), sections, result.notes, _facts(result))


def table(result: CompensatorResult | AheadResult) -> Table:
    return ahead_table(result) if isinstance(result, AheadResult) else _geometry_table(result.compensator)


def _facts(result: CompensatorResult) -> tuple[Fact, ...]:
    fit = result.compensator
    noise, moving, pivots = None if fit.noise is None else 1e6 * fit.noise, fit.moving.marker, fit.pivot.markers
    spring = fit.spring
    robot = () if spring is None else (
        Fact("robot", "robot", result.robot, f"{spring.model.name}, other axes at {others(spring)}"),)  # fmt: skip
    return (
        Fact("points", "points", result.table.file),
        Fact("moving", "P1", moving, f"{moving}, turns about P2 with {fit.joint}"),
        Fact("pivots", "about P0", pivots),
        Fact("joint", "", fit.joint),
        Fact("noise_um", "noise", noise, "from the residuals" if noise is None else f"{noise:g} um per coordinate"),
        *robot,
    )


def _verdict(fit: Compensator) -> tuple[str, ...]:
    g = fit.geometry
    sd = {k: 1e3 * v for k, v in g.sd.items()}
    out = [
        f"L = {1e3 * g.L:.3f} +- {_sd(sd['L'])} mm, a_x = {1e3 * g.a_x:.3f} +- {_sd(sd['a_x'])} mm, "
        f"a_y = {1e3 * g.a_y:.3f} +- {_sd(sd['a_y'])} mm, phi0 = {np.degrees(g.phi0):.3f} +- "
        f"{_sd(np.degrees(g.sd['phi0']))} deg (one standard deviation); the measured lengths of the spring agree to "
        f"{1e3 * g.s_rms:.2g} mm."
    ]
    if fit.moving.fit.dimension == 3:
        out.append(f"a = |P0 P2| = {1e3 * g.a:.3f} +- {_sd(sd['a'])} mm; {_direction(fit.moving.fit)}")
    if fit.outliers:
        out.append(f"{fit.outliers} outlier{'s' * (fit.outliers > 1)}, named under Outliers and left out.")
    spring = spring_sentences(fit.spring) if fit.spring else ()
    return (*out, *_tests(fit), *spring, *(plan_sentences(fit.plan) if fit.plan else ()))


def _sd(value: float) -> str:
    return f"{value:.2g}" if value == value else f"unknown ({NO_SPARE})"


def _direction(arc: KnownAngleArc) -> str:
    """In space: what a_x is measured along."""
    axes = plane_axes(arc)
    assert axes is not None
    along = ", ".join(f"{c:.4f}" for c in axes[0])
    normal = ", ".join(f"{c:.4f}" for c in arc.axis)
    return (
        f"a_x is along ({along}) of the data, its {'y' if abs(arc.axis[0]) > 0.9 else 'x'} laid into "
        f"the plane of the arc, a_y right-handed about ({normal}); a, L and phi0 do not depend on that choice."
    )


def _tests(fit: Compensator) -> tuple[str, ...]:
    """What the rigid variants say."""
    tested = [(m.name, m.test) for m in fit.models if m.test is not None]
    rejected = [name for name, test in tested if test.rejected]
    variants, residuals = fit.pivot.variants, fit.pivot.geometric.sentences()
    if not tested:
        return (*(variants.axes_sentences() if variants and variants.apart else ()), *residuals)
    if not rejected:
        return (*residuals, f"The stricter models ({', '.join(n for n, _ in tested)}) agree with the points.")
    return (*residuals, f"The points reject {', '.join(rejected)}: do not use its smaller standard deviations.")


def _geometry_table(fit: Compensator) -> Table:
    """One row for each model of the markers; the first is the result."""
    columns = (
        Column("model", "model of the markers"),
        *(c for n, u in NAMES for c in (Column(f"{n}_{u}", n, u, 4), Column(f"{n}_sd_{u}", "sd", u, 4))),
        Column("residual_sd_mm", "residual sd", "mm", 4),
        Column("a_mm", "a", "mm", 4, part=1), Column("a_sd_mm", "sd", "mm", 4, part=1), Column("test", "test", part=1),
        Column("probability", "probability", probability=True, part=1), Column("agrees", "the points", part=1),
    )  # fmt: skip
    rows = []
    for m in fit.models:
        values, sd = (m.geometry.L, m.geometry.a_x, m.geometry.a_y, m.geometry.phi0), m.geometry.sd
        cells: list[Cell] = [m.name]
        for (name, unit), value in zip(NAMES, values, strict=True):
            scale = 1e3 if unit == "mm" else 180 / np.pi
            cells += [float(scale * value), or_reason(float(scale * sd[name]), NO_SPARE)]
        a = (1e3 * m.geometry.a, milli(sd["a"]))
        rows.append((*cells, milli(m.residual_sd), *a, *_test_cells(m.test)))
    notes = (
        "The first row is the result (Algorithms 1 and 2); the others test it. A model that the points reject is not "
        "true, however small its standard deviations. L and phi0 of P1, a = P2 - P0.",
    )
    return Table("geometry", "", columns, tuple(rows), notes)


def _test_cells(test: NestedTest | None) -> tuple[Cell, ...]:
    if test is None:
        return None, None, None
    return test.text(), or_reason(test.probability, NO_SPARE), agreement(test, "cannot tell")


def _length_table(g: CompensatorGeometry) -> Table:
    """s as measured and by eq. (1)."""
    q, model = np.round(np.degrees(g.angles), 10), g.length(g.angles)
    return Table.of("lengths", range(len(q)), {
        Column("q_deg", "q", "deg", 4): lambda i: q[i],
        Column("measured_mm", "measured", "mm", 3): lambda i: 1e3 * g.lengths[i],
        Column("model_mm", "eq. (1)", "mm", 3): lambda i: 1e3 * model[i],
        Column("off_mm", "difference", "mm", 3): lambda i: 1e3 * (g.lengths[i] - model[i]),
    })  # fmt: skip


def _element_text(fit: Compensator, file: str) -> str:
    """The element for a robot file; the spring is the robot's own, or the one that balances, or left to fill in."""
    g, spring, own = fit.geometry, fit.element, fit.spring is not None and fit.spring.own is not None
    given = "k_c_m_per_N: FILL_IN\n    s_0_mm: FILL_IN" if spring is None else (
        f"k_c_m_per_N: {spring.k_c:.6g}\n    s_0_mm: {1e3 * spring.s_0:.6g}")  # fmt: skip
    pair = "fill in" if spring is None else "kept from the robot file" if own else "best balance"
    sd = {k: 1e3 * v for k, v in g.sd.items()}
    return (
        f"  - kind: gravity_compensator\n    joint: {fit.joint}\n    mode: {spring.mode if spring else 'torque'}\n"
        f"    a_x_mm: {1e3 * g.a_x:.4f}\n    a_y_mm: {1e3 * g.a_y:.4f}\n"
        f"    L_mm: {1e3 * g.L:.4f}\n"
        f"    phi0_deg: {np.degrees(g.phi0):.5f}\n    {given}\n"
        f"    source: >-\n      Geometry fitted to {file}: a_x +- {sd['a_x']:.2g}, a_y +- {sd['a_y']:.2g}, "
        f"L +- {sd['L']:.2g} mm,\n      phi0 +- {np.degrees(g.sd['phi0']):.2g} deg. k_c and s_0: {pair}.\n"
    )


def _named_springs(result: SpringOnRobot) -> tuple[tuple[str, GravityCompensator], ...]:
    """The robot's own and the balancing one, where they exist."""
    pairs = (("of the robot file", result.own), ("best balance", result.balance.spring if result.balance else None))
    return tuple((name, spring) for name, spring in pairs if spring is not None)


def spring_section(result: SpringOnRobot) -> Section:
    blocks: list[Block] = []
    if _named_springs(result):
        blocks = [_spring_table(result), *(_eta(result), _compliance(result))]
    if result.balance is not None:
        blocks.append(_torques(result))
    return Section(f"Spring on {result.model.name}", tuple(b for b in blocks if not isinstance(b, Lines) or b.series))


def others(result: SpringOnRobot) -> str:
    """Where the other axes stand, as the controller shows them."""
    axes = axes_of(result.model)
    values = result.model.controller.to_controller(result.q[:1])[0] / axes.factors
    rows = zip(result.model.joints, axes.names, values, axes.units, strict=True)
    return ", ".join(f"{axis} {v + 0.0:g} {u}" for j, axis, v, u in rows if j != result.joint)


def spring_sentences(result: SpringOnRobot) -> tuple[str, ...]:
    out = []
    if result.balance is not None:
        b = result.balance
        low, high = (1e-3 * f for f in result.range_of(b.spring).force)
        out.append(
            f"The spring of this geometry that holds the arm best (other axes at {others(result)}) has 1/k_c = "
            f"{1e-3 / b.spring.k_c:.4g} N/mm and s_0 = {1e3 * b.spring.s_0:.1f} mm: it takes {100 * b.share:.1f} % of "
            f"the weights' torque and pulls with {low:.3g} to {high:.3g} kN."
        )
    if result.own is not None and result.k > 0:
        k = 1e6 * result.equivalent(result.own)
        word = "stiffens" if np.all(k < 1e6 * result.k) else "does not stiffen everywhere"
        out.append(
            f"The pair of the robot file {word} joint {result.joint}: {k.min():.4g} to {k.max():.4g} against "
            f"{1e6 * result.k:.4g} urad/(N m) without it."
        )
    return tuple(out)


def _spring_table(result: SpringOnRobot) -> Table:
    low, high = _degrees(result)[[0, -1]]
    rows = [(name, spring, result.range_of(spring)) for name, spring in _named_springs(result)]
    return Table.of("springs", rows, {
        Column("spring", "spring"): lambda r: r[0],
        Column("mode", "mode"): lambda r: r[1].mode,
        Column("k_c_m_per_N", "k_c", "um/N", digits=5, scale=1e6): lambda r: r[1].k_c,
        Column("s_0_mm", "s_0", "mm", 2): lambda r: 1e3 * r[1].s_0,
        (Column("force_min_kN", "force min", "kN", digits=4), Column("force_max_kN", "max", "kN", digits=4)):
            lambda r: (1e-3 * f for f in r[2].force),
        Column("torque_max_Nm", "largest torque", "N m", digits=4): lambda r: r[2].largest_torque,
        Column("share_percent", "weight taken", "%", 1):
            lambda r: None if r[1] is result.own or result.balance is None else 100 * result.balance.share,
        (Column("eta_min", "eta min", "", 4), Column("eta_max", "max", "", 4)): lambda r: r[2].eta,
    }, f"Over {result.joint} from {low:g} to {high:g} deg.")  # fmt: skip


def _degrees(result: SpringOnRobot) -> Array:
    return np.asarray(np.round(np.degrees(result.angles), 9), dtype=np.float64)


def _series(name: str, result: SpringOnRobot, values: Array) -> Series:
    return Series(name, floats(_degrees(result)), floats(values))


def _eta(result: SpringOnRobot) -> Lines:
    series = tuple(_series(name, result, s.eta(result.angles)) for name, s in _named_springs(result))
    return Lines("eta", "Factor eta of eq. (6)", result.joint, "deg", "eta", "", series)


def _compliance(result: SpringOnRobot) -> Lines:
    title, unit = f"Equivalent compliance of {result.joint}, eq. (5)", "urad/(N m)"
    if not result.k > 0:
        return Lines("equivalent", title, result.joint, "deg", "compliance", unit, ())
    series = [_series(name, result, 1e6 * result.equivalent(s)) for name, s in _named_springs(result)]
    series.append(Series("no spring", floats(_degrees(result)), (1e6 * result.k,) * len(result.angles)))
    note = "Small loads about the unloaded angle; a spring whose torque matters also bends the joint without load."
    return Lines("equivalent", title, result.joint, "deg", "compliance", unit, tuple(series), (note,))


def _torques(result: SpringOnRobot) -> Lines:
    assert result.balance is not None
    b = result.balance
    series = (
        _series("weights", result, 1e-3 * b.weight),
        _series("held by the spring", result, 1e-3 * (b.weight - b.left)),
        _series("left for the drive", result, 1e-3 * b.left),
    )
    return Lines("torques", "Torque on the joint, best balance", result.joint, "deg", "torque", "kN m", series)
