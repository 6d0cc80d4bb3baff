"""Every slip is planted in the points of a KR 270 that is off by millimetres and must be named; good ones have none."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from oracle.campaigns import moved_frame
from scipy.spatial.transform import Rotation

from elastocal.files.robot.read import read_robot
from elastocal.measure.setup import Setup
from elastocal.model.frames import FrameTree
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.statics.deflection import frame_pose
from elastocal.model.statics.equilibrium import equilibrium
from elastocal.model.statics.observation import Marker
from elastocal.reduction.slips import FAR, likely_slip, placement
from elastocal.spatial.pose import Pose

MARKERS = ("marker1", "marker2", "marker3")


def nominal():
    return read_robot("kuka-kr270")


def poses(count=8, each=2, seed=4):
    model = nominal()
    low = np.array([-1.5, -1.9, 0.3, -2.0, 0.3, -2.0])
    high = np.array([1.5, -0.6, 2.0, 2.0, 1.5, 2.0])
    q = np.random.default_rng(seed).uniform(low, high, (count, model.n))
    return np.repeat(q, each, axis=0)


def setup(q):
    wrench = np.broadcast_to([0, 0, -2000.0, 0, 0, 0], (len(q), 6))
    return Setup(q, AppliedWrenches("tool", wrench), tuple(Marker(m) for m in MARKERS))


def true_points(q):
    """The robot as it is: zeros off by up to 0.2 deg, a link too long by 0.6 mm, read to 20 um."""
    model = nominal()
    zeros = {f"A{i + 1}.offset": 4e-4 * o for i, o in enumerate((5, 9, -8, 3, 6, 4))}
    model = moved_frame(model.with_parameters(zeros), "A3", (6e-4, 0, 0))
    found = setup(q).positions(model)
    return found + 2e-5 * np.random.default_rng(1).normal(size=found.shape)


def found(q, points, differences=True):
    model, where = nominal(), setup(q)
    at = placement(model, where, points, loaded=not differences, shifted=differences)
    return at, likely_slip(model, where, at)


def test_an_arm_that_is_off_by_millimetres_has_no_slip():
    at, slip = found(poses(), true_points(poses()))
    assert 1e-3 < at.rms < 1e-2
    assert not at.far
    assert slip is None


def swapped(q, i, j):
    order = list(range(6))
    order[i], order[j] = j, i
    return q[:, order]


def flipped(q, i):
    return q * np.where(np.arange(6) == i, -1, 1)


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        (lambda q: np.deg2rad(q), "the axes are in rad where the table says deg"),
        (lambda q: swapped(q, 3, 5), "axes A4 and A6 are swapped"),
        (lambda q: swapped(q, 1, 2), "axes A2 and A3 are swapped"),
        (lambda q: flipped(q, 0), "axis A1 has the other sign"),
        (lambda q: flipped(q, 4), "axis A5 has the other sign"),
        (lambda q: np.roll(q, -2, axis=0), "every pose has the axes of the next one"),
        (lambda q: np.roll(q, 2, axis=0), "every pose has the axes of the previous one"),
    ],
)
def test_slips_of_axes_are_named(wrong, text):
    """In the controller's values, which have signs and zeros of their own."""
    q, transmission = poses(), nominal().controller
    at, slip = found(transmission.to_joints(wrong(transmission.to_controller(q))), true_points(q))
    assert at.far
    assert slip.table
    assert slip.text.startswith(text)
    assert slip.rms < 1e-2


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        (lambda p: p[:, :, [0, 2, 1]], "y and z of the points are swapped"),
        (lambda p: p * [1, -1, 1], "y of the points has the other sign"),
        (
            lambda p: p[:, [1, 0, 2]],
            "markers are mixed up: what the table calls marker1 is marker2, marker2 is marker1",
        ),
        (lambda p: p / 25.4, "the points are in inch, not mm"),
        (lambda p: 1e-3 * p, "the points are in m, not mm"),
    ],
)
def test_slips_of_points_are_named(wrong, text):
    _, slip = found(poses(), wrong(true_points(poses())))
    assert slip.table
    assert slip.text.startswith(text)
    assert slip.rms < 1e-2


@pytest.mark.parametrize("differences", [True, False])
@pytest.mark.parametrize("degrees", [90, 180, 5, 89, 91])
def test_a_turned_frame_is_named_with_the_pose_that_is_missing(degrees, differences):
    """The arm itself is off by up to 9 mm; what is said to be left is what the pose that is handed out leaves."""
    turn = Rotation.from_rotvec([0, 0, np.deg2rad(degrees)]).as_matrix()
    points = true_points(poses())
    read = points @ turn.T + [1.0, 2.0, 0.5]
    at, slip = found(poses(), read, differences)
    said = float(re.search(r"turned by (\S+) deg about", slip.text).group(1))
    assert said == pytest.approx(degrees, abs=0.3)
    assert ("shifted by" in slip.text) is not differences
    back = read @ slip.pose.rotation.T + slip.pose.translation
    left = np.sqrt(np.mean(np.sum((back - at.expected) ** 2, axis=2)))
    assert slip.rms == pytest.approx(left, rel=1e-9)
    assert np.abs(back - points).max() < 7e-3
    assert at.turn == pytest.approx(np.deg2rad(degrees), abs=5e-3)


