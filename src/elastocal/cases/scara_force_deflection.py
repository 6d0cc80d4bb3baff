"""Compliance and backlash of a SCARA from force-deflection loops (Ruggeri et al., section 5.2 and figure 4).

Figure 4(d) prints values, not readings: they make a virtual robot whose loops are read by a virtual gauge, and the
loops must give them back with the accuracy that they state.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from elastocal.cases import scara_force_deflection_data as made
from elastocal.cases.case import Case, Figure, Outcome, Progress, Why, unwatched

if TYPE_CHECKING:
    import numpy as np

    from elastocal.procedures.loops.directions import DirectionFit
    from elastocal.procedures.loops.estimate import Estimate
    from elastocal.procedures.loops.fit import LoopFit
    from elastocal.procedures.loops.loop import Loop
    from elastocal.report.blocks import Lines
    from elastocal.spatial.entries import Array

DRAWS = 100
TRUTH = {
    "gripper_compliance_m_per_N": made.COMPLIANCE,
    "gripper_backlash_min_m": made.BACKLASH[0],
    "gripper_backlash_max_m": made.BACKLASH[1],
    **{
        f"joint{joint[1]}_{name}": value
        for joint, pair in made.JOINTS.items()
        for name, value in zip(("compliance_rad_per_Nm", "backlash_rad"), pair, strict=True)
    },
}
"""What the data are made of: figure 4(d)."""


class ScaraForceDeflectionCase(Case):
    name: ClassVar[str] = "scara-force-deflection"
    title: ClassVar[str] = "SCARA: compliance and backlash of gripper and joints from force-deflection loops"
    source: ClassVar[str] = "Ruggeri et al., kinetostatic calibration of a SCARA robot, section 5.2 and figure 4"

    def run(self, rng: np.random.Generator, progress: Progress = unwatched) -> Outcome:
        experiment = made.experiment()
        first = _analyse(experiment.read(rng))
        hits = 0
        for draw in range(DRAWS):
            values = _analyse(experiment.read(rng)).values
            hits += sum(abs(e.value - TRUTH[n]) <= e.half_width() for n, e in values.items())
            progress(draw + 1, DRAWS)
        coverage = hits / (DRAWS * len(TRUTH))
        off = max(abs(e.value - TRUTH[n]) / e.sd for n, e in first.values.items())
        figures = (*_recovered(first), *_judged(first, coverage, off))
        verdict = (
            f"Virtual loops of 12 directions and two joints give figure 4(d) back within {off:.1f} standard "
            f"deviations; {100 * coverage:.1f} % of {DRAWS * len(TRUTH)} intervals of 95 % hold the truth. One number "
            f"describes the gripper's compliance (probability {first.compliance.one.probability:.2g}) and not its "
            f"backlash ({first.half_gap.one.chance}), for which an ellipse does "
            f"({first.half_gap.matrix.probability:.2g}). The printed backlash is the gap itself, so g of eq. (6) and "
            "(7) is half of it. The readings behind figure 4 are not printed: what comes back here are its values, "
            "not its measurements."
        )
        return Outcome(self.name, verdict, figures, first.curves())


@dataclass(frozen=True, eq=False)
class _Analysis:
    """Loops by name, the gripper's directions, and all values of figure 4(d): whole gaps."""

    fits: Mapping[str, LoopFit]
    compliance: DirectionFit
    half_gap: DirectionFit
    values: Mapping[str, Estimate]

    def curves(self) -> tuple[Lines, ...]:
        from elastocal.report.loop_drawings import direction_map, loop_graphs

        gripper = [self.fits[str(d)] for d in made.DIRECTIONS_DEG]
        p, g = [f.compliance for f in gripper], [f.half_gap for f in gripper]
        like = ("At 30 degrees, readings less the gauge's zero in each cycle; like figure 4(a).",)
        arm = "Angle from the direction of the arm; like figure 4({})."
        maps = (
            ("compliance_map", "Map of the gripper compliance", p, self.compliance, "b"),
            ("backlash_map", "Map of the gripper backlash", g, self.half_gap, "c"),
        )
        return (
            *loop_graphs("graph", "Force against displacement", self.fits["30"], like),
            *(direction_map(k, t, _units(), e, fit, (arm.format(x),)) for k, t, e, fit, x in maps),
        )


