"""A link that grows with the temperature: its frame's fixed translation times coefficient times difference in K.

The translation t stands before the frame's joint and theta behind it, in the frame's own axes; so theta turns back
with the joint:  theta = expansion * dT * R(q)^T R_pose^T t.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from elastocal.model.elements import FrameCoordinate, Occasion, Terms
from elastocal.model.frames import FrameTree
from elastocal.model.parameters import Parameter, quantity
from elastocal.model.posture import Posture
from elastocal.spatial.entries import Array
from elastocal.spatial.rotation import rotations
from elastocal.values import dataclass

if TYPE_CHECKING:
    from elastocal.model.robot import Robot


@dataclass(frozen=True, kw_only=True)
class ThermalGrowth(FrameCoordinate):
    """The offset of ``frame`` from its parent grows by ``expansion`` (1/K) times the temperature difference."""

    kind: ClassVar[str] = "thermal_growth"
    axes: ClassVar[str] = "xyz"
    constant_in_load: ClassVar[bool] = True
    varies: ClassVar[bool] = True
    word: ClassVar[str] = "thermal"
    prior_sd: ClassVar[float] = 1.2e-5
    expansion: float = quantity("expansion", default=0.0)

    @classmethod
    def neutral(cls, robot: Robot) -> tuple[ThermalGrowth, ...]:
        path = robot.tree.path(robot.tool)
        return tuple(cls(frame=f.name) for f in path if np.linalg.norm(f.pose.translation) > 1e-3)

    @classmethod
    def applies(cls, occasion: Occasion) -> bool:
        return occasion.placed and occasion.warms

    def parameters(self, tree: FrameTree) -> tuple[Parameter, ...]:
        return (self.parameter("expansion", "1/K", self.expansion, 1e-5),)

    def with_values(self, values: Sequence[float]) -> Self:
        return replace(self, expansion=float(values[0]))

    def _growth(self, posture: Posture) -> Array:
        """theta per unit of the coefficient (3, N)."""
        frame = posture.model.tree.frame(self.frame)
        along = np.repeat((frame.pose.rotation.T @ frame.pose.translation)[:, None], posture.size, axis=1)
        if frame.joint is not None and frame.joint.kind == "revolute":
            back = rotations(-frame.joint.unit_axis[:, None] * posture.value(self.frame))
            along = np.einsum("ijn,jn->in", back, along)
        return np.asarray(along * posture.temperature_for(self))

    def unloaded(self, posture: Posture) -> Array:
        return self.expansion * self._growth(posture) if self.expansion else np.zeros(3)

    def unloaded_slope(self, posture: Posture) -> Array | None:
        joint = posture.model.tree.frame(self.frame).joint
        if not self.expansion or joint is None or joint.kind == "prismatic":
            return None
        turned = -np.cross(joint.unit_axis, self.expansion * self._growth(posture), axisb=0, axisc=0)
        return np.asarray(turned[:, None] * posture.value_slope(self.frame)[:, None])

    def sensitivity(self, force: Array, posture: Posture) -> tuple[Terms, ...]:
        return (tuple(enumerate(self._growth(posture))),)
