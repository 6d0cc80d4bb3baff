"""Joint values that bring the unloaded, nominal robot to its targets: what a controller computes by itself.

Which multiple of a full turn: nearest to a reference, within the joint's limits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np

from elastocal.compensation import spherical_wrist
from elastocal.compensation.targets import Targets
from elastocal.compensation.wrist_geometry import Limits, WristGeometry, wrist_geometry
from elastocal.model.inverse_kinematics import along_path, inverse_kinematics
from elastocal.model.robot import Robot
from elastocal.model.task import Task
from elastocal.spatial.entries import Array, Bools, Ints
from elastocal.values import dataclass

FULL = 2 * np.pi
SLACK = 1e-9


@dataclass(frozen=True, eq=False)
class NominalJoints:
    """Joint values (n, N) and whether each reaches its target; where not, the nearest that was found or nan.

    ``margins`` (k, N) tell how far each is from its singularities, where the inverse knows.
    """

    q: Array
    reached: Bools
    margins: Array | None = None


@dataclass(frozen=True, eq=False)
class Nominal:
    """How the inverse of one robot, frame and task is found; ``why`` says why not in closed form (else "")."""

    model: Robot
    frame: str
    task: Task

    @cached_property
    def _arm(self) -> WristGeometry | str:
        if len(self.task.rows) < 6:
            return f"{', '.join(self.task.left_out)} are not asked for"
        return wrist_geometry(self.model, self.frame)

    @property
    def arm(self) -> WristGeometry | None:
        return None if isinstance(self._arm, str) else self._arm

    @property
    def why(self) -> str:
        return self._arm if isinstance(self._arm, str) else ""

    def chunks(self, targets: Targets, size: int) -> Iterator[tuple[slice, Array, Array, NominalJoints]]:
        """Rows, positions (3, n), rotations (3, 3, n) and joint values of a chunk of targets, in order."""
        total = len(targets)
        whole = None if self.arm is not None or not targets.along_path else self._path(targets)
        before, branch = targets.reference, 0
        for first in range(0, total, size):
            rows = slice(first, min(first + size, total))
            position, rotation = targets.last(rows)
            if whole is not None:
                joints = NominalJoints(whole.q[:, rows], whole.reached[rows])
            elif self.arm is None:
                start = np.ascontiguousarray(targets.reference[rows].T)
                posed = inverse_kinematics(self.model.nominal, self.frame, self.task, position, rotation, start)
                joints = NominalJoints(posed.q, posed.reached)
            elif targets.along_path:
                if first == 0:
                    branch = nearest_branch(self.arm, position[:, :1], rotation[:, :, :1], before)
                free = np.full(position.shape[1], before[3])
                solved = spherical_wrist.wrist_joints(self.arm, position, rotation, branch, free)
                track = unwrapped(solved.q, before)
                joints = NominalJoints(into_limits(track, self.arm.limits), solved.reached, solved.margins)
                known = np.flatnonzero(joints.reached)
                before = track[:, known[-1]] if len(known) else before
            else:
                own = np.ascontiguousarray(targets.reference[rows].T)
                solved = spherical_wrist.wrist_joints(
                    self.arm, position, rotation, spherical_wrist.branch_of(self.arm, own), own[3]
                )
                joints = NominalJoints(nearest_turns(solved.q, own, self.arm.limits), solved.reached, solved.margins)
            yield rows, position, rotation, joints

    def _path(self, targets: Targets) -> NominalJoints:
        """A path is followed as a whole: every target starts near the one before it."""
        position, rotation = targets.last(slice(None))
        whole = along_path(self.model.nominal, self.frame, self.task, position, rotation, targets.reference)
        return NominalJoints(whole.q, whole.reached)


def references_on(arm: WristGeometry, targets: Targets, branch: Ints, near: Array) -> Array:
    """Joint values (N, 6) of targets on stated branches (N,), turns nearest to (6,): a reference for each; nan out of
    reach.
    """
    position, rotation = targets.last(slice(None))
    free = np.full(len(targets), near[3])
    solved = spherical_wrist.wrist_joints(arm, position, rotation, branch, free)
    return nearest_turns(solved.q, np.repeat(near[:, None], len(targets), axis=1), arm.limits).T


def all_branches(arm: WristGeometry, position: Array, rotation: Array, reference: Array) -> tuple[Array, Array]:
    """Joint values (8, 6, N) of all branches, turns nearest to the reference (6, N), and their margins (8, 3, N)."""
    branches = [
        spherical_wrist.wrist_joints(arm, position, rotation, b, reference[3]) for b in spherical_wrist.BRANCHES
    ]
    q = np.stack([nearest_turns(s.q, reference, arm.limits) for s in branches])
    return q, np.stack([s.margins for s in branches])


def nearest_branch(arm: WristGeometry, position: Array, rotation: Array, reference: Array) -> int:
    """The branch whose solution for one target is nearest to joint values (6,).

    Differences count more the further in their joint is: a turned hand is nearer than an arm turned over.
    """
    q, _ = all_branches(arm, position, rotation, reference[:, None])
    far = np.abs(q[:, :, 0] - reference) @ np.arange(6.0, 0.0, -1.0)
    if np.isnan(far).all():
        return int(spherical_wrist.branch_of(arm, reference[:, None])[0])
    return int(np.nanargmin(far))


def nearest_turns(angles: Array, reference: Array, limits: Sequence[Limits]) -> Array:
    """Angles (n, N) moved by full turns next to the reference (n, N), then into the limits where a turn does it."""
    return into_limits(angles + FULL * np.rint((reference - angles) / FULL), limits)


def unwrapped(angles: Array, before: Array) -> Array:
    """Angles (n, N) along a path, each within half a turn of the one before it; ``before`` (n,) is before the first."""
    known = _filled(angles, before)
    steps = np.diff(known, axis=1, prepend=before[:, None])
    if np.abs(steps).max(initial=0.0) > np.pi:
        known = known - FULL * np.cumsum(np.rint(steps / FULL), axis=1)
    return np.asarray(np.where(np.isnan(angles), np.nan, known))


def _filled(angles: Array, before: Array) -> Array:
    """Unknown values replaced by the last known ones."""
    unknown = np.isnan(angles[0])
    if not unknown.any():
        return angles
    last = np.maximum.accumulate(np.where(unknown, -1, np.arange(angles.shape[1])))
    return np.asarray(np.where(last < 0, before[:, None], angles[:, last]))


def into_limits(angles: Array, limits: Sequence[Limits]) -> Array:
    """Angles (n, N), those beyond their limits moved by full turns where that brings them inside."""
    moved_in = angles.copy()
    for row, limit in zip(moved_in, limits, strict=True):
        if limit is not None:
            low, high = limit[0] - SLACK, limit[1] + SLACK
            out = (row < low) | (row > high)
            if out.any():
                over, under = np.ceil((row - high) / FULL), np.ceil((low - row) / FULL)
                moved = row + FULL * (np.maximum(under, 0) - np.maximum(over, 0))
                row[:] = np.where(out & (moved >= low) & (moved <= high), moved, row)
    return moved_in
