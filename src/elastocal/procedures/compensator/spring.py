"""The spring of a compensator on a robot: what it does to its joint, and the one that balances the arm best.

With k the compliance of the joint alone and K_s(q) the spring's stiffness along the joint (000 eq. 5), the joint's
equivalent compliance is 1 / (1/k + K_s(q)).  The pair (k_c, s_0) of a robot file need not be a real spring: where its
torque is many times the weight's it describes the stiffness of the joint only.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from elastocal.errors import ConflictError, InputError, RangeError, UnknownNameError
from elastocal.model.compliant.joint_compliance import JointCompliance
from elastocal.model.loads.gravity_compensator import GravityCompensator
from elastocal.model.robot import Robot
from elastocal.model.statics.holding import Balance, balancing_spring
from elastocal.procedures.compensator.geometry import CompensatorGeometry
from elastocal.spatial.entries import Array
from elastocal.values import dataclass

POINTS = 181
ABSURD_TORQUE = 5.0
"""A spring whose torque is more than this many times the weight's cannot be there to carry it."""
ABSURD_FORCE = 200e3
"""N; the same where no weight is known."""


@dataclass(frozen=True)
class SpringRange:
    """Force in N, torque in N m and factor eta of eq. (6) over the joint's range."""

    force: tuple[float, float]
    eta: tuple[float, float]
    largest_torque: float


@dataclass(frozen=True, eq=False, repr=False)
class SpringOnRobot:
    """``q`` (N, n) along the range of ``joint``; ``own`` is the robot's spring with the geometry fitted, ``k`` the
    joint's compliance, ``balance`` the spring that holds the arm best; None where there is none."""

    model: Robot
    joint: str
    q: Array
    k: float
    own: GravityCompensator | None
    balance: Balance | None
    notes: tuple[str, ...]

    @property
    def angles(self) -> Array:
        """(N,) of the joint in rad."""
        return self.q[:, self.model.joints.index(self.joint)]

    @property
    def best(self) -> GravityCompensator | None:
        """The robot's own spring, else the one that balances."""
        return self.own or (self.balance.spring if self.balance else None)

    def equivalent(self, spring: GravityCompensator) -> Array:
        """Compliance of the joint with a spring along the range (000 eq. 5); nan where the joint is rigid."""
        if not self.k > 0:
            return np.full(len(self.angles), np.nan)
        return np.asarray(1 / (1 / self.k + spring.stiffness(self.angles)))

    def range_of(self, spring: GravityCompensator) -> SpringRange:
        force, torque, eta = (f(self.angles) for f in (spring.force, spring.torque, spring.eta))
        return SpringRange(_ends(force), _ends(eta), float(np.max(np.abs(torque))))

    def __repr__(self) -> str:
        share = "no balancing spring" if self.balance is None else f"balance {100 * self.balance.share:.1f} %"
        return f"SpringOnRobot({self.model.name}, {self.joint}, {share})"


def spring_on_robot(
    model: Robot, joint: str, geometry: CompensatorGeometry, at: ArrayLike | None = None,
    limits: tuple[float, float] | None = None,
) -> SpringOnRobot:  # fmt: skip
    """The spring along the range of its joint, the other joints at values ``at`` (n,), by default zero."""
    if joint not in model.joints:
        raise UnknownNameError("joint", joint, model.joints)
    shape = geometry.element(joint)
    q = np.repeat(np.zeros((1, model.n)) if at is None else np.atleast_2d(np.asarray(at, dtype=float)), POINTS, axis=0)
    q[:, model.joints.index(joint)] = np.linspace(*joint_range(model, joint, limits, geometry), POINTS)
    k = next((e.k for e in model.elements if isinstance(e, JointCompliance) and e.joint == joint), 0.0)
    notes: list[str] = []
    balance = None
    try:
        balance = balancing_spring(model, q, shape)
    except InputError as error:
        notes.append(f"No balancing spring: {error}.")
    own = next((e for e in model.elements if isinstance(e, GravityCompensator) and e.joint == joint), None)
    if own is not None:
        own = replace(shape, k_c=own.k_c, s_0=own.s_0, mode=own.mode, source=own.source)
        notes += _absurd(own, q[:, model.joints.index(joint)], balance)
    if not k > 0:
        notes.append(f"Joint {joint} has no compliance in the robot file, so its equivalent compliance is not drawn.")
    return SpringOnRobot(model, joint, q, float(k), own, balance, tuple(notes))


def _ends(values: Array) -> tuple[float, float]:
    return float(values.min()), float(values.max())


def joint_range(
    model: Robot | None, joint: str, limits: tuple[float, float] | None, geometry: CompensatorGeometry
) -> tuple[float, float]:
    """In rad: as stated, else the joint's own limits, else what was measured."""
    if limits is not None:
        return limits
    if model is not None and joint in model.joints:
        own = model.motions[model.joints.index(joint)].limits
        if own is not None:
            return float(own[0]), float(own[1])
    return float(geometry.angles.min()), float(geometry.angles.max())


def joint_values(model: Robot, joint: str, axis: str, values: Array) -> Array:
    """Joint values from controller values (m,) of one axis, which must be the only one that moves the joint."""
    if model.tree.joint(joint).kind != "revolute":
        raise RangeError(f"joint {joint} is prismatic; a compensator turns with a revolute joint")
    c = model.controller
    row, place = model.joints.index(joint), c.axes.index(axis)
    factor, others = c.matrix[row, place], np.delete(c.matrix[row], place)
    if not factor:
        raise ConflictError(f"joint {joint} is not moved by {axis}; name the joint that this angle is of")
    if np.any(others):
        raise ConflictError(f"joint {joint} is moved by several axes; give its own angle, not that of {axis}")
    return np.asarray(factor * (values - c.zero[place]))


def _absurd(own: GravityCompensator, angles: Array, balance: Balance | None) -> tuple[str, ...]:
    """A warning where the robot's own pair cannot be a real spring."""
    force, torque = own.force(angles), float(np.max(np.abs(own.torque(angles))))
    pulls = f"k_c and s_0 of the robot file imply a force of {_kn(force.min())} to {_kn(force.max())}"
    if balance is not None:
        weight = float(np.max(np.abs(balance.weight)))
        too_much = torque > ABSURD_TORQUE * weight
        why = f"a torque up to {torque / weight:.0f} times that of the weights"
    else:
        too_much, why = float(np.max(np.abs(force))) > ABSURD_FORCE, "more than any spring of a robot"
    if not too_much:
        return ()
    used = "" if own.mode == "stiffness_only" else "; use mode stiffness_only with it"
    return (f"{pulls}, {why}: the pair describes the stiffness of joint {own.joint}, not a real spring{used}.",)


def _kn(force: float) -> str:
    return f"{1e-6 * force:.2f} MN" if abs(force) > 5e5 else f"{1e-3 * force:.3g} kN"
