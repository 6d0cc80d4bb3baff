"""What the tool does between corrected targets.

A controller goes from one commanded pose to the next in a line, or in an arc through three of them.  The exact
correction is another one on the way, so the loaded tool leaves the desired way between two targets that it meets:

    off(s) = p_loaded(IK(commanded way at s)) - p_desired(s),   the part across the way

Each move is looked at in a few places, with the points that were put into it.  What a move is off by grows with the
square of its length: long moves come first, and where the rest cannot be off by more than is found, by four times
that square, it is not looked at.  The load of a place between is that of the move, along an arc through that at its
auxiliary point.  Where it is another at once than at the target before (a cutter's behind a corner), or at the one
behind, the tool is off there by what that bends the arm; so moves whose load turns most come first too.  Of an arc
that becomes chords, the way between these and the arc is added.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property

import numpy as np

from elastocal.compensation.commands import Commands
from elastocal.compensation.job import Job
from elastocal.compensation.places import Places, Points, ends_of, turns
from elastocal.compensation.program import Move
from elastocal.compensation.rewrite import SAME
from elastocal.compensation.stations import chord_height
from elastocal.compensation.targets import Nominal, Targets, TargetStatus
from elastocal.compensation.verification import residual, taught
from elastocal.model.inverse_kinematics import task
from elastocal.model.limits import extent
from elastocal.model.robot import Robot
from elastocal.spatial.entries import Array, Bools, Ints
from elastocal.values import dataclass

MANY = 200
"""Moves that are looked at in any case."""
SMALL = 1e-6
"""m that nobody asks for."""
SAFE = 4.0
"""Times what the length lets expect, which no move is taken to be beyond."""


@dataclass(frozen=True, eq=False)
class Along:
    """``off`` (M,): largest distance in m between the loaded tool and the desired way, by ``moves``; nan where a place
    on the way has no solution.  ``on_truth`` (M,) is that on a simulated true robot.  ``unseen`` moves are shorter, and
    off by less than ``rest`` in m; on ``others`` (splines, after a change of the tool) nobody knows the way.
    ``turning`` (M,) is what they are off by at their targets, where the load of the move is another at once.
    """

    moves: tuple[Move, ...]
    off: Array
    on_truth: Array | None = None
    unseen: int = 0
    rest: float = 0.0
    others: int = 0
    turning: Array | None = None

    @cached_property
    def by_turn(self) -> Bools:
        """Moves (M,) that are off by most next to a target, since the load turns there."""
        return (
            np.zeros(len(self.off), dtype=bool)
            if self.turning is None
            else (self.turning >= self.off) & (self.turning > 0)
        )

    @cached_property
    def worst(self) -> Move | None:
        """The move that is off by most; None where none is looked at."""
        return self.moves[int(np.nanargmax(self.off))] if np.isfinite(self.off).any() else None

    @property
    def most(self) -> float:
        """What it is off by."""
        return float(np.nanmax(self.off)) if self.worst else 0.0

    @property
    def at_turn(self) -> bool:
        """Whether that is next to a target, where the load turns."""
        return self.worst is not None and bool(self.by_turn[int(np.nanargmax(self.off))])

    @property
    def lost(self) -> tuple[Move, ...]:
        """Moves on which a place has no solution."""
        return tuple(m for m, off in zip(self.moves, self.off, strict=True) if np.isnan(off))

    def of(self, mine: Callable[[Ints], Bools], line: Callable[[int], int]) -> Along:
        """That of some lines, with other numbers."""
        rows = np.flatnonzero(mine(np.array([m.line for m in self.moves], dtype=np.int64)))
        moves = tuple(self.moves[i]._replace(line=line(self.moves[i].line)) for i in rows)
        turning = None if self.turning is None else self.turning[rows]
        return replace(self, moves=moves, off=self.off[rows], on_truth=None, turning=turning)

    def joined(self, other: Along) -> Along:
        off = np.concatenate([self.off, other.off])
        turning = [np.zeros(len(a.off)) if a.turning is None else a.turning for a in (self, other)]
        return Along(
            (*self.moves, *other.moves), off, None, self.unseen + other.unseen, max(self.rest, other.rest),
            self.others + other.others, np.concatenate(turning),
        )  # fmt: skip


def along(
    work: Job, stated: Job | None, commands: Commands, points: Mapping[int, Points], truth: Robot | None = None
) -> Along:
    """Of the moves between corrected targets; ``stated`` is the job as the program states it, where ``work`` has it as
    taught; ``truth`` has the program's tools."""
    moves, others = _between(work, commands)
    length, height = _lengths(work, moves, points), _chord_heights(work, commands, moves)
    turn = turns(work, moves).max(axis=1, initial=0.0)
    order, first = _order(length, turn), 0
    seen = np.zeros(len(order), dtype=bool)
    off, true, turning = (np.full(len(order), np.nan) for _ in range(3))
    rest = 0.0
    while first < len(order):
        some = order[first : first + max(MANY, first)]
        places = Places.on(work, commands, [moves[i] for i in some], points)
        values = _commands(work, places, places.sent, places.near)
        nominal = None if stated is None else _commands(stated, places, places.wanted(stated), places.nominal)
        gap = _off(work.placed.model, work, places, values, nominal)
        off[some], seen[some] = _most(gap, places), True
        turning[some] = _most(np.where(places.at_ends, gap, 0.0), places)
        if truth is not None:
            true[some] = _most(_off(truth, work, places, values, nominal), places)
        first += len(some)
        rest = SAFE * (
            _rate(off[seen] - turning[seen], length[seen] ** 2) * float(length[~seen].max(initial=0.0)) ** 2
            + _rate(turning[seen], turn[seen]) * float(turn[~seen].max(initial=0.0))
        )
        if rest < max(np.nanmax(off[seen], initial=0.0), SMALL):
            break
    program = work.placed.stations.program
    off, true, rest = off + height, true + height, rest + float(height[~seen].max(initial=0.0))
    turning = np.where(turning > 0, turning + height, turning)
    rows = np.flatnonzero(seen)
    return Along(
        tuple(program.moves[moves[i]] for i in rows), off[rows], true[rows] if truth is not None else None,
        len(order) - len(rows), rest, others, turning[rows],
    )  # fmt: skip


