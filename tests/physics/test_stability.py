"""Loss of stability: a strut on a spring, with and without weight, whose critical load is known in closed form."""

from __future__ import annotations

from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
from oracle.mechanics import compliance, generalised_forces
from oracle.robots import configurations, random_robot, random_wrench

from elastocal.files.robot.read import read_robot
from elastocal.model.compliant.frame_error import FrameError
from elastocal.model.compliant.gripper_backlash import GripperBacklash
from elastocal.model.compliant.joint_compliance import JointCompliance
from elastocal.model.compliant.motor_compliance import MotorCompliance
from elastocal.model.frames import Frame, FrameTree, JointMotion
from elastocal.model.loads.link_mass import LinkMass
from elastocal.model.loads.wrench import AppliedWrenches, Wrench
from elastocal.model.robot import Robot
from elastocal.model.statics.deflection import deflection
from elastocal.model.statics.equilibrium import Status, equilibrium
from elastocal.model.statics.flexibility import assemble
from elastocal.model.statics.newton import States
from elastocal.model.statics.stability import _norm_bound, _size_bound
from elastocal.model.statics.stiffness import StiffnessStatus, loaded_stiffness
from elastocal.spatial.pose import Pose

K, L, G = 2e-4, 0.8, 9.81
CRITICAL = 1 / (K * L)  # 6250 N


def strut(mass=0.0):
    """A rod standing on a hinge with spring 1/K, mass at the tip."""
    tree = FrameTree(
        (Frame("hinge", joint=JointMotion("revolute", (0, 1, 0))), Frame("tip", "hinge", Pose(translation=(0, 0, L))))
    )
    elements = (JointCompliance(joint="hinge", k=K), LinkMass(frame="tip", mass=mass))
    return Robot("strut", tree, "tip", elements, np.array([0, 0, -G]))


def push(model, down, sideways=0.0):
    return equilibrium(model, [[0.0]], [AppliedWrenches("tip", [[sideways, 0, -down, 0, 0, 0]])])


@pytest.mark.parametrize("down", [0.97 * CRITICAL, 1.05 * CRITICAL, 3 * CRITICAL])
def test_a_vertical_strut_loses_stability_at_one_over_k_l(down):
    bent = push(strut(), down)
    assert bent.status[0] == (Status.UNSTABLE if down > CRITICAL else Status.CONVERGED)
    assert bent.load_factor[0] == pytest.approx(CRITICAL / down, rel=1e-9)
    assert np.isnan(bent.theta).all() == (down > CRITICAL)


def test_weight_is_fixed_and_only_the_external_load_is_scaled():
    mass = 0.4 * CRITICAL / G
    bent = push(strut(mass), 0.58 * CRITICAL)
    assert bent.status[0] == Status.CONVERGED
    assert bent.load_factor[0] == pytest.approx(0.6 / 0.58, rel=1e-9)
    over = push(strut(mass), 0.75 * CRITICAL)
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


def test_a_lost_state_is_unknown_in_every_component():
    got = deflection(strut(), [[0.0]], [AppliedWrenches("tip", [[5.0, 0, -2 * CRITICAL, 0, 0, 0]])])
    assert got.status[0] == Status.UNSTABLE
    assert np.isnan(got.twist[0]).all()


@pytest.mark.parametrize(("share", "status"), [(0.99, Status.CONVERGED), (1.01, Status.UNSTABLE)])
def test_play_at_the_tip_lengthens_the_lever_that_buckles(share, status):
    """A lean theta slides the tip by (g_x^2/g_z) theta along its ellipsoid: F K (L - g_z + g_x^2/g_z) = 1."""
    gx, gz = 0.1, 0.02
    critical = 1 / (K * (L - gz + gx**2 / gz))
    assert critical < 0.65 * CRITICAL
    model = strut().with_elements(GripperBacklash(frame="tip", gap=(gx, gx, gz)))
    assert push(model, share * critical).status[0] == status


def telescope(*, follower):
    """A standing telescope: one driven stage and either a second one that follows three times as far, or none."""
    second = JointMotion("prismatic", (0, 0, 1), None, "stage", 3.0) if follower else None
    tree = FrameTree(
        (
            Frame("hinge", joint=JointMotion("revolute", (0, 1, 0))),
            Frame("stage", "hinge", joint=JointMotion("prismatic", (0, 0, 1))),
            Frame("tip", "stage", joint=second),
        )
    )
    return Robot("telescope", tree, "tip", (JointCompliance(joint="hinge", k=K),), np.zeros(3))


