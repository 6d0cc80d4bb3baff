"""Everything that could be measured: configurations, each under everything that can be done there."""

from __future__ import annotations

from abc import ABC
from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np

from elastocal.design.poses import Poses
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.robot import Robot
from elastocal.spatial.entries import Array, Bools, Ints
from elastocal.values import dataclass


class Choice(ABC):
    """``name`` in words; ``point`` is the frame that its force acts at."""

    name: str
    point: str

    def forces(self, poses: Poses) -> Array:
        """On the robot in base axes, (C, 3)."""
        return np.zeros((len(poses), 3))

    @property
    def carried(self) -> bool:
        """True where the arm can move with it on."""
        return True

    def possible(self, poses: Poses) -> Bools:
        """(C,)"""
        return np.ones(len(poses), dtype=bool)


@dataclass(frozen=True, eq=False)
class CandidateSet:
    """Candidate i is configuration ``at[i]`` of ``poses`` under ``options[option[i]]``; no options: no load.

    Every load is stated as its wrench at ``frame``, at the unloaded pose.
    """

    poses: Poses
    options: tuple[Choice, ...]
    frame: str
    at: Ints
    option: Ints

    @classmethod
    def of(cls, poses: Poses, options: Sequence[Choice], frame: str) -> CandidateSet:
        """Every configuration under every load."""
        each = max(1, len(options))
        at = np.repeat(np.arange(len(poses)), each)
        return cls(poses, tuple(options), frame, at, np.tile(np.arange(each), len(poses)))

    def __len__(self) -> int:
        return len(self.at)

    @property
    def model(self) -> Robot:
        return self.poses.model

    @property
    def q(self) -> Array:
        """(N, n)"""
        return self.poses.q[self.at]

    @cached_property
    def wrenches(self) -> Array:
        """(N, 6) at the origin of ``frame``, base axes: a force f at a point r away turns by r x f."""
        out = np.zeros((len(self), 6))
        for option, mine, poses in self._by_option():
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
        for option, mine, poses in self._by_option():
            out[mine] = option.possible(poses)
        return out

    def _by_option(self) -> Iterator[tuple[Choice, Bools, Poses]]:
        """Every option that is there, whose it is (N,) and their configurations."""
        for i, option in enumerate(self.options):
            mine = self.option == i
            if mine.any():
                yield option, mine, self.poses.picked(self.at[mine])

    def picked(self, rows: Ints | Bools) -> CandidateSet:
        """Some candidates, with the configurations that they need."""
        used, at = np.unique(self.at[rows], return_inverse=True)
        return CandidateSet(self.poses.picked(used), self.options, self.frame, at.reshape(-1), self.option[rows])

    def carried(self, i: int) -> bool:
        return self.options[int(self.option[i])].carried

    def label(self, i: int) -> str:
        return self.options[int(self.option[i])].name if self.options else "no load"
