"""Where a cutter enters the material and leaves it: on leads its force grows evenly from zero, or falls to it.

    F(s) = F s / L          on a lead-in of length L, whose last move ends where the whole force acts
    F(s) = F (1 - s / L)    on a lead-out

A lead is one move, or several in a row, between one without load and one with the whole force.  Leads are named by
their lines, or taken by their length: of each cut, which is a run of moves under load, the first moves and the last
ones, as many as are no longer together than what is stated and go on into the rest without a corner.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from elastocal.compensation.circles import Circles
from elastocal.compensation.directions import move_headings
from elastocal.compensation.program import Program
from elastocal.compensation.stations import Placed
from elastocal.errors import ConflictError, MissingError
from elastocal.results import Finding
from elastocal.spatial.entries import Array, Bools, Ints

if TYPE_CHECKING:
    from elastocal.compensation.process import ProcessLoad

Ranges = tuple[tuple[int, int], ...]
CORNER = np.radians(5.0)
"""rad between two moves from which on the way has a corner: beyond it the force turns by a tenth of itself."""


def under_load(program: Program, lines: Ints, load: ProcessLoad) -> Bools:
    """Which lines are named as those with load; leads are among them."""
    named = in_lines(program, lines, load.lines, "load_lines")
    return named | in_lines(program, lines, load.lead_lines, "lead_lines")


def in_lines(program: Program, lines: Ints, ranges: Ranges, parameter: str) -> Bools:
    """Which lines are within ``ranges`` (first, last), in each of which the program is to have moves."""
    moves, out = _lines(program), np.zeros(len(lines), dtype=bool)
    for first, last in ranges:
        if not ((moves >= first) & (moves <= last)).any():
            name = next(iter(program.files))
            raise ConflictError(
                f"{name}: {parameter} {_named(first, last)}: no target is gone to in these lines",
                code="no-target-in-lines", value=(first, last), file=name, parameter=parameter,
            )  # fmt: skip
        out |= (lines >= first) & (lines <= last)
    return out


def cutting(program: Program, load: ProcessLoad) -> Bools:
    """Moves (M,) under load."""
    cuts = np.array([m.motion != "joint" for m in program.moves], dtype=bool)
    if load.lines and cuts.any():
        cuts &= under_load(program, _lines(program), load)
    return cuts


def lead_parts(placed: Placed, load: ProcessLoad) -> dict[int, Array]:
    """By the number of a move, the parts of the force at the stations of its way."""
    program, cuts = placed.stations.program, cutting(placed.stations.program, load)
    leads = _named_leads(program, cuts, load)
    leads |= _leads_by_length(placed, cuts, leads, load.lead_length)
    out: dict[int, Array] = {}
    for first, behind in _runs(leads):
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


def leads_taken(placed: Placed, load: ProcessLoad) -> tuple[Finding, ...]:
    """The lines of all leads that were taken by their length, and of the cuts that have none at an end."""
    if not load.lead_length:
        return ()
    program = placed.stations.program
    cuts, lines = cutting(program, load), _lines(program)
    named = _named_leads(program, cuts, load)
    taken = _leads_by_length(placed, cuts, named, load.lead_length)
    leads = tuple((int(lines[a]), int(lines[b - 1])) for a, b in _runs(taken))
    runs = [(a, b) for a, b in _runs(cuts) if not named[a:b].any()]
    sudden = tuple(int(lines[i]) for a, b in runs for i in (a, b - 1) if not taken[i])
    message = f"Leads up to {1e3 * load.lead_length:g} mm: {len(leads)} at {2 * len(runs)} ends of cuts"
    message += f", lines {', '.join(_named(a, b) for a, b in leads)}." if leads else "."
    if sudden:
        message += f" The whole force comes or goes at once in lines {', '.join(map(str, sudden))}."
    data = {"leads": leads, "sudden": sudden}
    return (Finding("leads-by-length", "warning" if sudden else "note", message, data),)


def _named_leads(program: Program, cuts: Bools, load: ProcessLoad) -> Bools:
    """Moves (M,) in the lines that are named as leads, each of which is to cut."""
    lines = _lines(program)
    leads = cuts & in_lines(program, lines, load.lead_lines, "lead_lines")
    for first, last in load.lead_lines:
        there = (lines >= first) & (lines <= last)
        if not (there & cuts).any():
            why = "nothing is cut there, joint and rapid moves have no load"
            _refuse_lead(program, int(np.argmax(there)), _named(first, last), why)
    return np.asarray(leads)


def _leads_by_length(placed: Placed, cuts: Bools, named: Bools, most: float | None) -> Bools:
    """Moves (M,) that are leads up to ``most`` m long, in cuts where none are named."""
    out = np.zeros(len(cuts), dtype=bool)
    if not most or not cuts.any():
        return out
    ways, length = move_headings(placed), _move_lengths(placed)
    turn = np.einsum("mi,mi->m", ways[:-1, 2], ways[1:, 0])
    smooth = np.append(turn > np.cos(CORNER), False)
    for first, behind in _runs(cuts & (length > 0)):
        if named[first:behind].any() or (first and cuts[first - 1]) or (behind < len(cuts) and cuts[behind]):
            continue
        rows = np.arange(first, behind)
        into = _taken(length[rows], smooth[rows], most)
        away = _taken(length[rows[::-1]], smooth[rows[::-1] - 1], most)
        if into + away < len(rows):
            out[first : first + into] = out[behind - away : behind] = True
    return out


def _taken(length: Array, smooth: Bools, most: float) -> int:
    """How many of the first moves are no longer together than ``most``, the last of them without a corner behind."""
    fits = np.flatnonzero((np.cumsum(length) <= most * (1 + 1e-6)) & smooth)
    return int(fits[-1]) + 1 if len(fits) else 0


def _move_lengths(placed: Placed) -> Array:
    """Lengths (M,) of lines and arcs in m; nan of other moves, and where it is not known where one starts."""
    moves = placed.stations.program.moves
    known = [m.start is not None and m.motion in ("linear", "arc") for m in moves]
    return np.array([float(_way_lengths(placed, i)[-1]) if ok else np.nan for i, ok in enumerate(known)])


def _runs(moves: Bools) -> list[tuple[int, int]]:
    """First move of each run, and the one behind it."""
    edges = np.flatnonzero(np.diff(moves, prepend=False, append=False)).tolist()
    return list(zip(edges[::2], edges[1::2], strict=True))


def _lines(program: Program) -> Ints:
    return np.array([m.line for m in program.moves], dtype=np.int64)


def _named(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}-{last}"


def _refuse(program: Program, first: int, behind: int, alone: bool) -> None:
    why = "no move with the whole force is beside it" if alone else "moves with load are before and behind it"
    why += ", so the force neither grows from zero nor falls to it"
    _refuse_lead(program, first, _named(program.moves[first].line, program.moves[behind - 1].line), why)


def _refuse_lead(program: Program, move: int, lines: str, why: str) -> None:
    one, word = program.moves[move], "lines" if "-" in lines else "line"
    raise ConflictError(
        f"{one.file}, {word} {lines}: lead_lines: {why}; name lines between one without load and one with",
        code="no-lead", file=one.file, line=one.line, parameter="lead_lines",
    )  # fmt: skip


def _lengths(placed: Placed, move: int) -> Array:
    """Way in m from the start of a lead to each of its stations."""
    one, out = placed.stations.program.moves[move], _way_lengths(placed, move)
    if one.start is None or not out[-1] > 0:
        raise MissingError(
            f"{one.file}, line {one.line}: lead_lines: it is not known where this move starts, so the force cannot "
            "grow or fall along it",
            file=one.file, line=one.line, parameter="lead_lines",
        )  # fmt: skip
    return out


def _way_lengths(placed: Placed, move: int) -> Array:
    """Way in m from the start of a move to each of its stations; nan where a place is not known."""
    one, place = placed.stations.program.moves[move], placed.position[placed.stations.way(move)]
    if one.motion == "arc" and one.via is not None:
        circle = Circles.through(*place[:, None])
        return float(circle.length[0]) * np.array([0.0, float(circle.bend[0]), 1.0])
    return np.cumsum([0.0, *(float(np.linalg.norm(b - a)) for a, b in pairwise(place))])
