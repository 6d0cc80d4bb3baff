"""Where the tool goes between two targets: places of intermediate ones, for long lines and for arcs.

line:  p(s) = p_0 + s (p_1 - p_0),   R(s) = R_0 exp(s log(R_0^T R_1))
arc:   p(s) = c + Rot(axis, s angle) (p_0 - c) + s rise
"""

from __future__ import annotations

from math import acos, ceil, pi

import numpy as np
from scipy.spatial.transform import Rotation

from elastocal.compensate.program import Inserted, Move, Program
from elastocal.errors import InputError
from elastocal.spatial.entries import Array


def between(program: Program, number: int, shares: Array) -> Inserted:
    """Nominal targets at ``shares`` (k,) of a move, each in (0, 1)."""
    move = program.moves[number]
    if move.start is None or not (move.motion == "linear" or move.arc):
        raise InputError(f"{move.file}, line {move.line}: is not a line or arc with a known start; leave it as it is")
    first, last = program.targets[move.start], program.targets[move.end]
    if "joints" in (first.kind, last.kind) or (first.base, first.tool) != (last.base, last.tool):
        raise InputError(
            f"{move.file}, line {move.line}: starts in another frame or from axis values; leave it as it is"
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
        raise InputError(f"chords: the tolerance {tolerance} m is not positive; give for example 1e-5")
    arcs = [i for i, m in enumerate(program.moves) if m.arc]
    return {i: between(program, i, chord_shares(program, i, tolerance)) for i in arcs}
