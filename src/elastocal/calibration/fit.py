"""One model fitted to the states of a campaign: Gauss-Newton on the exact problem, scales by evidence.

At every point the readings are linearised and the linear problem of ``solve`` is solved; the scales of priors and of
noise are chosen where the linearisation has settled, and chosen again after it has moved.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from elastocal.calibration.placing import Placing
from elastocal.calibration.sight import Sight
from elastocal.calibration.words import Wanted
from elastocal.model.robot import RobotModel
from elastocal.solve.blocks import Blocks, Group, Noise, Scale
from elastocal.solve.deletion import Deletion, deletion
from elastocal.solve.evidence import Posterior, posterior
from elastocal.solve.scales import maximise_evidence
from elastocal.spatial.entries import Array, Bools

Family = Literal["joints", "points"]
"""Noise of a pose: joint scatter common to its markers and noise of the points, or points whose errors are common."""
FLAT_LENGTH, FLAT_TURN = 30.0, 30.0
"""Prior sd in m and rad of stations and markers: nothing is known."""


@dataclass(frozen=True, eq=False)
class Task:
    """What is fitted: a robot with its wanted groups, to the rows of a sight less those ``dropped`` (M, rows)."""

    sight: Sight
    robot: RobotModel
    wanted: tuple[Wanted, ...]
    family: Family
    dropped: Bools
    noise_start: float = 1e-4
    turn_start: float = 1e-3

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(n for w in self.wanted for n in w.names)

    @cached_property
    def file_values(self) -> Array:
        index = dict(zip(self.robot.parameters.names, self.robot.parameters.values.tolist(), strict=True))
        return np.array([index[n] for n in self.names])


@dataclass(frozen=True, eq=False)
class Fit:
    """``values`` of the robot's parameters, ``placing``, and the posterior of the linear problem there."""

    task: Task
    values: Array
    placing: Placing
    posterior: Posterior
    evidence: float
    steps: int
    converged: bool

    @cached_property
    def robot(self) -> RobotModel:
        return self.task.robot.with_parameters(dict(zip(self.task.names, self.values.tolist(), strict=True)))

    @cached_property
    def deletion(self) -> Deletion:
        return deletion(self.posterior)

    @cached_property
    def left_out(self) -> Array:
        """Residuals (M, rows) of every state predicted without its pose; nan where not read."""
        return self.task.sight.unfold(self.deletion.blocks)

    def loo_lengths(self) -> Array:
        """Leave-one-pose-out distances in m, one for every point that was read (deflections, distances too)."""
        return distances(self.task.sight, self.left_out)


def distances(sight: Sight, off: Array) -> Array:
    """Distances (M, points) of residuals (M, rows); nan where not read, or only in part."""
    out = []
    for key, part in sight.sections.items():
        if key == "orientation":
            continue
        size = 1 if key == "distance" else 3
        out.append(np.linalg.norm(off[:, part].reshape(len(off), -1, size), axis=2))
    return np.concatenate(out, axis=1) if out else np.linalg.norm(off, axis=1)[:, None]


def _noise(task: Task, placing: Placing) -> tuple[tuple[Noise, ...], float]:
    """Parts of the noise and the power of the likelihood."""
    sight = task.sight
    count, rows = sight.states.count, sight.rows
    slots = sight.states.slots
    n = sight.states.poses

    def white(mask: Bools) -> Array:
        eye = np.broadcast_to(np.eye(rows)[:, mask], (count, rows, int(mask.sum())))
        folded = np.zeros((n, slots, rows, slots, eye.shape[2]))
        s = sight.states
        folded[s.pose, s.slot, :, s.slot] = eye
        return folded.reshape(n, slots * rows, -1)

    parts = [Noise(Scale("points", task.noise_start), white(sight.lengths))] if sight.lengths.any() else []
    if not sight.lengths.all():
        parts.append(Noise(Scale("orientation", task.turn_start), white(~sight.lengths)))
    if task.family == "points":
        return tuple(parts), 1.0 / max(1, sight.states.points)
    by_joints = sight.fold(sight.joint_noise(task.robot, placing))
    for i in range(task.robot.n):
        parts.append(
            Noise(Scale(f"noise {task.robot.joints[i]}", 3e-5, 0.7, "joint noise"), by_joints[:, :, i : i + 1])
        )
    if "position" in sight.sections and sight.states.points > 1:
        common = np.zeros((count, rows, 3))
        common[:, sight.sections["position"]] = np.tile(np.eye(3), (sight.states.points, 1))
        parts.append(Noise(Scale("translation", 3e-5), sight.fold(common)))
    return tuple(parts), 1.0


