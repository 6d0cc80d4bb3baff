"""Circle-point analysis of a simulated arm whose axes are not where its file says."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from oracle.draws import draws
from oracle.refusals import refused
from scipy.spatial.transform import Rotation

from elastocal.files.robot.read import read_robot
from elastocal.model.frames import FrameTree, dh_frames
from elastocal.model.kinematics import kinematics
from elastocal.model.robot import Robot
from elastocal.model.transmission import Transmission
from elastocal.procedures.circle_points import CirclePoints, circle_points, dh_rows
from elastocal.procedures.circle_points.axis import Sweep, joint_axis, nominal_axes
from elastocal.procedures.circle_points.frame_errors import with_frame_errors
from elastocal.spatial.pose import Pose

HOME = np.radians([10.0, 20, -15, 25, 40, 15])
INSTRUMENT = Pose(Rotation.from_euler("xyz", [3, -5, 70], degrees=True).as_matrix(), np.array([2.0, 1.0, 0.4]))
TARGETS = np.array([[0.1, 0, 0.15], [-0.08, 0.05, 0.12], [0.0, -0.1, 0.2], [0.0, 2e-5, 0.1]])
"""On the flange; the last one lies 0.02 mm beside axis 6."""


def moved(robot: Robot, seed: int = 0) -> Robot:
    """The robot with every axis but the first tilted and shifted across itself."""
    rng = np.random.default_rng(seed)
    frames = []
    for frame in robot.tree.frames:
        if frame.joint is not None and frame.name != robot.joints[0]:
            axis = np.array(frame.joint.axis, dtype=float)
            across = np.eye(3) - np.outer(axis, axis)
            turn = Rotation.from_rotvec(across @ rng.normal(0, 1e-3, 3)).as_matrix()
            error = Pose(turn, across @ rng.normal(0, 5e-4, 3))
            frame = replace(frame, pose=frame.pose @ error)
        frames.append(frame)
    return replace(robot, tree=replace(robot.tree, frames=tuple(frames)))


def sweeps_of(robot: Robot, noise: float = 0.0, seed: int = 1, gain: float = 1.0) -> list[Sweep]:
    rng = np.random.default_rng(seed)
    out = []
    for k, joint in enumerate(robot.joints):
        q = np.repeat(HOME[None], 13, axis=0)
        q[:, k] += np.linspace(-0.7, 0.7, 13)
        real = HOME + (q - HOME) * gain
        at = kinematics(robot, real, "flange")
        points = at.position[:, None] + np.einsum("nij,kj->nki", at.rotation, TARGETS)
        points = points @ INSTRUMENT.rotation.T + INSTRUMENT.translation + rng.normal(0, noise, points.shape)
        out.append(Sweep(joint, {f"smr{j}": points[:, j] for j in range(len(TARGETS))}, q))
    return out


def laid(robot: Robot, found: CirclePoints) -> Robot:
    """The robot file with the frame errors put in."""
    by_joint = {e.joint: e for e in found.errors}
    frames = []
    for frame in robot.tree.frames:
        error = by_joint.get(frame.name)
        if error is not None:
            motion = Pose(Rotation.from_rotvec(error.turn).as_matrix(), np.array(error.shift))
            frame = replace(frame, pose=motion @ frame.pose)
        frames.append(frame)
    return replace(robot, tree=replace(robot.tree, frames=tuple(frames)))


def test_without_noise_the_corrected_file_is_the_true_robot() -> None:
    robot = read_robot("abb-irb4600-60").nominal
    true = moved(robot)
    found = circle_points(robot, sweeps_of(true))
    new = laid(robot, found)
    there = np.radians([[-30.0, 45, 10, -60, -50, 90]])
    one, two = (kinematics(r, np.concatenate([there, HOME[None]]), "flange") for r in (true, new))
    gap = np.linalg.norm(np.diff(one.position, axis=0)), np.linalg.norm(np.diff(two.position, axis=0))
    assert abs(gap[0] - gap[1]) < 2e-6  # the file alone is off by 2 mm
    file = kinematics(robot, np.concatenate([there, HOME[None]]), "flange")
    assert abs(np.linalg.norm(np.diff(file.position, axis=0)) - gap[0]) > 5e-5
    lines = nominal_axes(true, HOME)
    for axis, (direction, _) in zip(found.axes, lines, strict=True):
        np.testing.assert_allclose(axis.axis, INSTRUMENT.rotation @ direction, atol=1e-8)


def test_angles_and_distances_of_neighbours() -> None:
    robot = read_robot("abb-irb4600-60").nominal
    found = circle_points(robot, sweeps_of(robot))
    said = {(n.first, n.second): n for n in found.neighbours}
    assert np.degrees(said["axis1", "axis2"].angle) == pytest.approx(90, abs=1e-6)
    assert said["axis1", "axis2"].distance == pytest.approx(0.175, abs=1e-8)
    assert said["axis2", "axis3"].distance == pytest.approx(0.9, abs=1e-7)
    assert said["axis2", "axis3"].angle == pytest.approx(0, abs=1e-6)
    assert said["axis4", "axis5"].distance == pytest.approx(0, abs=1e-8)
    assert said["axis3", "axis4"].nominal_distance == pytest.approx(0.175, abs=1e-9)


def test_a_target_near_the_axis_spoils_nothing() -> None:
    robot = read_robot("abb-irb4600-60").nominal
    sweep = sweeps_of(robot, noise=2e-5)[5]
    with_it, _ = joint_axis(sweep, 5)
    bare = replace(sweep, points={k: v for k, v in sweep.points.items() if k != "smr3"})
    without, _ = joint_axis(bare, 5)
    assert min(with_it.radii) < 1e-4
    assert with_it.tilt_sd <= 1.05 * without.tilt_sd
    assert np.linalg.norm(np.cross(with_it.axis, without.axis)) < 6 * without.tilt_sd


def test_standard_deviations_hold_the_truth() -> None:
    robot = read_robot("abb-irb4600-60").nominal
    scores, count = [], draws(4, 50)
    for seed in range(count):
        found = circle_points(robot, sweeps_of(robot, noise=2e-5, seed=seed))
        for n in found.neighbours:
            if (n.first, n.second) == ("axis1", "axis2"):
                scores += [(n.angle - np.pi / 2) / n.angle_sd, (n.distance - 0.175) / n.distance_sd]
            if (n.first, n.second) == ("axis2", "axis3"):
                scores.append((n.distance - 0.9) / n.distance_sd)
    assert np.mean(np.square(scores)) == pytest.approx(1, abs=3 * np.sqrt(2 / len(scores)))


def test_ratios_and_couplings_from_known_steps() -> None:
    robot = read_robot("abb-irb4600-60").nominal
    coupled = np.eye(6)
    coupled[4, 3], coupled[5, 4], coupled[1, 1] = 0.01, -0.02, 1.003
    sweeps = []
    for sweep in sweeps_of(robot):
        real = HOME + (sweep.q - HOME) @ coupled.T
        at = kinematics(robot, real, "flange")
        points = at.position[:, None] + np.einsum("nij,kj->nki", at.rotation, TARGETS)
        points = points @ INSTRUMENT.rotation.T + INSTRUMENT.translation
        sweeps.append(replace(sweep, points={f"smr{j}": points[:, j] for j in range(len(TARGETS))}))
    found = circle_points(robot, sweeps)
    assert found.axes[1].ratio == pytest.approx(1.003, abs=1e-6)
    np.testing.assert_allclose(found.couplings, coupled, atol=2e-3)
    plain = circle_points(robot, sweeps_of(robot))
    np.testing.assert_allclose(plain.couplings, np.eye(6), atol=1e-6)


def test_wrong_sweeps_in_one_sentence() -> None:
    robot = read_robot("abb-irb4600-60").nominal
    sweeps = sweeps_of(robot)
    with refused("few-sweeps"):
        circle_points(robot, sweeps[:1])
    other = replace(sweeps[1], q=sweeps[1].q + np.radians([5.0, 0, 0, 0, 0, 0]))
    with refused("other-home", "axis1"):
        circle_points(robot, [sweeps[0], other, sweeps[2]])
    with refused("implausible", ("axis2", "axis1")):
        circle_points(robot, [replace(sweeps[0], joint="axis2"), sweeps[2]])
    short = replace(sweeps[0], q=HOME + (sweeps[0].q - HOME) * 0.005)
    with refused("short-sweep", "axis1"):
        circle_points(robot, [short, sweeps[2]])


def dh_robot(found: CirclePoints) -> Robot:
    """A robot of the DH table, with a last joint that nothing follows."""
    frames = dh_frames(found.dh, "standard")
    names = tuple(row.name for row in found.dh)
    return Robot(
        name="dh", tree=FrameTree(frames), tool=frames[-1].name, gravity=np.zeros(3),
        transmission=Transmission.identity(names),
    )  # fmt: skip


def test_the_dh_table_has_the_axes_that_were_measured() -> None:
    """Forward through ``model.frames``: lines of the table at home against the measured ones, in base axes."""
    robot = read_robot("abb-irb4600-60")
    found = circle_points(robot, sweeps_of(moved(robot)))
    assert [row.beta is not None for row in found.dh] == [False, True, False, False, False]
    assert max(abs(r.a - n.a) for r, n in zip(found.dh, found.nominal_dh, strict=True)) > 1e-5
    model = dh_robot(found)
    lines = nominal_axes(model, found.home[:5])
    first = found.axes[0]
    start = first.centre + first.axis * float(first.axis @ (found.base.translation - first.centre))
    x = found.base.rotation[:, 0] - first.axis * float(first.axis @ found.base.rotation[:, 0])
    x /= np.linalg.norm(x)
    place = Pose(np.column_stack([x, np.cross(first.axis, x), first.axis]), start)
    for (direction, point), axis in zip(lines, found.axes[:5], strict=True):
        np.testing.assert_allclose(place.rotation @ direction, axis.axis, atol=1e-9)
        off = place.rotation @ point + place.translation - axis.centre
        np.testing.assert_allclose(off - axis.axis * float(off @ axis.axis), 0, atol=1e-9)
    end = kinematics(model, found.home[None, :5], model.tool)
    last = found.axes[5]
    np.testing.assert_allclose(place.rotation @ end.rotation[0][:, 2], last.axis, atol=1e-9)


def test_the_dh_table_of_the_robot_file_is_the_known_one() -> None:
    """IRB 4600-60/2.05: a 175, 900, 175, 0, 0 mm, d 495, -, 0, 960, 0 mm, alpha -90, 0, -90, 90, -90 deg."""
    rows = circle_points(read_robot("abb-irb4600-60"), sweeps_of(read_robot("abb-irb4600-60"))).nominal_dh
    np.testing.assert_allclose([1e3 * r.a for r in rows], [175, 900, 175, 0, 0], atol=1e-6)
    np.testing.assert_allclose([1e3 * rows[i].d for i in (0, 2, 3, 4)], [495, 0, 960, 0], atol=1e-6)
    np.testing.assert_allclose(np.abs(np.degrees([r.alpha for r in rows])), [90, 0, 90, 90, 90], atol=1e-9)
    assert rows[1].beta == pytest.approx(0, abs=1e-12)


def test_an_axis_along_x_of_a_turned_base_takes_y() -> None:
    """The first x is across axis 1, whichever way the base lies."""
    base = Pose(np.array([[0.0, 0, 1], [1, 0, 0], [0, 1, 0]]), np.zeros(3))
    x, y = base.rotation[:, 0], base.rotation[:, 1]
    rows, _ = dh_rows(("1", "2"), [(x, np.zeros(3)), (y, np.array([0.0, 0, 0.5]))], np.zeros(2), base)
    assert np.isfinite([rows[0].a, rows[0].d, rows[0].alpha, rows[0].theta]).all()


@pytest.mark.parametrize(("word", "sign", "zero"), [("axis3 reversed", -1, 0), ("axis5 reversed", -1, 0),
                                                     ("axis3 -90 deg", 1, 90)])  # fmt: skip
def test_a_joint_that_turns_the_other_way_or_has_another_zero_is_named(word: str, sign: int, zero: float) -> None:
    robot = read_robot("abb-irb4600-60").nominal
    joint = int(word[4]) - 1
    wrong = []
    for sweep in sweeps_of(moved(robot), noise=2e-5):
        q = sweep.q.copy()
        q[:, joint] = sign * q[:, joint] + np.radians(zero)
        wrong.append(replace(sweep, q=q))
    with refused("implausible", word):
        circle_points(robot, wrong)


def test_errors_that_are_none_go_into_no_robot_file() -> None:
    robot = read_robot("abb-irb4600-60").nominal
    wrong = []
    for sweep in sweeps_of(robot):
        q = sweep.q.copy()
        q[:, 2] += 0.5
        wrong.append(replace(sweep, q=q))
    found = circle_points(robot, wrong)
    with refused("implausible", "axis4"):
        with_frame_errors(robot, found.errors, "test")
