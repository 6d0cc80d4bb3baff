"""One pose under a load, against closed forms and against the library called piece by piece."""

from __future__ import annotations

import numpy as np
import pytest

import elastocal as ec
from elastocal.model.limits import joint_bounds, ready
from elastocal.model.statics.holding import holding_torque
from elastocal.model.statics.loaded_arm import loaded_pose, pictured_force
from elastocal.report.loaded_robot import shown_pose

Q = np.radians([10.0, -80, 100, 20, 40, 30])


@pytest.fixture(scope="module")
def robot() -> ec.Robot:
    return ec.read_robot("kuka-kr270")


def test_the_axes_of_the_compliance_turn_a_unit_force_into_its_ellipsoid(robot: ec.Robot) -> None:
    found = robot.stiffness(Q[None])
    sizes, directions = found.principal()
    block = found.compliance[0, :3, :3]
    assert (np.diff(sizes[0]) <= 0).all()
    np.testing.assert_allclose(block @ directions[0], directions[0] * sizes[0], atol=1e-12 * sizes[0, 0])
    rng = np.random.default_rng(3)
    pushed = rng.normal(size=(500, 3))
    moved = np.linalg.norm((pushed / np.linalg.norm(pushed, axis=1, keepdims=True)) @ block.T, axis=1)
    assert sizes[0, 2] <= moved.min() <= moved.max() <= sizes[0, 0] * (1 + 1e-12)
    assert moved.max() > 0.9 * sizes[0, 0]


def test_a_pose_has_what_the_library_says_of_it(robot: ec.Robot) -> None:
    wrench = np.array([300.0, 0, -1500, 0, 50, 0])
    pose = loaded_pose(robot, Q, wrench)
    tip = pose.bent.tip[0] - pose.rest.tip[0]
    np.testing.assert_allclose(tip, robot.deflection(Q[None], wrench).translation[0], atol=1e-12)
    jacobian = robot.kinematics(Q[None]).jacobian[0]
    own = holding_torque(robot, Q[None])[0]
    np.testing.assert_allclose(pose.torques, own - jacobian.T @ wrench, rtol=1e-9, atol=1e-6)
    assert pose.weightless == (not own.any())


def test_the_force_that_is_drawn_bends_visibly(robot: ec.Robot) -> None:
    force = pictured_force(robot)
    low, high = joint_bounds(robot)
    q = ready(robot)
    assert ((low <= q) & (q <= high)).all()
    soft = robot.stiffness(q[None]).principal()[1][0, :, 0]
    moved = 1e3 * np.linalg.norm(robot.stiffness(q[None]).compliance[0, :3, :3] @ (force * soft))
    assert 0.5 < moved < 1.5
    assert pictured_force(robot.nominal) == 1000.0  # it bends nowhere


def test_arrows_never_grow_out_of_the_picture(robot: ec.Robot) -> None:
    for size in (10.0, 1e3, 1e6):
        shown = shown_pose(loaded_pose(robot, Q, np.array([0, 0, -size, 0, 0, 0])), pictured_force(robot))
        assert shown.scale * size <= 0.3 * loaded_pose(robot, Q, np.zeros(6)).rigid.extent * (1 + 1e-12)
