"""A planar arm of two links in closed form: linear formula, and the finite equilibrium from two scalar equations."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import root

from elastocal.model.compliant.joint_compliance import JointCompliance
from elastocal.model.frames import Frame, FrameTree, JointMotion
from elastocal.model.loads.link_mass import LinkMass
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.robot import Robot
from elastocal.model.statics.deflection import linear_deflection
from elastocal.model.statics.equilibrium import equilibrium
from elastocal.model.statics.stiffness import stiffness
from elastocal.spatial.pose import Pose

L1, L2, K1, K2 = 0.7, 0.5, 3e-4, 5e-4


def planar_arm(*elements, gravity=(0.0, 0.0, 0.0)):
    tree = FrameTree(
        (
            Frame("a", joint=JointMotion("revolute", (0, 0, 1))),
            Frame("b", "a", Pose(translation=(L1, 0, 0)), JointMotion("revolute", (0, 0, 1))),
            Frame("tip", "b", Pose(translation=(L2, 0, 0))),
        )
    )
    springs = (JointCompliance(joint="a", k=K1), JointCompliance(joint="b", k=K2))
    return Robot("2R", tree, "tip", (*springs, *elements), np.array(gravity))


def test_linear_deflection_is_the_closed_form():
    q1, q2, fx, fy, mz = 0.4, 1.1, 60.0, -35.0, 8.0
    # torques by hand: moment of the force about each joint
    x, y = L1 * np.cos(q1) + L2 * np.cos(q1 + q2), L1 * np.sin(q1) + L2 * np.sin(q1 + q2)
    ex, ey = L2 * np.cos(q1 + q2), L2 * np.sin(q1 + q2)
    t1, t2 = K1 * (x * fy - y * fx + mz), K2 * (ex * fy - ey * fx + mz)
    expected = [-y * t1 - ey * t2, x * t1 + ex * t2, 0, 0, 0, t1 + t2]
    got = linear_deflection(planar_arm(), [[q1, q2]], [AppliedWrenches("tip", [[fx, fy, 0, 0, 0, mz]])])
    np.testing.assert_allclose(got.twist[0], expected, rtol=1e-13, atol=1e-18)


def test_cartesian_compliance_is_the_closed_form():
    q1, q2 = -0.3, 0.9
    s1, c1, s12, c12 = np.sin(q1), np.cos(q1), np.sin(q1 + q2), np.cos(q1 + q2)
    jac = np.array([[-L1 * s1 - L2 * s12, -L2 * s12], [L1 * c1 + L2 * c12, L2 * c12], [1, 1]])
    expected = K1 * np.outer(jac[:, 0], jac[:, 0]) + K2 * np.outer(jac[:, 1], jac[:, 1])
    got = stiffness(planar_arm(), [[q1, q2]]).compliance[0]
    np.testing.assert_allclose(got[np.ix_([0, 1, 5], [0, 1, 5])], expected, rtol=1e-13)


@pytest.mark.parametrize("follows", [False, True], ids=["base-fixed", "following"])
def test_finite_equilibrium_solves_the_two_scalar_equations(follows):
    """Weights of both links (centre at half length) and a tip load that bends the arm by hundredths of a radian."""
    q1, q2, m1, m2, g = 0.5, -0.8, 12.0, 7.0, 9.81
    force, mz = np.array([250.0, -310.0]), 20.0

    def torques(t):
        a, b = q1 + t[0], q1 + q2 + t[0] + t[1]
        elbow = np.array([L1 * np.cos(a), L1 * np.sin(a)])
        hand = np.array([L2 * np.cos(b), L2 * np.sin(b)])
        f = force
        if follows:
            f = np.array([np.cos(b) * force[0] - np.sin(b) * force[1], np.sin(b) * force[0] + np.cos(b) * force[1]])
        moment_b = hand[0] * f[1] - hand[1] * f[0] + mz - m2 * g * hand[0] / 2
        tip = elbow + hand
        moment_a = (tip[0] * f[1] - tip[1] * f[0] + mz
                    - m1 * g * elbow[0] / 2 - m2 * g * (elbow[0] + hand[0] / 2))  # fmt: skip
        return np.array([K1 * moment_a, K2 * moment_b])

    expected = root(lambda t: t - torques(t), np.zeros(2), tol=1e-14).x
    model = planar_arm(
        LinkMass(frame="a", mass=m1, moment=(m1 * L1 / 2, 0, 0)),
        LinkMass(frame="b", mass=m2, moment=(m2 * L2 / 2, 0, 0)),
        gravity=(0, -g, 0),
    )
    bent = equilibrium(model, [[q1, q2]], [AppliedWrenches("tip", [[*force, 0, 0, 0, mz]], follows)])
    assert np.abs(expected).min() > 0.03
    np.testing.assert_allclose(bent.theta[0], expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(bent.force[0], expected / [K1, K2], rtol=1e-10)
