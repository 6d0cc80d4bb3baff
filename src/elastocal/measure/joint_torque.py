"""Torques that a controller reports while it moves its arm slowly: weight, springs, and what sources of error add.

The reading of a joint is the torque of its drive along +q (``sense`` +1), or the torque of the load that the drive
resists (-1); friction is a source of error of its own, since no statics depends on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import ClassVar

import numpy as np

from elastocal.errors import RangeError, ShapeError
from elastocal.measure.kind import Measurement, Row
from elastocal.model.robot import Robot
from elastocal.model.statics.holding import holding_names, holding_observation, holding_torque
from elastocal.spatial.entries import Array, Ints
from elastocal.values import dataclass

MASSES = ("link_mass", "payload")


@dataclass(frozen=True, eq=False)
class JointTorque(Measurement):
    """Joint values (N, n) of the joints named; ``velocity`` (N, n) in rad/s or m/s, None where it is not known.

    With ``masses_alone`` only masses and mass moments may be sought, in which torques are affine; else joint offsets,
    frame errors and springs too.  ``block`` (N,) numbers the samples that belong together (a sweep, a stretch of a
    path); without it every sample stands alone.
    """

    kind: ClassVar[str] = "joint_torque"
    joints: tuple[str, ...]
    revolute: tuple[bool, ...]
    q: Array
    velocity: Array | None = None
    sense: int = 1
    block: Ints | None = None
    masses_alone: bool = True

    def __post_init__(self) -> None:
        if self.q.shape[1:] != (len(self.joints),) or len(self.revolute) != len(self.joints):
            raise ShapeError(
                f"joint values are {self.q.shape}; give one column for each of {len(self.joints)} joints",
                value=(self.q.shape, len(self.joints)),
            )
        if self.velocity is not None and self.velocity.shape != self.q.shape:
            raise ShapeError(
                f"velocities are {self.velocity.shape}, joint values {self.q.shape}; give one each",
                value=(self.velocity.shape, self.q.shape),
            )
        if self.sense not in (1, -1):
            raise RangeError(f"sense {self.sense}: 1 is the torque of the drive, -1 that of the load", value=self.sense)

    @classmethod
    def of(cls, model: Robot, q: Array, velocity: Array | None = None, **rest: object) -> JointTorque:
        """For all joints of a model."""
        turning = tuple(m.kind == "revolute" for m in model.motions)
        return cls(model.joints, turning, q, velocity, **rest)  # type: ignore[arg-type]

    @property
    def count(self) -> int:
        return len(self.q)

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        both = zip(self.joints, self.revolute, strict=True)
        return tuple(Row(f"{j}.torque" if turns else f"{j}.force", "N m" if turns else "N", j) for j, turns in both)

    @cached_property
    def pose(self) -> Ints:
        return np.arange(self.count) if self.block is None else self.block

    @cached_property
    def state(self) -> Ints:
        moving = np.zeros_like(self.q) if self.velocity is None else self.velocity
        both = np.concatenate([np.round(self.q, 12), np.round(moving, 12)], axis=1)
        return np.unique(both, axis=0, return_inverse=True)[1].reshape(-1)

    @property
    def affine(self) -> bool:
        return self.masses_alone

    def names(self, model: Robot, wanted: Sequence[str] | None) -> tuple[str, ...]:
        masses = {p.name for p in model.parameters if p.kind in MASSES}
        known = masses if self.masses_alone else set(holding_names(model))
        picked = [model.parameters.names[i] for i in model.parameters.select(wanted)]
        return tuple(n for n in picked if n in known)

    def predict(self, model: Robot) -> Array:
        return self.sense * holding_torque(model, self.q)

    def derivative(self, model: Robot, names: Sequence[str]) -> Array:
        return self.sense * holding_observation(model, self.q, names)

    def by_joints(self, model: Robot) -> Array:
        """By the arm's own tangent, (N, n, n): a joint that stops off its reading is a joint offset."""
        offset = {j: f"{j}.offset" for j in self.joints}
        missing = [n for n in offset.values() if n not in model.parameters.names]
        if missing:
            from elastocal.model.compliant.joint_offset import JointOffset

            model = model.with_elements(*(JointOffset(joint=n.removesuffix(".offset")) for n in missing))
        return self.sense * holding_observation(model, self.q, list(offset.values()))
