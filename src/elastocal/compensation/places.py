"""Places on moves between targets: where they are desired, what is commanded there, and the load that they meet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import NamedTuple

import numpy as np

from elastocal.compensation.circles import Circles
from elastocal.compensation.commands import Commands
from elastocal.compensation.job import Job
from elastocal.compensation.loads import PathLoads
from elastocal.compensation.stations import rotations_between
from elastocal.model.inverse_kinematics import Aim
from elastocal.model.limits import extent
from elastocal.spatial.entries import Array, Bools, Ints
from elastocal.values import dataclass

PROBES = np.array([0.25, 0.5, 0.75])
ARC_PROBES = np.arange(1, 8) / 8
"""An arc is right in three places, so its error turns in between."""

ROUNDING = 1e-6
"""Share of a load below which a difference of two is none."""


class Points(NamedTuple):
    """Points put into a move: shares (k,) of it, commanded poses (k, 3), (k, 3, 3) in robot axes, joint values.

    Of an arc every second one ends a piece, and ``before`` of them come before its own auxiliary point.
    """

    shares: Array
    positions: Array
    rotations: Array
    commands: Array
    before: int = 0

    @property
    def longest(self) -> float:
        """The share of the longest way without a point."""
        return float(np.diff(self.shares, prepend=0.0, append=1.0).max())


NO_POINTS = Points(np.empty(0), np.empty((0, 3)), np.empty((0, 3, 3)), np.empty(0))


def ends_of(work: Job, number: int) -> tuple[int, int]:
    """Stations where a move starts and ends."""
    move, row = work.placed.stations.program.moves[number], work.placed.stations.row
    assert move.start is not None
    return int(row[move.start]), int(row[move.end])


@dataclass(frozen=True, eq=False)
class Pieces:
    """Pieces (M,) of moves: ``number`` of the move among them, stations ``start``, ``via`` (-1: a line) and ``end``.

    A piece goes from share ``low`` of its move past ``middle`` to ``high``, and is commanded from row ``first`` past
    ``between`` (-1: a line) to ``last`` of all poses.
    """

    number: Ints
    start: Ints
    via: Ints
    end: Ints
    first: Ints
    between: Ints
    last: Ints
    low: Array
    middle: Array
    high: Array

    @classmethod
    def of(cls, work: Job, moves: Sequence[int], points: Mapping[int, Points]) -> Pieces:
        """``points`` come behind the stations, in the order of the moves."""
        stations, row = work.placed.stations, work.placed.stations.row
        behind, parts, chords = len(stations), [], stations.arcs
        for number, i in enumerate(moves):
            (start, end), some = ends_of(work, i), points.get(i, NO_POINTS)
            via = stations.program.moves[i].via
            rows = np.array([start, *range(behind, behind + len(some.shares)), end])
            share = np.concatenate([[0.0], some.shares, [1.0]])
            behind += len(some.shares)
            if i in chords:
                parts.append(cls.chords(number, np.array([start, *chords[i], end])))
            elif via is None:
                parts.append(cls._on(number, (start, -1, end), (rows[:-1], rows[:-1] * 0 - 1, rows[1:]),
                                     (share[:-1], share[1:], share[1:])))  # fmt: skip
            else:
                own = 1 + some.before
                rows = np.insert(rows, own, row[via])
                three = rows[[0, own, -1]]
                share = np.insert(share, own, Circles.through(*work.placed.position[three, None]).bend)
                parts.append(cls._on(number, tuple(three.tolist()), (rows[:-1:2], rows[1::2], rows[2::2]),
                                     (share[:-1:2], share[1::2], share[2::2])))  # fmt: skip
        return cls(*(np.concatenate([getattr(p, f.name) for p in parts]) for f in fields(cls)))

    @classmethod
    def chords(cls, number: int, rows: Ints) -> Pieces:
        """Lines between stations on an arc, each a way of its own."""
        a, b, none = rows[:-1], rows[1:], np.full(len(rows) - 1, -1)
        zeros = np.zeros(len(a))
        return cls(none * 0 + number, a, none, b, a, none, b, zeros, zeros + 1, zeros + 1)

    @classmethod
    def _on(
        cls, number: int, ends: tuple[int, int, int], rows: tuple[Ints, Ints, Ints], shares: tuple[Array, Array, Array]
    ) -> Pieces:
        of, start, via, end = (np.full(len(rows[0]), v) for v in (number, *ends))
        return cls(of, start, via, end, *rows, *shares)

    def picked(self, rows: Ints) -> Pieces:
        return Pieces(*(getattr(self, f.name)[rows] for f in fields(self)))


@dataclass(frozen=True, eq=False)
class Places:
    """Places (K) on some moves: ``number`` of the move among them and ``move`` in the program, stations ``start``,
    ``via`` and ``end``, and ``share``; 0 and 1 only where the load turns at a target.

    ``sent`` is the commanded pose, ``near`` and ``nominal`` (K, n) joint values next to it and to the stated one.
    """

    number: Ints
    move: Ints
    start: Ints
    via: Ints
    end: Ints
    share: Array
    sent: tuple[Array, Array]
    near: Array
    nominal: Array

    @classmethod
    def on(cls, work: Job, commands: Commands, moves: Sequence[int], points: Mapping[int, Points]) -> Places:
        mine = [points[i] for i in moves if i in points]
        place, turn, joint = (
            np.concatenate([own, *(getattr(p, name) for p in mine)])
            for own, name in (
                (commands.position, "positions"), (commands.rotation, "rotations"), (commands.command, "commands"),
            )
        )  # fmt: skip
        pieces = Pieces.of(work, moves, points)
        arcs = pieces.via >= 0
        probes = [ARC_PROBES if arc else PROBES for arc in arcs.tolist()]
        ends, jump = np.array([ends_of(work, i) for i in moves])[pieces.number], turns(work, moves)[pieces.number] > 0
        for row in np.flatnonzero((pieces.first == ends[:, 0]) & jump[:, 0]).tolist():
            probes[row] = np.append(0.0, probes[row])
        for row in np.flatnonzero((pieces.last == ends[:, 1]) & jump[:, 1]).tolist():
            probes[row] = np.append(probes[row], 1.0)
        at = pieces.picked(np.repeat(np.arange(len(arcs)), [len(p) for p in probes]))
        part, arc = np.concatenate(probes), np.flatnonzero(at.via >= 0)
        a, b, c = (rows[arc] for rows in (at.first, at.between, at.last))
        way = Circles.through(place[a], place[b], place[c])
        bend = (at.middle[arc] - at.low[arc]) / (at.high[arc] - at.low[arc])
        half = part[arc] < 0.5
        t = 2 * part[arc] - ~half
        share = part.copy()
        share[arc] = np.where(half, bend * t, bend + (1 - bend) * t)
        sent, near = mixed(place, at.first, at.last, share), mixed(joint, at.first, at.last, share)
        sent[arc] = way.at(share[arc])
        near[arc] = mixed(joint, np.where(half, a, b), np.where(half, b, c), t)
        turned = rotations_between(turn[at.first], turn[at.last], share)
        whole = at.low + share * (at.high - at.low)
        nominal = mixed(commands.nominal, at.start, at.end, whole)
        return cls(
            at.number, np.array(moves)[at.number], at.start, at.via, at.end, whole, (sent, turned), near, nominal
        )

    @property
    def at_ends(self) -> Bools:
        """At targets (K,), under the load of the move."""
        return np.asarray((self.share == 0) | (self.share == 1))

    @property
    def arcs(self) -> Ints:
        """Rows that are no lines."""
        return np.flatnonzero(self.via >= 0)

    def circles(self, work: Job) -> Circles:
        """Desired arcs of these."""
        return Circles.through(*(work.placed.position[rows[self.arcs]] for rows in (self.start, self.via, self.end)))

    def wanted(self, work: Job) -> tuple[Array, Array]:
        """Desired poses."""
        at = work.placed
        place = mixed(at.position, self.start, self.end, self.share)
        place[self.arcs] = self.circles(work).at(self.share[self.arcs])
        return place, rotations_between(at.rotation[self.start], at.rotation[self.end], self.share)

    def across(self, work: Job, gap: Array) -> Array:
        """How large (K,) the part of gaps (K, 3) across the way is."""
        way = work.placed.position[self.end] - work.placed.position[self.start]
        way[self.arcs] = self.circles(work).heading(self.wanted(work)[0][self.arcs])
        size = np.linalg.norm(way, axis=1, keepdims=True)
        along = np.divide(way, size, out=np.zeros_like(way), where=size > 0)
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
        """The wrench of the move in between, the mass of the end."""
        loads, arcs = work.loads, self.arcs
        own, ends = loads.moving[self.move], work.placed.stations.nodes[self.move]
        first = np.where((self.start == ends[:, 0])[:, None], own[:, 0], loads.wrench[self.start])
        last = np.where((self.end == ends[:, 2])[:, None], own[:, 2], loads.wrench[self.end])
        wrench = (1 - self.share[:, None]) * first + self.share[:, None] * last
        nodes = np.moveaxis(own[arcs], 1, 0)
        wrench[arcs] = swung(nodes, self.circles(work).part(self.share[arcs]))
        return replace(loads, wrench=wrench[rows], mass=loads.mass[self.end[rows]]).at(np.arange(len(rows)), frame)


def turns(work: Job, moves: Sequence[int]) -> Array:
    """By how much (K, 2) the load turns in N where moves begin and end; moments on the robot's extent."""
    loads, at = work.loads, list(moves)
    ends = work.placed.stations.nodes[at]
    return turned(loads.moving[at][:, ::2], loads.wrench[ends[:, ::2]], extent(work.placed.model))


def turned(one: Array, other: Array, arm: float) -> Array:
    """By how much (...) two wrenches (..., 6) differ in N, with moments on an ``arm`` in m; 0 by rounding."""
    size = [
        np.linalg.norm(w[..., :3], axis=-1) + np.linalg.norm(w[..., 3:], axis=-1) / arm
        for w in (one - other, one, other)
    ]
    return np.where(size[0] > ROUNDING * (size[1] + size[2]), size[0], 0.0)


def mixed(values: Array, start: Ints, end: Ints, share: Array) -> Array:
    return np.asarray((1 - share[:, None]) * values[start] + share[:, None] * values[end])


def swung(nodes: Array, part: Array) -> Array:
    """Wrenches (K, 6) from the first of three (3, K, 6) over the middle one, at half of the way, to the last: force
    and moment turn at an even rate, as those do that act along an arc."""
    half, rows = np.minimum((2 * part).astype(np.int64), 1), np.arange(len(part))
    t, out = 2 * part - half, np.empty((len(part), 6))
    for of in (slice(0, 3), slice(3, 6)):
        a, b = nodes[half, rows, of], nodes[half + 1, rows, of]
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
        out[:, of] = (first * scale[0])[:, None] * a + (last * scale[1])[:, None] * b
    return out
