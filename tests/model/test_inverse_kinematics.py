"""Damped Newton for robots without closed form: with more or fewer joints than a pose has components, along paths."""

from __future__ import annotations

import numpy as np
import pytest
from oracle.mechanics import poses as oracle_poses
from oracle.refusals import refused
from oracle.robots import configurations

from elastocal.files.robot.read import read_robot
from elastocal.model.frames import Frame, FrameTree, JointMotion
from elastocal.model.inverse_kinematics import PoseStatus, Task, along_path, inverse_kinematics, task
from elastocal.model.kinematics import kinematics
from elastocal.model.limits import joint_bounds
from elastocal.model.robot import Robot
from elastocal.spatial.pose import Pose


def desired(model, q):
    k = kinematics(model, q)
    return np.ascontiguousarray(k.position.T), np.ascontiguousarray(np.moveaxis(k.rotation, 0, -1))


def test_the_task_is_what_the_joints_can_move():
    assert task(read_robot("kuka-kr270"), "tool") == Task("pose", (0, 1, 2, 3, 4, 5))
    assert task(read_robot("iiwa14-on-track"), "tool").rows == (0, 1, 2, 3, 4, 5)
    cylindrical = task(read_robot("cylindrical"), "tool")
    assert cylindrical == Task("position", (0, 1, 2))
    assert cylindrical.left_out == ("rx", "ry", "rz")
    assert task(read_robot("scara-ruggeri"), "gripper") == Task("position", (0, 1))
    with refused("infeasible", ("cylindrical", "tool", 3)):
        task(read_robot("cylindrical"), "tool", "pose")


@pytest.mark.parametrize("name", ["kuka-kr270", "iiwa14-on-track", "cylindrical", "scara-ruggeri"])
def test_newton_reaches_poses_from_nearby(name):
    model = read_robot(name)
    what = task(model, model.tool)
    q = 0.8 * configurations(model, 400, seed=8)
    position, rotation = desired(model, q)
    start = q.T + 0.1 * np.random.default_rng(1).uniform(-1, 1, q.T.shape)
    found = inverse_kinematics(model, model.tool, what, position, rotation, start)
    assert found.reached.mean() > 0.97  # some of the poses lie next to a singularity
    for i in np.flatnonzero(found.reached)[:20]:
        pose = oracle_poses(model, found.q[:, i])[model.tool]
        asked = [r for r in what.rows if r < 3]
        np.testing.assert_allclose(pose[asked, 3], position[asked, i], atol=1e-11)
        if len(what.rows) == 6:
            np.testing.assert_allclose(pose[:3, :3], rotation[:, :, i], atol=1e-11)
    if model.n == len(what.rows):
        same = np.abs(found.q - q.T).max(axis=0) < 1e-8
        assert same.mean() > 0.9  # others start nearer to another branch


def test_a_redundant_robot_moves_no_more_than_it_must():
    """Joints to spare stay: the step has no part along motions that leave the tool where it is."""
    model = read_robot("iiwa14-on-track")
    what = task(model, "tool")
    q0 = np.array([[1.0, 0.3, 0.5, -0.2, -1.2, 0.3, 0.8, 0.1]])
    position, rotation = desired(model, q0)
    found = inverse_kinematics(model, "tool", what, position + np.array([[1e-3], [-2e-3], [5e-4]]), rotation, q0.T)
    assert found.reached.all()
    moved = found.q[:, 0] - q0[0]
    still = np.linalg.svd(kinematics(model, q0).jacobian[0])[2][6:]
    assert np.linalg.norm(moved) > 1e-3
    assert np.abs(still @ moved).max() < 5e-3 * np.linalg.norm(moved)


def test_targets_out_of_reach_are_told_and_do_not_disturb_their_neighbours():
    model = read_robot("scara-ruggeri")
    what = task(model, "gripper")
    position = np.array([[0.4, 0.9, 0.3], [0.1, 0.0, -0.2], [0.0, 0.0, 0.0]])
    rotation = np.repeat(np.eye(3)[:, :, None], 3, axis=2)
    start = np.repeat([[0.3], [0.9]], 3, axis=1)
    found = inverse_kinematics(model, "gripper", what, position, rotation, start)
    assert found.reached.tolist() == [True, False, True]
    alone = inverse_kinematics(model, "gripper", what, position[:, 2:], rotation[:, :, 2:], start[:, 2:])
    np.testing.assert_array_equal(found.q[:, 2], alone.q[:, 0])
    # two links of 330 mm: the law of cosines
    reach = np.hypot(0.4, 0.1)
    elbow = np.arccos((reach**2 - 2 * 0.33**2) / (2 * 0.33**2))
    assert abs(found.q[1, 0] - elbow) < 1e-10
    assert abs(found.q[0, 0] - (np.arctan2(0.1, 0.4) - elbow / 2)) < 1e-10


@pytest.mark.parametrize("count", [40, 3000])
def test_a_path_is_followed_from_one_target_to_the_next(count):
    """Track and elbow wander over two metres; anchors and the points between them join without a step."""
    model = read_robot("iiwa14-on-track")
    t = np.linspace(0, 1, count)[:, None]
    q = np.array([0.5, 0.2, 0.4, 0.1, -1.3, 0.2, 0.7, 0.0]) + t * np.array([2.0, 0.6, 0.3, -0.4, 0.3, 0.2, -0.3, 0.5])
    position, rotation = desired(model, q)
    found = along_path(model, "tool", task(model, "tool"), position, rotation, q[0] + 0.02)
    assert found.reached.all()
    p, r = desired(model, found.q.T)
    assert np.abs(p - position).max() < 1e-11
    assert np.abs(r - rotation).max() < 1e-11
    step = np.abs(np.diff(found.q, axis=1)).max(axis=1)
    assert (step < 6.0 / count).all()


