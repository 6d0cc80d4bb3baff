"""What the tool does between corrected targets.

A controller goes from one commanded pose to the next in a line, or in an arc through three of them.  The exact
correction is another one on the way, so the loaded tool leaves the desired way between two targets that it meets:

    off(s) = p_loaded(IK(commanded way at s)) - p_desired(s),   the part across the way

Each move is looked at in a few places, with the points that were put into it.  What a move is off by grows with the
square of its length: long moves come first, and where the rest cannot be off by more than is found, by four times
that square, it is not looked at.  The load of a place between is interpolated; along an arc it turns through that in
the middle.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from elastocal.compensation.commands import Commands
from elastocal.compensation.job import Job
from elastocal.compensation.loads import PathLoads
from elastocal.compensation.program import Move
from elastocal.compensation.stations import rotations_between
from elastocal.compensation.targets import Nominal, Targets, TargetStatus
from elastocal.compensation.verification import residual, taught
from elastocal.model.inverse_kinematics import Aim, task
from elastocal.model.limits import extent
from elastocal.model.robot import Robot
from elastocal.spatial.entries import Array, Bools, Ints
from elastocal.spatial.rotation import Rotation
from elastocal.values import dataclass

PROBES = np.array([0.25, 0.5, 0.75])
ARC_PROBES = np.arange(1, 8) / 8
"""An arc is right in three places, so its error turns in between."""
MANY = 200
"""Moves that are looked at in any case."""
SMALL = 1e-6
"""m that nobody asks for."""
SAFE = 4.0
"""Times what the length lets expect, which no move is taken to be beyond."""


class Points(NamedTuple):
    """Points put into a move: shares (k,) of it, commanded poses (k, 3), (k, 3, 3) in robot axes, joint values."""

    shares: Array
    positions: Array
    rotations: Array
    commands: Array


@dataclass(frozen=True, eq=False)
class Along:
    """``off`` (M,): largest distance in m between the loaded tool and the desired way, by ``moves``; nan where a place
    on the way has no solution.  ``on_truth`` (M,) is that on a simulated true robot.  ``unseen`` moves are shorter, and
    off by less than ``rest`` in m; on ``others`` (splines, after a change of the tool) nobody knows the way.
    """

    moves: tuple[Move, ...]
    off: Array
    on_truth: Array | None = None
    unseen: int = 0
    rest: float = 0.0
    others: int = 0

    @cached_property
    def worst(self) -> Move | None:
        """The move that is off by most; None where none is looked at."""
        return self.moves[int(np.nanargmax(self.off))] if np.isfinite(self.off).any() else None

    @property
    def most(self) -> float:
        """What it is off by."""
        return float(np.nanmax(self.off)) if self.worst else 0.0

    @property
    def lost(self) -> tuple[Move, ...]:
        """Moves on which a place has no solution."""
        return tuple(m for m, off in zip(self.moves, self.off, strict=True) if np.isnan(off))

    def of(self, mine: Callable[[Ints], Bools], line: Callable[[int], int]) -> Along:
        """That of some lines, with other numbers."""
        rows = np.flatnonzero(mine(np.array([m.line for m in self.moves], dtype=np.int64)))
        moves = tuple(self.moves[i]._replace(line=line(self.moves[i].line)) for i in rows)
        return replace(self, moves=moves, off=self.off[rows], on_truth=None)

    def joined(self, other: Along) -> Along:
        off = np.concatenate([self.off, other.off])
        return Along(
            (*self.moves, *other.moves), off, None, self.unseen + other.unseen, max(self.rest, other.rest),
            self.others + other.others,
        )  # fmt: skip


def along(
    work: Job, stated: Job | None, commands: Commands, points: Mapping[int, Points], truth: Robot | None = None
) -> Along:
    """Of the moves between corrected targets; ``stated`` is the job as the program states it, where ``work`` has it as
    taught; ``truth`` has the program's tools."""
    moves, others = _between(work, commands)
    length = _lengths(work, moves)
    order = np.argsort(-length, kind="stable")
    seen, off, first = np.zeros(len(order), dtype=bool), np.full(len(order), np.nan), 0
    true = np.full(len(order), np.nan)
    rest = 0.0
    while first < len(order):
        some = order[first : first + max(MANY, first)]
        places = _Places.on(work, commands, [moves[i] for i in some], points)
        values = _commands(work, places, places.sent, places.near)
        nominal = None if stated is None else _commands(stated, places, places.wanted(stated), places.nominal)
        off[some], seen[some] = _most(_off(work.placed.model, work, places, values, nominal), places), True
        if truth is not None:
            true[some] = _most(_off(truth, work, places, values, nominal), places)
        first += len(some)
        size = length[seen] ** 2
        slope = np.nanmax(off[seen] / np.where(size > 0, size, np.inf), initial=0.0)
        rest = SAFE * float(slope * length[order[first]] ** 2) if first < len(order) else 0.0
        if rest < max(np.nanmax(off[seen], initial=0.0), SMALL):
            break
    program = work.placed.stations.program
    rows = np.flatnonzero(seen)
    return Along(
        tuple(program.moves[moves[i]] for i in rows), off[rows], true[rows] if truth is not None else None,
        len(order) - len(rows), rest, others,
    )  # fmt: skip


