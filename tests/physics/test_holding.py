"""Holding torques by virtual work: the weight's energy differentiated, written with nothing but forward kinematics."""

from __future__ import annotations

import numpy as np
import pytest
from oracle.mechanics import masses, poses
from oracle.refusals import refused
from oracle.robots import configurations, random_robot

from elastocal.files.robot.read import read_robot
from elastocal.model.compliant.frame_error import FrameError
from elastocal.model.compliant.joint_offset import JointOffset
from elastocal.model.frames import BASE, Frame, FrameTree, JointMotion
from elastocal.model.loads.gravity_compensator import GravityCompensator
from elastocal.model.loads.link_mass import LinkMass
from elastocal.model.loads.payload import Payload
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.robot import Robot
from elastocal.model.statics.holding import holding_names, holding_observation, holding_torque
from elastocal.spatial.pose import Pose

WEIGHTY = ("kuka-kr270", "kuka-kr5")


def weight_energy(model, q):
    """-sum (m p + R u) . g at one configuration."""
    at = poses(model, q)
    return -sum((m * at[f][:3, 3] + at[f][:3, :3] @ u) @ model.gravity for f, m, u in masses(model))


def by_energy(model, q, step=1e-6):
    out = []
    for j in range(model.n):
        moved = [weight_energy(model, q + sign * step * np.eye(model.n)[j]) for sign in (1, -1)]
        out.append((moved[0] - moved[1]) / (2 * step))
    return np.array(out)


@pytest.mark.parametrize("name", WEIGHTY)
def test_the_torque_is_the_slope_of_the_weights_energy(name):
    model = read_robot(name).without("gravity_compensator", "frame_error", "joint_offset")
    q = configurations(model, 4, 1)
    found = holding_torque(model, q)
    expected = np.array([by_energy(model, row) for row in q])
    assert np.abs(expected).max() > 100
    np.testing.assert_allclose(found, expected, atol=1e-5 * np.abs(expected).max())


def test_kr5_torques_are_the_published_ones():
    """Hayat et al. 2013, eq. (15)-(17), typed in."""
    model = read_robot("kuka-kr5")
    q = np.radians([[90, -45, 30, 0, -90, 0], [90, -90, 50, 0, 90, 0], [10, 12, 34, 0, 56, 0.0]])
    t2, t3, t5 = q[:, 1], q[:, 2], q[:, 4]
    tau5 = -11.47 * np.cos(t2 + t3 + t5) + 4.90 * np.sin(t2 + t3 + t5)
    tau3 = -126.28 * np.cos(t2 + t3 - np.radians(44.85)) + tau5
    tau2 = -375.70 * np.cos(t2) + tau3
    found = holding_torque(model, q)
    np.testing.assert_allclose(found[:, [1, 2, 4]], np.stack([tau2, tau3, tau5], axis=1), atol=2e-2)


def furnished(seed):
    model = random_robot(seed, 4, 1)
    joint, frame = next(j for j in model.joints if j.startswith("r")), model.tool
    return model.without("joint_offset", "frame_error", "link_mass", "payload").with_elements(
        *(JointOffset(joint=j, offset=0.02 * (i + 1)) for i, j in enumerate(model.joints)),
        FrameError(frame=frame, x=1e-2, y=-2e-2, z=3e-2, rx=0.03, ry=-0.02, rz=0.01),
        Payload(frame=frame, mass=7.0, moment=(0.4, -0.2, 0.3)),
        LinkMass(frame=model.joints[2], mass=4.0, moment=(0.3, 0.1, -0.2)),
        GravityCompensator(joint=joint, a_x=0.3, a_y=0.1, L=0.2, phi0=1.0, k_c=1e-4, s_0=0.1),
    )


