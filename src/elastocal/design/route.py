"""The order of poses for short motion, and the way between them.

Joints move at once, so that the way from a to b takes max_j |b_j - a_j| / speed_j; another set-up costs its change on
top.  From every first pose the nearest next one is taken, then pieces of the path are turned round while that makes it
shorter (2-opt); the shortest path of all counts, the same every time.  On the way all joints move together, as a
point-to-point motion does, and must not meet anything.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from elastocal.design.candidates import CandidateSet, Poses
from elastocal.design.cell import Cell
from elastocal.design.feasibility.filter import Filter
from elastocal.errors import RangeError, ShapeError
from elastocal.model.robot import Robot
from elastocal.spatial.entries import Array, Bools, Ints
from elastocal.values import dataclass

STEP_ANGLE, STEP_LENGTH = np.radians(2.0), 0.02
"""Largest step of a joint between two places that are looked at."""
ON_THE_WAY = ("obstacles", "self_collision")
"""Filters that hold between poses as well."""

STARTS = 50
CLOSED = 100.0
"""A way that is not free counts as so many of the longest."""
CHUNK = 200
"""Ways that are looked at together."""
MOST_PAIRS = 2000
"""Pairs of places that are tried for a way over two of them."""
SHORTER = 1e-12


@dataclass(frozen=True, eq=False)
class Ordered:
    """``order`` (m,) of the poses; ``time`` of the path and ``before``, as the poses were given, in s."""

    order: Ints
    time: float
    before: float


def ordered(
    poses: Array, speeds: Array, *, setup: Ints | None = None, change: float = 0.0, closed: Bools | None = None
) -> Ordered:
    """Order poses (m, joints) for joints of ``speeds`` (joints,).

    ``setup`` (m,) numbers the set-up (load, tool) of every pose, and ``change`` is the time in s to go to another.
    ``closed`` (m, m) are ways that are not free: they are taken only where there is no other path.
    """
    q, v = np.asarray(poses, dtype=np.float64), np.asarray(speeds, dtype=np.float64)
    _check(q, v, setup, change)
    m = len(q)
    away = np.zeros((m + 1, m + 1))  # m is where the path starts and ends, at no distance
    away[:m, :m] = np.max(np.abs(q[:, None] - q[None]) / v, axis=2, initial=0.0)  # a link has no joints
    if setup is not None:
        away[:m, :m] += change * (setup[:, None] != setup[None])
    dear = away.copy()
    if closed is not None:
        dear[:m, :m] += np.where(closed, CLOSED * (1 + away.max()), 0.0)
    paths = [_turned(_nearest(first, dear), dear) for first in range(0, m, max(1, m // STARTS))]
    best = min(paths, key=lambda path: _length(path, dear))  # min takes the first of equals
    given = np.array([m, *range(m), m])
    best = given if _length(given, dear) <= _length(best, dear) + SHORTER else best
    return Ordered(best[1:-1], _length(best, away), _length(given, away))


def _check(q: Array, v: Array, setup: Ints | None, change: float) -> None:
    if q.ndim != 2 or not len(q) or not np.all(np.isfinite(q)):
        raise ShapeError(f"ordering: give finite poses (m, joints), not an array of shape {q.shape}", value=q.shape)
    if v.shape != q.shape[1:] or not np.all(np.isfinite(v) & (v > 0)):
        raise ShapeError(f"ordering: give {q.shape[1]} positive speeds, one for each joint", value=q.shape[1])
    if setup is not None and np.shape(setup) != (len(q),):
        raise ShapeError(f"ordering: give one set-up for each of the {len(q)} poses", value=len(q))
    if not (np.isfinite(change) and change >= 0):
        raise RangeError("ordering: the time of a change must not be negative", code="change-time")


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


@dataclass(frozen=True, eq=False)
class Ways:
    """Straight joint-space ways of a robot in its cell; filters that hold between poses judge them."""

    model: Robot
    cell: Cell
    filters: tuple[Filter, ...]

    @cached_property
    def watching(self) -> tuple[Filter, ...]:
        return tuple(f for f in self.filters if f.kind in ON_THE_WAY)

    def blocked(self, starts: Array, ends: Array) -> tuple[str, ...]:
        """For ways from (M, n) to (M, n) the label of a filter that forbids it, empty where the way is free."""
        out = np.full(len(starts), "", dtype=object)
        step = np.array([STEP_ANGLE if m.kind == "revolute" else STEP_LENGTH for m in self.model.motions])
        for first in range(0, len(starts) if self.watching else 0, CHUNK):
            rows = slice(first, first + CHUNK)
            places, owner = _between(starts[rows], ends[rows], step)
            way = CandidateSet.of(Poses(self.model, places), (), self.model.tool)
            for f in reversed(self.watching):
                out[first + owner[~f.passes(way, self.cell)]] = f.label
        return tuple(out)

    def between(self, q: Array) -> Bools:
        """(m, m) True where the way between two of m configurations is not free."""
        m = len(q)
        i, j = np.triu_indices(m, 1)
        out = np.zeros((m, m), dtype=bool)
        out[i, j] = out[j, i] = [bool(word) for word in self.blocked(q[i], q[j])]
        return out

    def detour(self, start: Array, end: Array, places: Array) -> Array | None:
        """One place or two (k, n) over which a way that is not free becomes free, with a short detour; None if none."""
        there = np.array([not w for w in self.blocked(np.repeat(start[None], len(places), axis=0), places)])
        on = np.array([not w for w in self.blocked(places, np.repeat(end[None], len(places), axis=0))])
        first, last = (np.max(np.abs(places - q), axis=1) for q in (start, end))
        both = np.flatnonzero(there & on)
        if len(both):
            return np.asarray(places[both[[np.argmin(first[both] + last[both])]]])
        i, j = (x.ravel() for x in np.meshgrid(np.flatnonzero(there), np.flatnonzero(on), indexing="ij"))
        length = first[i] + np.max(np.abs(places[i] - places[j]), axis=1, initial=0.0) + last[j]
        order = np.argsort(length, kind="stable")[:MOST_PAIRS]
        for k in range(0, len(order), CHUNK):
            some = order[k : k + CHUNK]
            free = [not w for w in self.blocked(places[i[some]], places[j[some]])]
            if any(free):
                best = some[free.index(True)]
                return np.asarray(places[[i[best], j[best]]])
        return None


def _between(starts: Array, ends: Array, step: Array) -> tuple[Array, Ints]:
    """Places (P, n) along ways from (M, n) to (M, n), their ends among them, and whose each is."""
    away = ends - starts
    count = np.maximum(2, np.ceil(np.max(np.abs(away) / step, axis=1)).astype(np.int64) + 1)
    owner = np.repeat(np.arange(len(count)), count)
    number = np.arange(len(owner)) - np.repeat(np.cumsum(count) - count, count)
    last = count[owner] - 1
    share = np.where(number == last, 1.0, number * (1 / last))
    return np.asarray(starts[owner] + share[:, None] * away[owner]), owner
