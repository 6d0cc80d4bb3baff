"""Cartesian stiffness: unloaded, loaded (000 eq. 7), near the wrist singularity, and for robots that have none."""

from __future__ import annotations

import numpy as np
import pytest
from oracle.mechanics import compliance, generalised_forces, poses, twists
from oracle.robots import configurations, random_robot, random_wrench
from scipy.spatial.transform import Rotation

from elastocal.files.robot.read import read_robot
from elastocal.model.kinematics import kinematics
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.statics.deflection import frame_pose
from elastocal.model.statics.equilibrium import equilibrium
from elastocal.model.statics.stiffness import StiffnessStatus, loaded_stiffness, softest_of, stiffness, stiffness_chunks


def six_joints(name="kuka-kr270"):
    return read_robot(name).without("link_compliance", "foundation_compliance", "gravity_compensator")


def test_unloaded_stiffness_is_the_product_of_inverse_jacobians():
    model = six_joints()
    q = np.deg2rad([[10.0, -60, 80, 40, 50, -20], [-70, -100, 120, -30, -80, 60]])
    got = stiffness(model, q)
    assert set(got.status) == {StiffnessStatus.EXISTS}
    springs = [e.k for e in model.elements if e.kind == "joint_compliance"]
    for i, row in enumerate(q):
        j = twists(model, row, np.zeros(len(model.chain.dofs)), ["tool"])["tool"]
        inverse = np.linalg.inv(j)
        np.testing.assert_allclose(
            got.stiffness[i], inverse.T @ np.diag(1 / np.array(springs)) @ inverse, rtol=1e-9, atol=1e-3
        )
        np.testing.assert_allclose(got.compliance[i], j @ np.diag(springs) @ j.T, rtol=1e-12, atol=1e-22)


def test_links_and_foundation_add_their_own_compliance():
    model = read_robot("kuka-kr270")
    q = configurations(model, 2, seed=4)
    got = stiffness(model, q, "marker1")
    k = compliance(model)
    for i, row in enumerate(q):
        j = twists(model, row, np.zeros(len(k)), ["marker1"])["marker1"]
        np.testing.assert_allclose(got.compliance[i], j @ k @ j.T, rtol=1e-11, atol=1e-22)
        np.testing.assert_allclose(got.stiffness[i] @ (j @ k @ j.T), np.eye(6), rtol=0, atol=1e-8)


def pose_response(model, q, applied, frame, h):
    """d(pose of frame)/d(base-fixed wrench there) about the loaded state, by central differences of the equilibrium."""
    rows = np.repeat(q[None], 12, axis=0)
    steps = np.concatenate([h * np.eye(6), -h * np.eye(6)])
    bent = equilibrium(model, rows, [*applied, AppliedWrenches(frame, steps)])
    p, r = frame_pose(model, rows, bent, frame)
    out = np.empty((6, 6))
    for i in range(6):
        out[:3, i] = (p[:, i] - p[:, 6 + i]) / (2 * h)
        out[3:, i] = Rotation.from_matrix(r[:, :, i] @ r[:, :, 6 + i].T).as_rotvec() / (2 * h)
    return out


@pytest.mark.parametrize("follows", [False, True], ids=["base-fixed", "following"])
@pytest.mark.parametrize("seed", range(3))
def test_loaded_compliance_is_the_slope_of_the_equilibrium(seed, follows):
    model = random_robot(seed, 6, 2, k=1e-4)
    q = configurations(model, 1, seed)
    applied = [AppliedWrenches("side", random_wrench(seed, 200.0)[None], follows),
               AppliedWrenches("tip", random_wrench(seed + 3, 200.0)[None], follows)]  # fmt: skip
    got = loaded_stiffness(model, q, applied, "tip")
    expected = pose_response(model, q[0], applied, "tip", 0.3)
    unloaded = stiffness(model, q, "tip")
    scale = np.abs(expected).max()
    assert np.abs(unloaded.compliance[0] - expected).max() > 1e-2 * scale
    np.testing.assert_allclose(got.compliance[0], expected, rtol=0, atol=1e-6 * scale)
    np.testing.assert_allclose(got.stiffness[0] @ expected, np.eye(6), rtol=0, atol=1e-4)