def ends_of(work: Job, number: int) -> tuple[int, int]:
    """Stations where a move starts and ends."""
    move, row = work.placed.stations.program.moves[number], work.placed.stations.row
    assert move.start is not None
    return int(row[move.start]), int(row[move.end])


def _between(work: Job, commands: Commands) -> tuple[list[int], int]:
    """Numbers of the moves in lines and arcs between corrected targets of one tool, and how many others there are."""
    stations, frames = work.placed.stations, work.placed.frames
    good = (commands.status == TargetStatus.CORRECTED)[stations.row].tolist()
    row, out, others = stations.row.tolist(), [], 0
    for i, m in enumerate(stations.program.moves):
        if m.motion == "joint" or m.arc is not None or not good[m.end] or m.start == m.end:
            continue
        known = m.motion == "linear" or (m.motion == "arc" and m.via is not None and good[m.via])
        if m.start is None or not known or frames[row[m.start]] != frames[row[m.end]]:
            others += 1
        elif good[m.start]:
            out.append(i)
    return out, others


def _lengths(work: Job, moves: list[int]) -> Array:
    """In m, with a turn on the extent of the robot."""
    if not moves:
        return np.empty(0)
    a, b = np.array([ends_of(work, i) for i in moves]).T
    all_moves, row = work.placed.stations.program.moves, work.placed.stations.row
    vias = [all_moves[i].via for i in moves]
    via = np.array([e if v is None else row[v] for v, e in zip(vias, b, strict=True)])
    place, turn = work.placed.position, work.placed.rotation
    far = np.linalg.norm(place[via] - place[a], axis=1) + np.linalg.norm(place[b] - place[via], axis=1)
    cosine = (np.einsum("nij,nij->n", turn[a], turn[b]) - 1) / 2
    return np.asarray(far + extent(work.placed.model) * np.arccos(np.clip(cosine, -1, 1)))


