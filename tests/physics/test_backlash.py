"""Backlash: g sign(Q) in a joint, the edge of an ellipsoid in a gripper, unknown where no force decides."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from oracle.mechanics import compliance, generalised_forces
from oracle.robots import configurations, random_robot, random_wrench
from scipy.optimize import brentq, minimize

from elastocal.files.robot.read import read_robot
from elastocal.model.compliant.gripper_backlash import GripperBacklash
from elastocal.model.compliant.joint_backlash import JointBacklash
from elastocal.model.compliant.joint_compliance import JointCompliance
from elastocal.model.frames import Frame, FrameTree, JointMotion
from elastocal.model.loads.link_mass import LinkMass
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.robot import Robot
from elastocal.model.statics.deflection import deflection
from elastocal.model.statics.equilibrium import Status, equilibrium
from elastocal.spatial.pose import Pose

GAP, K = 2e-3, 1e-5


def lever(axis, *elements):
    """One joint at the origin and an arm of 1 m along x."""
    tree = FrameTree(
        (Frame("j", joint=JointMotion("revolute", axis)), Frame("tip", "j", Pose(translation=(1.0, 0, 0))))
    )
    return Robot("lever", tree, "tip", (JointCompliance(joint="j", k=K), *elements), np.zeros(3))


def with_force(model, force, frame="tip"):
    return equilibrium(model, [[0.0]], [AppliedWrenches(frame, [[*force, 0, 0, 0]])])


@pytest.mark.parametrize("force", [50.0, -50.0, 0.01])
def test_the_joint_jumps_by_the_gap_towards_the_torque(force):
    bent = with_force(lever((0, 0, 1), JointBacklash(joint="j", gap=GAP)), (0, force, 0))
    torque = force * np.cos(bent.theta[0, 0])
    assert bent.theta[0, 0] == pytest.approx(K * torque + GAP * np.sign(force), abs=1e-13)


@pytest.mark.parametrize("force", [50.0, -3.0, 1e-3, 0.0])
def test_with_a_transition_every_state_has_the_mean_of_both_sides(force):
    """theta is the root of K Q + g tanh(Q / w) with Q = f cos theta; the variance that of +-g with that mean."""
    play = JointBacklash(joint="j", gap=GAP, transition=5.0)
    bent = with_force(lever((0, 0, 1), play), (0, force, 0))
    assert bent.status[0] == Status.CONVERGED
    theta = brentq(lambda t: K * force * np.cos(t) + GAP * np.tanh(force * np.cos(t) / 5.0) - t, -0.1, 0.1, xtol=1e-16)
    assert bent.theta[0, 0] == pytest.approx(theta, abs=1e-13)
    up = 1 / (1 + np.exp(-2 * force * np.cos(theta) / 5.0))  # logistic, the probability of the upper side
    sides = np.array([GAP, -GAP])
    mean = np.average(sides, weights=[up, 1 - up])
    assert theta - K * force * np.cos(theta) == pytest.approx(mean, abs=1e-13)
    sd = np.sqrt(np.average((sides - mean) ** 2, weights=[up, 1 - up]))
    assert play.looseness(np.array([force * np.cos(theta)])) == pytest.approx(sd, rel=1e-6)


@pytest.mark.parametrize("within", [1.0, 0.02])
@pytest.mark.parametrize("aside", [0.5, 3.0, 9.0])
def test_a_weight_that_holds_the_arm_within_a_sharp_transition(aside, within):
    """Q = a cos theta - f sin theta falls by 20 N m over the gap; Newton's steps alone go from side to side."""
    pull = 5000.0
    model = lever((0, 0, 1), JointBacklash(joint="j", gap=GAP, transition=within), LinkMass(frame="tip", mass=1.0))
    bent = equilibrium(replace(model, gravity=np.array([pull, aside, 0.0])), [[0.0]])

    def torque(t):
        return aside * np.cos(t) - pull * np.sin(t)

    theta = brentq(lambda t: K * torque(t) + GAP * np.tanh(torque(t) / within) - t, -0.1, 0.1, xtol=1e-16)
    assert bent.status[0] == Status.CONVERGED
    assert 0.01 * GAP < theta < GAP
    assert bent.theta[0, 0] == pytest.approx(theta, abs=1e-12)


def test_a_load_reversal_moves_the_tip_by_twice_the_gap():
    model = lever((0, 0, 1), JointBacklash(joint="j", gap=GAP))
    q = [[0.0], [0.0]]
    bent = equilibrium(model, q, [AppliedWrenches("tip", [[0, 1.0, 0, 0, 0, 0], [0, -1.0, 0, 0, 0, 0]])])
    assert bent.theta[0, 0] - bent.theta[1, 0] == pytest.approx(2 * GAP + 2 * K, rel=1e-5)


def test_a_vertical_axis_under_a_vertical_load_is_undetermined():
    bent = with_force(lever((0, 0, 1), JointBacklash(joint="j", gap=GAP)), (0, 0, -500))
    assert bent.status[0] == Status.UNDETERMINED_BACKLASH
    assert np.isnan(bent.theta).all()
    assert with_force(lever((0, 0, 1)), (0, 0, -500)).status[0] == Status.CONVERGED


