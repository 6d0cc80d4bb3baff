"""Intermediate targets on long linear moves, where the correction changes along the way.

A controller moves from commanded pose A to commanded pose B in a line (turning about one axis).  At a fraction t of the
move the exact correction would command another pose; how far that is from the line is the error that the two ends
alone leave:

    error(t) = commanded(T(t)) - line(commanded(A), commanded(B), t)

Moves are halved until it is below the tolerance at a quarter, the half and three quarters of every piece.  The load
of a place between is that of the move, which may turn at its ends at once; the reference joint values are interpolated
linearly.  The payload is that of the
move's end, at its start too: what a change of payload does there is no matter of the line.  Between taught targets the
way is no line, but where the unloaded arm goes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field, replace
from itertools import chain

import numpy as np

from elastocal.compensation.along import Along
from elastocal.compensation.commands import Commands, correct
from elastocal.compensation.correction import SLACK
from elastocal.compensation.job import Job
from elastocal.compensation.loads import PathLoads
from elastocal.compensation.places import Points, ends_of, turned
from elastocal.compensation.program import Inserted, Move, Program
from elastocal.compensation.stations import rotations_between
from elastocal.compensation.targets import Nominal, Targets, TargetStatus
from elastocal.compensation.verification import taught
from elastocal.errors import RangeError
from elastocal.model.inverse_kinematics import Aim, task
from elastocal.model.limits import extent
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.robot import Robot
from elastocal.quantities import length
from elastocal.results import Finding
from elastocal.spatial.entries import Array, Bools, Ints
from elastocal.values import dataclass

PROBES = (0.25, 0.5, 0.75)
DEEPEST = 10
_PARTS = 2**DEEPEST
FEW = 300
"""Places in a call up to which it takes hardly longer than for one."""
SHORTEST = 1e-3
"""m of a piece next to a target at which the load turns: the tool is off just behind it however short that is."""


@dataclass(frozen=True, eq=False)
class Inserts:
    """Poses of intermediate targets in order of ``move`` (K,) and ``fraction`` (K,), with their commands (K, n).

    ``left`` (M,) is the largest error in m found on each move with the inserted targets, ``without`` (M,) without them;
    nan where a place on the move has no correction, whose status ``failed`` (M,) says.
    """

    move: Ints
    fraction: Array
    position: Array
    rotation: Array
    command: Array
    without: Array
    left: Array
    failed: Ints


@dataclass(frozen=True, eq=False)
class Moves:
    """Linear moves between targets that were corrected: ``start`` and ``end`` (M,) are their rows.

    ``stated`` are the targets as the program has them, where they are taken as taught; ``moving`` (M, 3, 6) the wrench
    on the moves, as ``ProgramLoads`` has it, where it is not that of the targets.
    """

    model: Robot
    targets: Targets
    loads: PathLoads
    correction: Commands
    start: Ints
    end: Ints
    aim: Aim | None
    controller: Robot | None
    stated: Targets | None = None
    moving: Array | None = field(default=None, kw_only=True)

    def exact(self, move: Ints, fraction: Array) -> Commands:
        """The exact correction at fractions (K,) of moves (K,)."""
        a, b = self.start[move], self.end[move]
        ends = self.stated or self.targets
        place, near = self.places(move, fraction), self.mixed(self.correction.nominal, move, fraction)
        turn = rotations_between(ends.rotation[a], ends.rotation[b], fraction)
        number = self.loads.number(slice(0, len(self.targets)))[b]
        out: list[tuple[Ints, Commands]] = []
        models = self.loads.models(self.model)
        for one in sorted(set(number.tolist())):
            rows = np.flatnonzero(number == one)
            some = Targets(self.targets.frame, place[rows], turn[rows], near[rows])
            push = PathLoads(tuple(self.pushed(w, move[rows], fraction[rows]) for w in self.loads.wrenches))
            if self.stated is not None:
                nominal = Nominal(self.model, some.frame, task(self.model, some.frame, self.aim)).solved(some)
                some = taught(models[one], some, nominal, push)
            out.append((rows, correct(models[one], some, push, self.aim, self.controller)))
        order = np.argsort(np.concatenate([rows for rows, _ in out]))
        return Commands.joined([c for _, c in out]).picked(order)

    @property
    def turns(self) -> Bools:
        """Whether (M, 2) the load turns at starts and at ends."""
        out = np.zeros((len(self.start), 2), dtype=bool)
        if self.moving is None:
            return out
        for w in self.loads.wrenches:
            at = np.stack([w.wrench[self.start], w.wrench[self.end]], axis=1)
            out |= turned(self.moving[:, ::2], at, 1.0) > 0
        return out

    def mixed(self, values: Array, move: Ints, fraction: Array) -> Array:
        """Values (K, n) on the way."""
        t = fraction[:, None]
        return np.asarray((1 - t) * values[self.start[move]] + t * values[self.end[move]])

    def places(self, move: Ints, fraction: Array) -> Array:
        """As stated (K, 3)."""
        return self.mixed((self.stated or self.targets).position, move, fraction)

    def pushed(self, w: AppliedWrenches, move: Ints, fraction: Array) -> AppliedWrenches:
        """Wrenches on the way."""
        if len(w.wrench) == 1:
            return w
        return replace(w, wrench=self.own(w, move, fraction))

    def own(self, w: AppliedWrenches, move: Ints, fraction: Array) -> Array:
        """That of the moves themselves (K, 6)."""
        if self.moving is None:
            return self.mixed(w.wrench, move, fraction)
        t = fraction[:, None]
        return np.asarray((1 - t) * self.moving[move, 0] + t * self.moving[move, 2])


def densify(moves: Moves, tolerance: float) -> Inserts:
    """Intermediate targets so that no probed place of a move is off by more than ``tolerance`` in m."""
    if not tolerance > 0:
        raise RangeError(f"tolerance {tolerance} m: give a positive length", value=tolerance)
    ends = moves.correction.status[moves.start], moves.correction.status[moves.end]
    failed: Ints = np.where(
        (ends[0] != TargetStatus.CORRECTED) | (ends[1] != TargetStatus.CORRECTED), np.maximum(*ends), 0
    )
    without, left = np.zeros(len(failed)), np.zeros(len(failed))
    parts: list[tuple[Ints, Ints, Commands]] = []
    exact = Exact(lambda move, part: moves.exact(move, part / _PARTS))
    piece = _whole_moves(exact, moves, np.flatnonzero(failed == TargetStatus.CORRECTED))
    beside = _beside(moves, piece, tolerance) if moves.turns.any() else []
    while len(piece.move):
        sent = piece.probed(exact)
        error = np.max(
            [_off_line(sent[0], at, sent[-1], share) for at, share in zip(sent[1:-1], PROBES, strict=True)], 0
        )
        np.maximum.at(failed, piece.move, np.max([at.status for at in sent[1:-1]], axis=0))
        if (piece.width == _PARTS).all():
            without[piece.move] = error
        split = (error > tolerance) & (piece.width > len(PROBES)) & (failed[piece.move] == TargetStatus.CORRECTED)
        np.maximum.at(left, piece.move[~split], error[~split])
        kept = [at.picked(split) for at in sent]
        half = piece.width[split] // 2
        parts.append((piece.move[split], piece.low[split] + half, kept[2]))
        piece = _Pieces(
            np.tile(piece.move[split], 2), np.concatenate([piece.low[split], piece.low[split] + half]),
            np.tile(half, 2), *(Commands.joined(kept[i : i + 3 : 2]) for i in range(3)),
        )  # fmt: skip
    without[failed != 0], left[failed != 0] = np.nan, np.nan
    found = {place for move, at, _ in parts for place in zip(move.tolist(), at.tolist(), strict=True)}
    for move, at in beside:
        new = [row for row, place in enumerate(zip(move.tolist(), at.tolist(), strict=True)) if place not in found]
        if new:
            parts.append((move[new], at[new], exact.at(move[new], at[new])))
            found.update(zip(move[new].tolist(), at[new].tolist(), strict=True))
    return _inserts(parts, moves, without, left, failed)


def _beside(moves: Moves, piece: _Pieces, tolerance: float) -> list[tuple[Ints, Ints]]:
    """Moves and parts of a point each next to targets at which the load turns by more than ``tolerance`` moves it:
    as near as ``SHORTEST``, so that the rest of the move is as if it began under its own load."""
    part, out = _shortest(moves, piece.move), []
    for rows, own, at in ((moves.start, piece.first, part), (moves.end, piece.last, _PARTS - part)):
        gap = np.linalg.norm(own.position - moves.correction.position[rows[piece.move]], axis=1)
        mine = (gap > tolerance) & (part < _PARTS)
        out.append((piece.move[mine], at[mine]))
    return out


def _shortest(moves: Moves, move: Ints) -> Ints:
    """Parts of moves that are ``SHORTEST`` or hardly longer."""
    a, b, targets = moves.start[move], moves.end[move], moves.targets
    cosine = (np.einsum("nij,nij->n", targets.rotation[a], targets.rotation[b]) - 1) / 2
    swing = extent(moves.model) * np.arccos(np.clip(cosine, -1, 1))
    size = np.linalg.norm(targets.position[b] - targets.position[a], axis=1) + swing
    share = np.minimum(SHORTEST / np.maximum(size, SHORTEST), 1)
    return np.asarray(2 ** np.ceil(np.log2(_PARTS * share)).clip(0).astype(np.int64))


@dataclass(frozen=True, eq=False)
class _Pieces:
    """Pieces of moves: where they begin and how wide they are in parts of a move, and what is exact at both ends and
    in the middle; a half has its middle where the whole was probed."""

    move: Ints
    low: Ints
    width: Ints
    first: Commands
    middle: Commands
    last: Commands

    def probed(self, exact: Exact) -> tuple[Commands, ...]:
        """What is exact at the start, at every probe and at the end of each piece."""
        quarter, count, move = self.width // 4, len(self.move), np.tile(self.move, 2)
        part = np.concatenate([self.low + quarter, self.low + 3 * quarter])
        at = exact.at(move, part, _neighbours(move, part, np.tile(quarter, 2)))
        return self.first, at.picked(slice(0, count)), self.middle, at.picked(slice(count, None)), self.last


def _whole_moves(exact: Exact, moves: Moves, move: Ints) -> _Pieces:
    low, width = np.zeros(len(move), dtype=np.int64), np.full(len(move), _PARTS)
    last = moves.correction.picked(moves.end[move])
    if not len(move):
        return _Pieces(move, low, width, last, last, last)
    places = [low, width // 2, *([width] if moves.turns[:, 1].any() else [])]
    every, part = np.tile(move, len(places)), np.concatenate(places)
    short, turns = _shortest(moves, move), moves.turns[move]
    beside = [
        (i, at) for of, ends in ((short, turns[:, 0]), (_PARTS - short, turns[:, 1]))
        for i, at in zip(move[ends].tolist(), of[ends].tolist(), strict=True)
    ]  # fmt: skip
    at = exact.at(every, part, chain([beside], _neighbours(every, part, np.tile(width // 2, len(places)))))
    first, middle, *ends = (at.picked(slice(i, i + len(move))) for i in range(0, len(every), len(move)))
    return _Pieces(move, low, width, first, middle, ends[0] if ends else last)


@dataclass(frozen=True, eq=False)
class Exact:
    """Exact corrections at parts of moves.  Of a few moves a call costs more than its places: each call solves for
    those too that splits would ask for next."""

    solve: Callable[[Ints, Ints], Commands]
    solved: list[Commands] = field(default_factory=list)
    places: dict[tuple[int, int], int] = field(default_factory=dict)
    """The row of each in all that was solved."""

    def at(self, move: Ints, part: Ints, ahead: Iterable[list[tuple[int, int]]] = ()) -> Commands:
        """At parts (K,) of moves (K,); ``ahead`` are those that splits ask for, as long as they are few."""
        if len(move) > FEW:
            return self.solve(move, part)
        asked = list(zip(move.tolist(), part.tolist(), strict=True))
        new = dict.fromkeys(place for place in asked if place not in self.places)
        if new:
            for places in ahead:
                more = new | dict.fromkeys(place for place in places if place not in self.places)
                if len(more) > FEW:
                    break
                new = more
            first = len(self.places)
            self.places.update({place: first + i for i, place in enumerate(new)})
            at, where = (np.array(column) for column in zip(*new, strict=True))
            self.solved.append(self.solve(at, where))
        return Commands.joined(self.solved).picked(np.array([self.places[place] for place in asked]))


def _neighbours(move: Ints, part: Ints, step: Ints) -> Iterator[list[tuple[int, int]]]:
    """Places halfway to the neighbours at distances (K,) on both sides, again and again."""
    near = list(zip(move.tolist(), part.tolist(), step.tolist(), strict=True))
    while near:
        near = [
            (move, part + side * step // 2, step // 2)
            for move, part, step in near
            for side in (-1, 1)
            if step > 1 and 0 < part + side * step // 2 < _PARTS
        ]
        yield [(move, part) for move, part, _ in near]


def _off_line(first: Commands, exact: Commands, last: Commands, share: float) -> Array:
    """How far (K,) the exact correction is from the line between the ends."""
    line = (1 - share) * first.position + share * last.position
    return np.asarray(np.nan_to_num(np.linalg.norm(exact.position - line, axis=1)))


def _inserts(
    parts: list[tuple[Ints, Ints, Commands]], moves: Moves, without: Array, left: Array, failed: Ints
) -> Inserts:
    n = moves.model.n
    move = np.concatenate([p[0] for p in parts]) if parts else np.zeros(0, dtype=np.int64)
    at = np.concatenate([p[1] for p in parts]) if parts else np.zeros(0, dtype=np.int64)
    sent = [p[2] for p in parts]
    arrays = [
        np.concatenate([getattr(c, name) for c in sent]) if sent else np.zeros((0, *shape))
        for name, shape in (("position", (3,)), ("rotation", (3, 3)), ("command", (n,)))
    ]
    order = np.lexsort((at, move))
    order = order[failed[move[order]] == TargetStatus.CORRECTED]
    return Inserts(
        move[order], at[order] / _PARTS, arrays[0][order], arrays[1][order], arrays[2][order], without, left, failed
    )


def line_points(work: Job, stated: Job | None, commands: Commands, tolerance: float) -> dict[int, Points]:
    """Points for the linear moves of a program by number of the move; ``stated`` is the job as the program states it,
    where ``work`` has it as taught."""
    moves = _linear(work, commands)
    out: dict[int, Points] = {}
    for rows, frame, aim in work.groups():
        here = np.full(len(work.placed.stations), -1)
        here[rows] = np.arange(len(rows))
        mine = {i: here[list(ends_of(work, i))] for i in moves if (here[list(ends_of(work, i))] >= 0).all()}
        if not mine:
            continue
        start, end = np.array(list(mine.values())).T
        targets, loads = work.targets(rows, frame), work.loads.at(rows, frame)
        between = Moves(
            work.placed.model, targets, loads, commands.picked(rows), start, end, aim, None,
            None if stated is None else stated.targets(rows, frame), moving=work.loads.moving[list(mine)],
        )  # fmt: skip
        points = densify(between, tolerance)
        for number, i in enumerate(mine):
            some = np.flatnonzero(points.move == number)
            if len(some):
                out[i] = Points(
                    points.fraction[some], points.position[some], points.rotation[some], points.command[some]
                )
    return out


def in_bases(work: Job, points: Mapping[int, Points]) -> dict[int, Inserted]:
    """The same as the program writes them: in the base of the end of their move."""
    out, to_controller = {}, work.placed.model.controller.to_controller
    for i, some in points.items():
        base = work.placed.base(ends_of(work, i)[1])
        turn = np.einsum("ji,njk->nik", base.rotation, some.rotations)
        place, axes = (some.positions - base.translation) @ base.rotation, to_controller(some.commands)
        out[i] = Inserted(place, turn, some.before, axes)
    return out


def without_points(
    work: Job, way: Along, tolerance: float, points: Mapping[int, Points], arcs: Callable[[Job, Move], str]
) -> tuple[Finding, ...]:
    """Moves that are off by more than the tolerance all the same, and why they get no further ``points``; ``arcs`` says
    why an arc cannot become several."""
    out = []
    split = {work.placed.stations.program.moves[i] for i in points}
    for move, off, turns in zip(way.moves, way.off, way.by_turn, strict=True):
        if not off > SLACK * tolerance:
            continue
        why = _hindrance(work.placed.stations.program, move) or (SHORT if move in split and not turns else "")
        if move.motion == "arc" and not why:
            why = arcs(work, move) if move.arc is None else "" if turns else HIGH
        if why:
            message = f"{move.file}, line {move.line}: gets no further points, and is off by {length(off)}; {why}."
            data = {"file": move.file, "line": move.line, "off": float(off)}
            data |= {"parameter": "chord"} if why == HIGH else {}
            out.append(Finding("no-points-inserted", "warning", message, data))
    return tuple(out)


HIGH = "its chords are that far from the arc: ask for shorter ones (chord)"
SHORT = "its pieces cannot be shorter: the correction jumps there, as where backlash changes sides"


def _linear(work: Job, commands: Commands) -> list[int]:
    """Numbers of the moves that may get points."""
    program, good = work.placed.stations.program, commands.status == TargetStatus.CORRECTED
    return [
        i for i, m in enumerate(program.moves)
        if m.motion == "linear" and m.start not in (None, m.end) and not _hindrance(program, m)
        and good[list(ends_of(work, i))].all()
    ]  # fmt: skip


def _hindrance(program: Program, move: Move) -> str:
    if move.start is None or move.fixed:
        return move.fixed
    if program.targets[move.start].tool != program.targets[move.end].tool:
        return "it starts with another tool"
    return ""
