"""Motors that share joints, joints that follow others, and a controller axis that moves two joints."""

from __future__ import annotations

import numpy as np
import pytest
from oracle.mechanics import generalised_forces, poses, twists
from oracle.robots import configurations, random_robot

from elastocal.files.robot.read import read_robot
from elastocal.model.compliant.joint_compliance import JointCompliance
from elastocal.model.compliant.motor_compliance import MotorCompliance
from elastocal.model.frames import Frame, FrameTree, JointMotion
from elastocal.model.kinematics import kinematics
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.robot import Robot
from elastocal.model.statics.deflection import linear_deflection
from elastocal.model.statics.equilibrium import equilibrium
from elastocal.spatial.pose import Pose

STRUCTURE = ((70.0, 0.0, 0.0), (-1.1, 42.0, 0.0), (-1.0, 1.3, 24.0))
SHAFTS = (0.11, 0.045, 0.023)


def test_coupled_motors_bend_joints_by_their_shafts():
    """Motor angles phi = S q: each shaft twists by k_m times its torque tau_m = S^-T tau, and S maps the bends back."""
    base = random_robot(3, 5, 1, k=1e-4)
    chosen = base.joints[2:5]
    model = base.without("joint_compliance").with_elements(
        MotorCompliance(joints=chosen, structure=STRUCTURE, k=SHAFTS)
    )
    q = configurations(model, 1, 3)
    six = np.array([200.0, -150, 300, 20, 10, -30])
    bent = equilibrium(model, q, [AppliedWrenches("tip", six[None])])
    order = [(d.frame, d.axis) for d in model.chain.dofs]
    at = [order.index((j, "joint")) for j in chosen]
    torque = generalised_forces(model, q[0], bent.theta[0], [("tip", six, False)])[at]
    s = np.array(STRUCTURE)
    shaft_twist = s @ bent.theta[0, at]
    shaft_torque = np.linalg.solve(s.T, torque)
    assert np.abs(shaft_twist).min() > 1e-3
    np.testing.assert_allclose(shaft_twist, np.array(SHAFTS) * shaft_torque, rtol=1e-9)


def test_a_diagonal_structure_equals_separate_joint_springs():
    base = random_robot(5, 3, 1, links=False)
    ratios, shafts = (50.0, 40.0, 30.0), (0.1, 0.2, 0.3)
    motors = base.without("joint_compliance").with_elements(
        MotorCompliance(joints=base.joints, structure=tuple(tuple(r) for r in np.diag(ratios)), k=shafts)
    )
    springs = base.without("joint_compliance").with_elements(
        *(JointCompliance(joint=j, k=k / r**2) for j, k, r in zip(base.joints, shafts, ratios, strict=True))
    )
    q = configurations(base, 4, 1)
    load = [AppliedWrenches("tip", [[100.0, 50, -70, 3, 4, 5]])]
    got = equilibrium(motors, q, load).theta
    assert np.abs(got).max() > 1e-4
    np.testing.assert_allclose(got, equilibrium(springs, q, load).theta, rtol=1e-11, atol=1e-17)


def parallelogram():
    """Shoulder, elbow that follows it with ratio -1 (keeps the hand level), free wrist."""
    tree = FrameTree(
        (
            Frame("shoulder", joint=JointMotion("revolute", (0, 1, 0))),
            Frame(
                "elbow",
                "shoulder",
                Pose(translation=(0, 0, 0.8)),
                JointMotion("revolute", (0, 1, 0), None, "shoulder", -1.0, 0.2),
            ),
            Frame("wrist", "elbow", Pose(translation=(0.6, 0, 0)), JointMotion("revolute", (1, 0, 0))),
            Frame("tip", "wrist", Pose(translation=(0.1, 0.05, 0))),
        )
    )
    springs = (JointCompliance(joint="shoulder", k=1e-5), JointCompliance(joint="elbow", k=2e-5))
    return Robot("parallelogram", tree, "tip", springs, np.zeros(3))


def test_a_following_joint_takes_its_leaders_value():
    model = parallelogram()
    assert model.joints == ("shoulder", "wrist")
    q = np.array([[0.5, 0.3]])
    got = kinematics(model, q)
    by_hand = poses(model, q[0])["tip"]
    np.testing.assert_allclose(got.position[0], by_hand[:3, 3], rtol=0, atol=1e-15)
    # level by the ratio -1: the elbow stands at 0.8 m along the leaning arm, the hand at the offset 0.2 alone
    hand = np.array([np.cos(0.2), 0, -np.sin(0.2)])
    np.testing.assert_allclose(
        kinematics(model, q, "wrist").position[0],
        0.8 * np.array([np.sin(0.5), 0, np.cos(0.5)]) + 0.6 * hand,
        atol=1e-15,
    )


