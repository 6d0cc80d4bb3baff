"""Table 1 of Klimchik et al. 2013 (MIM), and the compensator's geometry that it gives (sections 3, 4 and 6 there)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from elastocal.cases.case import Figure, Why

if TYPE_CHECKING:
    from elastocal.procedures.compensator.arcs import AngleGain
    from elastocal.procedures.compensator.concentric import ConcentricArcs
    from elastocal.procedures.compensator.geometry import CompensatorGeometry
    from elastocal.procedures.compensator.variants import Variants

TABLE_1 = (
    (-0.01, (-31.84, 183.86), (-872.10, -125.38), (-813.50, -255.59)),
    (-30.0, (-118.44, 143.42), (-872.30, -126.07), (-813.33, -256.18)),
    (-60.0, (-173.30, 65.12), (-872.50, -109.90), (-825.09, -244.64)),
    (-90.0, (-181.76, -30.14), (-868.43, -78.20), (-844.66, -219.04)),
    (-120.0, (-141.45, -116.82), (-858.90, -47.60), (-859.43, -190.44)),
    (-145.0, (-78.10, -165.47), (-852.53, -33.68), (-864.66, -176.01)),
)
"""q2 in deg; P1, P01 and P02 as x, y in mm."""
L_MM, A_X_MM, A_Y_MM = 184.72, 685.93, 120.30
"""Table 2."""
_PRINTED = "printed as +-; the value here is one standard deviation, of which the printed one is about {:.1f}"


@dataclass(frozen=True, eq=False)
class TableOne:
    """Everything that is fitted to Table 1; ``geometry`` by the paper's algorithms, ``rigid`` with one rotation."""

    gain: AngleGain
    pivot: ConcentricArcs
    variants: Variants
    geometry: CompensatorGeometry
    rigid: CompensatorGeometry
    named: int


def fitted() -> TableOne:
    import numpy as np

    from elastocal.procedures.compensator.arcs import angle_gain
    from elastocal.procedures.compensator.concentric import fit_concentric
    from elastocal.procedures.compensator.geometry import compensator_geometry
    from elastocal.procedures.compensator.robust import robust_common_rotation, robust_known_angles
    from elastocal.procedures.compensator.variants import compare_variants

    q = np.radians([row[0] for row in TABLE_1])
    p1, p01, p02 = (1e-3 * np.array([row[i] for row in TABLE_1]) for i in (1, 2, 3))
    gain, pivot = angle_gain(p1, q), fit_concentric([p01, p02])
    variants = compare_variants([p01, p02], p1)
    bad = (*robust_known_angles(p1, q).outliers, *robust_common_rotation([p01, p02]).outliers)
    rigid = compensator_geometry(gain.known, variants.models[1].fit)
    return TableOne(gain, pivot, variants, compensator_geometry(gain.known, pivot), rigid, len(bad))


