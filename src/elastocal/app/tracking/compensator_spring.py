"""A compensator's spring on a robot: stiffness along the joint's range, the spring that balances, text for the file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from elastocal.errors import InputError, UnknownNameError

if TYPE_CHECKING:
    from elastocal.arcs.compensator_geometry import CompensatorGeometry
    from elastocal.model.loads.gravity_compensator import GravityCompensator
    from elastocal.model.robot import RobotModel
    from elastocal.model.statics.balance import Balance
    from elastocal.spatial.entries import Array

POINTS = 181
ABSURD_TORQUE = 5.0
"""A spring whose torque is more than this many times the weight's cannot be there to carry it."""
ABSURD_FORCE = 200e3
"""N; the same where no weight is known."""


@dataclass(frozen=True, eq=False)
class SpringResult:
    """``angles`` (N,) of the joint in rad at the other axes ``others``; ``own`` is the robot's spring with the geometry
    found, ``k`` the joint's compliance, ``balance`` the spring that holds the arm best; None where there is none."""

    robot: str
    joint: str
    others: str
    angles: Array
    k: float
    own: GravityCompensator | None
    balance: Balance | None
    notes: tuple[str, ...]

    def equivalent(self, spring: GravityCompensator) -> Array:
        """Compliance of the joint with a spring along the range (000 eq. 5); nan where the joint is rigid."""
        import numpy as np

        if not self.k > 0:
            return np.full(len(self.angles), np.nan)
        return np.asarray(1 / (1 / self.k + spring.stiffness(self.angles)))


def spring_result(
    model: RobotModel, joint: str, geometry: CompensatorGeometry, at: str | None, limits: str | None
) -> SpringResult:
    import numpy as np

    from elastocal.model.compliant.joint_compliance import JointCompliance
    from elastocal.model.statics.balance import balancing_spring

    if joint not in model.joints:
        raise UnknownNameError("joint", joint, model.joints, "--joint")
    shape = spring_of(joint, geometry)
    q, others = _sweep(model, joint, at, joint_range(model, joint, limits, geometry))
    angles = q[:, model.joints.index(joint)]
    k = next((e.k for e in model.elements if isinstance(e, JointCompliance) and e.joint == joint), 0.0)
    notes: list[str] = []
    try:
        balance = balancing_spring(model, q, shape)
    except InputError as error:
        balance = None
        notes.append(f"No balancing spring: {error}.")
    own = _own(model, joint, shape)
    if own is not None and (said := _absurd(own, angles, balance)):
        notes.append(said)
    if not k > 0:
        notes.append(f"Joint {joint} has no compliance in the robot file, so its equivalent compliance is not drawn.")
    return SpringResult(model.name, joint, others, np.asarray(angles), float(k), own, balance, tuple(notes))


def spring_of(joint: str, geometry: CompensatorGeometry) -> GravityCompensator:
    """The geometry as an element; its spring is a placeholder."""
    from elastocal.model.loads.gravity_compensator import GravityCompensator

    return GravityCompensator(
        joint=joint, a_x=geometry.a_x, a_y=geometry.a_y, L=geometry.L, phi0=geometry.phi0, k_c=1e-6, s_0=0.0
    )


def joint_range(
    model: RobotModel | None, joint: str, limits: str | None, geometry: CompensatorGeometry
) -> tuple[float, float]:
    """In rad: as typed, else the joint's own limits, else what was measured."""
    import numpy as np

    from elastocal.app.configurations import numbers

    if limits is not None:
        low, high = numbers(limits, 2, f"--limits {limits!r}", "low, high in deg")
        if not low < high:
            raise InputError(f"--limits {limits!r}: the lower limit must stand first")
        return float(np.radians(low)), float(np.radians(high))
    if model is not None and joint in model.joints:
        own = model.motions[model.joints.index(joint)].limits
        if own is not None:
            return float(own[0]), float(own[1])
    return float(geometry.angles.min()), float(geometry.angles.max())


