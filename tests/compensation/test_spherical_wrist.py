"""Closed-form inverse kinematics: against forward kinematics, Pinocchio and a hand calculation; all branches."""

from __future__ import annotations

import numpy as np
import pytest
from oracle.draws import draws
from oracle.robots import configurations

from elastocal.compensation import spherical_wrist as sw
from elastocal.compensation.branches import selected
from elastocal.compensation.posts.krl import Krl
from elastocal.compensation.program import Target
from elastocal.compensation.spherical_wrist import WristGeometry, wrist_geometry
from elastocal.compensation.targets import (
    Nominal,
    Targets,
    all_branches,
    nearest_branch,
    nearest_turns,
    references_on,
    unwrapped,
)
from elastocal.files.robot.read import read_robot
from elastocal.model.frames import Frame, FrameTree, JointMotion
from elastocal.model.inverse_kinematics import task
from elastocal.model.kinematics import kinematics, rigid_pose
from elastocal.model.robot import Robot
from elastocal.spatial.pose import Pose

ARMS = ("kuka-kr270", "kuka-kr5", "fanuc-m710ic50")


def odd_arm(seed: int) -> Robot:
    """A spherical-wrist arm put down anywhere, zeros anywhere, senses of axes at random, offset sideways."""
    rng = np.random.default_rng(seed)
    frames = [Frame("stand", "base", Pose.from_xyz_rpy(rng.uniform(-1, 1, 3), tuple(rng.uniform(-3, 3, 3))))]
    axes = ((0, 0, 1), (0, 1, 0), (0, 1, 0), (1, 0, 0), (0, 1, 0), (1, 0, 0))
    offsets = ((0, 0, 0.4), (0.2, 0.05, 0.1), (0.1, 0.03, 0.9), (0.3, -0.12, 0.1), (0.5, 0, 0), (0, 0, 0))
    parent = "stand"
    for i, (axis, offset) in enumerate(zip(axes, offsets, strict=True)):
        turn = np.array(axis) * rng.uniform(-2, 2)  # where the joint's zero is
        sense = rng.choice([-1.0, 1.0])
        frames.append(Frame(f"z{i}", parent, Pose.from_xyz_rpy(offset, tuple(turn))))
        frames.append(
            Frame(f"J{i + 1}", f"z{i}", Pose(), JointMotion("revolute", tuple(sense * np.array(axis)), (-3.1, 3.1)))
        )
        parent = f"J{i + 1}"
    frames.append(Frame("tip", parent, Pose.from_xyz_rpy(rng.uniform(-0.3, 0.3, 3), tuple(rng.uniform(-3, 3, 3)))))
    return Robot(f"odd-{seed}", FrameTree(tuple(frames)), "tip")


def geometry(model: Robot) -> WristGeometry:
    found = wrist_geometry(model, model.tool)
    assert isinstance(found, WristGeometry), found
    return found


def poses(model, q):
    k = kinematics(model, q)
    return np.ascontiguousarray(k.position.T), np.ascontiguousarray(np.moveaxis(k.rotation, 0, -1))


@pytest.mark.parametrize(
    "model", [*(read_robot(n) for n in ARMS), *(odd_arm(s) for s in range(4))], ids=lambda m: m.name
)
def test_every_branch_reaches_the_pose_and_one_of_them_is_where_it_came_from(model):
    arm = geometry(model)
    q = configurations(model, 8000, seed=2)
    position, rotation = poses(model, q)
    found = all_branches(arm, position, rotation, q.T)
    margins = [sw.wrist_joints(arm, position, rotation, branch, q[:, 3]).margins for branch in range(8)]
    safe = margins[0].min(axis=0) > 1e-4
    own = sw.branch_of(arm, q.T)
    assert set(own) == set(range(8)) or model.name in ARMS
    reached = np.isfinite(found[:, 0])
    assert reached[own, np.arange(len(q))].all()
    back = np.take_along_axis(found, own[None, None, :], axis=0)[0]
    np.testing.assert_allclose(back[:, safe], q.T[:, safe], rtol=0, atol=1e-9)
    for branch in range(8):
        ok = reached[branch]
        assert ok.sum() > 1000
        p, r = poses(model, found[branch][:, ok].T)
        assert np.abs(p - position[:, ok]).max() < 2e-13
        assert np.abs(r - rotation[:, :, ok]).max() < 2e-13
        clear = ok & (margins[branch].min(axis=0) > 1e-6)
        assert (sw.branch_of(arm, found[branch][:, clear]) == branch).all()


