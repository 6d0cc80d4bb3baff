"""Compliance and backlash of a SCARA from force-deflection loops (Ruggeri et al., section 5.2 and figure 4).

Figure 4(d) prints values, not readings: they make a virtual robot whose loops are read by a virtual gauge, and the
loops must give them back with the accuracy that they state.

Arm stretched along the base's y axis, as printed.  Gripper: joints locked, 12 directions 30 degrees apart, the gauge at
the gripper.  Joint: the other one locked, force across the arm, the gauge at the end of link 2.  Not printed and
assumed here: sizes of the forces, noise, friction, the axis of the largest backlash, the lever of joint 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from elastocal.files.robot.read import read_robot
from elastocal.model.compliant.gripper_backlash import GripperBacklash
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.robot import Robot
from elastocal.model.statics.deflection import frame_pose
from elastocal.model.statics.equilibrium import equilibrium
from elastocal.procedures.loops.directions import DirectionFit, fit_directions
from elastocal.procedures.loops.fit import LoopFit, fit_loops
from elastocal.procedures.loops.joints import joint_values
from elastocal.procedures.loops.loop import Estimate, Loop, loop_of
from elastocal.published.case import Case, Figure, Outcome, Progress
from elastocal.report.blocks import Lines
from elastocal.report.plane_figures import direction_map, loop_graphs
from elastocal.spatial.entries import Array, Ints
from elastocal.values import dataclass

PRINTED = Case("scara-force-deflection")
NAMES = (
    "gripper_compliance_m_per_N", "gripper_backlash_min_m", "gripper_backlash_max_m", "joint1_compliance_rad_per_Nm",
    "joint1_backlash_rad", "joint2_compliance_rad_per_Nm", "joint2_backlash_rad",
)  # fmt: skip
"""What figure 4(d) prints, of which the data are made."""
LEVERS = {"J1": 0.66, "J2": 0.33}
DIRECTIONS_DEG = tuple(range(0, 360, 30))
FORCES = (10.0, 20.0, 30.0, 40.0)
CYCLES = 3
NOISE, DIVISION, FRICTION, SETTING = 2e-6, 1e-6, 8e-6, 2e-5
"""Standard deviation and division of the gauge, half of the friction's hysteresis, spread of the gauge's zero (m)."""


@dataclass(frozen=True, eq=False)
class Experiment:
    """Exact displacements (n,) at forces (n,), by name: a direction in degrees, or a joint."""

    force: Array
    cycle: Ints
    exact: dict[str, Array]

    def read(self, rng: np.random.Generator) -> dict[str, Loop]:
        """What the gauge shows: friction, the zero of each cycle, noise, and its division."""
        branch = loop_of(self.force, self.force, self.cycle).branch
        out = {}
        for name, exact in self.exact.items():
            zero = rng.normal(0.0, SETTING, CYCLES)[self.cycle - 1]
            shown = exact - FRICTION * branch + zero + rng.normal(0.0, NOISE, len(exact))
            out[name] = loop_of(self.force, DIVISION * np.round(shown / DIVISION), self.cycle)
        return out


def experiment() -> Experiment:
    path = [*FORCES, *FORCES[-2::-1]]
    once = np.array([*path, *(-f for f in path)])
    force, cycle = np.tile(once, CYCLES), np.repeat(np.arange(1, CYCLES + 1, dtype=np.int64), len(once))
    arm = _true_robot()
    exact = {
        str(d): _displacement(_locked(arm, "J1", "J2"), force, np.radians(90 + d), "gripper") for d in DIRECTIONS_DEG
    }
    exact["J1"] = _displacement(_locked(arm, "J2"), force, np.pi, "link2_end")
    exact["J2"] = _displacement(_locked(arm, "J1"), force, np.pi, "link2_end")
    return Experiment(force, cycle, exact)


def _true_robot() -> Robot:
    """Figure 4(d); its backlash is the whole gap, that of the elements half of it; the largest along the arm."""
    printed = {name: PRINTED.value(name) for name in NAMES}
    values = {"gripper.p": printed["gripper_compliance_m_per_N"]}
    for joint in LEVERS:
        values[f"{joint}.k"] = printed[f"joint{joint[1]}_compliance_rad_per_Nm"]
        values[f"{joint}.gap"] = printed[f"joint{joint[1]}_backlash_rad"] / 2
    gap = (printed["gripper_backlash_max_m"] / 2, printed["gripper_backlash_min_m"] / 2, 0.0)
    play = GripperBacklash(frame="gripper", gap=gap)
    return read_robot("scara-ruggeri").without("gripper_backlash").with_parameters(values).with_elements(play)


def _locked(arm: Robot, *joints: str) -> Robot:
    return arm.with_parameters({f"{j}.{symbol}": 0.0 for j in joints for symbol in ("k", "gap")})


def _displacement(model: Robot, force: Array, angle: float, frame: str) -> Array:
    """Along the force at the gripper, of a frame of the bent arm against the rigid one (n,)."""
    unit = np.array([np.cos(angle), np.sin(angle), 0.0])
    wrench = np.column_stack([force[:, None] * unit, np.zeros((len(force), 3))])
    q = np.tile([np.pi / 2, 0.0], (len(force), 1))
    bent = frame_pose(model, q, equilibrium(model, q, [AppliedWrenches("gripper", wrench)]), frame)[0]
    rigid = model.without("link_compliance", "joint_compliance", "joint_backlash", "gripper_backlash")
    return np.asarray(unit @ (bent - frame_pose(rigid, q, equilibrium(rigid, q), frame)[0]))


DRAWS = 100


def run(rng: np.random.Generator, progress: Progress) -> Outcome:
    gauge = experiment()
    first = _analyse(gauge.read(rng))
    hits = 0
    for draw in range(DRAWS):
        values = _analyse(gauge.read(rng)).values
        hits += sum(abs(e.value - PRINTED.value(n)) <= e.half_width() for n, e in values.items())
        progress(draw + 1, DRAWS)
    coverage = hits / (DRAWS * len(NAMES))
    off = max(abs(e.value - PRINTED.value(n)) / e.sd for n, e in first.values.items())
    figures = _figures(first, coverage, off)
    return PRINTED.outcome(
        figures, first.curves(), off=off, share=100 * coverage, intervals=DRAWS * len(NAMES),
        chance=first.half_gap.one.chance,
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class _Analysis:
    """Loops by name, the gripper's directions, and all values of figure 4(d): whole gaps."""

    fits: Mapping[str, LoopFit]
    compliance: DirectionFit
    half_gap: DirectionFit
    values: Mapping[str, Estimate]

    def curves(self) -> tuple[Lines, ...]:
        gripper = [self.fits[str(d)] for d in DIRECTIONS_DEG]
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
    fits = dict(zip(loops, fit_loops(list(loops.values())), strict=True))
    gripper = [fits[str(d)] for d in DIRECTIONS_DEG]
    compliance = fit_directions(_units(), [f.compliance for f in gripper], root=False)
    half_gap = fit_directions(_units(), [f.half_gap for f in gripper], root=True)
    assert half_gap.principal is not None
    values = {"gripper_compliance_m_per_N": compliance.isotropic}
    for i, word in ((1, "min"), (0, "max")):
        half, sd = half_gap.principal.values[i], half_gap.principal.sd[i]
        values[f"gripper_backlash_{word}_m"] = Estimate(2 * float(half), 2 * float(sd), half_gap.freedom)
    for joint, lever in LEVERS.items():
        estimates = joint_values(fits[joint], lever)
        values[f"joint{joint[1]}_compliance_rad_per_Nm"] = estimates.compliance
        values[f"joint{joint[1]}_backlash_rad"] = estimates.half_gap.times(2)
    return _Analysis(fits, compliance, half_gap, values)


def _figures(first: _Analysis, coverage: float, off: float) -> tuple[Figure, ...]:
    widest = first.fits["0"]
    left = 2 * (widest.half_gap.value + widest.half_hysteresis.value)
    gauge: dict[str, Any] = {"noise": 1e6 * NOISE, "division": 1e6 * DIVISION}
    return (
        *(PRINTED.figure(n, first.values[n].value, sd=first.values[n].sd) for n in NAMES),
        PRINTED.figure("coverage_95", coverage, draws=DRAWS),
        PRINTED.figure("largest_error_in_sd", off, **gauge),
        PRINTED.figure("noise_m", widest.sigma, **gauge),
        PRINTED.figure("hysteresis_m", 2 * widest.half_hysteresis.value, friction=2 * FRICTION),
        *PRINTED.figures(
            {
                "gap_left_at_zero_force_m": left,
                "one_compliance_probability": first.compliance.one.probability,
                "one_backlash_probability": first.half_gap.one.probability,
                "ellipse_probability": first.half_gap.matrix.probability,
            }
        ),
    )


def _units() -> Array:
    angles = np.radians(DIRECTIONS_DEG)
    return np.column_stack([np.cos(angles), np.sin(angles)])
