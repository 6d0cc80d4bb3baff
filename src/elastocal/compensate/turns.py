"""Which multiple of a full turn: nearest to a reference, within the joint's limits."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from elastocal.model.robot import RobotModel
from elastocal.spatial.entries import Array

Limits = tuple[float, float] | None
FULL = 2 * np.pi
SLACK = 1e-9


def joint_limits(model: RobotModel) -> tuple[Limits, ...]:
    return tuple(m.limits for m in model.motions)


def nearest_turns(angles: Array, reference: Array, limits: Sequence[Limits]) -> Array:
    """Angles (n, N) moved by full turns next to the reference (n, N), then into the limits where a turn does it."""
    return into_limits(angles + FULL * np.rint((reference - angles) / FULL), limits)


def unwrapped(angles: Array, before: Array) -> Array:
    """Angles (n, N) along a path, each within half a turn of the one before it; ``before`` (n,) is before the first."""
    known = _filled(angles, before)
    steps = np.diff(known, axis=1, prepend=before[:, None])
    if np.abs(steps).max(initial=0.0) > np.pi:
        known = known - FULL * np.cumsum(np.rint(steps / FULL), axis=1)
    return np.asarray(np.where(np.isnan(angles), np.nan, known))


def _filled(angles: Array, before: Array) -> Array:
    """Unknown values replaced by the last known ones."""
    unknown = np.isnan(angles[0])
    if not unknown.any():
        return angles
    last = np.maximum.accumulate(np.where(unknown, -1, np.arange(angles.shape[1])))
    return np.asarray(np.where(last < 0, before[:, None], angles[:, last]))


def into_limits(angles: Array, limits: Sequence[Limits]) -> Array:
    """Angles (n, N), those beyond their limits moved by full turns where that brings them inside."""
    moved_in = angles.copy()
    for row, limit in zip(moved_in, limits, strict=True):
        if limit is not None:
            low, high = limit[0] - SLACK, limit[1] + SLACK
            out = (row < low) | (row > high)
            if out.any():
                over, under = np.ceil((row - high) / FULL), np.ceil((low - row) / FULL)
                moved = row + FULL * (np.maximum(under, 0) - np.maximum(over, 0))
                row[:] = np.where(out & (moved >= low) & (moved <= high), moved, row)
    return moved_in
