"""Forces of milling along a program, at its targets and on its moves, also where a cutter enters the material.

    F(s) = F s / L          on a lead-in of length L, whose last move ends where the whole force acts
    F(s) = F (1 - s / L)    on a lead-out

A lead is one move, or several in a row, between one without load and one with the whole force.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from elastocal.compensation.circles import Circles
from elastocal.compensation.directions import came_along, move_headings
from elastocal.compensation.loads import milling_wrenches
from elastocal.compensation.program import Program
from elastocal.compensation.stations import Placed
from elastocal.errors import ConflictError, MissingError
from elastocal.spatial.entries import Array, Bools, Ints

if TYPE_CHECKING:
    from elastocal.compensation.process import ProcessLoad

Ranges = tuple[tuple[int, int], ...]


def in_lines(program: Program, lines: Ints, ranges: Ranges, parameter: str) -> Bools:
    """Which lines of a program are within ``ranges`` (first, last)."""
    out = np.zeros(len(lines), dtype=bool)
    for first, last in ranges:
        out |= (lines >= first) & (lines <= last)
    if not out.any():
        named = ", ".join(f"{a}-{b}" if a != b else str(a) for a, b in ranges)
        name = next(iter(program.files))
        message = f"{name}: {parameter} {named}: no target is gone to in these lines"
        raise ConflictError(message, code="no-target-in-lines", file=name, parameter=parameter)
    return out


def force_at_targets(placed: Placed, load: ProcessLoad, acting: Bools, judged: bool) -> Array:
    """Wrenches (S, 6) in robot axes of stations that are gone to at cutting feed, zero elsewhere."""
    stations, moves = placed.stations, placed.stations.program.moves
    cuts = acting & np.array([moves[m].motion != "joint" for m in stations.move])
    if not judged and not cuts.any():
        return np.zeros((len(stations), 6))
    if not cuts.any():
        raise ConflictError("milling: no target is gone to in a line or an arc, so nothing is cut")
    feed = _feed(placed, load)[stations.move]
    unknown = cuts & ~np.isfinite(feed)
    if unknown.any():
        first = stations.name(int(np.argmax(unknown)))
        raise MissingError(f"{first}: its feed is not known; state the feed of milling")
    assert load.milling is not None
    feed = np.where(cuts, feed, 0.0)
    whole = milling_wrenches(load.milling, "", placed.position, _spindle(placed), feed, cuts, came_along(placed)).wrench
    part = np.ones(len(stations))
    for move, parts in _leads(placed, load).items():
        rows = _way(placed, move)[1:]
        mine = stations.move[rows] == move
        part[rows[mine]] = parts[1:][mine]
    return np.asarray(part[:, None] * whole)


def force_on_moves(placed: Placed, load: ProcessLoad) -> Array | None:
    """Wrenches (M, 3, 6) just behind the start of moves, at their auxiliary points and where they end; None where
    nothing is cut."""
    program, nodes = placed.stations.program, placed.stations.nodes
    cuts = _cutting(placed, load)
    if not cuts.any():
        return None
    feed = _feed(placed, load)
    unknown = np.flatnonzero(cuts & ~np.isfinite(feed))
    if len(unknown):
        move = program.moves[unknown[0]]
        raise MissingError(f"{move.file}, line {move.line}: its feed is not known; state the feed of milling")
    assert load.milling is not None
    every, flat = np.repeat(cuts, 3), nodes.ravel()
    feed, heading = np.where(every, np.repeat(feed, 3), 0.0), move_headings(placed).reshape(-1, 3)
    out = milling_wrenches(load.milling, "", placed.position[flat], _spindle(placed)[flat], feed, every, heading)
    part = np.ones((len(cuts), 3))
    for move, parts in _leads(placed, load).items():
        part[move] = parts[0], parts[len(parts) // 2], parts[-1]
    return np.asarray(part[..., None] * out.wrench.reshape(-1, 3, 6))


def _feed(placed: Placed, load: ProcessLoad) -> Array:
    """Feed (M,) of moves in m/s: the program's, else the stated one, else nan."""
    feed = np.array([m.feed for m in placed.stations.program.moves])
    return np.where(np.isfinite(feed), feed, np.nan if load.feed is None else load.feed)


