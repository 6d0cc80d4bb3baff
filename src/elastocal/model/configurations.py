"""Configurations without chance: the middle of the joint ranges, and places spread evenly over them.

A joint without limits turns by half a turn, or slides by half the robot's length, to either side.
"""

from __future__ import annotations

import numpy as np

from elastocal.model.robot import RobotModel
from elastocal.spatial.entries import Array


def middle(model: RobotModel) -> Array:
    """Joint values (n,) in the middle of every range."""
    low, high = _ranges(model)
    return np.asarray(low + 0.5 * (high - low))


def spread_configurations(model: RobotModel, count: int) -> Array:
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


def starts(model: RobotModel, count: int) -> Array:
    """Where searches start (count, n): the middle, then all over the ranges."""
    return np.concatenate([middle(model)[None], spread_configurations(model, count - 1)])


def _ranges(model: RobotModel) -> tuple[Array, Array]:
    free = [np.pi if m.kind == "revolute" else 0.5 * model.size for m in model.motions]
    ranges = [m.limits or (-f, f) for m, f in zip(model.motions, free, strict=True)]
    low, high = np.array(ranges).reshape(model.n, 2).T
    return low, high
