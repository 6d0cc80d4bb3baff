"""From corrected stations to the new values of a program's targets, and back from the written program.

The corrected program is read again: every target must stand where the correction put it, to the last digit written.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from elastocal.compensation.branches import configuration_notes
from elastocal.compensation.commands import Commands
from elastocal.compensation.job import Job, commands
from elastocal.compensation.posts.krl import new_turn
from elastocal.compensation.posts.post import post_in, six_revolute
from elastocal.compensation.program import Changes, Inserted, Program
from elastocal.compensation.stations import Placed, visits
from elastocal.compensation.targets import TargetStatus
from elastocal.errors import InfeasibleError, ShapeError
from elastocal.results import Finding
from elastocal.spatial.entries import Array, Bools, Ints

SAME = 4e-8
"""Places (m) that count as one: below the last digit that a program gets."""
STILL = 1e-7
"""rad (or m) by which an axis that stands still may seem to move."""


def rewritten(work: Job, commands: Commands, inserted: Mapping[int, Inserted]) -> tuple[Changes, tuple[Finding, ...]]:
    """New values of all targets that were corrected, and findings about what goes with them.

    ``inserted`` are further points of moves.
    """
    placed, stations = work.placed, work.placed.stations
    program = stations.program
    good = commands.status == TargetStatus.CORRECTED
    place, turn = placed.in_program(commands.position, commands.rotation)
    fixed = work.by_position
    rows = stations.row
    use = good[rows]
    axes = stations.by_axes[rows]
    positions, rotations, joints = program.positions.copy(), program.rotations.copy(), program.joints.copy()
    posed, by_axes = use & ~axes, use & axes
    positions[posed] = place[rows[posed]]
    turned = posed & ~fixed[rows]
    rotations[turned] = turn[rows[turned]]
    if by_axes.any():
        joints[by_axes] = placed.model.controller.to_controller(commands.command[rows[by_axes]])
    turns, flipped = _turns(placed, commands, use)
    points = {**inserted, **_chords(placed, place, turn, good, fixed)}
    return Changes(positions, rotations, joints, turns, points), (*flipped, *_unfit(placed, commands, use))


def _unfit(placed: Placed, commands: Commands, use: Bools) -> list[Finding]:
    """Configuration data that do not say how the arm reaches the targets."""
    model, program = placed.model, placed.stations.program
    if not six_revolute(model):
        return []
    if program.language == "rapid":
        from elastocal.compensation.posts.rapid_data import confdata_notes

        old, new = _axes(placed, commands)
        notes = confdata_notes(program.targets, model.controller.axes, old, new, use)
        return [Finding("confdata", "warning", sentence) for sentence in notes]
    post = post_in(program.language)
    judged = np.zeros(len(program.targets), dtype=bool)
    judged[[m.end for m in program.moves if m.motion in post.judged]] = True
    judged &= ~placed.stations.by_axes[placed.stations.row]
    notes = configuration_notes(model, program.targets, commands.nominal[placed.stations.row], judged, post.branch)
    return [Finding("configuration", "warning", sentence) for sentence in notes]


def _chords(placed: Placed, place: Array, turn: Array, good: Bools, fixed: Bools) -> dict[int, Inserted]:
    """Points of arcs that do not stay where they are."""
    stations, program = placed.stations, placed.stations.program
    moved = np.where(good, np.abs(place - stations.position).max(axis=1), 0.0) > SAME
    out = {}
    for i, rows in stations.arcs.items():
        m = program.moves[i]
        ends = [stations.row[t] for t in (m.start, m.end) if t is not None]
        if moved[[*rows, *ends]].any():
            new = np.where(good[rows, None], place[rows], stations.position[rows])
            keep = (good & ~fixed)[rows, None, None]
            out[i] = Inserted(new, np.where(keep, turn[rows], stations.rotation[rows]))
    return out


def _turns(placed: Placed, commands: Commands, use: Bools) -> tuple[dict[int, int], list[Finding]]:
    """T of KRL targets whose axes change sign."""
    out: dict[int, int] = {}
    findings: list[Finding] = []
    targets = placed.stations.program.targets
    stated = np.array([t.turn is not None for t in targets], dtype=bool)
    old, new = _axes(placed, commands)
    for number in np.flatnonzero(stated & use & ((old < 0) != (new < 0)).any(axis=1)):
        target = targets[number]
        turn, axes = new_turn(target.turn or 0, old[number], new[number])
        if axes:
            out[int(number)] = turn
            names = ", ".join(placed.model.controller.axes[a - 1] for a in axes)
            message = f"{target.where}: {names} changes sign, so T {target.turn} becomes T {turn}; check the move."
            data = {"file": target.file, "line": target.line, "turn": turn}
            findings.append(Finding("turn-changed", "warning", message, data))
    return out, findings


def _axes(placed: Placed, commands: Commands) -> Array:
    """Controller values (2, N, n) of targets before and after; what moves by less than can be written stands still."""
    rows = placed.stations.row
    old, new = (placed.model.controller.to_controller(q[rows]) for q in (commands.nominal, commands.command))
    return np.stack([old, np.where(np.abs(new - old) < STILL, old, new)])


FAR = 2e-7
"""m and rad by which written digits may miss what was asked for."""


def as_written(work: Job, corrected: Commands, changes: Changes, again: Program) -> Array:
    """Joint values (S, n) that the controller makes of the new program, rounding of its digits included."""
    placed = work.placed
    place, turn, axes = read_back(placed, again, changes)
    good = corrected.status == TargetStatus.CORRECTED
    near = np.where(good[:, None], corrected.command, corrected.nominal)
    position, rotation = placed.in_robot(place, turn)
    loose = (placed.stations.kind == "axis") & good
    rotation[loose] = corrected.rotation[loose]  # the program leaves the turn about the tool axis open
    rotation = np.where(np.isfinite(rotation), rotation, work.placed.rotation)
    by_axes = placed.stations.by_axes
    position[by_axes], rotation[by_axes] = placed.position[by_axes], placed.rotation[by_axes]
    out = commands(work, position, rotation, near)
    if by_axes.any():
        out[by_axes] = placed.model.controller.to_joints(axes[by_axes])
    return out


def read_back(placed: Placed, again: Program, changes: Changes) -> tuple[Array, Array, Array]:
    """Positions (S, 3), rotations (S, 3, 3) and axes (S, n) of the stations as the written program states them.

    Chord points that were not written keep their nominal values: the arc is still an arc there.
    """
    stations = placed.stations
    rows = _rows(placed, changes)
    if len(again.targets) != len(rows):
        raise ShapeError(
            f"the corrected program has {len(again.targets)} targets where {len(rows)} were meant; nothing is written: "
            "simplify the lines with several statements or leave out the densifying"
        )
    position, rotation, joints = stations.position.copy(), stations.rotation.copy(), stations.joints.copy()
    mine = rows >= 0
    position[rows[mine]], joints[rows[mine]] = again.positions[mine], again.joints[mine]
    rotation[rows[mine]] = again.rotations[mine]
    off = np.nan_to_num(np.abs(position[stations.row] - changes.positions).max(axis=1), posinf=0.0)
    if off.max(initial=0.0) > FAR:
        worst = int(np.argmax(off))
        raise InfeasibleError(
            f"{stations.program.targets[worst].where}: the corrected program would state a place "
            f"{1e6 * off[worst]:.2g} um from the one meant; nothing is written"
        )
    return position, rotation, joints


def _rows(placed: Placed, changes: Changes) -> Ints:
    """The station of every target of the new program, -1 for points put into moves."""
    stations = placed.stations
    points = changes.inserted
    before = {i: p.before for i, p in points.items() if stations.program.moves[i].via is not None}
    target, move, share = visits(stations.program, {i: len(p.positions) for i, p in points.items()}, before)
    out = np.where(share == 1.0, stations.row[target], -1)
    for i in changes.inserted.keys() & stations.arcs.keys():
        out[(move == i) & (share < 1.0)] = stations.arcs[i]
    return out
