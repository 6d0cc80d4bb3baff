"""Kinematics of shipped industrial arms against what others publish: reaches, poses, screw axes, DH tables, URDF files.

The robot files of all but the UR10e take lengths, axes and ranges from URDF files of ROS-Industrial.  Those are built
anew in Pinocchio, which finds slips of the pen.  Other hands: reaches of makers (they depend on the ranges of axes 2
and 3 too), joint values and pose that a FANUC controller showed, DH tables of the IRB 120, the KR 270 and the iiwa,
screw axes of the GP25.
The file of the UR10e is written from the maker's DH table and checked against the maker's URDF.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import expm
from scipy.spatial.transform import Rotation

from elastocal.compensation.posts.post import language
from elastocal.compensation.run import compensate
from elastocal.compensation.spherical_wrist import WristGeometry, wrist_geometry
from elastocal.files.programs import read_program
from elastocal.files.robot.read import read_robot, shipped_robots
from elastocal.model.kinematics import rigid_pose
from elastocal.spatial.pose import Pose

# Of the wrist centre from axis 1 in mm, and the step it is rounded to: data sheets ROBO149EN and ROB0109EN (ABB) and
# R-2000iC/165F (FANUC), Motoman Spec Finder of 2026-07-20 (Yaskawa), KR QUANTEC extra and ultra (KUKA; the next
# generation has 2701), as public catalogues repeat them.
REACH = {
    "kuka-kr210-r2700": (2696, 1),
    "kuka-kr270": (2696, 1),
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


def test_the_height_that_a_gp25_reaches_is_that_of_the_makers_list() -> None:
    model = read_robot("yaskawa-gp25")
    low, high = np.array([m.limits for m in model.motions]).T
    two, three = np.meshgrid(np.linspace(low[1], high[1], 600), np.linspace(low[2], high[2], 600))
    q = np.zeros((6, two.size))
    q[1], q[2] = two.ravel(), three.ravel()
    height = rigid_pose(model.nominal, "B", q)[0][2]
    assert 1e3 * (height.max() - height.min()) == pytest.approx(3089, abs=3)


X, Y, Z = np.eye(3)
URDF = {  # origin of every joint in m, its axis, then the last frame: origin and rpy
    # ros-industrial/kuka_experimental 01ae9a4c, kuka_kr210_support/urdf/kr210r2700extra_macro.xacro
    "kuka-kr210-r2700": ([(0.675 * Z, -Z), (0.35 * X, Y), (1.15 * X, Y), (-0.041 * Z, -X), (1.2 * X, Y),
                          (0.215 * X, -X)], (0 * X, (0, np.pi / 2, 0))),
    # ros-industrial/kuka_experimental 06b4e52b, kuka_kr270_support/urdf/kr270r2700_macro.xacro
    "kuka-kr270": ([(0.675 * Z, -Z), (0.35 * X, Y), (1.15 * X, Y), (1.2 * X - 0.041 * Z, -X), (0 * X, Y),
                    (0.24 * X, -X)], (0 * X, (0, np.pi / 2, 0))),
    # ros-industrial/abb 59e17fb6, abb_irb120_support/urdf/irb120_3_58_macro.xacro
    "abb-irb120": ([(0 * Z, Z), (0.29 * Z, Y), (0.27 * Z, Y), (0.07 * Z, X), (0.302 * X, Y), (0.072 * X, X)],
                   (0 * X, (0, np.pi / 2, 0))),
    # ros-industrial/abb 1acdf691, abb_irb4600_support/urdf/irb4600_60_205_macro.xacro
    "abb-irb4600-60": ([(0.495 * Z, Z), (0.175 * X, Y), (0.9 * Z, Y), (0.175 * Z, X), (0.96 * X, Y), (0.135 * X, X)],
                       (0 * X, (0, np.pi / 2, 0))),
    # ros-industrial/fanuc 12dce708, fanuc_r2000ic_support/urdf/r2000ic165f_macro.xacro
    "fanuc-r2000ic165f": ([(0.67 * Z, Z), (0.312 * X, Y), (1.075 * Z, -Y), (0.225 * Z, -X), (1.28 * X, -Y),
                           (0.215 * X, -X)], (0 * X, (np.pi, -np.pi / 2, 0))),
    # ros-industrial/motoman 0961ed72, motoman_gp25_support/urdf/gp25_macro.xacro
    "yaskawa-gp25": ([(0.505 * Z, Z), (0.15 * X, Y), (0.76 * Z, -Y), (0.2 * Z, -X), (0.795 * X, -Y), (0 * X, -X)],
                     (0.1 * X, (np.pi, -np.pi / 2, 0))),
}  # fmt: skip


@pytest.mark.parametrize("name", URDF)
def test_the_robot_file_is_its_urdf(name: str) -> None:
    pin = pytest.importorskip("pinocchio")
    joints, (last, rpy) = URDF[name]
    model, number = pin.Model(), 0
    for i, (origin, axis) in enumerate(joints):
        place = pin.SE3(np.eye(3), origin)
        number = model.addJoint(number, pin.JointModelRevoluteUnaligned(axis), place, f"j{i}")
    data, robot = model.createData(), read_robot(name)
    flange = pin.SE3(pin.rpy.rpyToMatrix(*rpy), last)
    for q in np.random.default_rng(1).uniform(-np.pi, np.pi, (20, 6)):
        pin.forwardKinematics(model, data, q)
        there = data.oMi[6] * flange
        at, turn = rigid_pose(robot.nominal, "flange", q[:, None])
        np.testing.assert_allclose(at[:, 0], there.translation, atol=1e-12)
        np.testing.assert_allclose(turn[..., 0], there.rotation, atol=1e-12)


def test_a_dh_table_of_the_irb_120_by_another_hand_gives_the_same_poses() -> None:
    """Standard DH of a course on modelling of mechatronic systems (2021): zero as on the controller but for axis 2."""
    d, a = [0.290, 0, 0, 0.302, 0, 0.072], [0, 0.270, 0.070, 0, 0, 0]
    alpha = np.array([-1, 0, -1, 1, -1, 0]) * np.pi / 2
    zero = np.array([0, -np.pi / 2, 0, 0, 0, np.pi])
    model = read_robot("abb-irb120")
    for q in np.random.default_rng(2).uniform(-np.pi, np.pi, (20, 6)):
        there = Pose()
        for theta, along, length, twist in zip(q + zero, d, a, alpha, strict=True):
            about = Rotation.from_euler("ZX", [theta, twist]).as_matrix()
            there = there @ Pose(about, np.array([length * np.cos(theta), length * np.sin(theta), along]))
        at, turn = rigid_pose(model.nominal, "flange", q[:, None])
        np.testing.assert_allclose(at[:, 0], there.translation, atol=1e-12)
        np.testing.assert_allclose(turn[..., 0], there.rotation, atol=1e-12)


def test_a_dh_table_of_the_kr_270_by_another_hand_gives_the_same_poses() -> None:
    """Modified DH (alpha, a, theta, d) of KukaRobotModelFactory in the C# program Homies.SARP, a public repository.

    Its zero is KUKA's home, A2 = -90 and A3 = 90 deg; z of its last frame looks from the flange to the wrist.
    """
    right = np.pi / 2
    table = [(np.pi, 0, 0, -0.675), (right, 0.35, -right, 0), (0, 1.15, 0, 0), (right, -0.041, 0, -1.2),
             (-right, 0, 0, 0), (right, 0, 0, -0.24)]  # fmt: skip
    home, model = np.radians([0, -90, 90, 0, 0, 0]), read_robot("kuka-kr270")
    for q in np.random.default_rng(6).uniform(-np.pi, np.pi, (20, 6)):
        there = Pose()
        for (alpha, a, theta, d), value in zip(table, q - home, strict=True):
            turn = Rotation.from_euler("XZ", [alpha, theta + value]).as_matrix()
            there = there @ Pose(turn, np.array([a, 0, 0]) + turn @ [0, 0, d])
        at, turn = rigid_pose(model.nominal, "flange", q[:, None])
        np.testing.assert_allclose(at[:, 0], there.translation, atol=1e-12)
        np.testing.assert_allclose(turn[..., 0], there.rotation @ np.diag([-1.0, 1, -1]), atol=1e-12)


def test_screw_axes_of_the_gp25_by_another_hand_give_the_same_poses() -> None:
    """Screws (direction, moment) at zero in a student's plot of the arm; U, R, B and T turn the other way there."""
    screws = np.array([[0, 0, 1, 0, 0, 0], [0, 1, 0, -0.505, 0, 0.150], [0, 1, 0, -1.265, 0, 0.150],
                       [1, 0, 0, 0, 1.465, 0], [0, 1, 0, -1.465, 0, 0.945], [1, 0, 0, 0, 1.465, 0]])  # fmt: skip
    signs = np.array([1, 1, -1, -1, -1, -1])
    model = read_robot("yaskawa-gp25")
    for q in np.random.default_rng(3).uniform(-np.pi, np.pi, (20, 6)):
        there = np.eye(4)
        for (wx, wy, wz, *v), angle in zip(screws, signs * q, strict=True):
            twist = np.array([[0, -wz, wy, v[0]], [wz, 0, -wx, v[1]], [-wy, wx, 0, v[2]], [0, 0, 0, 0]])
            there = there @ expm(angle * twist)
        at = rigid_pose(model.nominal, "flange", q[:, None])[0][:, 0]
        np.testing.assert_allclose(at, (there @ [1.045, 0, 1.465, 1])[:3], atol=1e-12)