def _order(length: Array, turn: Array) -> Ints:
    """Moves in the order in which they are looked at: the longest and those whose load turns most, by turns."""
    by_length, by_turn = (np.argsort(np.argsort(-of, kind="stable"), kind="stable") for of in (length, turn))
    return np.argsort(np.minimum(by_length, np.where(turn > 0, by_turn, len(turn))), kind="stable")


def _rate(off: Array, size: Array) -> float:
    """The largest that moves are off by for their size."""
    return float(np.nanmax(off / np.where(size > 0, size, np.inf), initial=0.0))


def _between(work: Job, commands: Commands) -> tuple[list[int], int]:
    """Numbers of the moves in lines and arcs between corrected targets of one tool, and how many others there are."""
    stations, frames = work.placed.stations, work.placed.frames
    every = commands.status == TargetStatus.CORRECTED
    good, row, chords = every[stations.row].tolist(), stations.row.tolist(), stations.arcs
    out, others = [], 0
    for i, m in enumerate(stations.program.moves):
        if m.motion == "joint" or not good[m.end] or m.start == m.end or (i in chords and not every[chords[i]].all()):
            continue
        known = m.motion == "linear" or i in chords or (m.motion == "arc" and m.via is not None and good[m.via])
        if m.start is None or not known or frames[row[m.start]] != frames[row[m.end]]:
            others += 1
        elif good[m.start]:
            out.append(i)
    return out, others


def _lengths(work: Job, moves: list[int], points: Mapping[int, Points]) -> Array:
    """Of the longest piece of moves, in m, with a turn on the extent of the robot."""
    if not moves:
        return np.empty(0)
    a, b = np.array([ends_of(work, i) for i in moves]).T
    stations, row = work.placed.stations, work.placed.stations.row
    vias = [stations.program.moves[i].via for i in moves]
    via = np.array([e if v is None else row[v] for v, e in zip(vias, b, strict=True)])
    place, turn = work.placed.position, work.placed.rotation
    far = np.linalg.norm(place[via] - place[a], axis=1) + np.linalg.norm(place[b] - place[via], axis=1)
    part = np.array([1.0 if i not in points else points[i].longest for i in moves])
    for number, i in enumerate(moves):
        if i in stations.arcs:
            way = place[[a[number], *stations.arcs[i], b[number]]]
            far[number], part[number] = np.linalg.norm(np.diff(way, axis=0), axis=1).sum(), 1 / (len(way) - 1)
    cosine = (np.einsum("nij,nij->n", turn[a], turn[b]) - 1) / 2
    return np.asarray(part * (far + extent(work.placed.model) * np.arccos(np.clip(cosine, -1, 1))))


def _chord_heights(work: Job, commands: Commands, moves: list[int]) -> Array:
    """How far (M,) the chords of arcs are from them in m, where arcs become chords."""
    stations, out = work.placed.stations, np.zeros(len(moves))
    for number, i in enumerate(moves):
        if i in stations.arcs:
            rows = [*ends_of(work, i), *stations.arcs[i]]
            if (np.abs(commands.position - work.placed.position)[rows] > SAME).any():
                out[number] = chord_height(stations.program, i, len(rows) - 1)
    return out


def _commands(work: Job, places: Places, poses: tuple[Array, Array], near: Array) -> Array:
    """Joint values (K, n) that the controller makes of poses; nan out of reach."""
    out = np.full_like(near, np.nan)
    for rows, frame, aim in places.groups(work):
        inverse = Nominal(work.placed.model, frame, task(work.placed.model, frame, aim))
        out[rows] = inverse.solved(Targets(frame, poses[0][rows], poses[1][rows], near[rows]))
    return out


def _off(model: Robot, work: Job, places: Places, values: Array, nominal: Array | None) -> Array:
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


def _most(off: Array, places: Places) -> Array:
    """The largest of every move, nan where one is not known."""
    out, known = np.full(int(places.number[-1]) + 1, -np.inf), np.isfinite(off)
    np.maximum.at(out, places.number[known], off[known])
    out[places.number[~known]] = np.nan
    return out
