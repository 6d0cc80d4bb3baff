"""The spring that holds the arm best: K_c and s_0 by least squares on the weight's torque along the joint's range.

The spring's torque is linear in K_c and K_c s_0 (000 eq. 4), M_c = K_c a L sin x - (K_c s_0) a L sin(x) / s.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from elastocal.errors import InputError
from elastocal.model.compliant.joint_compliance import JointCompliance
from elastocal.model.loads.gravity_compensator import GravityCompensator
from elastocal.model.robot import RobotModel
from elastocal.model.statics.equilibrium import equilibrium
from elastocal.spatial.entries import Array

STIFF = 1e-15


@dataclass(frozen=True, eq=False)
class Balance:
    """``weight`` (N,) is the torque of all weights on the joint, ``left`` what the spring does not hold, in N m."""

    spring: GravityCompensator
    angles: Array
    weight: Array
    left: Array

    @property
    def share(self) -> float:
        """Part of the weight's torque, root mean square, that the spring takes."""
        return 1 - float(np.sqrt(np.mean(self.left**2) / np.mean(self.weight**2)))


def weight_torque(model: RobotModel, q: Array, joint: str) -> Array:
    """Torque along +q that the weights put on a joint of the rigid arm, without any compensator, (N,)."""
    kinds = {e.kind for e in model.coordinates}
    rigid = model.without(*kinds, "gravity_compensator").with_elements(JointCompliance(joint=joint, k=STIFF))
    return np.asarray(equilibrium(rigid, q).force[:, 0])


def balancing_spring(model: RobotModel, q: Array, geometry: GravityCompensator) -> Balance:
    """The pair (k_c > 0, s_0 >= 0) for a geometry that balances joint values q (N, n) best, in torque mode."""
    from scipy.optimize import nnls

    values = model.joint_values(q)
    angle = values[:, model.joints.index(geometry.joint)]
    weight = weight_torque(model, values, geometry.joint)
    if not np.any(np.abs(weight) > 1e-9):
        raise InputError(f"no weight turns {geometry.joint} at these configurations; add link masses or others")
    x, s = geometry.phi0 - angle, geometry.length(angle)
    al = geometry.a * geometry.L
    columns = np.column_stack([al * np.sin(x), -al * np.sin(x) / s])
    stiffness, preload = (float(v) for v in nnls(columns, weight)[0])
    if not stiffness > 0:
        raise InputError(
            f"no real spring of this geometry balances {geometry.joint}: it would have to push; check phi0, the side "
            "of the spring and the range"
        )
    spring = replace(geometry, k_c=1 / stiffness, s_0=preload / stiffness, mode="torque")
    return Balance(spring, angle, weight, weight - spring.torque(angle))