@pytest.mark.parametrize("seed", [0, 3, 5])
def test_derivatives_by_every_parameter_are_central_differences(seed):
    model = furnished(seed)
    q = configurations(model, 3, seed)
    names = [n for n in holding_names(model) if not n.startswith("controller")]
    found = holding_observation(model, q, names)
    assert found.shape == (3, 4, len(names))
    for i, name in enumerate(names):
        row = model.parameters.rows[model.parameters.index(name)]
        step = 1e-4 * max(abs(row.value), row.scale)
        ends = [holding_torque(model.with_parameters({name: row.value + s * step}), q) for s in (1, -1)]
        slope = (ends[0] - ends[1]) / (2 * step)
        np.testing.assert_allclose(found[:, :, i], slope, atol=1e-5 * (np.abs(slope).max() + np.abs(ends[0]).max()))
    seen = {n.split(".")[1] for i, n in enumerate(names) if np.abs(found[:, :, i]).max() > 1e-6}
    assert {"offset", "m", "mx", "payload_mz", "k_c", "s_0", "rx"} <= seen


def test_order_of_names_and_what_no_torque_shows():
    model = furnished(1)
    q = configurations(model, 2, 0)
    names = list(holding_names(model))
    np.testing.assert_array_equal(
        holding_observation(model, q, names[::-1]), holding_observation(model, q, names)[:, :, ::-1]
    )
    with refused("unsupported", "A1.k"):
        holding_observation(read_robot("kuka-kr5"), configurations(read_robot("kuka-kr5"), 1, 0), ["A1.k"])


def test_a_wrench_is_held_by_the_transposed_jacobian():
    model = read_robot("kuka-kr270").without("link_mass", "payload", "gravity_compensator")
    q = configurations(model, 2, 7)
    wrench = np.array([[100.0, -50, 30, 5, -8, 12]])
    found = holding_torque(model, q, [AppliedWrenches(model.tool, wrench)])
    for row, tau in zip(q, found, strict=True):
        at, slope = poses(model, row)[model.tool], np.zeros((6, model.n))
        for j in range(model.n):
            ends = [poses(model, row + s * 1e-6 * np.eye(model.n)[j])[model.tool] for s in (1, -1)]
            slope[:3, j] = (ends[0] - ends[1])[:3, 3] / 2e-6
            turn = (ends[0] - ends[1])[:3, :3] / 2e-6 @ at[:3, :3].T
            slope[3:, j] = turn[2, 1], turn[0, 2], turn[1, 0]
        np.testing.assert_allclose(tau, -slope.T @ wrench[0], rtol=1e-6, atol=1e-5)


def test_a_joint_that_follows_loads_its_leader():
    """Two bars, the second geared to stay level: its weight asks nothing of a turn, but all of its rise."""
    frames = (
        Frame("j", BASE, Pose.from_xyz_rpy(), JointMotion("revolute", (0.0, -1.0, 0.0))),
        Frame(
            "w", "j", Pose.from_xyz_rpy((1.0, 0, 0)), JointMotion("revolute", (0.0, -1.0, 0.0), follows="j", ratio=-1.0)
        ),
        Frame("tip", "w", Pose.from_xyz_rpy((0.5, 0, 0))),
    )
    model = Robot("level", FrameTree(frames), "tip", (LinkMass(frame="w", mass=3.0, moment=(0.9, 0, 0)),))
    for angle in (0.0, 0.7, 1.2):
        # height of the mass: sin(angle) of the first bar alone
        assert holding_torque(model, [[angle]])[0, 0] == pytest.approx(3 * 9.80665 * np.cos(angle), rel=1e-12)


def test_chunks_change_nothing(monkeypatch):
    model = read_robot("kuka-kr5")
    q = configurations(model, 11, 2)
    whole, slopes = holding_torque(model, q), holding_observation(model, q, ["A3.mx", "A5.m"])
    monkeypatch.setattr("elastocal.model.statics.holding.chunk_size", lambda n: 3)
    np.testing.assert_array_equal(holding_torque(model, q), whole)
    np.testing.assert_array_equal(holding_observation(model, q, ["A3.mx", "A5.m"]), slopes)