def test_joints_that_follow_others_are_moved_by_their_leader():
    frames = (
        Frame("A", "base", Pose(), JointMotion("revolute", (0, 0, 1), (-3, 3))),
        Frame("B", "A", Pose(np.eye(3), [0.4, 0, 0]), JointMotion("revolute", (0, 0, 1), None, "A", -0.5, 0.3)),
        Frame("C", "B", Pose(np.eye(3), [0.3, 0, 0]), JointMotion("prismatic", (1, 0, 0), (0, 1))),
        Frame("tip", "C", Pose(np.eye(3), [0.1, 0, 0])),
    )
    model = Robot("led", FrameTree(frames), "tip")
    q = np.array([[0.7, 0.25]])
    position, rotation = desired(model, q)
    found = inverse_kinematics(model, "tip", task(model, "tip"), position, rotation, q.T + 0.1)
    assert found.reached.all()
    np.testing.assert_allclose(found.q[:, 0], q[0], atol=1e-10)


def test_joints_stop_at_their_limits_and_the_others_take_over():
    """Three links of 0.4 m with an elbow that hardly bends: shoulder and wrist do it; alone or not, the same bits."""
    turn = [JointMotion("revolute", (0, 0, 1), limits) for limits in ((-3, 3), (-0.2, 0.2), (-3, 3))]
    frames = tuple(
        Frame(name, before, Pose(np.eye(3), [0.4 if before != "base" else 0.0, 0, 0]), motion)
        for name, before, motion in zip("ABC", ("base", "A", "B"), turn, strict=True)
    )
    model = Robot("arm", FrameTree((*frames, Frame("tip", "C", Pose(np.eye(3), [0.4, 0, 0])))), "tip")
    place, bounds = Task("position", (0, 1)), joint_bounds(model)
    position = np.array([[0.5, 0.1, 0.9, 2.0, 0.5], [0.6, 0.1, 0.3, 0.0, 0.6], [0.0, 0.0, 0.0, 0.0, 0.1]])
    start = np.repeat([[0.1], [0.1], [0.6]], 5, axis=1)
    free = inverse_kinematics(model, "tip", place, position, None, start)
    assert np.abs(free.q[1, 0]) > 0.3
    found = inverse_kinematics(model, "tip", place, position, None, start, bounds)
    assert abs(found.q[1, 0]) == 0.2
    # an elbow at its limit makes one link of two: the law of cosines
    link, reach = 0.8 * np.cos(0.1), np.hypot(0.5, 0.6)
    wrist = np.arccos((reach**2 - link**2 - 0.4**2) / (2 * link * 0.4))
    assert found.q[2, 0] + found.q[1, 0] / 2 == pytest.approx(wrist, abs=1e-9)
    words = [PoseStatus(int(s)).name for s in found.status]
    assert words == ["REACHED", "JOINT_LIMIT", "REACHED", "OUT_OF_REACH", "REACHED"]
    height = inverse_kinematics(model, "tip", Task("position", (0, 1, 2)), position, None, start, bounds)
    assert PoseStatus(int(height.status[4])) is PoseStatus.OFF_THE_PLANE
    for i in range(5):
        one = slice(i, i + 1)
        alone = inverse_kinematics(model, "tip", place, position[:, one], None, start[:, one], bounds)
        np.testing.assert_array_equal(alone.q[:, 0], found.q[:, i])


def test_how_far_beside_its_plane_a_target_may_lie_goes_with_the_travel_of_slides():
    """A link of 0.5 m on a track of 20 m: 1e-9 of 20.5 m is allowed, as for a target that counts as reached."""
    frames = (
        Frame("A", "base", Pose(), JointMotion("prismatic", (1, 0, 0), (0, 20))),
        Frame("B", "A", Pose(), JointMotion("revolute", (0, 0, 1), (-3, 3))),
        Frame("tip", "B", Pose(np.eye(3), [0.5, 0, 0])),
    )
    model = Robot("track", FrameTree(frames), "tip")
    position = np.array([[3.0, 3.0, 3.0], [0.3, 0.9, 0.9], [1e-8, 1e-8, 4e-8]])
    start = np.repeat([[2.0], [0.3]], 3, axis=1)
    found = inverse_kinematics(model, "tip", Task("position", (0, 1, 2)), position, None, start)
    assert list(found.status) == [PoseStatus.REACHED, PoseStatus.OUT_OF_REACH, PoseStatus.OFF_THE_PLANE]


def test_a_follower_narrows_the_bounds_of_its_leader():
    """B = -0.5 A + 0.3 within -0.7 and 0.5: A within -0.4 and 2."""
    frames = (
        Frame("A", "base", Pose(), JointMotion("revolute", (0, 0, 1), (-3, 3))),
        Frame("B", "A", Pose(np.eye(3), [0.4, 0, 0]), JointMotion("revolute", (0, 0, 1), (-0.7, 0.5), "A", -0.5, 0.3)),
        Frame("tip", "B", Pose(np.eye(3), [0.3, 0, 0])),
    )
    low, high = joint_bounds(Robot("led", FrameTree(frames), "tip"))
    np.testing.assert_allclose([low[0], high[0]], [-0.4, 2.0], atol=1e-12)
