"""A joint whose zero is not where the controller believes: theta = offset."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar, Self

import numpy as np

from elastocal.model.elements import JointCoordinate, Terms
from elastocal.model.frames import FrameTree
from elastocal.model.parameters import Parameter, quantity
from elastocal.model.posture import Posture
from elastocal.spatial.entries import Array
from elastocal.values import dataclass


@dataclass(frozen=True, kw_only=True)
class JointOffset(JointCoordinate):
    """theta = offset, in rad or m."""

    kind: ClassVar[str] = "joint_offset"
    constant_in_load: ClassVar[bool] = True
    offset: float = quantity("joint value", default=0.0)

    def parameters(self, tree: FrameTree) -> tuple[Parameter, ...]:
        return (self.parameter("offset", tree.joint(self.joint).unit, self.offset, 1e-3),)

    def with_values(self, values: Sequence[float]) -> Self:
        return replace(self, offset=float(values[0]))

    def unloaded(self, posture: Posture) -> Array:
        return np.array([self.offset])

    def sensitivity(self, force: Array, posture: Posture) -> tuple[Terms, ...]:
        return (((0, 1.0),),)
