"""Which readings a calibration has seen: by them its own are known again among those it is validated on."""

from __future__ import annotations

import numpy as np

from elastocal.calibration.campaign import Campaign
from elastocal.model.robot import Robot
from elastocal.spatial.entries import Array, Bools
from elastocal.values import dataclass

SAME = 1e-6
"""Joint values in rad and m, and loads in kN, that are the same but for rounding."""
COPY = 1e-8
"""Readings in m that are the same but for rounding."""


@dataclass(frozen=True, eq=False)
class Seen:
    """Joint values ``q`` (N, n) of every row of a campaign, its loads, and what was read (N, markers, 3), in SI.

    Rows and not means: one repeat of a pose, or one marker, is a reading of the calibration too.
    """

    q: Array
    wrench: Array | None = None
    """None without loads."""
    position: Array | None = None
    deflection: Array | None = None
    distance: Array | None = None

    @classmethod
    def of(cls, robot: Robot, campaign: Campaign) -> Seen:
        wrench = campaign.wrench if campaign.loaded else None
        return cls(campaign.joint_values(robot), wrench, campaign.position, campaign.deflection, campaign.distance)

    @property
    def distances_alone(self) -> bool:
        """Whether all that tells where points are is how far they are from a fixed one."""
        return self.position is None and self.distance is not None

    def among(self, other: Seen) -> tuple[Bools, Bools]:
        """Of rows (N,) of others with the same markers: whether they are at joint values and loads of these, and
        whether a marker of them holds the very reading."""
        own, new = self._states(), other._states()
        weights = np.sqrt(np.arange(2.0, 2.0 + own.shape[1]))  # candidates by one number, so that many poses are quick
        order = np.argsort(own @ weights, kind="stable")
        line, width = (own @ weights)[order], SAME * float(weights.sum())
        first, last = (np.searchsorted(line, new @ weights + side * width) for side in (-1, 1))
        at, copied = np.zeros(len(new), dtype=bool), np.zeros(len(new), dtype=bool)
        for i in np.flatnonzero(last > first).tolist():
            near = order[first[i] : last[i]]
            near = near[np.abs(own[near] - new[i]).max(axis=1) < SAME]
            at[i] = len(near) > 0
            copied[i] = any(
                bool(np.any(np.all(np.abs(mine[near] - its[i]) < COPY, axis=-1))) for mine, its in self._both(other)
            )
        return at, copied

    def _states(self) -> Array:
        return np.hstack([self.q, np.zeros((len(self.q), 6)) if self.wrench is None else 1e-3 * self.wrench])

    def _both(self, other: Seen) -> list[tuple[Array, Array]]:
        """What both have read, (N, markers, numbers)."""
        pairs = [(getattr(self, k), getattr(other, k)) for k in ("position", "deflection", "distance")]
        return [
            (a.reshape(*a.shape[:2], -1), b.reshape(*b.shape[:2], -1))
            for a, b in pairs
            if a is not None and b is not None
        ]
