"""Points put into long linear moves of a program (--densify-um)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elastocal.errors import InputError

if TYPE_CHECKING:
    from elastocal.compensate.correction import Correction
    from elastocal.compensate.job import Job
    from elastocal.compensate.program import Inserted, Move


def line_points(work: Job, found: Correction, tolerance: float | None) -> tuple[dict[int, Inserted], tuple[str, ...]]:
    """Inserted points by number of the move, and notes about moves that get none; tolerance in um."""
    import numpy as np

    from elastocal.compensate.correction import Correction
    from elastocal.compensate.densify import Moves, densify
    from elastocal.compensate.program import Inserted

    if tolerance is None:
        return {}, ()
    if not tolerance > 0:
        raise InputError(f"--densify-um {tolerance:g}: give a positive length")
    at, stations = work.at, work.at.stations
    moves, notes = _linear(work, found)
    out: dict[int, Inserted] = {}
    for rows, frame, aim in work.groups():
        here = np.full(len(stations), -1)
        here[rows] = np.arange(len(rows))
        mine = [i for i in moves if here[_ends(work, i)[0]] >= 0 and here[_ends(work, i)[1]] >= 0]
        if not mine:
            continue
        start, end = (np.array([here[_ends(work, i)[e]] for i in mine]) for e in (0, 1))
        names = ("nominal", "command", "position", "rotation", "status")
        part = Correction(*(getattr(found, n)[rows] for n in names))
        push = work.loads.at(rows, frame)
        points = densify(
            Moves(at.model, work.targets(rows, frame), push, part, start, end, aim, None), 1e-6 * tolerance
        )
        for number, i in enumerate(mine):
            chosen = np.flatnonzero(points.move == number)
            if len(chosen):
                base = at.base(_ends(work, i)[1])
                place = (points.position[chosen] - base.translation) @ base.rotation
                turn = np.einsum("ji,njk->nik", base.rotation, points.rotation[chosen])
                out[i] = Inserted(place, turn)
    return out, notes


def _ends(work: Job, number: int) -> tuple[int, int]:
    """Stations where a move starts and ends."""
    move = work.at.stations.program.moves[number]
    assert move.start is not None
    return int(work.at.stations.row[move.start]), int(work.at.stations.row[move.end])


def _linear(work: Job, found: Correction) -> tuple[list[int], tuple[str, ...]]:
    """Numbers of the moves that may get points, and why others may not."""
    from elastocal.compensate.targets import TargetStatus

    program = work.at.stations.program
    out, notes = [], []
    for i, m in enumerate(program.moves):
        why = _hindrance(work, m)
        if why:
            notes.append(f"{m.file}, line {m.line}: gets no further points; {why}.")
        elif m.motion == "linear" and m.start is not None and m.start != m.end:
            ends = _ends(work, i)
            if all(found.status[e] == TargetStatus.CORRECTED for e in ends):
                out.append(i)
    return out, tuple(notes)


def _hindrance(work: Job, move: Move) -> str:
    program = work.at.stations.program
    if move.motion != "linear" or move.start is None:
        return ""
    first, last = program.targets[move.start], program.targets[move.end]
    if "joints" in (first.kind, last.kind):
        return "it starts from axis values"
    if (first.base, first.tool) != (last.base, last.tool):
        return "it starts in another base or tool"
    return move.fixed