def _cutting(placed: Placed, load: ProcessLoad) -> Bools:
    """Moves (M,) under load."""
    program = placed.stations.program
    cuts = np.array([m.motion != "joint" for m in program.moves], dtype=bool)
    if load.loaded_lines and cuts.any():
        cuts &= in_lines(program, _lines(program), load.loaded_lines, "load_lines")
    return cuts


def _lines(program: Program) -> Ints:
    return np.array([m.line for m in program.moves], dtype=np.int64)


def _spindle(placed: Placed) -> Array:
    """Directions (S, 3) from tip to spindle."""
    # the third axis of a tool points away from the spindle, that of a direction i j k towards it
    sense = np.where(placed.stations.kind == "axis", 1.0, -1.0)
    axis = sense[:, None] * placed.rotation[:, :, 2]
    return np.where(np.isfinite(axis), axis, np.array([0.0, 0.0, 1.0]))


def _leads(placed: Placed, load: ProcessLoad) -> dict[int, Array]:
    """By the number of a move, the parts of the force at the stations of its way."""
    if not load.lead_lines:
        return {}
    program, cuts = placed.stations.program, _cutting(placed, load)
    leads = cuts & in_lines(program, _lines(program), load.lead_lines, "lead_lines")
    edges = np.flatnonzero(np.diff(leads, prepend=False, append=False))
    out: dict[int, Array] = {}
    for first, behind in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        enters = not (first > 0 and cuts[first - 1])
        if enters == (not (behind < len(cuts) and cuts[behind])):
            _refuse(program, first, behind, enters)
        ways = [_lengths(placed, move) for move in range(first, behind)]
        total = sum(way[-1] for way in ways)
        done = np.cumsum([0.0, *(way[-1] for way in ways)])
        for move, way, before in zip(range(first, behind), ways, done[:-1], strict=True):
            share = (before + way) / total
            out[move] = share if enters else 1.0 - share
    return out


def _refuse(program: Program, first: int, behind: int, alone: bool) -> None:
    move, last = program.moves[first], program.moves[behind - 1]
    named = str(move.line) if last.line == move.line else f"{move.line}-{last.line}"
    why = "no move with the whole force is beside it" if alone else "moves with load are before and behind it"
    raise ConflictError(
        f"{move.file}, line {named}: lead_lines: {why}, so the force neither grows from zero nor falls to it; name "
        "lines between one without load and one with",
        code="no-lead", file=move.file, line=move.line, parameter="lead_lines",
    )  # fmt: skip


def _way(placed: Placed, move: int) -> Ints:
    """Stations of a move: its start, its auxiliary point or those on its arc, and its end."""
    start, via, end = placed.stations.nodes[move]
    inner = placed.stations.arcs.get(move, np.array([], dtype=np.int64))
    between = inner if len(inner) else [via] * int(via != end)
    return np.array([start, *between, end], dtype=np.int64)


def _lengths(placed: Placed, move: int) -> Array:
    """Way in m from the start of a move to each of its stations."""
    one, rows = placed.stations.program.moves[move], _way(placed, move)
    place = placed.position[rows]
    if one.start is None or not np.isfinite(place).all() or np.array_equal(place[0], place[-1]):
        raise MissingError(
            f"{one.file}, line {one.line}: lead_lines: it is not known where this move starts, so the force cannot "
            "grow or fall along it",
            file=one.file, line=one.line, parameter="lead_lines",
        )  # fmt: skip
    if one.motion == "arc" and one.via is not None:
        circle = Circles.through(*place[:, None])
        return float(circle.length[0]) * np.array([0.0, float(circle.bend[0]), 1.0])
    return np.cumsum([0.0, *(float(np.linalg.norm(b - a)) for a, b in pairwise(place))])
