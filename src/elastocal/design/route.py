"""The order of poses for short motion, and the way between them.

Joints move at once, so that the way from a to b takes max_j |b_j - a_j| / speed_j; another set-up costs its change on
top.  From every first pose the nearest next one is taken, then pieces of the path are turned round while that makes it
shorter (2-opt); the shortest path of all counts, the same every time.  On the way all joints move together, as a
point-to-point motion does, and must not meet anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from elastocal.design.candidates import CandidateSet
from elastocal.design.cell import Cell
from elastocal.design.feasibility.filter import Filter
from elastocal.design.poses import Poses
from elastocal.errors import InputError
from elastocal.spatial.entries import Array, Ints

STEP_ANGLE, STEP_LENGTH = np.radians(2.0), 0.02
"""Largest step of a joint between two places that are looked at."""
ON_THE_WAY = ("obstacles", "self_collision")
"""Filters that hold between poses as well."""

STARTS = 50
SHORTER = 1e-12


@dataclass(frozen=True, eq=False)
class Ordered:
    """``order`` (m,) of the poses; ``time`` of the path and ``before``, as the poses were given, in s."""

    order: Ints
    time: float
    before: float


def ordered(poses: Array, speeds: Array, *, setup: Ints | None = None, change: float = 0.0) -> Ordered:
    """Order poses (m, joints) for joints of ``speeds`` (joints,).

    ``setup`` (m,) numbers the set-up (load, tool) of every pose, and ``change`` is the time in s to go to another.
    """
    q, v = np.asarray(poses, dtype=np.float64), np.asarray(speeds, dtype=np.float64)
    _check(q, v, setup, change)
    m = len(q)
    away = np.zeros((m + 1, m + 1))  # m is where the path starts and ends, at no distance
    away[:m, :m] = np.max(np.abs(q[:, None] - q[None]) / v, axis=2, initial=0.0)  # a link has no joints
    if setup is not None:
        away[:m, :m] += change * (setup[:, None] != setup[None])
    paths = [_turned(_nearest(first, away), away) for first in range(0, m, max(1, m // STARTS))]
    best = min(paths, key=lambda path: _length(path, away))  # min takes the first of equals
    given = np.array([m, *range(m), m])
    best = given if _length(given, away) <= _length(best, away) + SHORTER else best
    return Ordered(best[1:-1], _length(best, away), _length(given, away))


def _check(q: Array, v: Array, setup: Ints | None, change: float) -> None:
    if q.ndim != 2 or not len(q) or not np.all(np.isfinite(q)):
        raise InputError(f"ordering: give finite poses (m, joints), not an array of shape {q.shape}")
    if v.shape != q.shape[1:] or not np.all(np.isfinite(v) & (v > 0)):
        raise InputError(f"ordering: give {q.shape[1]} positive speeds, one for each joint")
    if setup is not None and np.shape(setup) != (len(q),):
        raise InputError(f"ordering: give one set-up for each of the {len(q)} poses")
    if not (np.isfinite(change) and change >= 0):
        raise InputError("ordering: the time of a change must not be negative")


def _length(path: Ints, away: Array) -> float:
    return float(np.sum(away[path[:-1], path[1:]]))


def _nearest(first: int, away: Array) -> Ints:
    m = len(away) - 1
    path, left = [m, first], np.ones(m, dtype=bool)
    left[first] = False
    while np.any(left):
        path.append(int(np.argmin(np.where(left, away[path[-1], :m], np.inf))))
        left[path[-1]] = False
    return np.array([*path, m])


def _turned(path: Ints, away: Array) -> Ints:
    """2-opt: pieces i..j turned round, the best one first, until none makes the path shorter."""
    m = len(path) - 2
    i, j = np.triu_indices(m, 1)
    i, j = i + 1, j + 1
    while m > 1:
        change = (
            away[path[i - 1], path[j]] + away[path[i], path[j + 1]]
            - away[path[i - 1], path[i]] - away[path[j], path[j + 1]]
        )  # fmt: skip
        best = int(np.argmin(change))
        if change[best] > -SHORTER:
            break
        path = path.copy()
        path[i[best] : j[best] + 1] = path[i[best] : j[best] + 1][::-1]
    return path


def blocked(candidates: CandidateSet, cell: Cell, filters: Sequence[Filter]) -> tuple[tuple[int, str], ...]:
    """Moves from pose i to i + 1 that a filter forbids, each with the filter's label."""
    watching = [f for f in filters if f.kind in ON_THE_WAY]
    if not watching or len(candidates) < 2:
        return ()
    step = np.array([STEP_ANGLE if m.kind == "revolute" else STEP_LENGTH for m in candidates.model.motions])
    places, owner = [], []
    for i, (a, b) in enumerate(zip(candidates.q[:-1], candidates.q[1:], strict=True)):
        between = _between(a, b, step)
        places.append(between)
        owner += [i] * len(between)
    whose = np.array(owner)
    way = CandidateSet.of(Poses(candidates.model, np.concatenate(places)), (), candidates.frame)
    return tuple((int(i), f.label) for f in watching for i in np.unique(whose[~f.passes(way, cell)]))


def _between(a: Array, b: Array, step: Array) -> Array:
    count = max(2, int(np.ceil(np.max(np.abs(b - a) / step))) + 1)
    return np.asarray(a + np.linspace(0, 1, count)[:, None] * (b - a))
