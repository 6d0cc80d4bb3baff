"""Whether a log can be one of this robot: torques that are there and not saturated, joint values within limits."""

from __future__ import annotations

import numpy as np

from elastocal.errors import MissingError, UnitError
from elastocal.measure.joint_log import JointLog
from elastocal.model.robot import Robot
from elastocal.spatial.entries import Array

FAR = 0.5
"""Radians or metres beyond a limit that no controller lets an arm go."""
TURNS = 10 * np.pi
"""Radians that a joint without limits may have turned."""
CLIPPED = 10
"""Readings at the very end of a column's range, and times as many as its other values have: the drive was saturated."""
LEAST = 20
"""Readings of a joint; with fewer nothing is said of it."""


def check_log(model: Robot, log: JointLog) -> list[str]:
    if not np.isfinite(log.torque).any():
        raise MissingError(
            f"{log.source}: no torque was logged; add columns such as A2_torque_Nm", code="no-torques", file=log.source
        )
    return [*log.notes, *_beyond_limits(model, log)]


def unclipped(log: JointLog) -> tuple[Array, list[str]]:
    """Torques without those of a saturated drive, which stand at the end of their range again and again."""
    torque, notes = log.torque.copy(), []
    for j, joint in enumerate(log.joints):
        read = torque[np.isfinite(torque[:, j]), j]
        if len(read) < LEAST or np.ptp(read) == 0:
            continue
        usual = float(np.median(np.unique(read, return_counts=True)[1]))
        for end in (float(read.min()), float(read.max())):
            at = torque[:, j] == end
            if at.sum() >= CLIPPED * max(usual, 1.0):
                torque[at, j] = np.nan
                notes.append(
                    f"{int(at.sum())} torques of {joint} stand at {end:.4g}: the drive was saturated, left out."
                )
    return torque, notes


def _beyond_limits(model: Robot, log: JointLog) -> list[str]:
    """What is to be said of joint values beyond their limits; refused where only a wrong unit can explain them."""
    out = []
    for j, (name, motion) in enumerate(zip(model.joints, model.motions, strict=True)):
        turns = motion.kind == "revolute"
        low, high = motion.limits or ((-TURNS, TURNS) if turns else (-np.inf, np.inf))
        over = np.maximum(log.q[:, j] - high, low - log.q[:, j])
        worst = int(np.argmax(over))
        if over[worst] > FAR:
            unit, small, factor = ("rad", "deg", np.pi / 180) if turns else ("m", "mm", 1e-3)
            code, slip = "limits", ""
            if turns and motion.limits and _a_turn_off(log.q[:, j], low, high):
                code = "full-turn"
                slip = "this looks like a full turn: take 360 deg off (or add them) where the joint wraps, else "
            elif np.all((factor * log.q[:, j] > low - FAR) & (factor * log.q[:, j] < high + FAR)):
                code, slip = "unit", f"this looks like {small} read as {unit}: "
            raise UnitError(
                f"{log.place(worst)}: {name} = {log.q[worst, j]:.4g} {unit} is far beyond its limits {low:.3g} to "
                f"{high:.3g} {unit}; {slip}check units in the header and the order of the columns",
                code=code,
                file=log.source,
                line=int(log.lines[worst]),
                column=name,
                value=float(log.q[worst, j]),
                allowed=(low, high),
            )
        if over[worst] > 0:
            out.append(f"{name} is beyond its limits in {int(np.sum(over > 0))} samples (first: {log.place(worst)}).")
    return out


def _a_turn_off(q: Array, low: float, high: float) -> bool:
    """Whether one turn less, or more, brings every value within its limits, and some are there as they stand."""
    within = [(q + turn >= low) & (q + turn <= high) for turn in (0.0, -2 * np.pi, 2 * np.pi)]
    return bool(np.all(np.any(within, axis=0)) and (within[0].any() or np.all(within[1]) or np.all(within[2])))