def geometry_figures(found: TableOne) -> tuple[Figure, ...]:
    import numpy as np

    g, rigid, arc = found.geometry, found.rigid, found.gain.known
    sd, rigid_sd = ({k: 1e3 * v for k, v in of.sd.items()} for of in (g, rigid))
    common, pointing = (m.test for m in found.variants.models[1:])
    assert common is not None
    assert pointing is not None
    return (
        Figure("L_mm", L_MM, 1e3 * g.L, "mm", "Algorithm 1 on Table 1", "Table 2"),
        Figure("L_sd_mm", 0.06, sd["L"], "mm", _PRINTED.format(0.06 / sd["L"]), "Table 2", Why.DEFINITION),
        Figure("a_x_mm", A_X_MM, 1e3 * g.a_x, "mm",
               f"Algorithms 1 and 2 on Table 1 do not give the printed digits; {_off(found, 'a_x', A_X_MM)}",
               "Table 2", Why.CONTRADICTION),
        Figure("a_x_sd_mm", 0.70, sd["a_x"], "mm", "agrees, if the printed one is one standard deviation",
               "Table 2", last_digit=0.01),
        Figure("a_y_mm", A_Y_MM, 1e3 * g.a_y, "mm",
               f"Algorithms 1 and 2 on Table 1 do not give the printed value; {_off(found, 'a_y', A_Y_MM)}",
               "Table 2", Why.CONTRADICTION, 0.01),
        Figure("a_y_sd_mm", 0.69, sd["a_y"], "mm", _PRINTED.format(0.69 / sd["a_y"]), "Table 2", Why.DEFINITION),
        Figure("arc1_rms_mm", None, 1e3 * arc.estimate.rms, "mm", "per coordinate, plain; residuals of P1"),
        Figure("arc1_sd_mm", None, 1e3 * arc.residual_sd, "mm", "the same, corrected for the four parameters fitted"),
        Figure("arc1_other_sense_mm", None, 1e3 * arc.other_sd, "mm", "residuals if P1 ran with q2, not against it"),
        Figure("P2_x_mm", None, float(1e3 * arc.centre[0]), "mm", ""),
        Figure("P2_y_mm", None, float(1e3 * arc.centre[1]), "mm", ""),
        Figure("P0_x_mm", None, float(1e3 * found.pivot.centre[0]), "mm", "Algorithm 2, solved in the plane"),
        Figure("P0_y_mm", None, float(1e3 * found.pivot.centre[1]), "mm", ""),
        Figure("R01_mm", None, float(1e3 * found.pivot.radii[0]), "mm", "radius of P01 about P0"),
        Figure("R02_mm", None, float(1e3 * found.pivot.radii[1]), "mm", "radius of P02 about P0"),
        Figure("phi0_deg", None, float(np.degrees(g.phi0_by_length)), "deg",
               "angle in eq. (1) that the measured lengths |P0 P1| ask for; the text has alpha there"),
        Figure("phi0_direction_deg", None, float(np.degrees(g.phi0)), "deg",
               f"the same from the direction of P1 at q2 = 0, +- {np.degrees(g.sd['phi0']):.3f} deg"),
        Figure("alpha_deg", None, float(np.degrees(g.alpha)), "deg", "atan2(a_y, a_x)"),
        Figure("s_rms_mm", None, 1e3 * g.s_rms_by_length, "mm", "measured minus eq. (1) with phi0, rms"),
        Figure("s_printed_error_mm", None, 1e3 * g.printed_error, "mm", "largest error of eq. (1) as printed"),
        Figure("a_x_rigid_mm", None, 1e3 * rigid.a_x, "mm", "one angle per pose for both markers; not in the paper"),
        Figure("a_x_rigid_sd_mm", None, rigid_sd["a_x"], "mm", f"the points agree with it ({common.text()})"),
        Figure("a_y_rigid_mm", None, 1e3 * rigid.a_y, "mm", ""),
        Figure("a_y_rigid_sd_mm", None, rigid_sd["a_y"], "mm", ""),
        Figure("pointing_probability", None, pointing.probability, "1",
               f"that the body also points along P0 P1: the points {_rejected(found)} it"),
        Figure("gain_radius", None, found.gain.radius, "1", "how many times a circle without the angles is worse"),
    )  # fmt: skip


def _off(found: TableOne, name: str, printed: float) -> str:
    """How far a length of Table 2 is from print."""
    g = found.geometry
    off = abs(printed - 1e3 * float(getattr(g, name)))
    return f"{off:.2f} mm or {off / (1e3 * g.sd[name]):.1f} standard deviations away"


def _rejected(found: TableOne) -> str:
    pointing = found.variants.models[2].test
    return "reject" if pointing is not None and pointing.rejected else "do not reject"


def geometry_words(found: TableOne) -> str:
    """What Table 1 gives against Table 2, in figures."""
    import numpy as np

    g = found.geometry
    sd = {k: 1e3 * v for k, v in g.sd.items()}
    way = "against" if found.gain.known.sense == -1 else "with"
    named = "no point of it is contradicted by the others" if found.named == 0 else f"{found.named} points are doubtful"
    return (
        f"Table 1 gives L = {1e3 * g.L:.2f} mm (printed {L_MM:.2f}) and a_x = {1e3 * g.a_x:.2f} mm (printed "
        f"{A_X_MM:.2f}, {_off(found, 'a_x', A_X_MM)}), but a_y = {1e3 * g.a_y:.2f} instead of {A_Y_MM:.2f} mm, "
        f"{_off(found, 'a_y', A_Y_MM)} ({named}); the printed accuracies of L and a_y are {0.06 / sd['L']:.1f} and "
        f"{0.69 / sd['a_y']:.1f} standard deviations. P1 runs {way} q2 (the other sense leaves "
        f"{1e3 * found.gain.known.other_sd:.0f} mm), and eq. (1) needs phi0 = "
        f"{np.degrees(g.phi0_by_length):.2f} deg: with alpha = {np.degrees(g.alpha):.2f} deg, as printed, it is wrong "
        f"by up to {1e3 * g.printed_error:.0f} mm. One common rotation of both markers brings the accuracy of a_x from "
        f"{sd['a_x']:.2f} to {1e3 * found.rigid.sd['a_x']:.2f} mm; that the body points along the "
        f"spring the points {_rejected(found)}."
    )
