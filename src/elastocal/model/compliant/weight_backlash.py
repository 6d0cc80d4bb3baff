"""Backlash of a gear that the arm's own weight presses to one side, where masses are unknown: theta as a function of q.

With the joint's axis a, the unit vector g of gravity and the lever m of a typical arm (``own_weight``), at most 1,

    theta = preload tanh(t / w),      t = a . (m x g)

``preload`` is half the backlash.  Masses are guessed, so that the torque changes its sign near t = 0 and not at it; w
is the share of the torque of the arm stretched out within which either side may hold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar, Self

import numpy as np

from elastocal.errors import RangeError
from elastocal.model.compliant.own_weight import weight_lever, weight_lever_slope
from elastocal.model.elements import JointCoordinate, Occasion, Terms
from elastocal.model.frames import FrameTree
from elastocal.model.parameters import Parameter, quantity
from elastocal.model.posture import Posture
from elastocal.spatial.entries import Array
from elastocal.values import dataclass

WIDTH = 0.1


@dataclass(frozen=True, kw_only=True)
class WeightBacklash(JointCoordinate):
    """``preload`` in rad: half the backlash of a revolute joint."""

    kind: ClassVar[str] = "weight_backlash"
    constant_in_load: ClassVar[bool] = True
    varies: ClassVar[bool] = True
    word: ClassVar[str] = "preload"
    prior_sd: ClassVar[float] = 3e-5
    preload: float = quantity("angle", default=0.0)

    @classmethod
    def applies(cls, occasion: Occasion) -> bool:
        return occasion.placed and not occasion.loaded

    def check(self, tree: FrameTree) -> None:
        super().check(tree)
        if tree.joint(self.joint).kind == "prismatic":
            raise RangeError(f"weight_backlash of {self.joint}: the joint is prismatic, only a revolute one has it")

    def parameters(self, tree: FrameTree) -> tuple[Parameter, ...]:
        return (self.parameter("preload", "rad", self.preload, 1e-4),)

    def with_values(self, values: Sequence[float]) -> Self:
        return replace(self, preload=float(values[0]))

    def _side(self, posture: Posture) -> tuple[Array, Array, Array]:
        """tanh(t / w) (N,), and what its derivative by the joint values is made of: g x a and m, (3, N)."""

        def side() -> tuple[Array, Array, Array]:
            lever = weight_lever(posture, self.joint)
            across = np.cross(posture.down[:, None], posture.axis(self.joint), axis=0)
            return np.tanh((lever * across).sum(axis=0) / WIDTH), across, lever

        return posture.kept(("weight_backlash", self.joint), side)

    def unloaded(self, posture: Posture) -> Array:
        return np.asarray(self.preload * self._side(posture)[0])[None] if self.preload else np.zeros(1)

    def unloaded_slope(self, posture: Posture) -> Array | None:
        if not self.preload:
            return None
        side, across, lever = self._side(posture)
        turned = np.cross(posture.jacobian(self.joint)[3:], posture.axis(self.joint)[:, None], axis=0)
        slope = weight_lever_slope(posture, self.joint) * across[:, None]
        slope = slope + lever[:, None] * np.cross(posture.down[:, None, None], turned, axis=0)
        return np.asarray(self.preload / WIDTH * (1 - side**2) * slope.sum(axis=0))[None]

    def sensitivity(self, force: Array, posture: Posture) -> tuple[Terms, ...]:
        return (((0, self._side(posture)[0]),),)