def test_a_hundred_thousand_poses_of_pinocchio():
    """Each by Pinocchio's forward kinematics of the same frames, solved on its branch; a million in ``make proof``."""
    pin = pytest.importorskip("pinocchio")
    model = read_robot("kuka-kr270")
    other = pin.Model()
    parent, place = 0, pin.SE3.Identity()
    for frame in model.tree.path("tool"):
        place = place * pin.SE3(np.array(frame.pose.rotation), np.array(frame.pose.translation))
        if frame.joint is not None:
            kind = pin.JointModelRevoluteUnaligned(np.array(frame.joint.axis, dtype=float))
            parent, place = other.addJoint(parent, kind, place, frame.name), pin.SE3.Identity()
    data, arm = other.createData(), geometry(model)
    last = data.oMi[parent]
    for seed in range(draws(1, 10)):
        q = configurations(model, 100_000, seed=100 + seed)
        at, turn = np.empty((len(q), 3)), np.empty((len(q), 3, 3))
        for i, row in enumerate(q):
            pin.forwardKinematics(other, data, row)
            at[i], turn[i] = last.translation, last.rotation
        position = np.ascontiguousarray((at + turn @ place.translation).T)
        rotation = np.ascontiguousarray(np.moveaxis(turn @ place.rotation, 0, -1))
        found = sw.wrist_joints(arm, position, rotation, sw.branch_of(arm, q.T), q.T[3])
        assert found.reached.all()
        turned = nearest_turns(found.q, q.T, arm.limits)
        off = np.abs(turned - q.T).max(axis=0)
        assert (off * found.margins.min(axis=0)).max() < 1e-13  # a joint is known as well as its singularity lets it
        p, r = poses(model, turned.T)
        assert np.abs(p - position).max() < 1e-13
        assert np.abs(r - rotation).max() < 1e-13


def test_a_hand_calculation_of_the_kr270():
    """Upper arm upright, forearm level, hand straight: wrist centre at x = 350 + 1200, z = 675 + 1150 + (-41)."""
    model = read_robot("kuka-kr270")
    arm = geometry(model)
    pose = Pose(np.eye(3), [0.350 + 1.200 + 0.240 + 0.200, 0.100, 0.675 + 1.150 - 0.041])
    reference = np.deg2rad([5.0, -85.0, 80.0, 0.0, 5.0, 0.0])
    branch = nearest_branch(arm, pose.translation[:, None], pose.rotation[:, :, None], reference)
    found = sw.wrist_joints(arm, pose.translation[:, None], pose.rotation[:, :, None], branch, np.zeros(1))
    np.testing.assert_allclose(np.rad2deg(found.q[:, 0]), [0, -90, 90, 0, 0, 0], atol=1e-10)
    assert found.margins[2, 0] < 1e-12
    assert abs(arm.upper - 1.15) < 1e-12
    assert abs(arm.fore - np.hypot(1.2, 0.041)) < 1e-12


@pytest.mark.parametrize("tilt", [0.0, 1e-14, 1e-10, 1e-7, 1e-4])
def test_near_the_wrist_singularity_the_pose_keeps_all_digits(tilt):
    model = read_robot("kuka-kr5")
    arm = geometry(model)
    q = np.array([[0.3, -1.2, 1.4, 0.7, tilt, -0.9]])
    position, rotation = poses(model, q)
    found = sw.wrist_joints(arm, position, rotation, int(sw.branch_of(arm, q.T)[0]), q.T[3])
    p, r = poses(model, found.q.T)
    assert np.abs(p - position).max() < 1e-14
    assert np.abs(r - rotation).max() < 1e-14
    assert abs(found.q[3, 0] + found.q[5, 0] - (0.7 - 0.9)) < 1e-13
    if tilt == 0.0:
        assert abs(found.q[3, 0] - 0.7) < 1e-15  # any would do: the reference's is kept


