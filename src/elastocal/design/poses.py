"""Configurations of a robot and where its frames are in each, unloaded."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from elastocal.model.chain import ChainState
from elastocal.model.kinematics import rigid_state
from elastocal.model.robot import RobotModel
from elastocal.spatial.entries import Array, Ints


@dataclass(frozen=True, eq=False)
class Poses:
    """Joint values ``q`` (C, n)."""

    model: RobotModel
    q: Array

    def __len__(self) -> int:
        return len(self.q)

    @cached_property
    def _state(self) -> ChainState:
        return rigid_state(self.model, np.ascontiguousarray(self.q.T), ())

    def origin(self, frame: str) -> Array:
        """(C, 3)"""
        return self._state.origin(frame).T

    def rotation(self, frame: str) -> Array:
        """(C, 3, 3)"""
        return np.moveaxis(self._state.rotation(frame), 2, 0)

    def picked(self, rows: Ints) -> Poses:
        return Poses(self.model, self.q[rows])
