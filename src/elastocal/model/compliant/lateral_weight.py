"""The tilt of a joint across its axis under the arm's own weight, where masses and compliance are unknown.

A bearing gives way to the moment M = m x g of the arm's own weight (``own_weight``), at most 1, across the axis.  In
the axes of the joint's frame, with two unit vectors e_1, e_2 at right angles to the joint's axis and to each other,

    theta = (rx, ry, rz) = sum_k lateral_k e_k (e_k . R^T M)

``lateral_k`` is the tilt in rad of the arm stretched out, where its whole moment is about e_k.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from elastocal.model.chain import Dof
from elastocal.model.compliant.own_weight import weight_lever, weight_lever_slope
from elastocal.model.elements import JointCoordinate, Terms
from elastocal.model.frames import FrameTree
from elastocal.model.parameters import Parameter, quantity
from elastocal.model.posture import Posture
from elastocal.spatial.entries import Array
from elastocal.values import dataclass

if TYPE_CHECKING:
    from elastocal.model.robot import Robot


@dataclass(frozen=True, kw_only=True)
class LateralWeight(JointCoordinate):
    """``tilt``: lateral_1 and lateral_2 in rad; of an axis z, e_1 and e_2 are x and y of the frame, and so on round."""

    kind: ClassVar[str] = "lateral_weight"
    constant_in_load: ClassVar[bool] = True
    varies: ClassVar[bool] = True
    word: ClassVar[str] = "lateral"
    prior_sd: ClassVar[float] = 1e-4
    tilt: tuple[float, float] = quantity("angle", default=(0.0, 0.0))

    @classmethod
    def neutral(cls, robot: Robot) -> tuple[LateralWeight, ...]:
        return tuple(cls(joint=j) for j in robot.revolute_joints)

    def dofs(self) -> tuple[Dof, ...]:
        return tuple(Dof(self.joint, axis) for axis in ("rx", "ry", "rz"))

    def parameters(self, tree: FrameTree) -> tuple[Parameter, ...]:
        return tuple(self.parameter(f"lateral_{k}", "rad", v, 1e-3) for k, v in enumerate(self.tilt, 1))

    def with_values(self, values: Sequence[float]) -> Self:
        return replace(self, tilt=(float(values[0]), float(values[1])))

    def _directions(self, posture: Posture) -> Array:
        """e_1 and e_2, the columns of (3, 2)."""
        return posture.kept(
            ("lateral_directions", self.joint), lambda: _across(posture.model.tree.joint(self.joint).unit_axis)
        )

    def _moment(self, posture: Posture) -> Array:
        """R^T M (3, N)."""

        def moment() -> Array:
            moments = np.cross(weight_lever(posture, self.joint), posture.down[:, None], axis=0)
            return np.asarray(np.einsum("jin,jn->in", posture.rest.rotation(self.joint), moments))

        return posture.kept(("lateral_weight", self.joint), moment)

    def _moment_slope(self, posture: Posture) -> Array:
        """Its derivative (3, n, N)."""
        down = posture.down[:, None]
        moment = np.cross(weight_lever(posture, self.joint), down, axis=0)
        change = np.cross(weight_lever_slope(posture, self.joint), down[:, None], axis=0)
        change -= np.cross(posture.jacobian(self.joint)[3:], moment[:, None], axis=0)
        return np.asarray(np.einsum("jin,jkn->ikn", posture.rest.rotation(self.joint), change))

    def _compliance(self, posture: Posture) -> Array:
        across = self._directions(posture)
        return np.asarray(across * np.array(self.tilt) @ across.T)

    def unloaded(self, posture: Posture) -> Array:
        return np.asarray(self._compliance(posture) @ self._moment(posture)) if any(self.tilt) else np.zeros(3)

    def unloaded_slope(self, posture: Posture) -> Array | None:
        return (
            np.einsum("ij,jkn->ikn", self._compliance(posture), self._moment_slope(posture)) if any(self.tilt) else None
        )

    def sensitivity(self, force: Array, posture: Posture) -> tuple[Terms, ...]:
        moment = self._moment(posture)
        return tuple(tuple(enumerate(e[:, None] * (e @ moment))) for e in self._directions(posture).T)


def _across(axis: Array) -> Array:
    first = np.eye(3)[(int(np.argmax(np.abs(axis))) + 1) % 3]
    first = first - (first @ axis) * axis
    first /= np.linalg.norm(first)
    return np.column_stack([first, np.cross(axis, first)])