def test_a_dh_table_of_the_iiwa_14_by_another_hand_gives_the_same_poses() -> None:
    """Modified DH: Modi1987/KST-Kuka-Sunrise-Toolbox, constDhDataOf14R820.m, lengths from KUKA's manuals."""
    d, alpha = [0.36, 0, 0.42, 0, 0.4, 0, 0.126], np.array([0, -1, 1, 1, -1, -1, 1]) * np.pi / 2
    model = read_robot("iiwa14-on-track")
    for q in np.random.default_rng(5).uniform(-np.pi, np.pi, (20, 8)):
        there = Pose(np.eye(3), np.array([q[0], 0, 0.3]))
        for theta, along, twist in zip(q[1:], d, alpha, strict=True):
            turn = Rotation.from_euler("XZ", [twist, theta]).as_matrix()
            there = there @ Pose(turn, turn @ [0, 0, along])
        at, turn = rigid_pose(model.nominal, "flange", q[:, None])
        np.testing.assert_allclose(at[:, 0], there.translation, atol=1e-12)
        np.testing.assert_allclose(turn[..., 0], there.rotation, atol=1e-12)


def test_every_shipped_arm_is_checked_here() -> None:
    """Robots of papers, which print one or two joints, are checked with their papers."""
    papers = {"cylindrical", "orthoglide-link", "scara-ruggeri"}
    assert set(shipped_robots()) - papers == {*URDF, *CATALOGUE, "ur10e", "iiwa14-on-track"}


