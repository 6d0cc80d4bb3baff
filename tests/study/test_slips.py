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
from elastocal.spatial.pose import Pose
from elastocal.study.placement import FAR, placement
from elastocal.study.slips import likely_slip

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
    at = placement(model, where, points, differences)
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


@pytest.mark.parametrize("degrees", [90, 180, 5])
def test_a_turned_frame_is_named_with_the_pose_that_is_missing(degrees):
    turn = Rotation.from_rotvec([0, 0, np.deg2rad(degrees)]).as_matrix()
    points = true_points(poses())
    at, slip = found(poses(), points @ turn.T + [1.0, 2.0, 0.5])
    assert f"by {degrees} deg about (0, 0, -1)" in slip.text or degrees != 90
    back = (points @ turn.T + [1.0, 2.0, 0.5]) @ slip.pose.rotation.T + slip.pose.translation
    assert np.abs(back - points).max() < 0.02
    assert at.turn == pytest.approx(np.deg2rad(degrees), abs=5e-3)


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
    assert "shifted by 37" in slip.text


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
    at = placement(short, setup(q), true_points(q), True)
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
        assert placement(model, where, points, True).rms < 1e-9


def test_the_limit_is_a_share_of_the_reach():
    points = true_points(poses())
    at, _ = found(poses(), points)
    centre = np.array([1.0, 1.0, 1.0])
    grown = points + centre * np.where(np.arange(len(points)) % 2, 1, -1)[:, None, None] * FAR * at.reach / np.sqrt(3)
    far, _ = found(poses(), grown * 1.0)
    assert far.rms == pytest.approx(FAR * at.reach, rel=0.1)
    assert at.reach == pytest.approx(np.linalg.norm(points, axis=2).max(), rel=0.01)
