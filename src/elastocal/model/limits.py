"""Joint ranges: bounds of the joint values, the robot's reach, limits in words, and configurations spread over them.

Without chance: the middle of the ranges, and places spread evenly over them.  A joint without limits turns by half a
turn, or slides by half the robot's length, to either side.
"""

from __future__ import annotations

from math import degrees

import numpy as np

from elastocal.model.robot import Robot
from elastocal.spatial.entries import Array


def joint_bounds(model: Robot) -> tuple[Array, Array]:
    """Lowest and highest value (n,) of every joint, infinite without limits; joints that follow it narrow them."""
    low, high = np.full(model.n, -np.inf), np.full(model.n, np.inf)
    for frame in model.tree.frames:
        motion = frame.joint
        if motion is None or motion.limits is None:
            continue
        ends = np.array(motion.limits)
        if motion.follows is not None:
            if motion.ratio == 0.0:
                continue
            ends = np.sort((ends - motion.offset) / motion.ratio)
        j = model.joints.index(motion.follows or frame.name)
        low[j], high[j] = max(low[j], ends[0]), min(high[j], ends[1])
    return low, high


def extent(model: Robot) -> float:
    """How far the robot reaches at most, in m: its fixed offsets and the travel of its slides (1 m without limits)."""
    slides = [m.limits or (0.0, 1.0) for m in model.motions if m.kind == "prismatic"]
    return model.size + sum(max(abs(low), abs(high)) for low, high in slides)


def moved_by(model: Robot, joint: str) -> str | None:
    """The controller axis that moves a joint; None where several together do."""
    row = model.joints.index(model.tree.joint(joint).follows or joint)
    movers = [a for a, f in zip(model.controller.axes, model.controller.matrix[row], strict=True) if f]
    return movers[0] if len(movers) == 1 else None


def limit_text(model: Robot, joint: str, value: float) -> str:
    """What is beyond which limits: as the pendant shows it, or as a joint value where several axes move the joint."""
    motion = model.tree.joint(joint)
    assert motion.limits is not None
    unit, scale = ("deg", degrees(1.0)) if motion.kind == "revolute" else ("mm", 1e3)
    row = model.joints.index(motion.follows or joint)
    factors = model.controller.matrix[row]
    movers = [a for a, f in zip(model.controller.axes, factors, strict=True) if f]
    if len(movers) == 1 and motion.follows is None:
        column = model.controller.axes.index(movers[0])
        shown = [scale * (v / factors[column] + model.controller.zero[column]) for v in (value, *motion.limits)]
        what = f"axis {movers[0]} = {shown[0]:.6g} {unit}"
        low, high = sorted(shown[1:])
    else:
        together = " together" if len(movers) > 1 else ""
        what = (
            f"joint {joint}, moved by {' and '.join(movers)}{together}, = {scale * value:.6g} {unit} (no pendant value)"
        )
        low, high = (scale * v for v in motion.limits)
    return f"{what} is beyond its limits {low:.6g} to {high:.6g} {unit}"


def middle(model: Robot) -> Array:
    """Joint values (n,) in the middle of every range."""
    low, high = _ranges(model)
    return np.asarray(low + 0.5 * (high - low))


BENT = np.deg2rad(20.0)
"""How far from zero every axis is turned where an arm is looked at, so that none is singular."""


def ready(model: Robot) -> Array:
    """Joint values (n,) to look at an arm: zero, or the middle of a range that does not hold it, a little bent."""
    low, high = joint_bounds(model)
    at = np.where((low <= 0) & (high >= 0), 0.0, (np.nan_to_num(low) + np.nan_to_num(high)) / 2)
    turns = np.array([m.kind == "revolute" for m in model.motions])
    return np.asarray(np.clip(at + np.where(turns, BENT, 0.0), low, high))


def spread_configurations(model: Robot, count: int) -> Array:
    """Joint values (count, n); more of them begin with the same ones.

    Roberts' sequence: multiples of the powers of 1/g, g the positive root of g^(n+1) = g + 1.
    """
    g = 2.0
    for _ in range(60):
        g = (1 + g) ** (1 / (model.n + 1))
    steps = g ** -np.arange(1.0, model.n + 1)
    share = (0.5 + np.arange(1, count + 1)[:, None] * steps) % 1.0
    low, high = _ranges(model)
    return np.asarray(low + share * (high - low))


def starts(model: Robot, count: int) -> Array:
    """Where searches start (count, n): the middle, then all over the ranges."""
    return np.concatenate([middle(model)[None], spread_configurations(model, count - 1)])


def _ranges(model: Robot) -> tuple[Array, Array]:
    free = [np.pi if m.kind == "revolute" else 0.5 * model.size for m in model.motions]
    ranges = [m.limits or (-f, f) for m, f in zip(model.motions, free, strict=True)]
    low, high = np.array(ranges).reshape(model.n, 2).T
    return low, high