# Lengths, zeros and signs as the package robotkinematicscatalogue 1.1.2 has them (modified DH, mm and deg):
# a1 a2 a3, d1 d4 d6, zeros of axes 2 3 6.  FANUC's joint 3 undoes J2, no wrist is coupled, heights count from axis 2.
KUKA, FANUC, ABB = (-1, 1, 1, -1, 1, -1), (1, 1, -1, -1, -1, -1), (1,) * 6
CATALOGUE = {
    "kuka-kr210-r2700": ((350, 1150, -41), (675, 1200, 215), (0, -90, 180), KUKA),
    "kuka-kr5": ((180, 600, 120), (400, 620, 115), (0, -90, 180), KUKA),
    "abb-irb4600-60": ((175, 900, 175), (495, 960, 135), (-90, 0, 180), ABB),
    "fanuc-r2000ic165f": ((312, 1075, 225), (0, 1280, 215), (-90, 0, 0), FANUC),
    "fanuc-m710ic50": ((150, 870, 170), (0, 1016, 175), (-90, 0, 0), FANUC),
}


@pytest.mark.parametrize("name", CATALOGUE)
def test_a_catalogue_by_another_hand_gives_the_same_poses_from_pendant_values(name: str) -> None:
    (a1, a2, a3), (d1, d4, d6), (zero2, zero3, zero6), signs = CATALOGUE[name]
    rows = [(0, 0, d1, 0), (-90, a1, 0, zero2), (0, a2, 0, zero3), (-90, a3, d4, 0), (90, 0, 0, 0), (-90, 0, d6, zero6)]
    model = read_robot(name)
    hand = next(f for f in ("tool0", "flange") if f in model.tree.names)
    height = rigid_pose(model.nominal, "world", np.zeros((6, 1)))[0][2, 0] if "fanuc" in name else 0.0
    for shown in np.random.default_rng(4).uniform(-np.pi, np.pi, (20, 6)):
        level = shown + np.eye(6)[2] * shown[1] * ("fanuc" in name)
        there = Pose()
        for (alpha, a, d, zero), sign, angle in zip(rows, signs, level, strict=True):
            link = Rotation.from_euler("X", alpha, degrees=True)
            joint = Rotation.from_euler("Z", sign * angle + np.radians(zero))
            there = there @ Pose((link * joint).as_matrix(), np.array([a, 0, 0]) / 1e3 + link.apply([0, 0, d / 1e3]))
        at, turn = rigid_pose(model.nominal, hand, model.controller.to_joints(shown[None]).T)
        np.testing.assert_allclose(at[:, 0] - [0, 0, height], there.translation, atol=1e-12)
        np.testing.assert_allclose(turn[..., 0], there.rotation, atol=1e-12)


