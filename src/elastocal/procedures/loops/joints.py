"""A joint's values from loops at a lever arm l: torque F l, angle s / l (002 section 5.2).

    k = p / l^2,    gamma = g / l,    and h / l for the hysteresis

Where the gauge touches the gripper, its own p and g along the force are in the loop and are taken off first.  Several
loops of one joint give their mean, and a test that they agree.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from elastocal.errors import InputError
from elastocal.procedures.loops.estimate import Estimate, FTest, mean_of
from elastocal.procedures.loops.fit import LoopFit

Gripper = tuple[Estimate, Estimate]
"""Compliance and half gap along a loop."""


@dataclass(frozen=True)
class JointValues:
    """Compliance in rad/(N m), half gap and half hysteresis in rad."""

    compliance: Estimate
    half_gap: Estimate
    half_hysteresis: Estimate


@dataclass(frozen=True, eq=False)
class JointResult:
    """``loops`` are the places of the joint's loops; ``agree`` tests their compliance and half gap."""

    joint: str
    lever: float
    loops: tuple[int, ...]
    values: JointValues
    agree: tuple[FTest, FTest]


def joint_values(fit: LoopFit, lever: float, gripper: Gripper | None = None) -> JointValues:
    """``lever`` in m, without error; ``gripper`` is taken off."""
    if not lever > 0:
        raise InputError(f"lever {lever:g} m: must be a positive length")
    p, g = fit.compliance, fit.half_gap
    if gripper is not None:
        p, g = p.minus(gripper[0]), g.minus(gripper[1])
    return JointValues(p.times(lever**-2), g.times(1 / lever), fit.half_hysteresis.times(1 / lever))


def joint_result(
    joint: str, lever: float, loops: Sequence[int], fits: Sequence[LoopFit], grippers: Sequence[Gripper | None]
) -> JointResult:
    """The mean of all loops of a joint; of one loop alone its own values."""
    each = [joint_values(fits[i], lever, g) for i, g in zip(loops, grippers, strict=True)]
    if len(each) == 1:
        nothing = mean_of([])[1]
        return JointResult(joint, lever, tuple(loops), each[0], (nothing, nothing))
    k, same_k = mean_of([v.compliance for v in each])
    gap, same_gap = mean_of([v.half_gap for v in each])
    hysteresis, _ = mean_of([v.half_hysteresis for v in each])
    return JointResult(joint, lever, tuple(loops), JointValues(k, gap, hysteresis), (same_k, same_gap))