@pytest.mark.parametrize("degrees", [89, 90])
def test_an_exact_arm_shows_a_degree_from_a_right_angle(degrees):
    """Read to 20 um, so that a degree is far more than what is left."""
    q = poses()
    turn = Rotation.from_rotvec([0, 0, np.deg2rad(degrees)]).as_matrix()
    exact = setup(q).positions(nominal()) + 2e-5 * np.random.default_rng(2).normal(size=(len(q), len(MARKERS), 3))
    read = exact @ turn.T + [1.0, 2.0, 0.5]
    at, slip = found(q, read)
    assert f"turned by {degrees} deg about (0, 0, -1)" in slip.text
    assert np.array_equal(slip.pose.rotation, np.round(slip.pose.rotation)) == (degrees == 90)
    back = read @ slip.pose.rotation.T + slip.pose.translation
    assert slip.rms == pytest.approx(np.sqrt(np.mean(np.sum((back - at.expected) ** 2, axis=2))), rel=1e-9)
    assert slip.rms == pytest.approx(np.sqrt(3) * 2e-5, rel=0.2)
    assert np.abs(back - exact).max() < 5e-5


def scara(change):
    """Points of an exact planar arm, read to 20 um, then changed."""
    model = read_robot("scara-ruggeri")
    rng = np.random.default_rng(3)
    q = rng.uniform([-2.0, -2.2], [2.0, 2.2], (20, 2))
    where = Setup(q, AppliedWrenches("gripper", np.zeros((20, 6))), (Marker("gripper"),))
    points = where.positions(model)
    at = placement(model, where, change(points + 2e-5 * rng.normal(size=points.shape)), loaded=True, shifted=False)
    return at, likely_slip(model, where, at)


def test_points_in_a_plane_are_not_mirrored_because_they_fit_their_mirror_image_turned_over():
    at, slip = scara(lambda p: p + np.array([0.004 * 0.66, 0, 0]))
    assert 1e-3 * at.reach < at.rms < FAR * at.reach
    assert slip is None
    at, slip = scara(lambda p: p @ Rotation.from_rotvec([0, 0, 0.5]).as_matrix().T)
    assert at.far
    assert slip.text.startswith("the axes of the points are turned by 28.65 deg about (0, 0, -1)")
    assert slip.rms < 1e-4
    assert scara(lambda p: p * [1, -1, 1])[1].text.startswith("y of the points has the other sign")


def test_points_that_are_mirrored_and_turned_are_named():
    turn = Rotation.from_rotvec([0.3, -0.2, 0.5]).as_matrix()
    _, slip = found(poses(), true_points(poses()) * [1, -1, 1] @ turn.T)
    assert slip.text.startswith("the points are mirrored; read them in right-handed axes")
    assert slip.rms < 1e-2


def test_a_shift_of_all_points_does_not_matter_to_differences_but_to_positions():
    shift = np.array([0.3, -0.2, 0.1])
    moved = true_points(poses()) + shift
    at, slip = found(poses(), moved)
    assert not at.far
    assert slip is None
    assert at.shift == pytest.approx([0.3, -0.2, 0.1], abs=5e-3)
    at, slip = found(poses(), moved, differences=False)
    assert at.far
    assert at.rms == pytest.approx(np.linalg.norm([0.3, -0.2, 0.1]), rel=0.02)
    assert re.match(r"the axes of the points are (turned .+ and )?shifted by 37\d(\.\d)? mm from the base's", slip.text)


def test_a_shift_alone_is_not_called_a_turn():
    q = poses()
    at, slip = found(q, setup(q).positions(nominal()) + np.array([0.04, 0, 0]), differences=False)
    assert at.far
    assert slip.text == "the axes of the points are shifted by 40 mm from the base's"
    assert slip.pose.translation == pytest.approx([-0.04, 0, 0])


def test_a_wrong_link_is_named_but_the_table_is_not_blamed():
    """The file's forearm is 250 mm too short, along its own axis: link4_end explains it alike."""
    q, model = poses(), nominal()
    forearm = model.tree.frame("link3_end").pose.translation
    way = forearm / np.linalg.norm(forearm)
    frames = tuple(
        replace(f, pose=Pose(f.pose.rotation, f.pose.translation - 0.25 * way)) if f.name == "link3_end" else f
        for f in model.tree.frames
    )
    short = replace(model, tree=FrameTree(frames))
    at = placement(short, setup(q), true_points(q), loaded=False, shifted=True)
    slip = likely_slip(short, setup(q), at)
    assert at.far
    assert not slip.table
    named, numbers = re.match(r"frame (\S+) stands \[(.+)\] mm", slip.text).groups()
    assert named == "link3_end"
    assert np.linalg.norm([float(v) for v in numbers.split(",")]) == pytest.approx(250, abs=5)
    assert slip.rms < 1e-2


def test_one_point_that_is_far_off_is_told_from_the_others():
    points = true_points(poses())
    points[5, 1, 2] += 2.0
    at, slip = found(poses(), points)
    assert at.worst == (5, 1)
    assert at.far
    assert slip is None
    assert at.others < at.rms / 3


def test_the_arm_is_rigid_or_sags_as_its_file_says_whichever_is_nearer():
    q, model = poses(), nominal()
    where = setup(q)
    rigid = where.positions(model)
    bent = equilibrium(model, q)
    hangs = np.stack([frame_pose(model, q, bent, m)[0].T for m in MARKERS], axis=1)
    assert np.abs(hangs - rigid).max() > 1e-4
    for points in (rigid, hangs):
        assert placement(model, where, points, loaded=False, shifted=True).rms < 1e-9


def test_the_limit_is_a_share_of_the_reach():
    points = true_points(poses())
    at, _ = found(poses(), points)
    centre = np.array([1.0, 1.0, 1.0])
    grown = points + centre * np.where(np.arange(len(points)) % 2, 1, -1)[:, None, None] * FAR * at.reach / np.sqrt(3)
    far, _ = found(poses(), grown * 1.0)
    assert far.rms == pytest.approx(FAR * at.reach, rel=0.1)
    assert at.reach == pytest.approx(np.linalg.norm(points, axis=2).max(), rel=0.01)