@dataclass(frozen=True, eq=False)
class _Places:
    """Places (K) on some moves: ``number`` of the move among them, stations ``start`` and ``end``, ``share`` of it.

    ``sent`` is the commanded pose, ``near`` and ``nominal`` (K, n) joint values next to it and to the stated one;
    ``arcs`` are the circles (rows of K) of moves that are no lines, with their vias.
    """

    number: Ints
    start: Ints
    end: Ints
    share: Array
    sent: tuple[Array, Array]
    near: Array
    nominal: Array
    arcs: tuple[tuple[slice, int], ...]

    @classmethod
    def on(cls, work: Job, commands: Commands, moves: list[int], points: Mapping[int, Points]) -> _Places:
        stations, all_moves = work.placed.stations, work.placed.stations.program.moves
        parts = [_node_shares(points.get(i)) if all_moves[i].motion == "linear" else ARC_PROBES for i in moves]
        count = np.array([len(p) for p in parts])
        ends = np.array([ends_of(work, i) for i in moves])
        number, share = np.repeat(np.arange(len(moves)), count), np.concatenate(parts)
        start, end = ends[number].T
        place = _mixed(commands.position, start, end, share)
        turn = rotations_between(commands.rotation[start], commands.rotation[end], share)
        near = _mixed(commands.command, start, end, share)
        arcs = []
        for k, first in zip(range(len(moves)), (np.cumsum(count) - count).tolist(), strict=True):
            rows, i = slice(first, first + int(count[k])), moves[k]
            if all_moves[i].via is not None:
                via = int(stations.row[all_moves[i].via])
                arcs.append((rows, via))
                place[rows] = _arc(commands.position, start[first], via, end[first], share[rows])
                near[rows] = _by_way(commands.command, start[first], via, end[first], share[rows])
            elif i in points:
                place[rows], turn[rows], near[rows] = _through(commands, start[first], end[first], points[i])
        nominal = _mixed(commands.nominal, start, end, share)
        return cls(number, start, end, share, (place, turn), near, nominal, tuple(arcs))

    def wanted(self, work: Job) -> tuple[Array, Array]:
        """Desired poses."""
        at = work.placed
        place = _mixed(at.position, self.start, self.end, self.share)
        for rows, via in self.arcs:
            place[rows] = _arc(at.position, self.start[rows.start], via, self.end[rows.start], self.share[rows])
        return place, rotations_between(at.rotation[self.start], at.rotation[self.end], self.share)

    def across(self, work: Job, gap: Array) -> Array:
        """How large (K,) the part of gaps (K, 3) across the way is."""
        step = replace(self, share=self.share + 1e-6).wanted(work)[0] - self.wanted(work)[0]
        size = np.linalg.norm(step, axis=1, keepdims=True)
        along = np.divide(step, size, out=np.zeros_like(step), where=size > 0)
        return np.asarray(np.linalg.norm(gap - np.einsum("ni,ni->n", gap, along)[:, None] * along, axis=1))

    def groups(self, work: Job) -> list[tuple[Ints, str, Aim | None]]:
        """Rows, tool frame and aim of places that are solved together."""
        out = []
        for rows, frame, aim in work.groups():
            mine = np.flatnonzero(np.isin(self.end, rows))
            if len(mine):
                out.append((mine, frame, aim))
        return out

    def loads(self, work: Job, rows: Ints, frame: str) -> PathLoads:
        """The wrench in between, the mass of the end."""
        loads = work.loads
        wrench = _mixed(loads.wrench, self.start, self.end, self.share)
        for part, via in self.arcs:
            nodes = loads.wrench[[self.start[part.start], via, self.end[part.start]]]
            wrench[part] = _swung(nodes, self.share[part])
        return replace(loads, wrench=wrench[rows], mass=loads.mass[self.end[rows]]).at(np.arange(len(rows)), frame)


def _node_shares(points: Points | None) -> Array:
    """Shares of a line that are looked at: of every piece between its points."""
    nodes = np.array([0.0, 1.0]) if points is None else np.concatenate([[0.0], points.shares, [1.0]])
    return np.asarray((nodes[:-1, None] + np.diff(nodes)[:, None] * PROBES).reshape(-1))


def _through(commands: Commands, start: int, end: int, points: Points) -> tuple[Array, Array, Array]:
    """Commanded poses and joint values on a line through points."""

    def nodes(ends: Array, inner: Array) -> Array:
        return np.repeat(np.concatenate([ends[[start]], inner, ends[[end]]]), len(PROBES), axis=0)

    each, t = len(PROBES), np.tile(PROBES, len(points.shares) + 1)
    place, joint = nodes(commands.position, points.positions), nodes(commands.command, points.commands)
    turn = nodes(commands.rotation, points.rotations)
    mixed = [(1 - t[:, None]) * v[:-each] + t[:, None] * v[each:] for v in (place, joint)]
    return mixed[0], rotations_between(turn[:-each], turn[each:], t), mixed[1]


