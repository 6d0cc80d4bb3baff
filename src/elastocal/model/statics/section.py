"""The section of a workspace in which the stiffness of an arm changes most: over two of its joints."""

from __future__ import annotations

import numpy as np

from elastocal.model.robot import Robot
from elastocal.model.statics.stiffness import softest, stiffness
from elastocal.spatial.entries import Array
from elastocal.values import dataclass

TRIED = 9
"""Values of each joint that are compared to choose the joints."""


@dataclass(frozen=True, eq=False)
class StiffnessSection:
    """``joints`` move from ``low`` to ``high`` (n,), the others stand as in ``middle`` (n,)."""

    joints: tuple[int, int]
    middle: Array
    low: Array
    high: Array


def stiffness_section(model: Robot, q: Array) -> StiffnessSection:
    """Through the middle one of poses (N, n)."""
    middle = q[int(np.argmin(np.linalg.norm((q - q.mean(axis=0)) / (np.ptp(q, axis=0) + 1e-9), axis=1)))]
    low, high = _ranges(model, q)
    first, second = sorted(np.argsort(-_effect(model, middle, low, high), kind="stable")[:2])
    return StiffnessSection((int(first), int(second)), middle, low, high)


def _ranges(model: Robot, q: Array) -> tuple[Array, Array]:
    """Limits of every joint; without limits as far as it was moved, and a quarter turn or 0.1 m at least."""
    ends = []
    for motion, values in zip(model.motions, q.T, strict=True):
        least = np.pi / 4 if motion.kind == "revolute" else 0.05
        middle, half = float(values.max() + values.min()) / 2, max(least, float(np.ptp(values)) / 2)
        ends.append(motion.limits or (middle - half, middle + half))
    return np.array([e[0] for e in ends]), np.array([e[1] for e in ends])


def _effect(model: Robot, middle: Array, low: Array, high: Array) -> Array:
    """How much each joint changes the stiffness in the softest direction: the spread of its logarithm, (n,)."""
    tried = np.repeat(middle[None, None], model.n, axis=0).repeat(TRIED, axis=1)
    for k in range(model.n):
        tried[k, :, k] = np.linspace(low[k], high[k], TRIED)
    effect = np.log(softest(stiffness(model, tried.reshape(-1, model.n)))).reshape(model.n, TRIED)
    known = np.isfinite(effect)
    centre = np.where(known, effect, 0.0).sum(axis=1, keepdims=True) / np.maximum(known.sum(axis=1, keepdims=True), 1)
    return np.asarray(np.where(known, np.abs(effect - centre), 0.0).max(axis=1))
