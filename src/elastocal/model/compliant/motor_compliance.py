"""Compliance of coupled motors seen at the joints: k = S^-1 diag(k_m) S^-T (S of 001 eq. 1).

Motor angles are phi = S q, so motor torques map by tau = S^T tau_m and each motor's own spring k_m
bends every joint that it drives.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar, Self

import numpy as np

from elastocal.errors import NumberError, RangeError, ShapeError
from elastocal.model.chain import JOINT, Dof
from elastocal.model.elements import CompliantCoordinate, Terms
from elastocal.model.frames import FrameTree
from elastocal.model.parameters import Parameter, quantity
from elastocal.model.posture import Posture
from elastocal.spatial.entries import Array
from elastocal.values import dataclass


@dataclass(frozen=True, kw_only=True)
class MotorCompliance(CompliantCoordinate):
    """``joints`` share the motors whose shaft compliances are ``k``; ``structure`` is S for these joints."""

    kind: ClassVar[str] = "motor_compliance"
    linear_in_force: ClassVar[bool] = True
    joints: tuple[str, ...]
    structure: tuple[tuple[float, ...], ...] = quantity("number")
    k: tuple[float, ...] = quantity("joint compliance")

    @property
    def place(self) -> str:
        return "+".join(self.joints)

    def dofs(self) -> tuple[Dof, ...]:
        return tuple(Dof(j, JOINT) for j in self.joints)

    def check(self, tree: FrameTree) -> None:
        n = len(self.joints)
        for joint in self.joints:
            tree.joint(joint)
        s = self.structure
        if len(s) != n or any(len(row) != n for row in s) or len(self.k) != n:
            raise ShapeError(f"motor_compliance of {self.place}: structure must be {n}x{n} and k must have {n} values")
        if not np.all(np.isfinite(np.array(s))):
            raise NumberError(f"motor_compliance of {self.place}: the structure matrix must hold finite numbers")
        if np.linalg.matrix_rank(np.array(s)) < n:
            raise RangeError(f"motor_compliance of {self.place}: the structure matrix is singular")

    def check_physics(self) -> None:
        if not all(np.isfinite(k) and k >= 0 for k in self.k):
            raise RangeError(f"motor_compliance of {self.place}: every k must be finite and not negative")

    def parameters(self, tree: FrameTree) -> tuple[Parameter, ...]:
        pairs = zip(self.joints, self.k, strict=True)
        units = {j: "rad/(N m)" if tree.joint(j).kind == "revolute" else "m/N" for j in self.joints}
        return tuple(self.parameter(f"k_motor_{j}", units[j], k, 1e-3) for j, k in pairs)

    def with_values(self, values: Sequence[float]) -> Self:
        return replace(self, k=tuple(float(v) for v in values))

    def compliance(self) -> Array:
        inverse = np.linalg.inv(np.array(self.structure))
        return np.asarray(inverse * np.array(self.k) @ inverse.T)

    def sensitivity(self, force: Array, posture: Posture) -> tuple[Terms, ...]:
        inverse = np.linalg.inv(np.array(self.structure))
        shafts = inverse.T @ force
        n = len(self.joints)
        return tuple(tuple((i, inverse[i, m] * shafts[m]) for i in range(n) if inverse[i, m] != 0) for m in range(n))
