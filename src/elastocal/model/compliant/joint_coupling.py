"""A joint that is moved by another one's drive: theta = ratio * q of the other joint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from elastocal.errors import InputError
from elastocal.model.elements import JointCoordinate, Terms
from elastocal.model.frames import FrameTree
from elastocal.model.parameters import Parameter, quantity
from elastocal.model.posture import Posture
from elastocal.spatial.entries import Array
from elastocal.values import dataclass

if TYPE_CHECKING:
    from elastocal.model.robot import Robot


@dataclass(frozen=True, kw_only=True)
class JointCoupling(JointCoordinate):
    """theta = ratio * q of the joint ``of``: gears of a wrist, parallel bars, what the controller does not know."""

    kind: ClassVar[str] = "joint_coupling"
    constant_in_load: ClassVar[bool] = True
    varies: ClassVar[bool] = True
    word: ClassVar[str] = "coupling"
    prior_sd: ClassVar[float] = 1e-4
    rare: ClassVar[bool] = True
    of: str
    ratio: float = quantity("number", default=0.0)

    @classmethod
    def neutral(cls, robot: Robot) -> tuple[JointCoupling, ...]:
        """Neighbours of one kind, both ways."""
        alike = [p for p in pairwise(robot.joints) if len({robot.tree.joint(j).kind for j in p}) == 1]
        return tuple(cls(joint=a, of=b) for pair in alike for a, b in (pair, pair[::-1]))

    def check(self, tree: FrameTree) -> None:
        kinds = {tree.joint(j).kind for j in (self.joint, self.of)}
        if self.of == self.joint or len(kinds) > 1:
            raise InputError(
                f"joint_coupling of {self.joint}: 'of' is {self.of}; name another joint of the same kind",
                code="joint-coupling",
                value=self.of,
            )

    def parameters(self, tree: FrameTree) -> tuple[Parameter, ...]:
        return (self.parameter(f"per_{self.of}", "1", self.ratio, 1e-3),)

    def with_values(self, values: Sequence[float]) -> Self:
        return replace(self, ratio=float(values[0]))

    def unloaded(self, posture: Posture) -> Array:
        return self.ratio * posture.value(self.of)[None] if self.ratio else np.zeros(1)

    def unloaded_slope(self, posture: Posture) -> Array | None:
        slope = self.ratio * posture.value_slope(self.of)[None, :, None]
        return np.broadcast_to(slope, (1, len(posture.q), posture.size)) if self.ratio else None

    def sensitivity(self, force: Array, posture: Posture) -> tuple[Terms, ...]:
        return (((0, posture.value(self.of)),),)
