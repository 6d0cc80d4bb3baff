"""Spring compensator of the KR-270 (Klimchik et al. 2013, MIM): Table 1 to geometry, Tables 2 and 3 to the stiffness of
joint 2, and the elastostatic experiment behind Table 3 done virtually.  Fig. 3 is redrawn with the points of Table 1.

What Tables 2 and 3 of Klimchik et al. 2013 (MIM) say of joint 2: eta, equivalent compliance, force; Figs. 4, 5.
"""

from __future__ import annotations

import numpy as np

from elastocal.model.loads.gravity_compensator import GravityCompensator
from elastocal.procedures.compensator.arcs import AngleGain, angle_gain
from elastocal.procedures.compensator.concentric import ConcentricArcs, fit_concentric
from elastocal.procedures.compensator.geometry import CompensatorGeometry, compensator_geometry
from elastocal.procedures.compensator.robust import outliers_of_body, robust_known_angles
from elastocal.procedures.compensator.variants import Variants, compare_variants
from elastocal.published.case import Case, Figure, Outcome, Progress
from elastocal.published.kr270_table3 import spring_figures, spring_words, table_three
from elastocal.report.blocks import Lines, Series
from elastocal.spatial.entries import Array
from elastocal.values import dataclass

RANGE_DEG = (-145.0, 0.0)
K2, K_C, S_0 = 0.302e-6, 0.144e-6, 458e-3
"""Table 3."""
FREE_LENGTHS_MM = (300.0, 380.0, 458.0, 540.0)
PRINTED = Case("kr270-compensator")


def angles() -> Array:
    return np.asarray(np.radians(np.linspace(*RANGE_DEG, 2901)))


def springs(geometry: CompensatorGeometry, s_0: float = S_0) -> tuple[GravityCompensator, GravityCompensator]:
    """With the published geometry, and with the one fitted to Table 1; phi0 fits the lengths of Table 1 in both."""
    sets = (
        tuple(1e-3 * PRINTED.value(n) for n in ("a_x_mm", "a_y_mm", "L_mm")),
        (geometry.a_x, geometry.a_y, geometry.L),
    )
    published, fitted = (
        GravityCompensator(
            joint="A2",
            a_x=a_x,
            a_y=a_y,
            L=length,
            phi0=geometry.phi0_by_length,
            k_c=K_C,
            s_0=s_0,
            mode="stiffness_only",
        )
        for a_x, a_y, length in sets
    )
    return published, fitted


def equivalent(spring: GravityCompensator, q: Array) -> Array:
    """Compliance of joint 2 with the compensator, eq. (5)."""
    return np.asarray(1.0 / (1.0 / K2 + spring.stiffness(q)))


def curve_figures(geometry: CompensatorGeometry) -> tuple[Figure, ...]:
    """Extremes over the range, with the published geometry and with the fitted one."""
    q, out = angles(), list[Figure]()
    for spring, tail in zip(springs(geometry), ("", "_fitted"), strict=True):
        out += _extremes("eta", tail, spring.eta(q), q)
        out += _extremes("k2eq", tail, 1e6 * equivalent(spring, q), q)
        out += _extremes("spring_force", tail, 1e-6 * spring.force(q), q)
    return tuple(out)


def _extremes(name: str, tail: str, values: Array, q: Array) -> list[Figure]:
    return [
        PRINTED.figure(f"{name}_{word}{tail}", float(values[i]), at=np.degrees(q[i]))
        for word, i in (("min", int(np.argmin(values))), ("max", int(np.argmax(values))))
    ]


def curve_words(geometry: CompensatorGeometry) -> str:
    q, (spring, _) = angles(), springs(geometry)
    k2, force = 1e6 * equivalent(spring, q), 1e-6 * spring.force(q)
    word = "everywhere, as the paper says" if k2.max() < 1e6 * K2 else "not everywhere, against the paper"
    return (
        f"Over A2 from {RANGE_DEG[0]:g} to {RANGE_DEG[1]:g} deg the compensator stiffens joint 2 {word} ("
        f"{k2.min():.3f} to {k2.max():.3f} against {1e6 * K2:.3f} e-6 rad/(N m) without it); but k_c and s_0 of Table "
        f"3 would need a spring that pulls with {force.min():.2f} to {force.max():.2f} MN, so the pair describes a "
        "stiffness, not a spring."
    )


