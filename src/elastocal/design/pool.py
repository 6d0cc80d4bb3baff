"""Everything that could be measured: configurations spread over the joint space or a task, each under every load."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from elastocal.design.choice import Choice
from elastocal.design.poses import Poses
from elastocal.errors import InputError
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.robot import RobotModel
from elastocal.spatial.entries import Array, Bools, Ints

DECIMALS = 2
"""Of the degrees and millimetres that a program says."""


@dataclass(frozen=True, eq=False)
class Pool:
    """Candidate i is configuration ``at[i]`` of ``poses`` under ``options[option[i]]``; no options: no load.

    Every load is stated as its wrench at ``frame``, at the unloaded pose.
    """

    poses: Poses
    options: tuple[Choice, ...]
    frame: str
    at: Ints
    option: Ints

    @classmethod
    def of(cls, poses: Poses, options: Sequence[Choice], frame: str) -> Pool:
        """Every configuration under every load."""
        each = max(1, len(options))
        at = np.repeat(np.arange(len(poses)), each)
        return cls(poses, tuple(options), frame, at, np.tile(np.arange(each), len(poses)))

    def __len__(self) -> int:
        return len(self.at)

    @property
    def model(self) -> RobotModel:
        return self.poses.model

    @property
    def q(self) -> Array:
        """(N, n)"""
        return self.poses.q[self.at]

    @cached_property
    def wrenches(self) -> Array:
        """(N, 6) at the origin of ``frame``, base axes: a force f at a point r away turns by r x f."""
        out = np.zeros((len(self), 6))
        for i, option in enumerate(self.options):
            mine = self.option == i
            poses = self.poses.picked(self.at[mine])
            force = option.forces(poses)
            out[mine, :3] = force
            if option.point != self.frame:
                out[mine, 3:] = np.cross(poses.origin(option.point) - poses.origin(self.frame), force)
        return np.round(out, 2) + 0.0

    @property
    def load(self) -> AppliedWrenches:
        return AppliedWrenches(self.frame, self.wrenches)

    @cached_property
    def possible(self) -> Bools:
        """(N,) where the load of the candidate can be put on."""
        out = np.ones(len(self), dtype=bool)
        for i, option in enumerate(self.options):
            mine = self.option == i
            out[mine] = option.possible(self.poses.picked(self.at[mine]))
        return out

    def picked(self, rows: Ints | Bools) -> Pool:
        """Some candidates, with the configurations that they need."""
        used, at = np.unique(self.at[rows], return_inverse=True)
        return Pool(self.poses.picked(used), self.options, self.frame, at.reshape(-1), self.option[rows])

    def label(self, i: int) -> str:
        return self.options[int(self.option[i])].name if self.options else "no load"


def spread_points(low: Array, high: Array, count: int, rng: np.random.Generator) -> Array:
    """Scrambled Sobol points (count, d) in a box."""
    from scipy.stats import qmc

    if count < 1:
        raise InputError(f"{count} candidates: draw at least 1")
    unit = qmc.Sobol(len(low), seed=rng).random_base2(max(0, int(np.ceil(np.log2(count)))))
    return np.asarray(low + unit[:count] * (high - low))


def spread_poses(model: RobotModel, count: int, rng: np.random.Generator) -> Array:
    """Joint values (count, n) over the whole range of every joint; a full turn where one has no limits."""
    return spread_points(*joint_ranges(model), count, rng)


def joint_ranges(model: RobotModel) -> tuple[Array, Array]:
    ranges = []
    for name, motion in zip(model.joints, model.motions, strict=True):
        if motion.limits is None and motion.kind == "prismatic":
            raise InputError(f"joint {name} slides without limits; give it limits in the robot file")
        ranges.append(motion.limits or (-np.pi, np.pi))
    return np.array([r[0] for r in ranges]), np.array([r[1] for r in ranges])


def programmable(model: RobotModel, q: Array) -> Array:
    """Joint values (N, n) of the nearest controller values with few decimals of degrees or millimetres."""
    unit = np.array([np.pi / 180 if m.kind == "revolute" else 1e-3 for m in model.motions])
    shown = np.round(model.controller.to_controller(q) / unit, DECIMALS)
    return model.controller.to_joints((shown + 0.0) * unit)
