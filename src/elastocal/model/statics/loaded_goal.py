"""What the loaded tool is asked for, and what was found for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.pose_status import PoseStatus
from elastocal.spatial.entries import Array, Bools, Ints


@dataclass(frozen=True, eq=False)
class Goal:
    """Where the tool is to be, (3, N) and (3, 3, N), under external wrenches; no rotation: its place alone."""

    position: Array
    rotation: Array | None
    applied: Sequence[AppliedWrenches]

    def picked(self, rows: Bools | Ints) -> Goal:
        rotation = None if self.rotation is None else self.rotation[:, :, rows]
        return Goal(self.position[:, rows], rotation, [w.picked(rows) for w in self.applied])


@dataclass(frozen=True, eq=False)
class Settled:
    """Commands (n, N), bends of all flexible coordinates (m, N) and status (N,).

    Where the status is not reached, the commands are the nearest that were found, or nan.
    """

    q: Array
    theta: Array
    status: Ints

    @property
    def done(self) -> Bools:
        return np.asarray(self.status == PoseStatus.REACHED)
