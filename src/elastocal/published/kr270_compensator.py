"""Spring compensator of the KR-270 (Klimchik et al. 2013, MIM): Table 1 to geometry, Tables 2 and 3 to the stiffness of
joint 2, and the elastostatic experiment behind Table 3 done virtually.  Fig. 3 is redrawn with the points of Table 1.

What Tables 2 and 3 of Klimchik et al. 2013 (MIM) say of joint 2: eta, equivalent compliance, force; Figs. 4, 5.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from elastocal.model.loads.gravity_compensator import GravityCompensator
from elastocal.procedures.compensator.arcs import AngleGain, angle_gain
from elastocal.procedures.compensator.concentric import ConcentricArcs, fit_concentric
from elastocal.procedures.compensator.geometry import CompensatorGeometry, compensator_geometry
from elastocal.procedures.compensator.robust import outliers_of_body, robust_known_angles
from elastocal.procedures.compensator.variants import Variants, compare_variants
from elastocal.published.case import Case, Figure, Outcome, Progress, curve
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
            joint="A2", a_x=a_x, a_y=a_y, L=length, phi0=geometry.phi0_by_length, k_c=K_C, s_0=s_0,
            mode="stiffness_only",
        )
        for a_x, a_y, length in sets
    )  # fmt: skip
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


def drawings(geometry: CompensatorGeometry) -> tuple[Lines, Lines]:
    """Figs. 4 and 5, for several preloads."""
    q = angles()[::20]
    x = np.degrees(q)
    each = [(f"s_0 = {s:g} mm", springs(geometry, 1e-3 * s)[1]) for s in FREE_LENGTHS_MM]
    k2 = [curve(name, x, 1e6 * equivalent(s, q)) for name, s in each]
    without = curve("no compensator", x, np.full(len(x), 1e6 * K2))
    return PRINTED.lines("eta", [curve(name, x, s.eta(q)) for name, s in each]), PRINTED.lines("k2eq", [*k2, without])


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


def words(table_one: TableOne) -> dict[str, Any]:
    """What the verdict says beside the figures."""
    g, printed = table_one.geometry, PRINTED.value
    sd = {k: 1e3 * v for k, v in g.sd.items()}
    k2 = 1e6 * equivalent(springs(g)[0], angles())
    return {
        "off_x": _off(table_one, "a_x"), "off_y": _off(table_one, "a_y"),
        "named": f"{table_one.named} points are doubtful" if table_one.named else "no point of it is contradicted by "
        "the others",
        "times_L": printed("L_sd_mm") / sd["L"], "times_a_y": printed("a_y_sd_mm") / sd["a_y"],
        "way": "against" if table_one.gain.known.sense == -1 else "with", "verb": _rejected(table_one),
        "range": RANGE_DEG, "bare": 1e6 * K2,
        "stiffens": "everywhere, as the paper says" if k2.max() < 1e6 * K2 else "not everywhere, against the paper",
    }  # fmt: skip


def points_drawn(table_one: TableOne) -> Lines:
    """All in mm, in the tracker's frame."""
    p1, p01, p02 = _points()
    p2, p0 = 1e3 * table_one.gain.known.centre[:2], 1e3 * table_one.pivot.centre[:2]
    arcs = ((p1, p2, 1e3 * table_one.geometry.L), *zip((p01, p02), (p0, p0), 1e3 * table_one.pivot.radii, strict=True))
    series = (
        *(curve(f"{name} of Table 1", *p.T, points=True) for name, p in (("P1", p1), ("P01", p01), ("P02", p02))),
        _joined("fitted arcs", [_arc(points, centre, float(radius)) for points, centre, radius in arcs]),
        _joined("spring P0 P1", [np.array([p0, p]) for p in p1]),
        curve("P2 (axis 2) and P0", *np.array([p2, p0]).T, points=True),
    )
    return PRINTED.lines("points", series)


def _arc(points: Array, centre: Array, radius: float) -> Array:
    """The part of the circle that the points span."""
    off = points - centre
    angle = np.unwrap(np.arctan2(off[:, 1], off[:, 0]))
    turn = np.linspace(angle.min(), angle.max(), 60)
    return np.asarray(centre + radius * np.column_stack([np.cos(turn), np.sin(turn)]))


def _joined(name: str, lines: list[Array]) -> Series:
    """Several lines as one curve, parted by points without a height."""
    rows = [np.vstack([line, [line[-1, 0], np.nan]]) for line in lines]
    return curve(name, *np.concatenate(rows).T)


def run(rng: np.random.Generator, progress: Progress) -> Outcome:
    arcs = fitted()
    experiment = table_three(rng, progress)
    geometry = arcs.geometry
    figures = (*geometry_figures(arcs), *curve_figures(geometry), *spring_figures(experiment))
    curves = (*drawings(geometry), points_drawn(arcs))
    return PRINTED.outcome(figures, curves, spring=spring_words(experiment), **words(arcs))