def test_the_jacobian_of_a_leader_contains_its_followers():
    model = parallelogram()
    q = np.array([0.5, 0.3])
    got = kinematics(model, [q]).jacobian[0]
    h = 1e-6
    for i, step in enumerate(h * np.eye(2)):
        plus, minus = poses(model, q + step)["tip"], poses(model, q - step)["tip"]
        change = (plus - minus) / (2 * h)
        np.testing.assert_allclose(got[:3, i], change[:3, 3], rtol=0, atol=1e-9)
        spin = change[:3, :3] @ poses(model, q)["tip"][:3, :3].T
        np.testing.assert_allclose(got[3:, i], [spin[2, 1], spin[0, 2], spin[1, 0]], rtol=0, atol=1e-9)
    assert got.shape == (6, 2)


def test_springs_of_leader_and_follower_bend_each_on_its_own():
    model = parallelogram()
    q = np.array([0.5, 0.3])
    six = np.array([100.0, 50, -200, 5, -3, 2])
    j = twists(model, q, np.zeros(3), ["tip"])["tip"]
    expected = j @ (np.array([1e-5, 2e-5, 0]) * (j.T @ six))
    got = linear_deflection(model, [q], [AppliedWrenches("tip", six[None])]).twist[0]
    np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-18)


def test_fanuc_forearm_stays_level_when_only_j2_moves():
    model = read_robot("fanuc-m710ic50")
    pendant = np.deg2rad([[0.0, 0, 0, 0, 0, 0], [0, 35, 0, 0, 0, 0], [0, 35, 20, 0, 0, 0]])
    q = model.controller.to_joints(pendant)
    np.testing.assert_allclose(np.rad2deg(q[:, 2]), [0, 35, 55], atol=1e-12)
    forearm = kinematics(model, q, "J4").rotation[:, :, 0]
    np.testing.assert_allclose(forearm[0], forearm[1], rtol=0, atol=1e-15)
    np.testing.assert_allclose(forearm[2], [np.cos(np.deg2rad(20)), 0, np.sin(np.deg2rad(20))], atol=1e-15)
    np.testing.assert_allclose(model.controller.to_controller(q), pendant, atol=1e-15)


def test_fanuc_controller_torques_do_the_work_of_the_joint_torques():
    """Work of a tip force over small controller steps: J2's torque contains that of joint 3."""
    model = read_robot("fanuc-m710ic50").without("joint_offset")
    pendant = np.deg2rad([20.0, 35, -15, 10, 40, 5])
    force = np.array([120.0, -60, -400])
    h = 1e-6

    def tip(c):
        return poses(model, model.controller.to_joints(c[None])[0])["tool"][:3, 3]

    work = np.array([force @ (tip(pendant + h * e) - tip(pendant - h * e)) / (2 * h) for e in np.eye(6)])
    q = model.controller.to_joints(pendant[None])
    torques = generalised_forces(model, q[0], np.zeros(6), [("tool", [*force, 0, 0, 0], False)])
    got = model.controller.torques_to_controller(torques[None])[0]
    assert abs(work[1] - torques[1]) > 10
    np.testing.assert_allclose(got, work, rtol=0, atol=1e-6)


@pytest.mark.parametrize("name", ["orthoglide-link", "kuka-kr5"])
def test_controller_and_joint_values_are_inverse_maps_for_any_number_of_joints(name):
    model = read_robot(name)
    q = configurations(model, 3, 1)
    np.testing.assert_allclose(model.controller.to_joints(model.controller.to_controller(q)), q, atol=1e-14)


def test_joint_values_by_the_controllers_parameters():
    """Zeros and couplings of the FANUC arm against differences of the map itself."""
    transmission = read_robot("fanuc-m710ic50").controller
    shown = np.random.default_rng(2).uniform(-1, 1, (5, 6))
    names = [p.name for p in transmission.parameters([f"j{i}" for i in range(1, 7)], ["rad"] * 6, "test")]
    got = transmission.sensitivity(shown)
    assert names[6:] == ["controller.j3_per_J2"]
    h = 1e-6
    for p, name in enumerate(names):
        zero, matrix = transmission.zero.copy(), transmission.matrix.copy()
        if p < 6:
            zero[p] += h
        else:
            matrix[2, 1] += h
        moved = type(transmission)(transmission.axes, matrix, zero)
        slope = (moved.to_joints(shown) - transmission.to_joints(shown)) / h
        np.testing.assert_allclose(got[:, :, p], slope, rtol=0, atol=1e-9, err_msg=name)
        assert np.abs(slope).max() > 0.1
