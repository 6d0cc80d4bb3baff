"""Test poses of a task: given as configurations, as places on a path, or as a box of the workspace."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elastocal.design.drawing import Region
from elastocal.design.pool import spread_points, spread_poses
from elastocal.design.reaching import across, reached
from elastocal.design.task import Tests
from elastocal.errors import InputError
from elastocal.model.limits import limit_text
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.robot import RobotModel
from elastocal.spatial.entries import Array

STARTS = 64
"""Configurations that points are reached from, one after the other, until all are."""


@dataclass(frozen=True, eq=False)
class TestPlan:
    """Test poses before they are placed: joint values, or points (T, 3) that ``frame`` is to reach from ``near``.

    ``box`` gives ``count`` points of its own; ``wrenches`` are (1 or T, 6), None where nothing is said.
    """

    __test__ = False
    frame: str
    words: str
    q: Array | None = None
    points: Array | None = None
    box: Region | None = None
    count: int = 0
    near: Array | None = None
    wrenches: Array | None = None


def placed_tests(tests: TestPlan, model: RobotModel, load_frame: str, rng: np.random.Generator) -> Tests:
    """Joint values within the limits; points are reached from ``near`` first, then from poses all over."""
    q = tests.q if tests.q is not None else _reached(tests, model, rng)
    beyond = model.beyond_limits(q)
    if beyond:
        raise InputError(f"test pose {beyond[0][0] + 1}: {limit_text(model, *beyond[0][1:])}; change it")
    wrenches = np.zeros((1, 6)) if tests.wrenches is None else tests.wrenches
    load = AppliedWrenches(load_frame, np.broadcast_to(wrenches, (len(q), 6)))
    return Tests(q, load, tests.frame, tests.words)


def _reached(tests: TestPlan, model: RobotModel, rng: np.random.Generator) -> Array:
    points = tests.points
    if tests.box is not None:
        low, high = np.array(tests.box.low), np.array(tests.box.high)
        points = across(model, spread_points(low, high, tests.count, rng), low, high, tests.frame)
    if points is None:
        raise InputError("test poses: give configurations, points or a box")
    starts = spread_poses(model, STARTS, rng)
    starts = starts if tests.near is None else np.concatenate([tests.near, starts])
    q = np.full((len(points), model.n), np.nan)
    for start in starts:
        left = np.flatnonzero(np.isnan(q[:, 0]))
        if not len(left):
            break
        found, held = reached(model, np.repeat(start[None], len(left), axis=0), points[left], tests.frame)
        q[left[held]] = found[held]
    lost = np.flatnonzero(np.isnan(q[:, 0]))
    if len(lost):
        where = ", ".join(f"{1e3 * v:.0f}" for v in points[lost[0]])
        raise InputError(f"test pose {lost[0] + 1}: {tests.frame} does not reach ({where}) mm; move it")
    return q