def _mixed(values: Array, start: Ints, end: Ints, share: Array) -> Array:
    return np.asarray((1 - share[:, None]) * values[start] + share[:, None] * values[end])


def _swung(nodes: Array, share: Array) -> Array:
    """Wrenches (K, 6) from the first of three over the middle one to the last: force and moment turn at an even rate,
    as those do that act along an arc."""
    half = np.minimum((2 * share).astype(np.int64), 1)
    t, out = 2 * share - half, np.empty((len(share), 6))
    for part in (slice(0, 3), slice(3, 6)):
        a, b = nodes[half, part], nodes[half + 1, part]
        size = np.linalg.norm(a, axis=1), np.linalg.norm(b, axis=1)
        cosine = np.divide(
            np.einsum("ki,ki->k", a, b), size[0] * size[1], out=np.ones(len(a)), where=size[0] * size[1] > 0
        )
        angle = np.arccos(np.clip(cosine, -1.0, 1.0))
        even = (angle > 1e-6) & (angle < 3.0)  # one that turns back passes through zero
        sine, length = np.sin(np.where(even, angle, 1.0)), np.stack(size)
        first = np.where(even, np.sin((1 - t) * angle) / sine, 1 - t)
        last = np.where(even, np.sin(t * angle) / sine, t)
        now = (1 - t) * length[0] + t * length[1]
        scale = [np.divide(now, n, out=np.ones_like(now), where=even & (n > 0)) for n in length]
        out[:, part] = (first * scale[0])[:, None] * a + (last * scale[1])[:, None] * b
    return out


def _by_way(values: Array, start: int, via: int, end: int, share: Array) -> Array:
    """Roughly, through the middle."""
    nodes = values[[start, via, end]]
    return np.stack([np.interp(share, [0, 0.5, 1], column) for column in nodes.T], axis=1)


def _arc(position: Array, start: int, via: int, end: int, share: Array) -> Array:
    """Places (k, 3) at shares (k,) of the arc through three places; on their line where they have no circle."""
    a, u, v = position[start], position[via] - position[start], position[end] - position[start]
    normal = np.cross(u, v)
    size = normal @ normal
    if size < 1e-12 * (u @ u) * (v @ v) or not size > 0:
        return np.asarray(a + share[:, None] * v)
    centre = (np.cross(normal, u) * (v @ v) + np.cross(v, normal) * (u @ u)) / (2 * size)
    axis = normal / np.sqrt(size)
    angle = np.arctan2(axis @ np.cross(-centre, v - centre), -centre @ (v - centre)) % (2 * np.pi)
    return np.asarray(a + centre + Rotation.from_rotvec(share[:, None] * angle * axis).apply(-centre))


def _commands(work: Job, places: _Places, poses: tuple[Array, Array], near: Array) -> Array:
    """Joint values (K, n) that the controller makes of poses; nan out of reach."""
    out = np.full_like(near, np.nan)
    for rows, frame, aim in places.groups(work):
        inverse = Nominal(work.placed.model, frame, task(work.placed.model, frame, aim))
        out[rows] = inverse.solved(Targets(frame, poses[0][rows], poses[1][rows], near[rows]))
    return out


def _off(model: Robot, work: Job, places: _Places, values: Array, nominal: Array | None) -> Array:
    """How far (K,) the loaded tool is from the desired way; that of taught targets is the unloaded arm's."""
    gap = np.full((len(values), 3), np.nan)
    place, turn = places.wanted(work)
    for rows, frame, _ in places.groups(work):
        loads = places.loads(work, rows, frame)
        wanted = Targets(frame, place[rows], turn[rows], np.nan_to_num(values[rows]))
        if nominal is not None:
            wanted = taught(model, wanted, nominal[rows], loads)
        gap[rows] = residual(model, values[rows], wanted, loads).position
    return places.across(work, gap)


def _most(off: Array, places: _Places) -> Array:
    """The largest of every move, nan where one is not known."""
    firsts = np.flatnonzero(np.diff(places.number, prepend=-1))
    return np.asarray(np.maximum.reduceat(off, firsts))
