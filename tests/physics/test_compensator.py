"""The gravity compensator: torque is the slope of its energy, stiffness the slope of its torque, counted once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from oracle.mechanics import spring_energy
from scipy.optimize import brentq

from elastocal.files.robot.read import read_robot
from elastocal.model.compliant.joint_compliance import JointCompliance
from elastocal.model.frames import Frame, FrameTree, JointMotion
from elastocal.model.loads.gravity_compensator import GravityCompensator
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.robot import Robot
from elastocal.model.statics.deflection import deflection, frame_pose
from elastocal.model.statics.equilibrium import equilibrium
from elastocal.model.statics.observation import Marker, loaded_observation
from elastocal.model.statics.stiffness import loaded_stiffness
from elastocal.spatial.pose import Pose

SPRING = GravityCompensator(joint="j", a_x=0.6, a_y=0.25, L=0.2, phi0=1.3, k_c=4e-6, s_0=0.45)
ANGLES = np.linspace(-2.5, 2.5, 11)
K2, REACH = 3e-6, 1.4


def one_joint(**change):
    tree = FrameTree(
        (Frame("j", joint=JointMotion("revolute", (0, 0, 1))), Frame("tip", "j", Pose(translation=(REACH, 0, 0))))
    )
    spring = replace(SPRING, **change)
    return Robot("swing", tree, "tip", (JointCompliance(joint="j", k=K2), spring), np.zeros(3))


def test_torque_is_the_slope_of_the_energy_between_two_points():
    h = 1e-30
    slope = np.array([np.imag(spring_energy(SPRING, q + 1j * h)) / h for q in ANGLES])
    assert np.abs(slope).max() > 1000
    np.testing.assert_allclose(SPRING.torque(ANGLES), slope, rtol=1e-11, atol=1e-9)


def test_stiffness_is_the_slope_of_the_torque():
    h = 1e-6
    slope = (SPRING.torque(ANGLES + h) - SPRING.torque(ANGLES - h)) / (2 * h)
    assert slope.min() < -1e3
    assert slope.max() > 1e3
    np.testing.assert_allclose(SPRING.stiffness(ANGLES), slope, rtol=1e-7, atol=1e-3)


def test_eta_is_the_dimensionless_stiffness():
    """a L eta / k_c = d2U/dq2, by second differences of the energy."""
    h = 1e-4
    a = np.hypot(SPRING.a_x, SPRING.a_y)
    for q in ANGLES:
        bend = (spring_energy(SPRING, q + h) - 2 * spring_energy(SPRING, q) + spring_energy(SPRING, q - h)) / h**2
        assert float(SPRING.eta(q)) == pytest.approx(bend * SPRING.k_c / (a * SPRING.L), rel=1e-5, abs=1e-5)


def test_length_and_pull_of_the_spring():
    """At q = phi0 the ends lie farthest apart: s = a + L."""
    a = np.hypot(0.6, 0.25)
    assert float(SPRING.length(np.array(1.3))) == pytest.approx(a + 0.2, rel=1e-14)
    assert float(SPRING.force(np.array(1.3))) == pytest.approx((a + 0.2 - 0.45) / 4e-6, rel=1e-12)
    assert float(SPRING.length(np.array(1.3 - np.pi))) == pytest.approx(a - 0.2, rel=1e-14)


def bend_of(model, q, moment, mode):
    """theta from its own scalar equation theta = K2 (moment - M(q + theta) [+ M(q)])."""
    spring = model.elements[1]
    h = 1e-30

    def pull(angle):
        return np.imag(spring_energy(spring, angle + 1j * h)) / h

    kept = pull(q) if mode == "stiffness_only" else 0.0
    return brentq(lambda t: t - K2 * (moment - pull(q + t) + kept), -0.2, 0.2, xtol=1e-15)


@pytest.mark.parametrize("mode", ["torque", "stiffness_only"])
@pytest.mark.parametrize("q", [-1.2, 0.3, 0.9])
def test_the_loaded_angle_solves_the_scalar_equation(mode, q):
    model = one_joint(mode=mode)
    bent = equilibrium(model, [[q]], [AppliedWrenches("tip", [[0, 0, 0, 0, 0, 4000.0]])])
    assert abs(bent.theta[0, 0]) > 1e-3
    assert bent.theta[0, 0] == pytest.approx(bend_of(model, q, 4000.0, mode), abs=1e-13)


@pytest.mark.parametrize("mode", ["torque", "stiffness_only"])
def test_the_joint_is_stiffer_by_the_compensator_exactly_once(mode):
    """000 eq. 5: 1/k_eq = 1/k2 + dM/dq at the loaded angle, seen in the Cartesian compliance of the tip."""
    model, q = one_joint(mode=mode), -1.2
    theta = equilibrium(model, [[q]]).theta[0, 0]
    h = 1e-4
    second = (spring_energy(SPRING, q + theta + h) - 2 * spring_energy(SPRING, q + theta)
              + spring_energy(SPRING, q + theta - h)) / h**2  # fmt: skip
    assert abs(second) * K2 > 0.02
    got = loaded_stiffness(model, [[q]]).compliance[0]
    assert got[5, 5] == pytest.approx(1 / (1 / K2 + second), rel=1e-6)
    small = deflection(model, [[q]], [AppliedWrenches("tip", [[0, 0, 0, 0, 0, 1.0]])])
    assert small.rotation[0, 2] == pytest.approx(1 / (1 / K2 + second), rel=1e-5)


def test_without_an_external_load_stiffness_only_leaves_the_joint_where_it_is():
    assert equilibrium(one_joint(mode="stiffness_only"), [[0.4]]).theta[0, 0] == 0.0
    assert abs(equilibrium(one_joint(mode="torque"), [[0.4]]).theta[0, 0]) > 1e-3


def test_kr270_joint_two_is_stiffened_as_the_paper_says():
    """Difference of inverse compliances of A2 with and without the compensator is a L eta / k_c."""
    full = read_robot("kuka-kr270").without(
        "link_compliance", "foundation_compliance", "link_mass", "payload", "joint_backlash", "joint_offset"
    )
    only_a2 = full.with_parameters({f"A{i}.k": 0.0 for i in (1, 3, 4, 5, 6)})
    spring = next(e for e in full.elements if e.kind == "gravity_compensator")
    q = np.deg2rad([[0.0, -40, 90, 0, 0, 0], [30, -110, 60, 0, 20, 0]])
    with_spring = loaded_stiffness(only_a2, q).compliance[:, 4, 4]
    h = 1e-4
    second = [
        (spring_energy(spring, a + h) - 2 * spring_energy(spring, a) + spring_energy(spring, a - h)) / h**2
        for a in q[:, 1]
    ]
    turn = np.cos(q[:, 0]) ** 2  # axis 2 seen along base y
    np.testing.assert_allclose(turn / with_spring - 1 / 0.302e-6, second, rtol=1e-5)
    assert np.abs(second).min() > 1e4


def test_an_offset_moves_the_rest_of_a_stiffness_only_spring():
    """Without load nothing pushes, and the derivative by the offset is that of central differences under load."""
    model = read_robot("kuka-kr270").without("link_compliance", "foundation_compliance", "link_mass")
    q = np.radians([[0.0, -60.0, 90.0, 0.0, 30.0, 0.0]])
    free = equilibrium(model.with_parameters({"A2.offset": 1e-3}), q)
    dof = model.chain.joint_dof("A2")
    assert free.theta[0, dof] == pytest.approx(1e-3, abs=1e-15)
    load = [AppliedWrenches("tool", [[500.0, 200.0, -2500.0, 0.0, 0.0, 0.0]])]

    def tool(offset):
        bent = model.with_parameters({"A2.offset": offset})
        return frame_pose(bent, q, equilibrium(bent, q, load), "tool")[0][:, 0]

    slope = (tool(1e-5) - tool(-1e-5)) / 2e-5
    _, got, _ = loaded_observation(model, q, load, [Marker("tool")], ["A2.offset"])
    np.testing.assert_allclose(got[0, :, 0], slope, rtol=0, atol=1e-8)
    assert np.abs(slope).max() > 1.0
