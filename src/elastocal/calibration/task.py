"""What is fitted: a robot with groups of unknowns and priors, to readings; and the linear problem of it at a point.

The unknowns x of the robot count from its file: x = theta - theta_file, or x = log(theta / theta_file) where a
parameter cannot change its sign.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np

from elastocal.calibration.noise import SHARE, Family, Instrument, noise_parts
from elastocal.calibration.placing import Placing
from elastocal.calibration.sight import Sight
from elastocal.calibration.tool import Tool
from elastocal.calibration.words import Wanted
from elastocal.model.compliant.joint_backlash import JointBacklash
from elastocal.model.robot import Robot
from elastocal.solve.blocks import Blocks, Group, Scale
from elastocal.spatial.entries import Array, Bools, Ints
from elastocal.values import dataclass

FLAT = 30.0
"""Prior sd in m and rad of stations and markers of which nothing is known."""
NEAR, AS_NEAR = 0.15, 2.0
"""Start of the prior sd in m of markers of deflections about the tool's origin, and the sd of its logarithm: evidence
chooses it, so that markers that sit there cost little."""
KNOWN = 1e-7
"""Sd of those that are taken as known, where only deflections are read."""


@dataclass(frozen=True, eq=False)
class Task:
    """What is fitted: a robot with its wanted groups, to the rows of a sight less those ``dropped`` (M, rows)."""

    sight: Sight
    robot: Robot
    wanted: tuple[Wanted, ...]
    family: Family
    dropped: Bools
    instrument: Instrument = Instrument()

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(n for w in self.wanted for n in w.names)

    @cached_property
    def tool(self) -> Tool:
        return self.sight.tool(self.robot, self.names)

    @cached_property
    def file_values(self) -> Array:
        index = dict(zip(self.robot.parameters.names, self.robot.parameters.values.tolist(), strict=True))
        return np.array([index[n] for n in self.names])

    @cached_property
    def logs(self) -> Bools:
        """Which unknowns are logarithms."""
        return np.array([w.log for w in self.wanted for _ in w.names], dtype=bool)

    @cached_property
    def shares(self) -> dict[str, Array]:
        """Unknowns (p, c) that are the compliance of one part c: of every joint, of links, of the foundation."""
        table = self.robot.parameters
        parts: dict[str, dict[str, list[int]]] = {}
        for i in np.flatnonzero(self.logs).tolist():
            own, kind = self.names[i].rpartition(".")[0], table.rows[table.index(self.names[i])].kind
            parts.setdefault(own if kind == "joint_compliance" else kind, {}).setdefault(own, []).append(i)
        every = np.eye(len(self.names))
        return {
            f"{SHARE} {name}": np.stack([every[mine].sum(axis=0) for mine in group.values()], axis=1)
            for name, group in parts.items()
        }

    @cached_property
    def positive(self) -> Bools:
        """Which parameters may not fall below zero (logarithms cannot)."""
        return np.array([w.positive for w in self.wanted for _ in w.names], dtype=bool)

    @cached_property
    def backlash(self) -> tuple[str, ...]:
        """Gaps that the model has, sought or known."""
        gaps = [c for c in self.robot.coordinates if isinstance(c, JointBacklash)]
        return tuple(f"{c.place}.gap" for c in gaps if c.gap or f"{c.place}.gap" in self.names)

    @cached_property
    def loose_joints(self) -> Ints:
        """Joints whose side of a backlash, sought or known, is not certain in all states."""
        soft = [c for c in self.robot.coordinates if isinstance(c, JointBacklash) and not c.sharp]
        mine = {c.joint for c in soft if c.gap or f"{c.place}.gap" in self.names}
        return np.array([i for i, j in enumerate(self.robot.joints) if j in mine], dtype=np.int64)

    @cached_property
    def load_moves(self) -> dict[str, Array]:
        """Twists of the tool by errors of the load."""
        return self.instrument.load_moves(self.sight, self.robot)

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """Priors of all unknowns, the same wherever the problem is linearised."""
        return (*_groups(self), *_placing_groups(self))

    def values(self, x: Array) -> Array:
        """Parameters of unknowns."""
        return np.where(self.logs, self.file_values * np.exp(np.where(self.logs, x, 0.0)), self.file_values + x)

    def solved(self, x: Array) -> bool:
        """Whether the tool's states are known there as they are, not moved there from others."""
        return self.tool.solved(self.values(x))

    def moved(self, x: Array, step: Array) -> Array:
        """Unknowns after a step; parameters that may not fall below zero end there, in spite of rounding and mixing."""
        at = x + step
        return np.where(self.positive & ~self.logs, np.maximum(at, -self.file_values), at)