def test_loaded_stiffness_is_inverse_jacobians_around_springs_minus_load_tangent():
    """K = J^-T (k^-1 - D) J^-1 for six joints, D by differences of virtual work at the loaded state."""
    model = six_joints()
    q = np.deg2rad([[20.0, -70, 90, 30, 60, -50]])
    six = np.array([3000.0, -5000, 9000, 600, -400, 500])
    applied = [AppliedWrenches("flange", six[None])]
    theta = equilibrium(model, q, applied).theta[0]
    springs = np.diag(compliance(model))
    jac = np.linalg.inv(twists(model, q[0], theta, ["tool"])["tool"])
    h = 1e-5
    tangent = np.array(
        [
            (
                generalised_forces(model, q[0], theta + h * e, [("flange", six, False)])
                - generalised_forces(model, q[0], theta - h * e, [("flange", six, False)])
            )
            / (2 * h)
            for e in np.eye(6)
        ]
    ).T
    expected = jac.T @ (np.diag(1 / springs) - tangent) @ jac
    plain = jac.T @ np.diag(1 / springs) @ jac
    got = loaded_stiffness(model, q, applied).stiffness[0]
    size = np.sqrt(np.outer(np.diag(plain), np.diag(plain)))
    assert np.abs((expected - plain) / size).max() > 1e-3
    np.testing.assert_allclose(got / size, expected / size, rtol=0, atol=1e-7)


def inverse(matrix):
    """Gauss-Jordan with pivots in extended precision (numpy's own inverse works in double)."""
    n = len(matrix)
    work = np.concatenate([np.array(matrix, dtype=np.longdouble), np.eye(n, dtype=np.longdouble)], axis=1)
    for i in range(n):
        pivot = i + int(np.argmax(np.abs(work[i:, i])))
        work[[i, pivot]] = work[[pivot, i]]
        work[i] /= work[i, i]
        for r in range(n):
            if r != i:
                work[r] = work[r] - work[r, i] * work[i]
    return work[:, n:]


def long_jacobian(model, q, frame):
    """Joint Jacobian in extended precision: w_i = axis, v_i = axis x (p - o_i)."""
    rotation, origin = np.eye(3, dtype=np.longdouble), np.zeros(3, dtype=np.longdouble)
    axes, origins = [], []
    values = iter(np.array(q, dtype=np.longdouble))
    for f in model.tree.path(frame):
        origin = origin + rotation @ f.pose.translation.astype(np.longdouble)
        rotation = rotation @ np.round(f.pose.rotation).astype(np.longdouble)
        if f.joint is not None:
            unit = np.array(f.joint.axis, dtype=np.longdouble)
            angle = next(values)
            k = np.array([[0, -unit[2], unit[1]], [unit[2], 0, -unit[0]], [-unit[1], unit[0], 0]])
            axes.append(rotation @ unit)
            origins.append(origin)
            rotation = rotation @ (np.eye(3) + np.sin(angle) * k + (1 - np.cos(angle)) * (k @ k))
    return np.stack([np.concatenate([np.cross(a, origin - o), a]) for a, o in zip(axes, origins, strict=True)], axis=1)


@pytest.mark.skipif(np.finfo(np.longdouble).eps > 1e-18, reason="no extended precision on this machine")
@pytest.mark.parametrize("a5", [1e-3, 1e-5])
def test_near_the_wrist_singularity_more_digits_survive_than_by_inverting_the_compliance(a5):
    model = six_joints()
    q = np.array([0.3, -1.1, 1.2, 0.4, a5, -0.7])
    springs = np.array([e.k for e in model.elements if e.kind == "joint_compliance"], dtype=np.longdouble)
    j = inverse(long_jacobian(model, q, "tool"))
    exact = j.T @ np.diag(1 / springs) @ j
    norm = np.abs(exact).max()
    double = kinematics(model, [q]).jacobian[0]
    naive = np.linalg.inv(double @ np.diag(springs.astype(float)) @ double.T)
    got = stiffness(model, [q])
    assert got.status[0] == StiffnessStatus.EXISTS
    ours, theirs = (float(np.abs(k - exact).max() / norm) for k in (got.stiffness[0], naive))
    assert ours < 5e-15 / a5 * 10
    assert ours < theirs / 20  # more than one digit; two to six closer to the singularity


def test_the_exact_wrist_singularity_has_a_compliance_and_a_status():
    got = stiffness(six_joints(), np.deg2rad([[10.0, -60, 80, 40, 0, -20], [10, -60, 80, 40, 1, -20]]))
    assert list(got.status) == [StiffnessStatus.SINGULAR, StiffnessStatus.EXISTS]
    assert np.isnan(got.stiffness[0]).all()
    assert np.isfinite(got.stiffness[1]).all()
    assert np.isfinite(got.compliance).all()
    assert np.linalg.matrix_rank(got.compliance[1] * 1e6, tol=1e-6) == 6