def test_rounding_does_not_decide_the_side():
    """KR270 with A1 backlash on a rigid floor: a vertical load leaves A1 without torque except for rounding."""
    model = read_robot("kuka-kr270").without("foundation_compliance").with_parameters({"A1.gap": 1e-4})
    q = configurations(model, 40, seed=3)
    down = equilibrium(model, q, [AppliedWrenches("tool", [[0, 0, -2000.0, 0, 0, 0]])])
    assert set(down.status) == {Status.UNDETERMINED_BACKLASH}
    aside = equilibrium(model, q, [AppliedWrenches("tool", [[100.0, 100.0, -2000.0, 0, 0, 0]])])
    assert np.sum(aside.status == Status.CONVERGED) > 35


def test_a_floor_that_tilts_gives_the_vertical_axis_a_side():
    """On its elastic foundation the same axis leans under the load and feels a torque."""
    model = read_robot("kuka-kr270").with_parameters({"A1.gap": 1e-4})
    q = configurations(model, 5, seed=3)
    down = equilibrium(model, q, [AppliedWrenches("tool", [[0, 0, -2000.0, 0, 0, 0]])])
    assert set(down.status) == {Status.CONVERGED}


def test_friction_below_the_threshold_holds_the_gap_open():
    model = lever((0, 0, 1), JointBacklash(joint="j", gap=GAP, threshold=10.0))
    assert with_force(model, (0, 9.0, 0)).status[0] == Status.UNDETERMINED_BACKLASH
    assert with_force(model, (0, 11.0, 0)).status[0] == Status.CONVERGED


def test_an_unloaded_reference_without_force_makes_the_deflection_undetermined():
    model = lever((0, 0, 1), JointBacklash(joint="j", gap=GAP))
    got = deflection(model, [[0.0]], [AppliedWrenches("tip", [[0, 50.0, 0, 0, 0, 0]])])
    assert got.status[0] == Status.UNDETERMINED_BACKLASH
    assert np.isnan(got.translation[0, :2]).all()


def test_a_gripper_with_equal_gaps_lets_the_tool_go_along_the_force():
    gap = 3e-4
    force = np.array([30.0, -20.0, 45.0])
    bent = with_force(lever((0, 0, 1), GripperBacklash(frame="tip", gap=gap)), force)
    backlash = bent.theta[0, 1:]
    turn = bent.theta[0, 0]
    direction = np.array([[np.cos(turn), np.sin(turn), 0], [-np.sin(turn), np.cos(turn), 0], [0, 0, 1]]) @ force
    np.testing.assert_allclose(backlash, gap * direction / np.linalg.norm(force), rtol=0, atol=1e-14)


def test_an_uneven_gripper_goes_to_the_point_of_its_ellipsoid_farthest_along_the_force():
    """Against a numerical search for the farthest point over the surface."""
    gaps = np.array([4e-4, 1e-4, 2e-4])
    force = np.array([30.0, 60.0, -20.0])
    model = lever((0, 1, 0), GripperBacklash(frame="tip", gap=tuple(gaps))).without("joint_compliance")
    backlash = with_force(model, force).theta[0, 1:]

    def surface(angles):
        a, b = angles
        return gaps * np.array([np.cos(a) * np.cos(b), np.sin(a) * np.cos(b), np.sin(b)])

    best = minimize(
        lambda x: -force @ surface(x), [0.5, -0.5], method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-18}
    )
    assert np.linalg.norm(backlash - 2e-4 * force / np.linalg.norm(force)) > 1e-4
    np.testing.assert_allclose(backlash, surface(best.x), rtol=0, atol=1e-10)


def test_a_gripper_without_force_is_undetermined():
    bent = equilibrium(lever((0, 0, 1), GripperBacklash(frame="tip", gap=1e-4)), [[0.0]], [])
    assert bent.status[0] == Status.UNDETERMINED_BACKLASH


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("follows", [False, True], ids=["base-fixed", "following"])
def test_play_and_springs_balance_together_on_random_chains(seed, follows):
    """theta = k Q + g sign(Q) in the joints, + G^2 f / |G f| at the tip, with Q from virtual work."""
    gaps = np.array([2e-3, 1e-3, 3e-3])
    base = random_robot(seed, 4, 1, k=1e-4)
    model = base.with_elements(
        *(JointBacklash(joint=j, gap=1e-3) for j in base.joints), GripperBacklash(frame="tip", gap=tuple(gaps))
    )
    q = configurations(model, 1, seed)
    six = random_wrench(seed, 150.0)
    bent = equilibrium(model, q, [AppliedWrenches("tip", six[None], follows)])
    assert bent.status[0] == Status.CONVERGED
    force = generalised_forces(model, q[0], bent.theta[0], [("tip", six, follows)])
    order = [(d.frame, d.axis) for d in model.chain.dofs]
    backlash = np.zeros(len(order))
    for joint in base.joints:
        i = order.index((joint, "joint"))
        backlash[i] = 1e-3 * np.sign(force[i])
    at = [order.index(("tip", a)) for a in "xyz"]
    backlash[at] = gaps**2 * force[at] / np.linalg.norm(gaps * force[at])
    assert np.linalg.norm(backlash[at]) > 1e-3
    np.testing.assert_allclose(bent.theta[0], compliance(model) @ force + backlash, rtol=0, atol=2e-12)
