"""Places along a program where its command is corrected, in the order of execution.

A station is a target where a move first uses it, or a point on an arc that a corrected program runs through in chords.
Between two targets the tool goes

    line:  p(s) = p_0 + s (p_1 - p_0),   R(s) = R_0 exp(s log(R_0^T R_1))
    arc:   p(s) = c + Rot(axis, s angle) (p_0 - c) + s rise
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from math import acos, ceil, pi

import numpy as np
from numpy.typing import NDArray

from elastocal.compensation.program import Inserted, Move, Program
from elastocal.errors import RangeError, UnsupportedError
from elastocal.spatial.entries import Array, Bools, Ints
from elastocal.spatial.turns import Rotation
from elastocal.values import dataclass


def between(program: Program, number: int, shares: Array) -> Inserted:
    """Nominal targets at ``shares`` (k,) of a move, each in (0, 1)."""
    move = program.moves[number]
    if move.start is None or not (move.motion == "linear" or move.arc):
        raise UnsupportedError(
            f"{move.file}, line {move.line}: is not a line or arc with a known start; leave it as it is",
            code="no-known-start",
        )
    first, last = program.targets[move.start], program.targets[move.end]
    if "joints" in (first.kind, last.kind) or (first.base, first.tool) != (last.base, last.tool):
        raise UnsupportedError(
            f"{move.file}, line {move.line}: starts in another frame or from axis values; leave it as it is",
            code="another-start",
        )
    a, b = program.positions[move.start], program.positions[move.end]
    s = np.asarray(shares, dtype=float)[:, None]
    places = a + s * (b - a)
    if move.arc and len(s):
        centre, axis = np.array(move.arc.centre), np.eye(3)[move.arc.axis]
        turns = Rotation.from_rotvec(s * move.arc.angle * axis)
        places = centre + turns.apply(a - centre) + s * move.arc.rise * axis
    return Inserted(places, _rotations(program, move, s))


def _rotations(program: Program, move: Move, shares: Array) -> Array:
    one, two = program.rotations[move.start or 0], program.rotations[move.end]
    if np.isnan(one).any() or np.isnan(two).any() or not len(shares):
        return np.full((len(shares), 3, 3), np.nan)
    first = Rotation.from_matrix(one)
    turn = (first.inv() * Rotation.from_matrix(two)).as_rotvec()
    return np.asarray((first * Rotation.from_rotvec(shares * turn)).as_matrix())


def chord_shares(program: Program, number: int, tolerance: float) -> Array:
    """Shares (k,) that split an arc into equal chords which stay within ``tolerance`` (m) of it: r (1 - cos(d/2))."""
    move = program.moves[number]
    if move.arc is None or move.start is None:
        return np.empty(0)
    offset = program.positions[move.start] - np.array(move.arc.centre)
    radius = float(np.linalg.norm(np.delete(offset, move.arc.axis)))
    step = min(2 * acos(max(1 - tolerance / radius, -1.0)), pi / 2)
    count = max(ceil(abs(move.arc.angle) / step - 1e-9), 1)
    return np.arange(1, count) / count


def chords(program: Program, tolerance: float) -> dict[int, Inserted]:
    """The points that stand for the arcs of a program when it is corrected, by number of the move."""
    if not tolerance > 0:
        raise RangeError(f"chords: the tolerance {tolerance} m is not positive; give for example 1e-5", value=tolerance)
    arcs = [i for i, m in enumerate(program.moves) if m.arc]
    return {i: between(program, i, chord_shares(program, i, tolerance)) for i in arcs}


@dataclass(frozen=True, eq=False)
class Stations:
    """``target`` (S,) is the number of the target that a station is or leads to; ``move`` (S,) that of the first move.

    ``share`` (S,) is 1 at a target and the share of the arc before it; ``position`` (S, 3), ``rotation`` (S, 3, 3) are
    in the base of the target, ``joints`` (S, n) the controller's axes, nan where a station does not have them.
    """

    program: Program
    target: Ints
    move: Ints
    share: Array
    position: Array
    rotation: Array
    joints: Array

    def __len__(self) -> int:
        return len(self.target)

    @cached_property
    def whole(self) -> Bools:
        """True (S,) at targets of the program."""
        return np.asarray(self.share == 1.0)

    @cached_property
    def row(self) -> Ints:
        """The station (N,) of every target."""
        out = np.full(len(self.program.targets), -1, dtype=np.int64)
        out[self.target[self.whole]] = np.flatnonzero(self.whole)
        return out

    @cached_property
    def arcs(self) -> dict[int, Ints]:
        """Stations on the arc of every move that has one, by its number."""
        inner = np.flatnonzero(~self.whole)
        moves, first = np.unique(self.move[inner], return_index=True)
        out = dict(zip(moves.tolist(), np.split(inner, first[1:]), strict=True)) if len(inner) else {}
        empty = np.empty(0, dtype=np.int64)
        return {i: out.get(i, empty) for i, m in enumerate(self.program.moves) if m.arc is not None}

    @cached_property
    def kind(self) -> NDArray[np.str_]:
        """Of the target (S,)."""
        return np.array([t.kind for t in self.program.targets], dtype="U6")[self.target]

    @cached_property
    def by_axes(self) -> Bools:
        """True (S,) where the program gives the axes, not a pose."""
        return np.asarray(self.kind == "joints")

    @cached_property
    def lines(self) -> Ints:
        """Line (S,) of the move."""
        return np.array([m.line for m in self.program.moves], dtype=np.int64)[self.move]

    @cached_property
    def bases(self) -> tuple[tuple[str, ...], Ints]:
        """Names of the bases in use, and which of them (S,) is that of a station; "" where it gives axes."""
        names = np.array(["" if t.kind == "joints" else t.base for t in self.program.targets], dtype=object)
        number = {name: i for i, name in enumerate(dict.fromkeys(names[self.target].tolist()))}
        return tuple(number), np.array([number.get(name, -1) for name in names.tolist()])[self.target]

    def name(self, row: int) -> str:
        """``c7 (contour.csv, line 11)``"""
        program, number = self.program, int(self.target[row])
        target, move = program.targets[number], program.moves[int(self.move[row])]
        place = f"{move.file}, line {move.line}"
        if move.via == number:
            place += ", via"
        part = "" if self.whole[row] else f", {100 * self.share[row]:.0f} % of the arc"
        return f"{target.name} ({place}{part})" if target.name else f"{place}{part}"


def stations(program: Program, chord: float) -> Stations:
    """All stations; arcs of G-code get points so that their chords stay within ``chord`` (m) of them."""
    arcs = chords(program, chord) if any(m.arc for m in program.moves) else {}
    at, move, share = visits(program, {i: len(points.positions) for i, points in arcs.items()})
    out = Stations(program, at, move, share, program.positions[at], program.rotations[at], program.joints[at])
    for i, rows in out.arcs.items():
        out.position[rows], out.rotation[rows] = arcs[i].positions, arcs[i].rotations
    return out


def visits(program: Program, further: Mapping[int, int]) -> tuple[Ints, Ints, Array]:
    """Targets (K,) in the order in which moves (K,) first use them, and shares (K,) of these moves, 1 at a target.

    ``further`` are the points that moves pass before them, by number of the move.
    """
    count = np.zeros(len(program.moves), dtype=np.int64)
    count[list(further)] = list(further.values())
    move = np.repeat(np.arange(len(count)), count + 2)
    place = np.arange(len(move)) - np.repeat(np.cumsum(count + 2) - count - 2, count + 2)
    ends = np.array([m.end for m in program.moves], dtype=np.int64)
    vias = np.array([-1 if m.via is None else m.via for m in program.moves], dtype=np.int64)
    target = np.where(place == count[move], vias[move], ends[move])
    used = place < count[move]
    whole = np.flatnonzero(~used & (target >= 0))
    share = np.where(used, (place + 1) / (count[move] + 1), 1.0)
    used[whole[np.unique(target[whole], return_index=True)[1]]] = True
    return target[used], move[used], share[used]