@pytest.mark.parametrize("name", ["cylindrical", "scara-ruggeri"])
def test_robots_with_few_flexible_directions_give_compliance_and_say_singular(name):
    model = read_robot(name)
    q = configurations(model, 3, seed=6)
    k = compliance(model)
    for got in (stiffness(model, q), loaded_stiffness(model, q, [AppliedWrenches(model.tool, [[5.0, 3, 1, 0, 0, 0]])])):
        assert set(got.status) == {StiffnessStatus.SINGULAR}
        assert np.isnan(got.stiffness).all()
    for i, row in enumerate(q):
        j = twists(model, row, np.zeros(len(k)), [model.tool])[model.tool]
        assert np.abs(j @ k @ j.T).max() > 1e-8
        np.testing.assert_allclose(stiffness(model, q).compliance[i], j @ k @ j.T, rtol=1e-12, atol=1e-22)


def test_prp_robot_compliance_in_closed_form():
    """Tz(q1) Rz(q2) Tx(q3): radial k3, tangential k2 q3^2, vertical k1, turn k2."""
    k1, k2, k3, q2, q3 = 1e-6, 0.5e-6, 2e-6, 0.6, 0.7
    radial, tangential = np.array([np.cos(q2), np.sin(q2), 0]), np.array([-np.sin(q2), np.cos(q2), 0])
    expected = np.zeros((6, 6))
    expected[:3, :3] = (
        k3 * np.outer(radial, radial) + k2 * q3**2 * np.outer(tangential, tangential) + k1 * np.diag([0, 0, 1])
    )
    expected[:3, 5] = expected[5, :3] = k2 * q3 * tangential
    expected[5, 5] = k2
    got = stiffness(read_robot("cylindrical"), [[0.3, q2, q3]]).compliance[0]
    np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-21)


def test_a_link_without_joints_has_the_published_matrix_and_its_inverse():
    model = read_robot("orthoglide-link")
    got = stiffness(model, np.empty((4, 0)))
    printed = np.diag([4.50e-8, 8.01e-5, 3.64e-5, 3.76e-3, 1.09e-3, 2.65e-3])
    printed[1, 5] = printed[5, 1] = 3.98e-4
    printed[2, 4] = printed[4, 2] = -1.71e-4
    assert got.compliance.shape == (4, 6, 6)
    assert set(got.status) == {StiffnessStatus.EXISTS}
    np.testing.assert_allclose(got.compliance[2], printed, rtol=1e-12, atol=1e-18)
    np.testing.assert_allclose(got.stiffness[2] @ printed, np.eye(6), rtol=0, atol=1e-10)
    np.testing.assert_allclose(poses(model, [])["tip"], np.eye(4))


def test_chunks_add_up_to_the_whole():
    model = six_joints()
    q = configurations(model, 5000, seed=0)
    whole = stiffness(model, q)
    seen = 0
    for rows, c, k, status in stiffness_chunks(model, q):
        np.testing.assert_array_equal(np.moveaxis(c, -1, 0), whole.compliance[rows])
        np.testing.assert_array_equal(np.moveaxis(k, -1, 0), whole.stiffness[rows])
        np.testing.assert_array_equal(status, whole.status[rows])
        seen += len(status)
    assert seen == 5000


def test_a_section_is_over_the_joints_that_change_the_stiffness():
    """The first joint of an arm on the floor turns everything with it, so no stiffness changes with it."""
    from elastocal.model.statics.stiffness import stiffness_section

    robot = read_robot("kuka-kr270")
    q = configurations(robot, 12, 3)
    found = stiffness_section(robot, q)
    assert 0 not in found.joints
    assert (q == found.middle).all(axis=1).any()
    spread = []
    for k in range(robot.n):
        moved = np.repeat(found.middle[None], 40, axis=0)
        moved[:, k] = np.linspace(found.low[k], found.high[k], 40)
        size = [np.linalg.eigvalsh(np.linalg.inv(c[:3, :3]))[0] for c in stiffness(robot, moved).compliance]
        spread.append(np.ptp(np.log(size)))
    assert set(found.joints) == set(np.argsort(spread)[-2:])


@pytest.mark.parametrize(
    "sizes", [(3e-6, 2e-6, 1e-6), (3e-6, 3e-6, 1e-6), (3e-6, 1e-6, 1e-6), (3e-6, 3e-6, 3e-6), (3e-6, 0, 0)]
)
def test_the_softest_direction_is_that_of_the_largest_singular_value(sizes):
    turns = Rotation.random(20, rng=np.random.default_rng(5)).as_matrix()
    blocks = turns @ np.diag(sizes) @ turns[::-1].transpose(0, 2, 1)  # of a robot under load it need not be symmetric
    compliance = np.zeros((6, 6, 20))
    compliance[:3, :3] = np.moveaxis(blocks, 0, -1)
    np.testing.assert_allclose(softest_of(compliance), 1 / 3e-6, rtol=2e-8)
    assert np.isnan(softest_of(np.zeros((6, 6, 1)))).all()
