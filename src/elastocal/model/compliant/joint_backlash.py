"""Backlash in a joint's gears: theta = g sign(Q) (002 eq. 6, second term).

The sign of the total torque decides the side; where the torque is not above ``threshold`` (friction
may hold the gap open) or is zero within rounding, the side is unknown and the state says so.

With a ``transition`` w the mean of what may be is taken instead: either side with the probabilities (1 +- s) / 2,

    theta = g s,    s = tanh(Q / w),    var theta = g^2 (1 - s^2),

which every state has, and which a search can follow through zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from elastocal.errors import RangeError
from elastocal.model.elements import Element, JointCoordinate, Occasion, PriorGroup, Terms
from elastocal.model.frames import FrameTree
from elastocal.model.parameters import Parameter, quantity
from elastocal.model.posture import Posture
from elastocal.spatial.entries import Array, Bools
from elastocal.values import dataclass

if TYPE_CHECKING:
    from elastocal.model.robot import Robot


@dataclass(frozen=True, kw_only=True)
class JointBacklash(JointCoordinate):
    """theta = gap * sign(Q): ``gap`` is half the backlash, in rad or m."""

    kind: ClassVar[str] = "joint_backlash"
    word: ClassVar[str] = "backlash"
    prior_sd: ClassVar[float] = 2e-4
    gap: float = quantity("joint value", default=0.0)
    threshold: float = quantity("joint force", default=0.0)
    transition: float = quantity("joint force", default=0.0)

    @classmethod
    def neutral(cls, robot: Robot) -> tuple[Element, ...]:
        return ()  # joints without it in the file have none

    @classmethod
    def prior_groups(cls, robot: Robot) -> tuple[PriorGroup, ...]:
        return tuple(replace(g, positive=True, width=0.0) for g in super().prior_groups(robot))

    @classmethod
    def applies(cls, occasion: Occasion) -> bool:
        return occasion.loaded

    @property
    def sharp(self) -> bool:
        return self.transition == 0.0

    def check_physics(self) -> None:
        if not min(self.gap, self.threshold, self.transition) >= 0:
            raise RangeError(f"joint_backlash of {self.joint}: gap, threshold and transition must not be negative")

    def parameters(self, tree: FrameTree) -> tuple[Parameter, ...]:
        return (self.parameter("gap", tree.joint(self.joint).unit, self.gap, 1e-4),)

    def with_values(self, values: Sequence[float]) -> Self:
        return replace(self, gap=float(values[0]))

    def backlash(self, force: Array) -> tuple[Array, Array] | None:
        if self.gap == 0.0:
            return None
        side = self._side(force)
        if self.sharp:
            return self.gap * side, np.zeros((1, 1, force.shape[1]))
        return self.gap * side, (self.gap / self.transition * (1 - side**2))[None]

    def undetermined(self, force: Array, noise: Array) -> Bools | None:
        return np.asarray(np.abs(force[0]) <= np.maximum(self.threshold, noise[0])) if self.sharp else None

    def looseness(self, force: Array) -> Array:
        """Sd of theta within the gap for torques of any shape, where the side is not certain."""
        return np.asarray(self.gap * np.sqrt(1 - self._side(force) ** 2)) if not self.sharp else np.zeros_like(force)

    def sensitivity(self, force: Array, posture: Posture) -> tuple[Terms, ...]:
        return (((0, self._side(force[0])),),)

    def _side(self, force: Array) -> Array:
        """Mean of the side, from -1 to 1."""
        return np.asarray(np.sign(force) if self.sharp else np.tanh(force / self.transition))
