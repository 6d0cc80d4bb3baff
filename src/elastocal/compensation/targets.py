"""Desired poses of a frame, what became of each, and the joint values that bring the nominal robot there.

The nominal, unloaded robot is what a controller computes with by itself.  Which multiple of a full turn: nearest to a
reference, within the joint's limits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from enum import IntEnum
from functools import cached_property

import numpy as np

from elastocal.compensation.spherical_wrist import (
    BRANCHES,
    Limits,
    NominalJoints,
    WristGeometry,
    branch_of,
    wrist_geometry,
    wrist_joints,
)
from elastocal.errors import NumberError, RangeError, ShapeError
from elastocal.model.inverse_kinematics import Task, along_path, inverse_kinematics
from elastocal.model.robot import Robot
from elastocal.model.statics import equilibrium
from elastocal.spatial.entries import Array, Bools, Ints
from elastocal.values import dataclass


class TargetStatus(IntEnum):
    """Outcome of one target; ``text`` says what it means and what to do."""

    CORRECTED = 0
    OUT_OF_REACH = 1
    JOINT_LIMIT = 2
    NEAR_SHOULDER_SINGULARITY = 3
    NEAR_ELBOW_SINGULARITY = 4
    NEAR_WRIST_SINGULARITY = 5
    NEAR_SINGULARITY = 6
    CONFIGURATION_FLIP = 7
    UNDETERMINED_BACKLASH = 8
    UNSTABLE = 9
    NOT_CONVERGED = 10
    KEPT = 11

    @property
    def text(self) -> str:
        return _TEXT[self]


_NEAR = "joints turn by far more than the correction; move or tilt the target"
_TEXT = {
    TargetStatus.CORRECTED: "corrected",
    TargetStatus.OUT_OF_REACH: "out of reach: no joint values bring the tool there; check base, tool and the target",
    TargetStatus.JOINT_LIMIT: "joint limit: the corrected command is beyond a joint's range; move the target or the "
    "part",
    TargetStatus.NEAR_SHOULDER_SINGULARITY: f"the wrist is too close to axis 1: {_NEAR}",
    TargetStatus.NEAR_ELBOW_SINGULARITY: f"the elbow is almost stretched or folded: {_NEAR}",
    TargetStatus.NEAR_WRIST_SINGULARITY: f"axes 4 and 6 are almost in line: {_NEAR}",
    TargetStatus.NEAR_SINGULARITY: f"the joints hardly move the tool in some direction: {_NEAR}",
    TargetStatus.CONFIGURATION_FLIP: "configuration flip: nominal and corrected command lie on two sides of a "
    "singularity, so the arm would turn over; move or tilt the target",
    TargetStatus.UNDETERMINED_BACKLASH: equilibrium.Status.UNDETERMINED_BACKLASH.text,
    TargetStatus.UNSTABLE: equilibrium.Status.UNSTABLE.text,
    TargetStatus.NOT_CONVERGED: "not converged: no command was found whose loaded pose is the desired one; check "
    "loads and compliances",
    TargetStatus.KEPT: "kept: it stands in a file that other programs use too; copy it into this program to correct it",
}


ORTHOGONAL = 1e-6
CHECKED = 100_000
"""Rotations checked at a time, so that long programs need little memory."""


@dataclass(frozen=True, eq=False)
class Targets:
    """``position`` (N, 3) in m, ``rotation`` (N, 3, 3), of frame ``frame``.

    ``reference`` are joint values in rad and m that say which of several solutions is meant: (N, n) for every target
    its own, or (n,) before the first target of a path; then each target stays on that branch, next to the one before
    it.
    """

    frame: str
    position: Array
    rotation: Array
    reference: Array

    def __post_init__(self) -> None:
        position, rotation = np.asarray(self.position, dtype=float), np.asarray(self.rotation, dtype=float)
        count = len(position)
        if position.shape != (count, 3) or rotation.shape != (count, 3, 3):
            raise ShapeError(
                f"targets: positions (N, 3) and rotations (N, 3, 3) are needed, got {position.shape}, {rotation.shape}",
                value=(position.shape, rotation.shape),
            )
        reference = np.asarray(self.reference, dtype=float)
        if reference.ndim == 2 and len(reference) != count:
            raise ShapeError(
                f"{len(reference)} rows of reference joint values for {count} targets; give one, or one each",
                value=(len(reference), count),
            )
        for name, values in (("position", position), ("rotation", rotation), ("reference", reference)):
            bad = ~np.isfinite(values).all(axis=tuple(range(1, values.ndim)))
            if bad.any():
                row = int(np.argmax(bad)) + 1
                raise NumberError(f"target {row}: its {name} is not a finite number", value=row)
            object.__setattr__(self, name, values)
        self._check_rotations()

    def _check_rotations(self) -> None:
        for first in range(0, len(self.rotation), CHECKED):
            r = self.rotation[first : first + CHECKED]
            off = np.abs(np.cross(r[:, :, 0], r[:, :, 1]) - r[:, :, 2]).max(axis=1)
            off = np.maximum(off, np.abs(np.einsum("nij,nij->nj", r, r) - 1.0).max(axis=1))
            if np.any(off > ORTHOGONAL):
                row = first + int(np.argmax(off > ORTHOGONAL)) + 1
                away = off[row - 1 - first]
                raise RangeError(
                    f"target {row}: its rotation is {away:.2g} away from a right-handed orthonormal matrix, more than "
                    f"{ORTHOGONAL:g}; give more digits",
                    value=row,
                )

    def __len__(self) -> int:
        return len(self.position)

    @property
    def along_path(self) -> bool:
        return self.reference.ndim == 1

    def picked(self, rows: slice | Ints | Bools) -> Targets:
        """Some targets; a reference before the first is kept, so pick a path's targets in order."""
        reference = self.reference if self.along_path else self.reference[rows]
        return Targets(self.frame, self.position[rows], self.rotation[rows], reference)

    def last(self, rows: slice) -> tuple[Array, Array]:
        """Positions (3, n) and rotations (3, 3, n) of some targets with the targets along the last axis."""
        turned = np.ascontiguousarray(self.rotation[rows].reshape(-1, 9).T).reshape(3, 3, -1)
        return np.ascontiguousarray(self.position[rows].T), turned