def drawings(geometry: CompensatorGeometry) -> tuple[Lines, Lines]:
    """Figs. 4 and 5, for several preloads."""
    q = angles()[::20]
    x = tuple(float(v) for v in np.degrees(q))
    each = [(f"s_0 = {s:g} mm", springs(geometry, 1e-3 * s)[1]) for s in FREE_LENGTHS_MM]
    eta = tuple(Series(name, x, tuple(float(v) for v in s.eta(q))) for name, s in each)
    k2 = tuple(Series(name, x, tuple(float(v) for v in 1e6 * equivalent(s, q))) for name, s in each)
    note = (
        "As Fig. {} of Klimchik et al. 2013 (MIM), with the geometry fitted to Table 1; 458 mm is the free length of "
        "Table 3, the others show its influence."
    )
    without = Series("no compensator", x, (1e6 * K2,) * len(x))
    return (
        Lines("eta", "Compensator factor eta, eq. (6)", "A2", "deg", "eta", "", eta, (note.format(4),)),
        Lines("k2eq", "Equivalent compliance of joint 2, eq. (5)", "A2", "deg", "compliance", "1e-6 rad/(N m)",
              (*k2, without), (note.format(5),)),
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class TableOne:
    """Everything that is fitted to Table 1; ``geometry`` by the paper's algorithms, ``rigid`` with one rotation."""

    gain: AngleGain
    pivot: ConcentricArcs
    variants: Variants
    geometry: CompensatorGeometry
    rigid: CompensatorGeometry
    named: int


def _points() -> tuple[Array, Array, Array]:
    """P1, P01 and P02 of Table 1, (6, 2) in mm."""
    p1, p01, p02 = (np.array([row[f"{m}_mm"] for row in PRINTED.table("1")]) for m in ("P1", "P01", "P02"))
    return p1, p01, p02


def fitted() -> TableOne:
    q = np.radians([row["q2_deg"] for row in PRINTED.table("1")])
    p1, p01, p02 = (1e-3 * p for p in _points())
    gain, pivot = angle_gain(p1, q), fit_concentric([p01, p02])
    variants = compare_variants([p01, p02], p1)
    bad = (*robust_known_angles(p1, q).outliers, *outliers_of_body([p01, p02]))
    rigid = compensator_geometry(gain.known, variants.models[1].fit)
    return TableOne(gain, pivot, variants, compensator_geometry(gain.known, pivot), rigid, len(bad))


def geometry_figures(table_one: TableOne) -> tuple[Figure, ...]:
    g, rigid, arc = table_one.geometry, table_one.rigid, table_one.gain.known
    sd, rigid_sd = ({k: 1e3 * v for k, v in of.sd.items()} for of in (g, rigid))
    common, pointing = (m.test for m in table_one.variants.models[1:])
    assert common is not None
    assert pointing is not None
    return (
        PRINTED.figure("L_mm", 1e3 * g.L),
        PRINTED.figure("L_sd_mm", sd["L"], times=PRINTED.value("L_sd_mm") / sd["L"]),
        PRINTED.figure("a_x_mm", 1e3 * g.a_x, away=_off(table_one, "a_x")),
        PRINTED.figure("a_x_sd_mm", sd["a_x"]),
        PRINTED.figure("a_y_mm", 1e3 * g.a_y, away=_off(table_one, "a_y")),
        PRINTED.figure("a_y_sd_mm", sd["a_y"], times=PRINTED.value("a_y_sd_mm") / sd["a_y"]),
        *PRINTED.figures({
            "arc1_rms_mm": 1e3 * arc.estimate.rms, "arc1_sd_mm": 1e3 * arc.residual_sd,
            "arc1_other_sense_mm": 1e3 * arc.other_sd,
            "P2_x_mm": float(1e3 * arc.centre[0]), "P2_y_mm": float(1e3 * arc.centre[1]),
            "P0_x_mm": float(1e3 * table_one.pivot.centre[0]), "P0_y_mm": float(1e3 * table_one.pivot.centre[1]),
            "R01_mm": float(1e3 * table_one.pivot.radii[0]), "R02_mm": float(1e3 * table_one.pivot.radii[1]),
            "phi0_deg": float(np.degrees(g.phi0_by_length)),
        }),
        PRINTED.figure("phi0_direction_deg", float(np.degrees(g.phi0)), sd=np.degrees(g.sd["phi0"])),
        *PRINTED.figures({
            "alpha_deg": float(np.degrees(g.alpha)), "s_rms_mm": 1e3 * g.s_rms_by_length,
            "s_printed_error_mm": 1e3 * g.printed_error, "a_x_rigid_mm": 1e3 * rigid.a_x,
        }),
        PRINTED.figure("a_x_rigid_sd_mm", rigid_sd["a_x"], test=common.text()),
        *PRINTED.figures({"a_y_rigid_mm": 1e3 * rigid.a_y, "a_y_rigid_sd_mm": rigid_sd["a_y"]}),
        PRINTED.figure("pointing_probability", pointing.probability, verb=_rejected(table_one)),
        PRINTED.figure("gain_radius", table_one.gain.radius),
    )  # fmt: skip


def _off(table_one: TableOne, name: str) -> str:
    """How far a length of Table 2 is from print."""
    g = table_one.geometry
    off = abs(PRINTED.value(f"{name}_mm") - 1e3 * float(getattr(g, name)))
    return f"{off:.2f} mm or {off / (1e3 * g.sd[name]):.1f} standard deviations away"


def _rejected(table_one: TableOne) -> str:
    pointing = table_one.variants.models[2].test
    return "reject" if pointing is not None and pointing.rejected else "do not reject"


def geometry_words(table_one: TableOne) -> str:
    """What Table 1 gives against Table 2, in figures."""
    g = table_one.geometry
    sd = {k: 1e3 * v for k, v in g.sd.items()}
    way = "against" if table_one.gain.known.sense == -1 else "with"
    named = (
        "no point of it is contradicted by the others"
        if table_one.named == 0
        else f"{table_one.named} points are doubtful"
    )
    printed = {n: PRINTED.value(f"{n}_mm") for n in ("L", "a_x", "a_y", "L_sd", "a_y_sd")}
    return (
        f"Table 1 gives L = {1e3 * g.L:.2f} mm (printed {printed['L']:.2f}) and a_x = {1e3 * g.a_x:.2f} mm (printed "
        f"{printed['a_x']:.2f}, {_off(table_one, 'a_x')}), but a_y = {1e3 * g.a_y:.2f} instead of {printed['a_y']:.2f} "
        f"mm, {_off(table_one, 'a_y')} ({named}); the printed accuracies of L and a_y are "
        f"{printed['L_sd'] / sd['L']:.1f} and {printed['a_y_sd'] / sd['a_y']:.1f} "
        f"standard deviations. P1 runs {way} q2 (the other sense leaves "
        f"{1e3 * table_one.gain.known.other_sd:.0f} mm), and eq. (1) needs phi0 = "
        f"{np.degrees(g.phi0_by_length):.2f} deg: with alpha = {np.degrees(g.alpha):.2f} deg, as printed, it is wrong "
        f"by up to {1e3 * g.printed_error:.0f} mm. One common rotation of both markers brings the accuracy of a_x from "
        f"{sd['a_x']:.2f} to {1e3 * table_one.rigid.sd['a_x']:.2f} mm; that the body points along the "
        f"spring the points {_rejected(table_one)}."
    )


def points_drawn(table_one: TableOne) -> Lines:
    """All in mm, in the tracker's frame."""
    p1, p01, p02 = _points()
    p2, p0 = 1e3 * table_one.gain.known.centre[:2], 1e3 * table_one.pivot.centre[:2]
    arcs = ((p1, p2, 1e3 * table_one.geometry.L), *zip((p01, p02), (p0, p0), 1e3 * table_one.pivot.radii, strict=True))
    series = (
        *(
            Series(f"{name} of Table 1", *_columns(points), points=True)
            for name, points in (("P1", p1), ("P01", p01), ("P02", p02))
        ),
        _joined("fitted arcs", [_arc(points, centre, float(radius)) for points, centre, radius in arcs]),
        _joined("spring P0 P1", [np.array([p0, p]) for p in p1]),
        Series("P2 (axis 2) and P0", *_columns(np.array([p2, p0])), points=True),
    )
    note = "As Fig. 3, which is a drawing, here with the measured points and what is fitted to them."
    return Lines("points", "Compensator as measured", "x", "mm", "y", "mm", series, (note,), equal=True)


def _columns(points: Array) -> tuple[tuple[float, ...], tuple[float, ...]]:
    return tuple(float(v) for v in points[:, 0]), tuple(float(v) for v in points[:, 1])


def _arc(points: Array, centre: Array, radius: float) -> Array:
    """The part of the circle that the points span."""
    off = points - centre
    angle = np.unwrap(np.arctan2(off[:, 1], off[:, 0]))
    turn = np.linspace(angle.min(), angle.max(), 60)
    return np.asarray(centre + radius * np.column_stack([np.cos(turn), np.sin(turn)]))


def _joined(name: str, lines: list[Array]) -> Series:
    """Several lines as one curve, parted by points without a height."""
    x, y = list[float](), list[float]()
    for line in lines:
        across, up = _columns(line)
        x += [*across, across[-1]]
        y += [*up, float("nan")]
    return Series(name, tuple(x), tuple(y))


def run(rng: np.random.Generator, progress: Progress) -> Outcome:
    arcs = fitted()
    experiment = table_three(rng, progress)
    geometry = arcs.geometry
    figures = (*geometry_figures(arcs), *curve_figures(geometry), *spring_figures(experiment))
    verdict = " ".join((geometry_words(arcs), curve_words(geometry), spring_words(experiment)))
    return Outcome(PRINTED.name, verdict, figures, (*drawings(geometry), points_drawn(arcs)))
