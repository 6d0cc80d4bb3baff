"""Loss of stability: a strut on a spring, with and without weight, whose critical load is known in closed form."""

from __future__ import annotations

import numpy as np
import pytest
from elastocal.model.compliant.joint_compliance import JointCompliance
from elastocal.model.frames import Frame, FrameTree, JointMotion
from elastocal.model.loads.link_mass import LinkMass
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.robot import RobotModel
from elastocal.model.statics.deflection import deflection
from elastocal.model.statics.equilibrium import Status, equilibrium
from elastocal.model.statics.stiffness import StiffnessStatus, loaded_stiffness
from elastocal.spatial.pose import Pose
from oracle.mechanics import compliance, generalised_forces
from oracle.robots import configurations, random_robot, random_wrench

K, L, G = 2e-4, 0.8, 9.81
CRITICAL = 1 / (K * L)  # 6250 N


def strut(mass=0.0):
    """A rod standing on a hinge with spring 1/K, mass at the tip."""
    tree = FrameTree(
        (Frame("hinge", joint=JointMotion("revolute", (0, 1, 0))), Frame("tip", "hinge", Pose(translation=(0, 0, L))))
    )
    elements = (JointCompliance(joint="hinge", k=K), LinkMass(frame="tip", mass=mass))
    return RobotModel("strut", tree, "tip", elements, np.array([0, 0, -G]))


def push(model, down, sideways=0.0):
    return equilibrium(model, [[0.0]], [AppliedWrenches("tip", [[sideways, 0, -down, 0, 0, 0]])])


@pytest.mark.parametrize("down", [0.95 * CRITICAL, 1.05 * CRITICAL, 3 * CRITICAL])
def test_a_vertical_strut_loses_stability_at_one_over_k_l(down):
    bent = push(strut(), down)
    assert bent.status[0] == (Status.UNSTABLE if down > CRITICAL else Status.CONVERGED)
    assert bent.load_factor[0] == pytest.approx(CRITICAL / down, rel=1e-9)
    assert np.isnan(bent.theta).all() == (down > CRITICAL)


def test_weight_is_fixed_and_only_the_external_load_is_scaled():
    mass = 0.4 * CRITICAL / G
    down = 0.5 * CRITICAL
    bent = push(strut(mass), down)
    assert bent.status[0] == Status.CONVERGED
    assert bent.load_factor[0] == pytest.approx(0.6 / 0.5, rel=1e-9)
    over = push(strut(mass), 1.5 * down)
    assert over.status[0] == Status.UNSTABLE
    assert over.load_factor[0] == pytest.approx(0.6 / 0.75, rel=1e-9)


def test_a_strut_that_cannot_carry_its_own_weight_has_load_factor_zero():
    bent = push(strut(1.2 * CRITICAL / G), 10.0)
    assert bent.status[0] == Status.UNSTABLE
    assert bent.load_factor[0] == 0.0


def test_a_pulled_strut_is_never_unstable():
    assert push(strut(), -4 * CRITICAL).status[0] == Status.CONVERGED


def test_sideways_load_on_a_compressed_strut_is_amplified_by_the_closed_form():
    """theta = K L (H cos theta + F sin theta); for small theta the amplification is 1 / (1 - F/F_cr)."""
    bent = push(strut(), 0.5 * CRITICAL, 1.0)
    assert bent.theta[0, 0] == pytest.approx(K * L / (1 - 0.5), rel=1e-6)


def test_unstable_rows_do_not_spoil_their_neighbours():
    model = strut()
    down = np.array([0.3, 2.0, 0.6]) * CRITICAL
    wrench = np.zeros((3, 6))
    wrench[:, 2], wrench[:, 0] = -down, 5.0
    got = deflection(model, np.zeros((3, 1)), [AppliedWrenches("tip", wrench)])
    assert list(got.status) == [Status.CONVERGED, Status.UNSTABLE, Status.CONVERGED]
    assert np.isnan(got.twist[1, [0, 2, 4]]).all()
    assert np.isfinite(got.twist[[0, 2]]).all()
    stiff = loaded_stiffness(model, np.zeros((3, 1)), [AppliedWrenches("tip", wrench)])
    assert stiff.status[1] == StiffnessStatus.NO_EQUILIBRIUM
    np.testing.assert_allclose(stiff.compliance[2, 0, 0], L**2 * K / (1 - 0.6), rtol=2e-3)


@pytest.mark.xfail(strict=True, reason="components that no joint moves are reported as 0 instead of unknown")
def test_a_lost_state_is_unknown_in_every_component():
    got = deflection(strut(), [[0.0]], [AppliedWrenches("tip", [[5.0, 0, -2 * CRITICAL, 0, 0, 0]])])
    assert got.status[0] == Status.UNSTABLE
    assert np.isnan(got.twist[0]).all()


def tangent(model, q, theta, wrenches, h=1e-6):
    """dQ/dtheta by central differences of virtual work."""
    columns = [
        generalised_forces(model, q, theta + h * e, wrenches) - generalised_forces(model, q, theta - h * e, wrenches)
        for e in np.eye(len(theta))
    ]
    return np.array(columns).T / (2 * h)


@pytest.mark.parametrize("seed", range(12))
def test_converged_means_stable_up_to_the_full_load_on_random_chains(seed):
    """I - k (D_0 + f D_e) stays regular for f in [0, 1]; the reported factor is where it first does not."""
    model = random_robot(seed, 4, 1, k=2e-4)
    q = configurations(model, 1, seed)
    six = random_wrench(seed, 100.0 * (1 + seed))
    bent = equilibrium(model, q, [AppliedWrenches("tip", six[None])])
    if bent.status[0] != Status.CONVERGED:
        assert bent.status[0] == Status.UNSTABLE
        assert bent.load_factor[0] <= 1
        return
    k, theta = compliance(model), bent.theta[0]
    own = tangent(model, q[0], theta, [])
    external = tangent(model, q[0], theta, [("tip", six, False)]) - own
    mu = np.linalg.eigvals(np.linalg.solve(np.eye(len(k)) - k @ own, k @ external))
    real = mu.real[np.abs(mu.imag) < 1e-7 * np.abs(mu).max()]
    critical = 1 / real.max() if real.max() > 0 else np.inf
    assert critical > 1
    if np.isfinite(bent.load_factor[0]):
        assert bent.load_factor[0] == pytest.approx(critical, rel=1e-5)