@pytest.mark.parametrize("follower", [False, True], ids=["one-stage", "following-stage"])
def test_a_drawn_out_telescope_buckles_at_its_full_length(follower):
    out = 0.4
    critical = 1 / (K * out * (4 if follower else 1))
    for factor in (0.5, 1.5):
        load = AppliedWrenches("tip", [[0, 0, -factor * critical, 0, 0, 0]])
        bent = equilibrium(telescope(follower=follower), [[0.0, out]], [load])
        assert bent.status[0] == (Status.UNSTABLE if factor > 1 else Status.CONVERGED)


def test_a_frame_error_counts_in_the_length_of_a_strut():
    model = strut().with_elements(FrameError(frame="tip", z=3 * L))
    bent = push(model, 0.5 * CRITICAL)
    assert bent.status[0] == Status.UNSTABLE
    assert bent.load_factor[0] == pytest.approx(0.5, rel=1e-9)


def tangent(model, q, theta, wrenches, h=1e-6):
    """dQ/dtheta by central differences of virtual work."""
    columns = [
        generalised_forces(model, q, theta + h * e, wrenches) - generalised_forces(model, q, theta - h * e, wrenches)
        for e in np.eye(len(theta))
    ]
    return np.array(columns).T / (2 * h)


def critical_by_virtual_work(model, q, theta, wrenches, standing=()):
    """First f where I - k (D_0 + f D_e) is singular; 0 where it fails before f = 0 (D by central differences)."""
    k = compliance(model)
    own = tangent(model, q, theta, list(standing))
    external = tangent(model, q, theta, [*standing, *wrenches]) - own
    base = np.eye(len(k)) - k @ own
    alone = np.linalg.eigvals(base)
    if np.any((np.abs(alone.imag) < 1e-7) & (alone.real <= 0)):
        return 0.0
    mu = np.linalg.eigvals(np.linalg.solve(base, k @ external))
    real = mu.real[np.abs(mu.imag) < 1e-7 * np.abs(mu).max()]
    return 1 / real.max() if real.size and real.max() > 0 else np.inf


@cache
def bent_chain(seed, follows):
    """A random chain, its configurations, four loads and what they do to it."""
    model = random_robot(seed, 3, 1, k=2e-3, links=seed == 0, weight=seed % 3 > 0)
    q = np.repeat(configurations(model, 1, seed), 4, axis=0)
    wrench = np.array([random_wrench(10 * seed + i, 150.0 * 2**i) for i in range(4)])
    return model, q, wrench, equilibrium(model, q, [AppliedWrenches("tip", wrench, follows)])


@pytest.mark.parametrize("follows", [False, True], ids=["base-fixed", "following"])
@pytest.mark.parametrize("seed", range(10))
def test_converged_means_stable_up_to_the_full_load_on_random_chains(seed, follows):
    """A converged state is regular for every f in [0, 1]; a reported factor is where it first is not."""
    model, q, wrench, bent = bent_chain(seed, follows)
    assert set(bent.status) <= {Status.CONVERGED, Status.UNSTABLE, Status.NOT_CONVERGED}
    for i in np.flatnonzero(bent.status == Status.CONVERGED):
        critical = critical_by_virtual_work(model, q[i], bent.theta[i], [("tip", wrench[i], follows)])
        assert critical > 1
        if critical < 100 and np.isfinite(bent.load_factor[i]):
            assert bent.load_factor[i] == pytest.approx(critical, rel=1e-4)


def test_random_chains_meet_both_outcomes():
    """Guards the test above: its loads must straddle the limit."""
    seen = {status for seed in range(10) for status in bent_chain(seed, False)[-1].status}
    assert {Status.CONVERGED, Status.UNSTABLE} <= seen


@pytest.mark.parametrize("seed", range(8))
def test_a_standing_load_that_follows_its_frame_is_judged_too(seed):
    """The model's own following wrench: unstable exactly where I - k D_0 has a real eigenvalue below zero."""
    plain = random_robot(seed, 3, 1, k=2e-3, links=False, weight=False)
    for i in range(6):
        six = random_wrench(10 * seed + i, 150.0 * 1.6**i)
        model = plain.with_elements(Wrench(frame="tip", force=tuple(six[:3]), moment=tuple(six[3:]), follows=True))
        q = configurations(model, 1, seed)
        bent = equilibrium(model, q)
        if bent.status[0] == Status.CONVERGED:
            assert critical_by_virtual_work(model, q[0], bent.theta[0], []) > 0