SOLVED = 2000
"""Targets at a time."""
FULL = 2 * np.pi
SLACK = 1e-9


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
        whole = self._path(targets) if self.arm is None and targets.along_path else None
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
                solved = wrist_joints(self.arm, position, rotation, branch, free)
                track = unwrapped(solved.q, before)
                joints = replace(solved, q=into_limits(track, self.arm.limits))
                known = np.flatnonzero(joints.reached)
                before = track[:, known[-1]] if len(known) else before
            else:
                own = np.ascontiguousarray(targets.reference[rows].T)
                solved = wrist_joints(self.arm, position, rotation, branch_of(self.arm, own), own[3])
                joints = replace(solved, q=nearest_turns(solved.q, own, self.arm.limits))
            yield rows, position, rotation, joints

    def solved(self, targets: Targets) -> Array:
        """Joint values (N, n); nan out of reach."""
        out = np.full((len(targets), self.model.n), np.nan)
        for rows, _, _, joints in self.chunks(targets, SOLVED):
            out[rows] = np.where(joints.reached, joints.q, np.nan).T
        return out

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
    solved = wrist_joints(arm, position, rotation, branch, free)
    return nearest_turns(solved.q, np.repeat(near[:, None], len(targets), axis=1), arm.limits).T


def all_branches(arm: WristGeometry, position: Array, rotation: Array, reference: Array) -> Array:
    """Joint values (8, 6, N) of all branches, turns nearest to the reference (6, N)."""
    branches = (wrist_joints(arm, position, rotation, b, reference[3]).q for b in BRANCHES)
    return np.stack([nearest_turns(q, reference, arm.limits) for q in branches])


def nearest_branch(arm: WristGeometry, position: Array, rotation: Array, reference: Array) -> int:
    """The branch whose solution for one target is nearest to joint values (6,).

    Differences count more the further in their joint is: a turned hand is nearer than an arm turned over.
    """
    q = all_branches(arm, position, rotation, reference[:, None])
    far = np.abs(q[:, :, 0] - reference) @ np.arange(6.0, 0.0, -1.0)
    if np.isnan(far).all():
        return int(branch_of(arm, reference[:, None])[0])
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
