"""A joint's values from a loop at a lever arm l: torque F l, angle s / l (002 section 5.2).

    k = p / l^2,    gamma = g / l,    and h / l for the hysteresis

Where the gauge touches the gripper, its own p and g along the force are in the loop and are taken off first.
"""

from __future__ import annotations

from dataclasses import dataclass

from elastocal.errors import InputError
from elastocal.loops.estimate import Estimate
from elastocal.loops.fit import LoopFit


@dataclass(frozen=True)
class JointValues:
    """Compliance in rad/(N m), half gap and half hysteresis in rad."""

    compliance: Estimate
    half_gap: Estimate
    half_hysteresis: Estimate


def joint_values(fit: LoopFit, lever: float, gripper: tuple[Estimate, Estimate] | None = None) -> JointValues:
    """``lever`` in m, taken as exact; ``gripper`` are compliance and half gap to take off."""
    if not lever > 0:
        raise InputError(f"lever {lever:g} m: must be a positive length")
    p, g = fit.compliance, fit.half_gap
    if gripper is not None:
        p, g = p.minus(gripper[0]), g.minus(gripper[1])
    return JointValues(p.times(lever**-2), g.times(1 / lever), fit.half_hysteresis.times(1 / lever))