def assemble(task: Task, values: Array, placing: Placing) -> Blocks:
    """The linear problem at a point; unknowns of the robot count from the file's values, of the placing from here."""
    sight = task.sight
    robot = (
        task.robot.with_parameters(dict(zip(task.names, values.tolist(), strict=True))) if task.names else task.robot
    )
    off, slope = sight.linearise(robot, placing, task.names, sight.states.load_frame)
    p = len(task.names)
    start = np.concatenate([values - task.file_values, np.zeros(sight.extra)])
    readings = off + slope @ start
    noise, power = _noise(task, placing)
    groups, first = [], 0
    for w in task.wanted:
        precision = np.diag(np.array(w.sizes) ** -2.0) if w.sizes else None
        groups.append(Group(w.scale, np.arange(first, first + len(w.names)), precision=precision))
        first += len(w.names)
    stations, m = len(sight.states.stations), sight.states.points
    shifts = np.concatenate([p + 6 * s + np.arange(3) for s in range(stations)])
    flat = [*shifts, *(p + 6 * stations + np.arange(3 * m))]
    turns = [*(shifts + 3), *(p + sight.extra - 3 + np.arange(3))]
    groups.append(Group(Scale("flat lengths", FLAT_LENGTH, 0.0), np.array(flat)))
    groups.append(Group(Scale("flat turns", FLAT_TURN, 0.0), np.array(turns)))
    used = sight.fold(sight.used & ~task.dropped)
    points = int(sight.parts.max()) + 1
    slots = used.shape[1] // sight.rows
    parts = np.concatenate([sight.parts + points * k for k in range(slots)])
    return Blocks(sight.fold(readings), sight.fold(slope), used, noise, tuple(groups), power, parts)


def fit(task: Task, placing: Placing, values: Array | None = None, log_scales: Array | None = None) -> Fit:
    """Fit from a start; ``log_scales`` of an earlier fit of the same task warm the search."""
    at = task.file_values if values is None else values
    scales = log_scales
    converged, step = False, 0
    blocks = assemble(task, at, placing)
    chosen = 0
    for step in range(1, 21):
        if scales is None:
            scales = blocks.start
        found = posterior(blocks, scales)
        at, placing, size = moved(task, found, at, placing)
        blocks = assemble(task, at, placing)
        if size < (0.3 if chosen < 2 else 1e-4) or (step >= 2 and chosen == 0):
            if chosen < 2:
                scales, _ = maximise_evidence(
                    blocks, None if chosen == 0 and log_scales is None else scales, revive=chosen == 0
                )
                chosen += 1
            else:
                converged = True
                break
    found = posterior(blocks, scales)
    penalty = blocks.log_penalty(scales)[0]
    return Fit(task, at, placing, found, found.evidence + penalty, step, converged)


def moved(task: Task, found: Posterior, values: Array, placing: Placing) -> tuple[Array, Placing, float]:
    """The next point, and how large the step is in standard deviations."""
    p = len(task.names)
    aim = task.file_values + found.mean[:p]
    change = found.mean[p:]
    step = np.concatenate([aim - values, change])
    size = float(np.linalg.norm(found.factor.T @ step)) / np.sqrt(len(step))
    return aim, placing.moved(change), size