def assemble(task: Task, x: Array, placing: Placing, exact: bool = True) -> Blocks:
    """The linear problem at a point; unknowns of the robot count from its file, of the placing from here.

    Where it need not be ``exact``, states of the tool may be moved there from others along their slopes."""
    sight, p = task.sight, len(task.names)
    values = task.values(x)
    off, slope = sight.linearise(task.tool, values, placing, exact)
    slope[:, :, :p] *= np.where(task.logs, values, 1.0)
    known = np.isfinite(off) & np.all(np.isfinite(slope), axis=2)  # states that are not determined tell nothing
    off, slope = np.where(known, off, 0.0), np.where(known[:, :, None], slope, 0.0)
    readings = off + slope @ np.concatenate([x, np.zeros(sight.extra)])
    bent = {name: slope[:, :, :p] @ part for name, part in task.shares.items()}
    side = task.loose_joints
    loose = sight.loose_moves(task.robot, task.tool, values, placing, exact)[:, :, side] if len(side) else None
    noise, power = noise_parts(sight, task.robot, placing, task.instrument, task.family, bent, loose, task.load_moves)
    used = sight.fold(sight.used & known & ~task.dropped)
    points = int(sight.parts.max()) + 1
    parts = np.concatenate([sight.parts + points * k for k in range(sight.states.slots)])
    split = 1 if sight.placed else sight.states.slots  # states of a pose share what joints do, differences do not
    groups = _groups_at(task, placing)
    return Blocks(sight.fold(readings), sight.fold(slope), used, noise, groups, power, parts, split)


def _groups_at(task: Task, placing: Placing) -> tuple[Group, ...]:
    """Unknowns of the placing count from here, the prior of markers of deflections from the tool's origin."""
    loose = task.sight.unplaced
    if not loose.any():
        return task.groups
    mean = -placing.markers[loose].ravel()
    return tuple(replace(g, mean=mean) if g.scale.name == "markers" else g for g in task.groups)


def _groups(task: Task) -> list[Group]:
    out, first = [], 0
    for w in task.wanted:
        mean = np.array(w.mean) if w.mean else None
        out.append(Group(w.scale, np.arange(first, first + len(w.names)), mean, w.precision))
        first += len(w.names)
    return out


def _placing_groups(task: Task) -> list[Group]:
    """Stations, markers and the tool's turn."""
    s, p = task.sight.states, len(task.names)
    stations, m = len(s.stations), s.points
    if not task.sight.extra:
        return []
    shifts = np.concatenate([p + 6 * k + np.arange(3) for k in range(stations)])
    markers, turn = p + 6 * stations + np.arange(3 * m), p + task.sight.extra - 3 + np.arange(3)
    if not task.sight.placed:
        loose = np.repeat(task.sight.unplaced, 3)
        others = np.concatenate([shifts, shifts + 3, markers[~loose], turn])
        return [Group(Scale("markers", NEAR, AS_NEAR), markers[loose]), Group(Scale("placing", KNOWN, 0.0), others)]
    return [
        Group(Scale("stations", FLAT, 0.0), np.concatenate([shifts, shifts + 3])),
        Group(Scale("markers", FLAT, 0.0), markers),
        Group(Scale("tool turn", FLAT, 0.0), turn),
    ]
