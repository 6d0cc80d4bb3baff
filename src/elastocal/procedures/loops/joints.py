"""A joint's values from loops at a lever arm l: torque F l, angle s / l (002 section 5.2).

    k = p / l^2,    gamma = g / l,    and h / l for the hysteresis

Where the gauge touches the gripper, its own p and g along the force are in the loop and are taken off first.  Several
loops of one joint give their mean, and a test that they agree.

Values from loops as elements of a robot file; what is not known is left out with its reason.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field
from math import isfinite, pi

import numpy as np

from elastocal.errors import RangeError
from elastocal.procedures.loops.directions import DirectionFit, Directions, Principal
from elastocal.procedures.loops.fit import LoopFit
from elastocal.procedures.loops.loop import Estimate, mean_of
from elastocal.solve.nested import NestedTest
from elastocal.spatial.entries import Array
from elastocal.spatial.rotation import matrix_rpy
from elastocal.values import dataclass

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
    agree: tuple[NestedTest, NestedTest]


def joint_values(fit: LoopFit, lever: float, gripper: Gripper | None = None) -> JointValues:
    """``lever`` in m, without error; ``gripper`` is taken off."""
    if not lever > 0:
        raise RangeError(f"lever {lever:g} m: must be a positive length", value=lever)
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


ALIGNED = 3.0
"""Standard deviations within which the axes of a backlash count as those of the frame."""


@dataclass(frozen=True, eq=False)
class LoopElement:
    """``kind`` at ``place``; ``numbers`` by key in SI, with the standard deviation of each; ``reason`` where there are
    none.

    ``form`` of a compliance.  ``mean`` tells that the directions reject this description, so that it is a mean only.
    ``turn`` (3,) are roll, pitch and yaw of a frame of its own below ``parent``, in rad.
    """

    kind: str
    place: str
    numbers: dict[str, float] = field(default_factory=dict)
    sd: tuple[float, ...] = ()
    reason: str = ""
    form: str = ""
    mean: bool = False
    parent: str = ""
    turn: Array | None = None


def gripper_elements(frame: str, directions: Directions) -> tuple[LoopElement, ...]:
    return _compliance(frame, directions.compliance), _backlash(frame, directions.half_gap)


def joint_elements(joints: Sequence[JointResult]) -> Iterator[LoopElement]:
    for j in joints:
        yield _single("joint_compliance", j.joint, "k", j.values.compliance)
        yield _single("joint_backlash", j.joint, "gap", j.values.half_gap)


def _single(kind: str, place: str, key: str, number: Estimate, form: str = "", mean: bool = False) -> LoopElement:
    """Neither a spring nor a backlash is negative; a backlash that is not told from zero is none."""
    if not number.known:
        return LoopElement(kind, place, reason=number.reason, mean=mean)
    if key == "gap" and number.value >= 0 and number.absent:
        why = f"not told from zero ({number.value:.2g} +- {number.sd:.2g}; 95 % interval to "
        return LoopElement(kind, place, reason=f"{why}{number.value + number.half_width():.2g})", mean=mean)
    if number.value < 0:
        why = f"negative in these loops ({number.value:.3g} +- {number.sd:.2g}); see the notes"
        return LoopElement(kind, place, reason=why, mean=mean)
    return LoopElement(kind, place, {key: number.value}, (number.sd,), form=form, mean=mean)


def _compliance(frame: str, fit: DirectionFit) -> LoopElement:
    kind, mean = "link_compliance", fit.suffices == "neither"
    if fit.suffices == "one number" or fit.principal is None:
        return _single(kind, frame, "isotropic", fit.isotropic, "isotropic", mean)
    if fit.principal.values[-1] < 0:
        return LoopElement(kind, frame, reason="the matrix would be negative in some direction; measure in more")
    entries = {n: float(v) for n, v in zip(fit.names, fit.components, strict=True)}
    return LoopElement(
        kind, frame, entries, tuple(np.sqrt(np.diag(fit.covariance)).tolist()), form="entries", mean=mean
    )


def _backlash(frame: str, fit: DirectionFit) -> LoopElement:
    """The element knows half axes along its frame, so one that is turned has a frame of its own."""
    kind, mean, axes = "gripper_backlash", fit.suffices == "neither", fit.principal
    if fit.suffices == "one number" or axes is None:
        return _single(kind, frame, "gap", fit.isotropic, mean=mean)
    half = [*(float(v) for v in axes.values), *[0.0] * (3 - fit.dimension)]
    order = _order(axes)
    places = order or (0, 1, 2)
    gaps = {f"gap_{a}": half[i] for a, i in zip("xyz", places, strict=True)}
    sd = tuple(float(axes.sd[i]) for i in places if i < fit.dimension)
    if order:
        return LoopElement(kind, frame, gaps, sd, mean=mean)
    return LoopElement(kind, f"{frame}_play", gaps, sd, mean=mean, parent=frame, turn=_turn(axes))


def _order(axes: Principal) -> tuple[int, ...]:
    """Which half axis lies along x, y, z of the frame; empty where they lie across (or in space)."""
    if not isfinite(axes.angle):
        return ()
    quarter = round(axes.angle / (pi / 2))
    if abs(axes.angle - quarter * pi / 2) > ALIGNED * axes.angle_sd:
        return ()
    return (1, 0, 2) if quarter % 2 else (0, 1, 2)


def _turn(axes: Principal) -> Array:
    turn, d = np.eye(3), len(axes.values)
    turn[:d, :d] = axes.axes
    return np.asarray(matrix_rpy(turn))