def _sweep(model: RobotModel, joint: str, at: str | None, range_: tuple[float, float]) -> tuple[Array, str]:
    """Joint values (N, n) along the joint, the other axes as stated, and those in words."""
    import numpy as np

    from elastocal.app.configurations import axes_of, typed

    text = at if at is not None else ",".join("0" for _ in range(model.n))
    found = typed(model, (text,))
    q = np.repeat(found.q, POINTS, axis=0)
    q[:, model.joints.index(joint)] = np.linspace(*range_, POINTS)
    units, values = axes_of(model).units, found.shown[0]
    rows = zip(model.joints, model.controller.axes, values, units, strict=True)
    return q, ", ".join(f"{axis} {v:g} {u}" for j, axis, v, u in rows if j != joint)


def _own(model: RobotModel, joint: str, shape: GravityCompensator) -> GravityCompensator | None:
    from dataclasses import replace

    from elastocal.model.loads.gravity_compensator import GravityCompensator

    for e in model.elements:
        if isinstance(e, GravityCompensator) and e.joint == joint:
            return replace(shape, k_c=e.k_c, s_0=e.s_0, mode=e.mode, source=e.source)
    return None


def _absurd(own: GravityCompensator, angles: Array, balance: Balance | None) -> str:
    """A warning where the robot's own pair cannot be a real spring."""
    import numpy as np

    force, torque = own.force(angles), float(np.max(np.abs(own.torque(angles))))
    pulls = f"k_c and s_0 of the robot file imply a force of {_kn(force.min())} to {_kn(force.max())}"
    if balance is not None:
        weight = float(np.max(np.abs(balance.weight)))
        too_much = torque > ABSURD_TORQUE * weight
        why = f"a torque up to {torque / weight:.0f} times that of the weights"
    else:
        too_much, why = float(np.max(np.abs(force))) > ABSURD_FORCE, "more than any spring of a robot"
    if not too_much:
        return ""
    used = "" if own.mode == "stiffness_only" else "; use mode stiffness_only with it"
    return f"{pulls}, {why}: the pair describes the stiffness of joint {own.joint}, not a real spring{used}."


def _kn(force: float) -> str:
    return f"{1e-6 * force:.2f} MN" if abs(force) > 5e5 else f"{1e-3 * force:.3g} kN"


def element_text(joint: str, geometry: CompensatorGeometry, spring: SpringResult | None, file: str) -> str:
    """The element for a robot file; the spring is the robot's own, or the one that balances, or left to fill in."""
    import numpy as np

    own = None if spring is None else spring.own or (spring.balance.spring if spring.balance else None)
    given = "k_c_m_per_N: FILL_IN\n    s_0_mm: FILL_IN" if own is None else (
        f"k_c_m_per_N: {own.k_c:.6g}\n    s_0_mm: {1e3 * own.s_0:.6g}")  # fmt: skip
    pair = "fill in" if own is None else "kept from the robot file" if spring and spring.own else "best balance"
    sd = {k: 1e3 * v for k, v in geometry.sd.items()}
    return (
        f"  - kind: gravity_compensator\n    joint: {joint}\n    mode: {own.mode if own else 'torque'}\n"
        f"    a_x_mm: {1e3 * geometry.a_x:.4f}\n    a_y_mm: {1e3 * geometry.a_y:.4f}\n"
        f"    L_mm: {1e3 * geometry.L:.4f}\n"
        f"    phi0_deg: {np.degrees(geometry.phi0):.5f}\n    {given}\n"
        f"    source: >-\n      Geometry fitted to {file}: a_x +- {sd['a_x']:.2g}, a_y +- {sd['a_y']:.2g}, "
        f"L +- {sd['L']:.2g} mm,\n      phi0 +- {np.degrees(geometry.sd['phi0']):.2g} deg. k_c and s_0: {pair}.\n"
    )
