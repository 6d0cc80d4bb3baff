"""Pieces of long arcs, where the correction changes along the way.

A controller goes from commanded pose A past the place V to commanded pose B along the arc through the three, and turns
the tool about one axis.  A piece of the desired arc is commanded so that the loaded tool is right at its ends and in
its middle; in between it is off by how far the exact correction is from the arc through the three:

    error(t) = distance of commanded(T(t)) from the circle through commanded(T(0)), commanded(T(1/2)), commanded(T(1))

Pieces are halved until that is below the tolerance at every eighth.  The program's own auxiliary point stays one: the
piece around it is split beside it.  Lengths are counted so that it lies in the middle of the arc.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property

import numpy as np

from elastocal.compensation.circles import Circles
from elastocal.compensation.commands import Commands
from elastocal.compensation.densify import Exact, Moves
from elastocal.compensation.job import Job
from elastocal.compensation.places import Points, ends_of, swung
from elastocal.compensation.posts.post import post_in
from elastocal.compensation.program import Move
from elastocal.compensation.stations import rotations_between
from elastocal.compensation.targets import TargetStatus
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.spatial.entries import Array, Bools, Ints
from elastocal.spatial.rotation import Rotation
from elastocal.values import dataclass

EIGHTHS = 8
PARTS = 2**12
SHORTEST = 5e-4
"""m of a piece, below which controllers take its three points for one."""
SAME = 1e-3
"""rad by which two ways to turn the tool may differ that count as one."""


@dataclass(frozen=True, eq=False)
class Arcs(Moves):
    """Arcs between targets that were corrected, with ``via`` (M,), the rows of their auxiliary points."""

    via: Ints | None = None

    @cached_property
    def circles(self) -> Circles:
        ends = self.stated or self.targets
        assert self.via is not None
        return Circles.through(*(ends.position[rows] for rows in (self.start, self.via, self.end)))

    def places(self, move: Ints, fraction: Array) -> Array:
        return self.circles.picked(move).at(fraction)

    def mixed(self, values: Array, move: Ints, fraction: Array) -> Array:
        assert self.via is not None
        part = self.circles.picked(move).part(fraction)[:, None]
        nodes = [values[rows[move]] for rows in (self.start, self.via, self.end)]
        first, last = 2 * part, 2 * part - 1
        return np.where(part < 0.5, (1 - first) * nodes[0] + first * nodes[1], (1 - last) * nodes[1] + last * nodes[2])

    @cached_property
    def known(self) -> Exact:
        """Exact corrections at parts of the arcs."""
        return Exact(lambda move, part: self.exact(move, self.circles.picked(move).share(part / PARTS)))

    def pushed(self, w: AppliedWrenches, move: Ints, fraction: Array) -> AppliedWrenches:
        """At the targets theirs: a jump of the load is a matter of the pieces next to them."""
        if len(w.wrench) == 1:
            return w
        inside = ((fraction > 0) & (fraction < 1))[:, None]
        wrench = np.where(inside, self.own(w, move, fraction), self.mixed(w.wrench, move, fraction))
        return replace(w, wrench=wrench)

    def own(self, w: AppliedWrenches, move: Ints, fraction: Array) -> Array:
        assert self.via is not None
        nodes = np.stack([w.wrench[rows[move]] for rows in (self.start, self.via, self.end)])
        if self.moving is not None:
            nodes = np.moveaxis(self.moving[move], 1, 0)
        return swung(nodes, self.circles.picked(move).part(fraction))


@dataclass(frozen=True, eq=False)
class Pieces:
    """Pieces (K,) of arcs ``move``, from part ``low`` on, ``width`` parts wide; ``error`` is what they are off by."""

    move: Ints
    low: Ints
    width: Ints
    error: Array

    def picked(self, rows: Bools) -> Pieces:
        return Pieces(self.move[rows], self.low[rows], self.width[rows], self.error[rows])


def split(arcs: Arcs, tolerance: float, least: float) -> tuple[Pieces, Ints]:
    """Pieces that are off by no more than ``tolerance`` (m), or cannot be shorter, in their order, and the status (M,)
    of places on each arc; ``least`` (rad) is the shortest piece of an arc."""
    count = len(arcs.start)
    size, failed = arcs.circles, np.zeros(count, dtype=np.int64)
    move, low, width = np.arange(count), np.zeros(count, dtype=np.int64), np.full(count, PARTS)
    done: list[Pieces] = []
    while len(move):
        error, status = _off(arcs, move, low, width)
        np.maximum.at(failed, move, status)
        share = _shares(arcs, move, low, width) / np.where(_around(low, width), 4, 2)
        long = (share * size.angle[move] >= least) & (share * size.length[move] >= SHORTEST) & (width > EIGHTHS)
        more = (error > tolerance) & long & (failed[move] == TargetStatus.CORRECTED)
        done.append(Pieces(move, low, width, error).picked(~more))
        move, low, width = _halved(move[more], low[more], width[more])
    out = [np.concatenate([getattr(p, name) for p in done]) for name in ("move", "low", "width", "error")]
    order = np.lexsort((out[1], out[0]))
    return Pieces(*(column[order] for column in out)), failed


def _halved(move: Ints, low: Ints, width: Ints) -> tuple[Ints, Ints, Ints]:
    """In two, and where the auxiliary point of the arc is the middle in three, of which the second is around it."""
    around = _around(low, width)
    quarter = width[around] // 4
    parts = [
        (move[~around], low[~around], width[~around] // 2),
        (move[~around], low[~around] + width[~around] // 2, width[~around] // 2),
        (move[around], low[around], quarter),
        (move[around], low[around] + quarter, 2 * quarter),
        (move[around], low[around] + 3 * quarter, quarter),
    ]
    moves, lows, widths = (np.concatenate(column) for column in zip(*parts, strict=True))
    return moves, lows, widths


def _around(low: Ints, width: Ints) -> Bools:
    """Pieces (K,) whose middle is the auxiliary point of the arc."""
    return np.asarray(low + width // 2 == PARTS // 2)


def _shares(arcs: Arcs, move: Ints, low: Ints, width: Ints) -> Array:
    """How much (K,) of their arcs pieces are."""
    of = arcs.circles.picked(move)
    return of.share((low + width) / PARTS) - of.share(low / PARTS)


def _off(arcs: Arcs, move: Ints, low: Ints, width: Ints) -> tuple[Array, Ints]:
    """What pieces are off by (K,), and the status of the places in which that is seen."""
    shape = len(move), EIGHTHS + 1
    sent = arcs.known.at(*_eighths(move, low, width), _ahead(move, low, width))
    place, status = sent.position.reshape(*shape, 3), sent.status.reshape(shape).max(axis=1)
    known = np.nan_to_num(place)
    circles = Circles.through(known[:, 0], known[:, EIGHTHS // 2], known[:, -1])
    error = np.max([circles.off(known[:, i]) for i in range(EIGHTHS + 1)], axis=0)
    return np.where(status == TargetStatus.CORRECTED, error, np.nan), status


def _eighths(move: Ints, low: Ints, width: Ints) -> tuple[Ints, Ints]:
    """Moves and parts of the ends of the eighths of pieces, one piece after another."""
    part = low[:, None] + width[:, None] * np.arange(EIGHTHS + 1) // EIGHTHS
    return np.repeat(move, EIGHTHS + 1), part.ravel()


def _ahead(move: Ints, low: Ints, width: Ints) -> Iterator[list[tuple[int, int]]]:
    """Places on the pieces that others would be split into, again and again."""
    while len(move) and width.min() > EIGHTHS:
        move, low, width = _halved(move, low, width)
        at, part = _eighths(move, low, width)
        yield list(zip(at.tolist(), part.tolist(), strict=True))


def arc_points(work: Job, stated: Job | None, commands: Commands, tolerance: float) -> dict[int, Points]:
    """Points for the arcs of a program by number of the move; ``stated`` is the job as the program states it, where
    ``work`` has it as taught."""
    turn = post_in(work.placed.stations.program.language).arc_turn
    out: dict[int, Points] = {}
    if turn is None:
        return out
    nodes = _nodes(work, stated or work, commands)
    for rows, frame, aim in work.groups():
        here = np.full(len(work.placed.stations), -1)
        here[rows] = np.arange(len(rows))
        mine = {i: here[three] for i, three in nodes.items() if (here[three] >= 0).all()}
        if not mine:
            continue
        start, via, end = np.array(list(mine.values())).T
        arcs = Arcs(
            work.placed.model, work.targets(rows, frame), work.loads.at(rows, frame), commands.picked(rows), start,
            end, aim, None, None if stated is None else stated.targets(rows, frame), via,
            moving=work.loads.moving[list(mine)],
        )  # fmt: skip
        found = _points(arcs, *split(arcs, tolerance, turn.least))
        out |= {number: found[row] for row, number in enumerate(mine) if row in found}
    return out


def _nodes(work: Job, stated: Job, commands: Commands) -> dict[int, list[int]]:
    """Stations of the three points of the arcs that may become several, by number of the move."""
    program, row = work.placed.stations.program, work.placed.stations.row
    good, out = commands.status == TargetStatus.CORRECTED, {}
    for i, m in enumerate(program.moves):
        if m.motion != "arc" or m.via is None or m.start in (None, m.end) or m.fixed:
            continue
        start, end = ends_of(work, i)
        three = [start, int(row[m.via]), end]
        if good[three].all() and not arc_hindrance(stated, m):
            out[i] = three
    return out


def _points(arcs: Arcs, pieces: Pieces, failed: Ints) -> dict[int, Points]:
    """Ends and middles of the pieces of arcs that become several, but the three points of the arcs, by their rows."""
    several = (np.bincount(pieces.move, minlength=len(failed)) > 1) & (failed == TargetStatus.CORRECTED)
    pieces = pieces.picked(several[pieces.move])
    move = np.tile(pieces.move, 2)
    part = np.concatenate([pieces.low, pieces.low + pieces.width // 2])
    new = (part > 0) & (part != PARTS // 2)
    order = np.lexsort((part[new], move[new]))
    move, part = move[new][order], part[new][order]
    if not len(move):
        return {}
    share, sent = arcs.circles.picked(move).share(part / PARTS), arcs.known.at(move, part)
    out = {}
    for i in np.flatnonzero(np.bincount(move)).tolist():
        of = slice(*np.searchsorted(move, [i, i + 1]))
        before = int((part[of] < PARTS // 2).sum())
        out[i] = Points(share[of], sent.position[of], sent.rotation[of], sent.command[of], before)
    return out


def arc_hindrance(work: Job, move: Move) -> str:
    """Why an arc cannot become several, by what its language says of the turn of the tool; "" where it can."""
    post = post_in(work.placed.stations.program.language)
    turn, row = post.arc_turn, work.placed.stations.row
    if turn is None or move.start is None or move.via is None:
        return "an arc of this language stays one: state it as several"
    if turn.by == "base":
        return ""
    at = work.placed
    rows = row[[move.start, move.via, move.end]]
    place, (first, via, last) = at.position[rows], at.rotation[rows]
    circle = Circles.through(*place[:, None])
    share = np.array([0.25, float(circle.bend[0]), 0.75])
    straight = _turned(first, last, share)
    if turn.by == "path" and _apart(straight, _along_path(circle, first, last, share)):
        return "its tool may turn with the path in between: state it as several arcs"
    if turn.by == "via" and _apart(straight[1:2], via[None]):
        return "its tool may turn through the orientation of its auxiliary point: state it as several arcs"
    return ""


def _turned(first: Array, last: Array, share: Array) -> Array:
    return rotations_between(np.repeat(first[None], len(share), 0), np.repeat(last[None], len(share), 0), share)


def _along_path(circle: Circles, first: Array, last: Array, share: Array) -> Array:
    """Orientations (K, 3, 3) that turn at an even rate as seen from the path."""
    way = [Rotation.from_rotvec((s * circle.angle)[:, None] * circle.axis).as_matrix()[0] for s in (*share, 1.0)]
    seen = _turned(first, way[-1].T @ last, share)
    return np.array([turn @ of for turn, of in zip(way[:-1], seen, strict=True)])


def _apart(one: Array, two: Array) -> bool:
    return bool((np.linalg.norm((one - two).reshape(-1, 9), axis=1) > np.sqrt(2) * SAME).any())
