"""What the drives must give to hold the arm still, and the spring that takes most of it.

    tau = -Q(q),    dtau/dp = -dQ/dp (masses, springs),    dtau/dc = -D (joint offsets, frame errors)

tau is minus the generalised forces of all loads on the joints.  The arm is taken as rigid: how far it bends changes its
own weight's torque by a second-order amount.  A joint that follows another by gears loads the one it follows, times the
gear's ratio (virtual work).

The best compensator has K_c and s_0 by least squares on the weight's torque along the joint's range; its torque is
linear in K_c and K_c s_0 (000 eq. 4), M_c = K_c a L sin x - (K_c s_0) a L sin(x) / s.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from elastocal.errors import InfeasibleError, MissingError, UnsupportedError
from elastocal.model.compliant.joint_compliance import JointCompliance
from elastocal.model.elements import CompliantCoordinate, Load
from elastocal.model.loads.gravity_compensator import GravityCompensator
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.posture import Posture
from elastocal.model.robot import Robot
from elastocal.model.statics.equilibrium import equilibrium
from elastocal.model.statics.flexibility import Flexibility, assemble
from elastocal.model.statics.forces import (
    Forces,
    axis_forces,
    check_rows,
    chunk_size,
    chunks,
    forces_at,
    generalised,
    loaded_joints,
    state_at,
)
from elastocal.spatial.entries import Array, Entry
from elastocal.values import dataclass


def holding_torque(model: Robot, q: object, applied: Sequence[AppliedWrenches] = ()) -> Array:
    """Torques (forces, of prismatic joints) along +q that hold joint values (N, n): (N, n) in N m or N."""
    configurations = model.configurations(q)
    total = len(configurations)
    check_rows(model, total, applied)
    flex, lever = _at_joints(model)
    out = np.empty((total, model.n))
    for rows, at, wrenches in chunks(model, configurations, applied, chunk_size(flex.n)):
        out[rows] = -(lever @ forces_at(flex, at, at.start(flex.dofs), wrenches).q).T
    return out


def holding_names(model: Robot) -> tuple[str, ...]:
    """Parameters that a rigid arm's holding torque can depend on: loads, joint offsets, frame errors."""
    return tuple(
        p.name
        for e in model.elements
        if isinstance(e, Load) or (isinstance(e, CompliantCoordinate) and e.constant_in_load)
        for p in e.parameters(model.tree)
    )


def holding_observation(model: Robot, q: object, names: Sequence[str]) -> Array:
    """Derivative (N, n, p) of the holding torques by parameters of ``holding_names``, in the order asked for."""
    strange = [n for n in names if n not in holding_names(model)]
    if strange:
        raise UnsupportedError(
            f"the torque of a rigid arm does not depend on {strange[0]}; leave it out", value=strange[0]
        )
    configurations = model.configurations(q)
    flex, lever = _at_joints(model)
    out = np.empty((len(configurations), model.n, len(names)))
    for rows, at, _ in chunks(model, configurations, (), chunk_size(flex.n)):
        part = _columns(flex, at, names)
        out[rows] = np.moveaxis(-np.einsum("ji,ipn->jpn", lever, part), -1, 0)
    return out


def _at_joints(model: Robot) -> tuple[Flexibility, Array]:
    """Every coordinate that bends or may be off, the joints included, and what each joint feels of them (n, m)."""
    chain = model.chain
    constant = {chain.index[d] for c in model.coordinates if c.constant_in_load for d in c.dofs()}
    moving = {f.name: f.joint for f in model.tree.frames if f.joint is not None}
    flex = assemble(model, sorted(constant | {chain.joint_dof(name) for name in moving}))
    lever = np.zeros((model.n, flex.n))
    for name, motion in moving.items():
        leader = motion.follows or name
        gear = motion.ratio if motion.follows else 1.0
        lever[model.joints.index(leader), flex.place[chain.joint_dof(name)]] = gear
    return flex, lever


def _columns(flex: Flexibility, posture: Posture, names: Sequence[str]) -> Array:
    """dQ/dp (m, p, N)."""
    model, theta = posture.model, posture.start(flex.dofs)
    state, values = state_at(flex, posture, theta)
    forces = forces_at(flex, posture, theta, ())
    loaded = loaded_joints(model, values, posture.size)
    out = np.zeros((flex.n, len(names), posture.size))
    place = {name: i for i, name in enumerate(names)}
    tangent: Array | None = None
    for element in model.elements:
        at = [place.get(p.name) for p in element.parameters(model.tree)]
        if all(i is None for i in at):
            continue
        if isinstance(element, Load):
            for p, frame, resultant in element.resultant_sensitivity(state, model.gravity):
                if (i := at[p]) is not None:
                    out[:, i] += generalised(flex, forces.screws, [(model.chain.level(frame), resultant)])
            for p, joint, slope in element.axis_sensitivity(loaded, posture.resting):
                if (i := at[p]) is not None:
                    out[flex.place[model.chain.joint_dof(joint)], i] += slope
        elif isinstance(element, CompliantCoordinate):
            tangent = _tangent(flex, posture, values, forces) if tangent is None else tangent
            own = [flex.place[model.chain.index[d]] for d in element.dofs()]
            for p, terms in enumerate(element.sensitivity(forces.q[own], posture)):
                if (i := at[p]) is not None:
                    for d, value in terms:
                        out[:, i] += tangent[:, own[d]] * value
    return out


def _tangent(flex: Flexibility, posture: Posture, values: Sequence[Entry], forces: Forces) -> Array:
    """dQ/dtheta (m, m, N) of coordinates that are off with and without load: springs at joints feel both."""
    out = forces.dense()
    for i, axis in axis_forces(flex, posture, values):
        if axis.rest_tangent is not None:
            out[i, i] += axis.rest_tangent
    return out


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


def weight_torque(model: Robot, q: Array, joint: str) -> Array:
    """Torque along +q that the weights put on a joint of the rigid arm, without any compensator, (N,)."""
    kinds = {e.kind for e in model.coordinates}
    rigid = model.without(*kinds, "gravity_compensator").with_elements(JointCompliance(joint=joint, k=STIFF))
    return np.asarray(equilibrium(rigid, q).force[:, 0])


def balancing_spring(model: Robot, q: Array, geometry: GravityCompensator) -> Balance:
    """The pair (k_c > 0, s_0 >= 0) for a geometry that balances joint values q (N, n) best, in torque mode."""
    from scipy.optimize import nnls

    values = model.joint_values(q)
    angle = values[:, model.joints.index(geometry.joint)]
    weight = weight_torque(model, values, geometry.joint)
    if not np.any(np.abs(weight) > 1e-9):
        raise MissingError(f"no weight turns {geometry.joint} at these configurations; add link masses or others")
    x, s = geometry.phi0 - angle, geometry.length(angle)
    al = geometry.a * geometry.L
    columns = np.column_stack([al * np.sin(x), -al * np.sin(x) / s])
    stiffness, preload = (float(v) for v in nnls(columns, weight)[0])
    if not stiffness > 0:
        raise InfeasibleError(
            f"no real spring of this geometry balances {geometry.joint}: it would have to push; check phi0, the side "
            "of the spring and the range",
            value=geometry.joint,
        )
    spring = replace(geometry, k_c=1 / stiffness, s_0=preload / stiffness, mode="torque")
    return Balance(spring, angle, weight, weight - spring.torque(angle))
