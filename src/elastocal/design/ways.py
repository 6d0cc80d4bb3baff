"""The way from pose to pose: all joints move together, as a point-to-point motion does, and must not meet anything."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from elastocal.design.cell import Cell
from elastocal.design.feasibility.filter import Filter
from elastocal.design.pool import Pool
from elastocal.design.poses import Poses
from elastocal.spatial.entries import Array

STEP_ANGLE, STEP_LENGTH = np.radians(2.0), 0.02
"""Largest step of a joint between two places that are looked at."""
ON_THE_WAY = ("obstacles", "self_collision")
"""Filters that hold between poses as well."""


def blocked(pool: Pool, cell: Cell, filters: Sequence[Filter]) -> tuple[tuple[int, str], ...]:
    """Moves from pose i to i + 1 that a filter forbids, each with the filter's label."""
    watching = [f for f in filters if f.kind in ON_THE_WAY]
    if not watching or len(pool) < 2:
        return ()
    step = np.array([STEP_ANGLE if m.kind == "revolute" else STEP_LENGTH for m in pool.model.motions])
    places, owner = [], []
    for i, (a, b) in enumerate(zip(pool.q[:-1], pool.q[1:], strict=True)):
        between = _between(a, b, step)
        places.append(between)
        owner += [i] * len(between)
    whose = np.array(owner)
    way = Pool.of(Poses(pool.model, np.concatenate(places)), (), pool.frame)
    return tuple((int(i), f.label) for f in watching for i in np.unique(whose[~f.passes(way, cell)]))


def _between(a: Array, b: Array, step: Array) -> Array:
    count = max(2, int(np.ceil(np.max(np.abs(b - a) / step))) + 1)
    return np.asarray(a + np.linspace(0, 1, count)[:, None] * (b - a))