def test_out_of_reach_and_fully_stretched():
    model = read_robot("kuka-kr270")
    arm = geometry(model)
    straight = np.array([[0.2, -0.5, -arm.beta, 0.3, 0.4, 0.1]])
    position, rotation = poses(model, straight)
    away = rotation[:, 0, :] * 0
    away[:] = (position - np.array([[0.35 * np.cos(-0.2)], [0.35 * np.sin(-0.2)], [0.675]])) * 1e-3
    found = sw.wrist_joints(arm, np.hstack([position, position + away]), np.repeat(rotation, 2, axis=2), 0, np.zeros(2))
    assert found.reached.tolist() == [True, False]
    assert np.isnan(found.q[:, 1]).all()
    np.testing.assert_allclose(found.q[:3, 0], straight[0, :3], atol=2e-7)


def test_a_wrist_that_passes_axis_1_sideways_cannot_come_closer():
    """Its centre stays on or outside a cylinder about axis 1; at the cylinder both shoulders are one."""
    model = odd_arm(1)
    arm = geometry(model)
    assert abs(arm.side) > 0.01
    up, foot = np.array(arm.basis[2]), np.array(arm.foot) + 0.5 * np.array(arm.basis[2])
    across = np.array(arm.basis[0])
    for share, reached in ((0.9, False), (1.0 + 1e-9, True), (1.1, True)):
        centre = foot + 0.3 * up + share * abs(arm.side) * across
        tool = centre - np.array(arm.wrist)
        found = [sw.wrist_joints(arm, tool[:, None], np.eye(3)[:, :, None], b, np.zeros(1)) for b in (0, 1)]
        assert [bool(f.reached[0]) for f in found] == [reached, reached]
        if share == 1.1:
            expected = np.sqrt(1.1**2 - 1) * abs(arm.side) / (arm.upper + arm.fore)
            assert abs(found[0].margins[0, 0] / expected - 1) < 1e-9


def test_why_other_robots_have_no_closed_form():
    assert "six revolute" in str(wrist_geometry(read_robot("scara-ruggeri"), "gripper"))
    assert "six revolute" in str(wrist_geometry(read_robot("iiwa14-on-track"), "tool"))
    model = read_robot("kuka-kr5")
    assert "does not lie beyond" in str(wrist_geometry(model, "A3"))

    def changed(name, pose=None, axis=None):
        frames = []
        for f in model.tree.frames:
            motion = f.joint if axis is None or f.name != name else JointMotion("revolute", axis)
            frames.append(Frame(f.name, f.parent, f.pose @ pose if pose and f.name == name else f.pose, motion))
        return Robot("changed", FrameTree(tuple(frames)), "tool")

    assert "no common point: the nearest is 1.33 mm off" in str(
        wrist_geometry(changed("A6", Pose(np.eye(3), [0, 0, 2e-3])), "tool")
    )
    assert "A2 and A3 are not parallel" in str(wrist_geometry(changed("A3", axis=(0, 1, 0.01)), "tool"))
    assert "A1 and A2 are not at right angles" in str(wrist_geometry(changed("A1", axis=(0, 0.01, -1)), "tool"))
    assert "A4 and A5 are not at right angles" in str(wrist_geometry(changed("A4", axis=(-1, 0.01, 0)), "tool"))


def test_kuka_status_names_the_branch():
    """Bits by what they mean: over the head, A3 beyond stretched, A5 negative."""
    arm = geometry(read_robot("kuka-kr270"))
    stretched = -arm.beta
    for status, q in {
        0b010: [0, -1.5, 1.5, 0, 0.5, 0],
        0b110: [0, -1.5, 1.5, 0, -0.5, 0],
        0b000: [0, -0.6, stretched - 0.4, 0, 0.5, 0],
        0b011: [0, -2.4, 0.1, 0, 0.5, 0],
        0b101: [0, -2.4, stretched - 0.1, 0, -0.5, 0],
    }.items():
        model, joints = read_robot("kuka-kr270"), np.array(q, dtype=float)
        said = Krl().branch(Target("p.src", 1, "", "pose", "0", "0", f"S {status}"))
        at, turn = rigid_pose(model.nominal, model.tool, joints[:, None])
        found = selected(model, geometry(model), at[:, 0], turn[:, :, 0], said)
        np.testing.assert_allclose(found, joints, atol=1e-9, err_msg=str(status))