@pytest.mark.parametrize("seed", range(20))
def test_the_bound_that_saves_eigenvalues_is_never_below_them(seed):
    """Turns and slides of very different size, some coordinates with next to no compliance of their own."""
    rng = np.random.default_rng(seed)
    rotates = np.arange(6) % 2 == 0
    units = np.where(rotates, 1.0, 3.0)
    k = rng.normal(size=(6, 6, 40)) * (units[:, None] * units)[:, :, None] * 10 ** rng.uniform(-8, 0, (6, 1, 40))
    bent = [k * rng.normal(size=k.shape) for _ in range(2)]
    bound = _norm_bound(SimpleNamespace(size=3.0), SimpleNamespace(rotates=rotates), k, bent)
    for share in (0.0, 0.5, 1.0):
        radius = np.abs(np.linalg.eigvals(np.moveaxis(bent[0] + share * bent[1], 2, 0))).max(axis=1)
        assert np.all(radius <= bound * (1 + 1e-9))


def size_bound(model, q, theta, applied):
    flex = assemble(model)
    return _size_bound(States(flex, model.posture(q.T), applied, theta.T[list(flex.dofs)]))


@pytest.mark.parametrize("follows", [False, True], ids=["base-fixed", "following"])
@pytest.mark.parametrize("seed", range(6))
def test_the_bound_from_dimensions_is_never_below_the_spectral_radius(seed, follows):
    """k D by central differences of virtual work, on random chains whose links couple turns and shifts."""
    model = random_robot(seed, 3, 1, k=2e-3, links=seed % 2 == 0, weight=False)
    q = configurations(model, 3, seed)
    wrench = np.array([random_wrench(10 * seed + i, 100.0) for i in range(3)])
    theta = np.zeros((3, len(model.chain.dofs)))
    bound = size_bound(model, q, theta, (AppliedWrenches("tip", wrench, follows),))
    for row, six, most in zip(q, wrench, bound, strict=True):
        bent = compliance(model) @ tangent(model, row, np.zeros(len(model.chain.dofs)), [("tip", six, follows)])
        assert np.abs(np.linalg.eigvals(bent)).max() <= most


def test_the_bound_from_dimensions_is_the_eigenvalue_of_a_strut():
    down = AppliedWrenches("tip", [[0, 0, -100.0, 0, 0, 0]])
    bound = size_bound(strut(), np.zeros((1, 1)), np.zeros((1, 1)), (down,))
    assert bound[0] == pytest.approx(K * L * 100.0, rel=1e-12)


def test_the_bound_from_dimensions_for_a_load_that_follows():
    """Two coupled hinges d apart, a force along them: D has the one entry d F, above its diagonal.

    So k D has the eigenvalue k_12 d F, and the bound is (sqrt(k_11) + sqrt(k_22))^2 d F, four times as large."""
    force, apart = 100.0, 0.5
    tree = FrameTree(
        (
            Frame("a", joint=JointMotion("revolute", (0, 1, 0))),
            Frame("b", "a", Pose(translation=(0, 0, apart)), JointMotion("revolute", (0, 1, 0))),
        )
    )
    shafts = MotorCompliance(joints=("a", "b"), structure=((1.0, 0.0), (-1.0, 1.0)), k=(K, 0.0))
    model = Robot("pair", tree, "b", (shafts,))
    k = compliance(model)
    assert k == pytest.approx(np.full((2, 2), K))
    push = AppliedWrenches("b", [[0, 0, -force, 0, 0, 0]], True)
    bound = size_bound(model, np.zeros((1, 2)), np.zeros((1, 2)), (push,))
    by_work = k @ tangent(model, np.zeros(2), np.zeros(2), [("b", push.wrench[0], True)])
    assert np.abs(np.linalg.eigvals(by_work)).max() == pytest.approx(K * apart * force, rel=1e-6)
    assert bound[0] == pytest.approx(4 * K * apart * force, rel=1e-12)


def test_an_estimate_without_compliance_of_its_own_on_one_axis_costs_no_eigenvalues():
    """Couplings without their diagonal, as estimates have them: far below the critical load, so no number is due."""
    robot = read_robot("kuka-kr270")
    names = [n for n in robot.parameters.names if n.endswith((".k11", ".k22", ".k44", ".k55"))]
    estimate = robot.with_estimates(dict.fromkeys(names, 1e-18))
    found = equilibrium(
        estimate, [[0, -1.2, 1.5, 0.3, 0.8, 0]], [AppliedWrenches(robot.tool, [[0, 0, -2500, 0, 0, 0]])]
    )
    assert names
    assert found.status[0] == Status.CONVERGED
    assert np.isnan(found.load_factor[0])
