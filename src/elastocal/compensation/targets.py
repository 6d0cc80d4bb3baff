"""Desired poses of a frame of the robot, with the joint values they are meant for, and what became of each."""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from elastocal.errors import NumberError, RangeError, ShapeError
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
        for what, values in (("position", position), ("rotation", rotation), ("reference", reference)):
            bad = ~np.isfinite(values).all(axis=tuple(range(1, values.ndim)))
            if bad.any():
                raise NumberError(
                    f"target {int(np.argmax(bad)) + 1}: its {what} is not a finite number",
                    value=int(np.argmax(bad)) + 1,
                )
        for name, values in (("position", position), ("rotation", rotation), ("reference", reference)):
            object.__setattr__(self, name, values)
        self._check_rotations()

    def _check_rotations(self) -> None:
        for first in range(0, len(self.rotation), CHECKED):
            r = self.rotation[first : first + CHECKED]
            off = np.abs(np.cross(r[:, :, 0], r[:, :, 1]) - r[:, :, 2]).max(axis=1)
            off = np.maximum(off, np.abs(np.einsum("nij,nij->nj", r, r) - 1.0).max(axis=1))
            if np.any(off > ORTHOGONAL):
                row = first + int(np.argmax(off > ORTHOGONAL))
                raise RangeError(
                    f"target {row + 1}: its rotation is not a right-handed orthonormal matrix", value=row + 1
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
