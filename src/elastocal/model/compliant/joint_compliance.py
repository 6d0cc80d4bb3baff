"""Elastic transmission and control loop of one joint: theta = k Q (003 eq. 4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar, Self

import numpy as np

from elastocal.errors import RangeError
from elastocal.model.elements import JointCoordinate, Terms
from elastocal.model.frames import FrameTree
from elastocal.model.parameters import Parameter, quantity
from elastocal.model.posture import Posture
from elastocal.spatial.entries import Array
from elastocal.values import dataclass


@dataclass(frozen=True, kw_only=True)
class JointCompliance(JointCoordinate):
    """theta = k Q with k in rad/(N m), or m/N for a prismatic joint."""

    kind: ClassVar[str] = "joint_compliance"
    linear_in_force: ClassVar[bool] = True
    k: float = quantity("joint compliance")

    def check_physics(self) -> None:
        if not self.k >= 0 or np.isinf(self.k):
            raise RangeError(f"joint_compliance of {self.joint}: k = {self.k} must be finite and not negative")

    def parameters(self, tree: FrameTree) -> tuple[Parameter, ...]:
        revolute = tree.joint(self.joint).kind == "revolute"
        unit, scale = ("rad/(N m)", 1e-6) if revolute else ("m/N", 1e-7)
        return (self.parameter("k", unit, self.k, scale),)

    def with_values(self, values: Sequence[float]) -> Self:
        return replace(self, k=float(values[0]))

    def compliance(self) -> Array:
        return np.array([[self.k]])

    def sensitivity(self, force: Array, posture: Posture) -> tuple[Terms, ...]:
        return (((0, force[0]),),)
