"""The correction of a whole program, and what its commands do on a model of the robot.

Stations of one tool and one aim are solved together; a program that gives points only keeps the orientation of its
tool, so there the position is corrected.

For comparison only, a correction of first order, with the deflection computed at the desired pose:

    commanded pose = desired pose - J theta(IK(T))

It leaves an error of second order in the deflection; ``commands`` leaves none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from elastocal.compensation.commands import Commands, correct
from elastocal.compensation.left_open import references
from elastocal.compensation.loads import PathLoads, ProgramLoads
from elastocal.compensation.stations import Placed
from elastocal.compensation.targets import Nominal, Targets, TargetStatus
from elastocal.compensation.verification import (
    Residual,
    Standing,
    at_rest,
    expected_at,
    residual_at,
    standings,
    taught,
    taught_at,
    within,
)
from elastocal.errors import InputError, UnsupportedError
from elastocal.model.inverse_kinematics import Aim, task
from elastocal.model.robot import Robot
from elastocal.model.statics.forces import CHUNK
from elastocal.model.statics.loaded_state import LoadedRobot
from elastocal.reduction.prediction import IdentifiedModel
from elastocal.spatial.entries import Array, Bools, Ints
from elastocal.spatial.rotation import rotations
from elastocal.values import dataclass


def first_order(model: Robot, targets: Targets, loads: PathLoads | None = None, aim: Aim | None = None) -> Commands:
    """Commanded poses and the joint values that the controller makes of them; only reach is judged."""
    what = task(model, targets.frame, aim)
    push = loads or PathLoads()
    push.check(model, len(targets))
    inverse = Nominal(model, targets.frame, what)
    robots = [LoadedRobot(m) for m in push.models(model)]
    if robots[0].followers:
        raise UnsupportedError(f"robot {model.name} has joints that follow others; only the full correction knows them")
    position, rotation = targets.position.copy(), targets.rotation.copy()
    nominal, reached = np.empty((len(targets), model.n)), np.empty(len(targets), dtype=bool)
    for rows, _, _, solved in inverse.chunks(targets, CHUNK):
        nominal[rows], reached[rows] = solved.q.T, solved.reached
        for some, number, applied in push.pieces(rows):
            at = slice(rows.start + some.start, rows.start + some.stop)
            robot, q = robots[number], np.where(solved.reached[some], solved.q[:, some], 0.0)
            bent = robot.state(q, None, applied)
            bent.theta[robot.joints] = robot.joint_bends(bent)
            bend = np.einsum("ain,in->an", bent.state.jacobian(targets.frame, robot.flex.dofs), bent.theta)
            position[at] -= bend[:3].T
            if what.aim == "pose":
                rotation[at] = np.einsum("ijn,njk->nik", rotations(-bend[3:]), rotation[at])
    sent = Targets(targets.frame, position, rotation, np.where(reached[:, None], nominal, 0.0))
    ends = [end for _, _, _, end in inverse.chunks(sent, CHUNK)]
    command, again = np.concatenate([f.q for f in ends], axis=1).T, np.concatenate([f.reached for f in ends])
    lost = ~(reached & again)
    status = np.where(lost, int(TargetStatus.OUT_OF_REACH), int(TargetStatus.CORRECTED))
    command[lost], position[lost], rotation[lost] = np.nan, np.nan, np.nan
    unsolved = np.full((len(targets), len(model.chain.dofs)), np.nan)
    return Commands(nominal, command, position, rotation, status, unsolved)


_CHUNK = 2000


@dataclass(frozen=True, eq=False)
class Job:
    """Stations in robot axes with ``reference`` (S, n), their loads, and whether the position alone counts."""

    placed: Placed
    reference: Array
    loads: ProgramLoads
    position_only: bool = False

    @property
    def by_position(self) -> Bools:
        """True (S,) where the position alone is corrected."""
        return np.asarray((self.placed.stations.kind == "point") | self.position_only)

    def groups(self) -> Iterator[tuple[Ints, str, Aim | None]]:
        """Rows, tool frame and aim of stations that are solved together."""
        frames, free = np.array(self.placed.frames, dtype=object), self.by_position
        for frame, position in dict.fromkeys(zip(self.placed.frames, free.tolist(), strict=True)):
            yield np.flatnonzero((frames == frame) & (free == position)), frame, "position" if position else None

    def targets(self, rows: Ints, frame: str) -> Targets:
        return Targets(frame, self.placed.position[rows], self.placed.rotation[rows], self.reference[rows])


def job(placed: Placed, loads: ProgramLoads, near: Array | None, position_only: bool) -> Job:
    """The job with its references; stations without orientation are refused where the robot must know it."""
    what = task(placed.model, placed.frames[0], "position" if position_only else None)
    open_ = np.isnan(placed.rotation).any(axis=(1, 2)).reshape(-1)
    if open_.any():
        if any(i >= 3 for i in what.rows):
            first = placed.stations.name(int(np.argmax(open_)))
            raise InputError(
                f"{first}: the program gives points without the orientation of the tool; give its angles A, B, C (deg, "
                "about z, y, x in turn)", code="no-orientation", parameter="orientation",
            )  # fmt: skip
        placed = replace(placed, rotation=np.where(open_[:, None, None], np.eye(3), placed.rotation))
    return Job(placed, references(placed, what, near), loads, position_only)


def corrected(work: Job, by_first_order: bool = False) -> Commands:
    """Commands for all stations, in their order."""
    solve = first_order if by_first_order else correct
    groups = list(work.groups())
    parts = [solve(work.placed.model, work.targets(r, f), work.loads.at(r, f), aim) for r, f, aim in groups]
    out = Commands.joined(parts).picked(np.argsort(np.concatenate([rows for rows, _, _ in groups])))
    kept = np.array([t.kept for t in work.placed.stations.program.targets])
    out.status[kept[work.placed.stations.target]] = TargetStatus.KEPT
    return out


def nominals(work: Job) -> Array:
    """Joint values (S, n) that the controller makes of the program as it is; nan out of reach."""
    by_axes = work.placed.stations.by_axes[:, None]
    solved = commands(work, work.placed.position, work.placed.rotation, work.reference)
    return np.where(by_axes, work.reference, solved)


def commands(work: Job, position: Array, rotation: Array, near: Array) -> Array:
    """Joint values (S, n) that the controller makes of poses in robot axes, next to ``near``; nan out of reach."""
    out = np.full_like(near, np.nan)
    for rows, frame, aim in work.groups():
        rows = rows[np.isfinite(near[rows]).all(axis=1) & np.isfinite(position[rows]).all(axis=1)]
        if not len(rows):
            continue
        inverse = Nominal(work.placed.model, frame, task(work.placed.model, frame, aim))
        out[rows] = inverse.solved(Targets(frame, position[rows], rotation[rows], near[rows]))
    return out


def command_residuals(model: Robot, work: Job, command: Array) -> Residual:
    """Where a model of the robot, with the same tool frames, goes with commands (S, n)."""
    return stood_residuals(
        work, [(r, frame, standings(model, command[r], work.loads.at(r, frame))) for r, frame, _ in work.groups()]
    )


Stood = list[tuple[Ints, str, list[Standing]]]
"""Stations of one tool, its frame, and where a model stands there: for all tools."""


def stand(model: Robot, work: Job, *runs: tuple[Array, ProgramLoads], bends: Array | None = None) -> list[Stood]:
    """Where a model stands in each of some runs of the program: commands (S, n) and loads that carry the same masses.

    All runs are solved together, station by station: of a few stations the calls cost more than the work.  A single
    one is sought near ``bends`` (S, m).
    """
    out: list[Stood] = [[] for _ in runs]
    for rows, frame, _ in work.groups():
        total = len(runs) * len(rows)
        command, wrench = (
            np.stack([part[rows] for part in parts], axis=1).reshape(total, -1)
            for parts in zip(*((command, loads.wrench) for command, loads in runs), strict=True)
        )
        loads = replace(runs[0][1], wrench=wrench, mass=np.repeat(runs[0][1].mass[rows], len(runs)))
        near = None if bends is None else bends[rows]
        pieces = list(standings(model, command, loads.at(np.arange(total), frame), near))
        for number, stood in enumerate(out):
            own = [p.picked(np.flatnonzero(p.rows % len(runs) == number)) for p in pieces]
            stood.append((rows, frame, [replace(p, rows=p.rows // len(runs)) for p in own if len(p.rows)]))
    return out


def stood_residuals(work: Job, stood: Iterable[tuple[Ints, str, Iterable[Standing]]]) -> Residual:
    """How far it stands from the targets."""
    total = len(work.reference)
    out = Residual(np.full((total, 3), np.nan), np.full((total, 3), np.nan), np.zeros(total, dtype=np.int64))
    for rows, frame, pieces in stood:
        part = residual_at(pieces, work.targets(rows, frame))
        out.position[rows], out.rotation[rows], out.status[rows] = part.position, part.rotation, part.status
    return out


def as_taught(model: Robot, work: Job, nominal: Array) -> Job:
    """The job whose targets are where a model of the robot stands unloaded with commands (S, n).

    Where the position alone is corrected, the orientation stays the program's.
    """
    position, rotation, reference = work.placed.position.copy(), work.placed.rotation.copy(), work.reference.copy()
    for rows, frame, aim in work.groups():
        part = taught(model, work.targets(rows, frame), nominal[rows], work.loads.at(rows, frame))
        position[rows], reference[rows] = part.position, part.reference
        if aim != "position":
            rotation[rows] = part.rotation
    return replace(work, placed=replace(work.placed, position=position, rotation=rotation), reference=reference)


def confidence(known: IdentifiedModel, work: Job, stood: Stood, nominal: Array | None = None) -> Array:
    """Covariance (S, 6, 6) of the residual that is expected where the model stands with corrected commands.

    With ``nominal`` (S, n) the targets count as taught with these commands.
    """
    out = np.full((len(work.reference), 6, 6), np.nan)
    for rows, frame, pieces in stood:
        for first in range(0, len(rows), _CHUNK):
            some, loaded = rows[first : first + _CHUNK], within(pieces, first, _CHUNK)
            if nominal is None:
                out[some] = expected_at(known, loaded, frame, len(some)).covariance
            else:
                rest = at_rest(work.placed.model, nominal[some], work.loads.at(some, frame))
                out[some] = taught_at(known, loaded, rest, frame, len(some))
    return out