def _analyse(loops: Mapping[str, Loop]) -> _Analysis:
    from elastocal.procedures.loops.directions import fit_directions
    from elastocal.procedures.loops.estimate import Estimate
    from elastocal.procedures.loops.fit import fit_loops
    from elastocal.procedures.loops.joints import joint_values

    fits = dict(zip(loops, fit_loops(list(loops.values())), strict=True))
    gripper = [fits[str(d)] for d in made.DIRECTIONS_DEG]
    compliance = fit_directions(_units(), [f.compliance for f in gripper], root=False)
    half_gap = fit_directions(_units(), [f.half_gap for f in gripper], root=True)
    assert half_gap.principal is not None
    values = {"gripper_compliance_m_per_N": compliance.isotropic}
    for i, word in ((1, "min"), (0, "max")):
        half, sd = half_gap.principal.values[i], half_gap.principal.sd[i]
        values[f"gripper_backlash_{word}_m"] = Estimate(2 * float(half), 2 * float(sd), half_gap.freedom)
    for joint, lever in made.LEVERS.items():
        found = joint_values(fits[joint], lever)
        values[f"joint{joint[1]}_compliance_rad_per_Nm"] = found.compliance
        values[f"joint{joint[1]}_backlash_rad"] = found.half_gap.times(2)
    return _Analysis(fits, compliance, half_gap, values)


def _recovered(first: _Analysis) -> list[Figure]:
    out = []
    for name, published in TRUTH.items():
        e = first.values[name]
        unit = {"m_per_N": "m/N", "rad_per_Nm": "rad/(N m)"}.get(
            name.partition("compliance_")[2], name.rpartition("_")[2]
        )
        gap = "; the whole gap, half of it is g of eq. (6), (7)" if "backlash" in name else ""
        note = f"+- {e.sd:.2g} (one sd); virtual readings made from the printed value{gap}"
        out.append(Figure(name, published, e.value, unit, note, "figure 4(d)", Why.VIRTUAL, put_in=published))
    return out


def _judged(first: _Analysis, coverage: float, off: float) -> list[Figure]:
    widest = first.fits["0"]
    left = 2 * (widest.half_gap.value + widest.half_hysteresis.value)
    noise = f"virtual gauge: {1e6 * made.NOISE:g} um sd, read to {1e6 * made.DIVISION:g} um"
    one, ellipse = first.compliance.one.probability, first.half_gap.matrix.probability
    return [
        Figure("coverage_95", None, coverage, "1", f"share of 95 % intervals that hold the truth, {DRAWS} draws"),
        Figure("largest_error_in_sd", None, off, "1", f"of the seven values above; {noise}"),
        Figure("noise_m", None, widest.sigma, "m", f"found from the residuals; {noise}"),
        Figure(
            "hysteresis_m", None, 2 * widest.half_hysteresis.value, "m",
            f"whole width in the direction of the largest backlash; {2 * made.FRICTION:g} m was put in",
        ),
        Figure(
            "gap_left_at_zero_force_m", None, left, "m",
            "same direction, between the unloading lines at zero force: the backlash and the hysteresis. Reading the "
            "gap there, as figure 4(a) is read, takes friction for backlash",
        ),
        Figure("one_compliance_probability", None, one, "1", "one number for all directions"),
        Figure("one_backlash_probability", None, first.half_gap.one.probability, "1", "the document: not isotropic"),
        Figure("ellipse_probability", None, ellipse, "1", "an ellipse for the backlash"),
    ]  # fmt: skip


def _units() -> Array:
    import numpy as np

    angles = np.radians(made.DIRECTIONS_DEG)
    return np.column_stack([np.cos(angles), np.sin(angles)])
