"""Kinematics of shipped industrial arms against what others publish: reaches of data sheets, poses, public URDF values.

The robot files take lengths, axes and ranges from public URDF files; the reach that a data sheet states depends on all
of these at once (the ranges of axes 2 and 3 as well) and comes from another hand.  The file of the UR10e is written
from the maker's DH table and checked against the joint origins of the maker's URDF through Pinocchio.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from elastocal.compensation.posts.post import language
from elastocal.compensation.wrist_geometry import WristGeometry, wrist_geometry
from elastocal.files.robot.read import read_robot
from elastocal.model.kinematics import rigid_pose

REACH = {  # of the wrist centre from axis 1 in mm, data sheets of the makers, and the step they round to
    "kuka-kr210-r2700": (2696, 1),
    "abb-irb120": (580, 1),
    "abb-irb4600-60": (2050, 10),
    "fanuc-r2000ic165f": (2655, 1),
    "yaskawa-gp25": (1730, 1),
}
LANGUAGES = {"kuka-kr210-r2700": "krl", "abb-irb120": "rapid", "abb-irb4600-60": "rapid",
             "fanuc-r2000ic165f": "fanuc", "yaskawa-gp25": "jbi", "ur10e": "urscript"}  # fmt: skip


@pytest.mark.parametrize("name", REACH)
def test_the_reach_is_that_of_the_data_sheet(name: str) -> None:
    model = read_robot(name)
    low, high = np.array([m.limits for m in model.motions]).T
    two, three = np.meshgrid(np.linspace(low[1], high[1], 500), np.linspace(low[2], high[2], 500))
    q = np.zeros((6, two.size))
    q[1], q[2] = two.ravel(), three.ravel()
    wrist = rigid_pose(model.nominal, model.joints[4], q)[0]
    stated, step = REACH[name]
    assert 1e3 * np.hypot(*wrist[:2]).max() == pytest.approx(stated, abs=step)


@pytest.mark.parametrize("name", LANGUAGES)
def test_language_and_closed_form(name: str) -> None:
    model = read_robot(name)
    assert language(model) == LANGUAGES[name]
    assert isinstance(wrist_geometry(model, "flange"), WristGeometry) == (name != "ur10e")


def test_zero_poses_that_controllers_show() -> None:
    """IRB 120 at zero: wrist at 302, 630 mm (product specification), tool0 turned by 90 deg about y.

    FANUC at zero shows W 180, P -90, R 0 and counts z from the height of axis 2.
    """
    at, turn = rigid_pose(read_robot("abb-irb120").nominal, "flange", np.zeros((6, 1)))
    np.testing.assert_allclose(1e3 * at[:, 0], [302 + 72, 0, 630], atol=1e-9)
    quaternion = Rotation.from_matrix(turn[..., 0]).as_quat(scalar_first=True)
    np.testing.assert_allclose(quaternion, [np.sqrt(0.5), 0, np.sqrt(0.5), 0], atol=1e-12)
    model = read_robot("fanuc-r2000ic165f")
    at, turn = rigid_pose(model.nominal, "flange", np.zeros((6, 1)))
    world = rigid_pose(model.nominal, "world", np.zeros((6, 1)))[0]
    np.testing.assert_allclose(1e3 * (at - world)[:, 0], [312 + 1280 + 215, 0, 1075 + 225], atol=1e-9)
    shown = Rotation.from_euler("ZYX", [0, -90, 180], degrees=True).as_matrix()
    np.testing.assert_allclose(turn[..., 0], shown, atol=1e-12)


def test_j2_of_a_fanuc_keeps_the_forearm_level() -> None:
    model = read_robot("fanuc-r2000ic165f")
    level = model.controller.to_joints(np.radians([[0.0, 30, 0, 0, 0, 0]]))
    turn = rigid_pose(model.nominal, "flange", level.T)[1][..., 0]
    np.testing.assert_allclose(turn[:, 2], [1, 0, 0], atol=1e-12)


def test_the_dh_table_of_the_ur10e_equals_the_joint_origins_of_its_urdf() -> None:
    pin = pytest.importorskip("pinocchio")
    half = np.pi / 2
    origins = [((0, 0, 0.1807), (0, 0, 0)), ((0, 0, 0), (half, 0, 0)), ((-0.6127, 0, 0), (0, 0, 0)),
               ((-0.57155, 0, 0.17415), (0, 0, 0)), ((0, -0.11985, 0), (half, 0, 0)),
               ((0, 0.11655, 0), (half, np.pi, np.pi))]  # fmt: skip
    model = pin.Model()
    last = 0
    for i, (xyz, rpy) in enumerate(origins):
        last = model.addJoint(last, pin.JointModelRZ(), pin.SE3(pin.rpy.rpyToMatrix(*rpy), np.array(xyz)), f"j{i}")
    data = model.createData()
    robot = read_robot("ur10e")
    for q in np.random.default_rng(0).uniform(-np.pi, np.pi, (20, 6)):
        pin.forwardKinematics(model, data, q)
        at, turn = rigid_pose(robot.nominal, "flange", q[:, None])
        np.testing.assert_allclose(at[:, 0], data.oMi[6].translation, atol=1e-12)
        np.testing.assert_allclose(turn[..., 0], data.oMi[6].rotation, atol=1e-12)