@pytest.mark.parametrize("name", ["kuka-kr5", "kuka-kr210-r2700", "kuka-kr270"])
def test_the_flange_of_a_kuka_is_that_of_its_controller(name: str) -> None:
    """Stretched out level a KUKA shows A 0, B 90, C 0 without a tool: z forward, x down."""
    turn = rigid_pose(read_robot(name).nominal, "flange", np.zeros((6, 1)))[1][..., 0]
    np.testing.assert_allclose(turn, Rotation.from_euler("ZYX", [0, 90, 0], degrees=True).as_matrix(), atol=1e-15)


def test_axes_of_an_irb_4600_in_a_study_of_its_calibration() -> None:
    """Points on the axes at zero in mm: Ssz990220/Kinematic_Param_Calibration, init_kine_param.m; it turns y about."""
    points = [(0, 0, 0), (175, 0, 495), (175, 0, 1395), (175, 0, 1570), (1135, 0, 1570), (1270, 0, 1570)]
    directions = np.array([(0, 0, 1), (0, 1, 0), (0, 1, 0), (1, 0, 0), (0, 1, 0), (1, 0, 0)])
    model = read_robot("abb-irb4600-60")
    for joint, point, direction in zip(model.joints, points, directions, strict=True):
        at, turn = rigid_pose(model.nominal, joint, np.zeros((6, 1)))
        axis = turn[..., 0] @ model.tree.joint(joint).unit_axis
        np.testing.assert_allclose(axis, direction, atol=1e-12)
        np.testing.assert_allclose(np.cross(1e3 * at[:, 0] - point, axis), 0, atol=1e-9)


NUT = np.array([7.962, -5.284, -36.250, 77.661, -51.975, -79.273])
FUT = np.array([7.962, -5.284, -36.250, -102.339, 51.975, 100.727])
SHOWN = "X = 1500.000 mm, Y = .000 mm, Z = 360.000 mm,\nW = 135.000 deg, P = -45.000 deg, R = .000 deg"


@pytest.mark.parametrize(("words", "axes"), [("N U T, 0, 0, 0", NUT), ("F U T, 0, 0, 0", FUT)])
def test_what_a_fanuc_controller_showed(words: str, axes: np.ndarray) -> None:
    """Axes and pose of an R-2000iB/165F (One Robotics, The perils of six-axis robots, 2013), three decimals each.

    It has the lengths of the iC; its tool point lies 55 mm before this flange.  Signs, zeros, the coupling of J3 to J2,
    no coupling of the wrist, the world frame, W P R and the meaning of N and F are all in these numbers.
    """
    model = read_robot("fanuc-r2000ic165f")
    tool = Pose(np.eye(3), np.array([0, 0, 0.055]))
    position = f"P[1]{{\nGP1:\nUF : 0, UT : 1, CONFIG : '{words}',\n{SHOWN}\n}};"
    text = f"/PROG A\n/MN\n1:J P[1] 5% FINE ;\n/POS\n{position}\n/END\n"
    program = read_program(text, "fanuc", tools={"1": tool})
    done = compensate(model, program)
    np.testing.assert_allclose(np.degrees(model.controller.to_controller(done.commands.nominal))[0], axes, atol=1e-3)


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