def test_turns_follow_the_reference_and_stay_within_limits():
    limits = ((-350 / 57.29577951308232, 350 / 57.29577951308232), None)
    angles = np.deg2rad([[10.0, 10.0, 10.0, 170.0], [10.0, 10.0, 10.0, 10.0]])
    reference = np.deg2rad([[0.0, 300.0, 340.0, -340.0], [0.0, 700.0, -340.0, 340.0]])
    out = np.rad2deg(nearest_turns(angles, reference, limits))
    # 370 next to 300 and to 340 is beyond 350 and goes back to 10; -190 is next to -340
    np.testing.assert_allclose(out, [[10, 10, 10, -190], [10, 730, -350, 370]], atol=1e-9)


def test_a_path_turns_on_past_half_a_turn_and_over_gaps():
    true = np.linspace(0.0, 11.0, 60)
    shown = (true + np.pi) % (2 * np.pi) - np.pi
    shown[20:23] = np.nan
    out = unwrapped(shown[None], np.array([0.1]))[0]
    assert np.isnan(out[20:23]).all()
    known = ~np.isnan(out)
    np.testing.assert_allclose(out[known], true[known], atol=1e-12)


def test_a_path_is_solved_in_chunks_as_in_one():
    model = read_robot("kuka-kr270")
    t = np.linspace(0, 1, 500)[:, None]
    q = np.array([0.2, -1.2, 1.5, -3.0, 0.8, -5.0]) + t * np.array([0.5, 0.2, 0.3, 6.2, 0.3, 9.0])
    k = kinematics(model, q)
    inverse = Nominal(model, "tool", task(model, "tool"))
    along = Targets("tool", k.position, k.rotation, q[0] + 0.05)
    whole = np.concatenate([f.q for _, _, _, f in inverse.chunks(along, 500)], axis=1)
    parts = np.concatenate([f.q for _, _, _, f in inverse.chunks(along, 37)], axis=1)
    np.testing.assert_array_equal(whole, parts)
    np.testing.assert_allclose(whole.T, q, atol=1e-11)
    own = Targets("tool", k.position, k.rotation, q + 0.1)
    np.testing.assert_allclose(next(inverse.chunks(own, 500))[3].q.T, q, atol=1e-11)


def test_past_a_limit_and_back_does_not_depend_on_chunks():
    """A6 runs to 352 deg, beyond its 350, and back: the same values however the path is cut."""
    model = read_robot("kuka-kr270")
    turn = np.deg2rad(352.0 - 40.0 * np.abs(np.linspace(-1, 1, 101)))
    q = np.tile([0.2, -1.2, 1.5, 0.3, 0.8, 0.0], (101, 1))
    q[:, 5] = turn
    k = kinematics(model, q)
    inverse = Nominal(model, "tool", task(model, "tool"))
    along = Targets("tool", k.position, k.rotation, q[0])
    found = [np.concatenate([f.q for _, _, _, f in inverse.chunks(along, n)], axis=1)[5] for n in (101, 50, 51)]
    expected = np.where(turn > np.deg2rad(350.0), turn - 2 * np.pi, turn)
    for one in found:
        np.testing.assert_allclose(one, expected, atol=1e-11)
    assert (expected < 0).sum() == 5


def test_references_on_stated_branches():
    model = read_robot("kuka-kr5")
    arm = geometry(model)
    q = configurations(model, 40, seed=9)
    k = kinematics(model, q)
    targets = Targets("tool", k.position, k.rotation, q[0])
    near = np.zeros(6)
    found = references_on(arm, targets, sw.branch_of(arm, q.T), near)
    turns = (found - q) / (2 * np.pi)
    np.testing.assert_allclose(turns, np.rint(turns), atol=1e-9)
    assert (np.abs(found) <= np.pi + 1e-9).all()
    assert np.abs(np.rint(turns)).max() == 1  # A4 and A6 were beyond half a turn
