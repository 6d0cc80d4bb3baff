"""Drives to pose and force and back: closed form of the planar arm, and round trips on other robots."""

from __future__ import annotations

import numpy as np
import pytest
from oracle.contacts import TABLE_2, planar_inverse, planar_jacobian, planar_tip
from oracle.mechanics import generalised_forces, poses
from oracle.refusals import refused
from oracle.robots import random_robot

from elastocal.files.robot.read import read_robot
from elastocal.model.compliant.gripper_backlash import GripperBacklash
from elastocal.model.compliant.joint_backlash import JointBacklash
from elastocal.model.compliant.joint_compliance import JointCompliance
from elastocal.model.frames import Frame, FrameTree, JointMotion
from elastocal.model.inverse_kinematics import PoseStatus
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.robot import Robot
from elastocal.model.statics import kinetostatics
from elastocal.model.statics.equilibrium import Status, equilibrium
from elastocal.model.statics.flexibility import flexible
from elastocal.model.statics.holding import holding_torque
from elastocal.model.statics.kinetostatics import direct, held_at, inverse, joint_loads
from elastocal.spatial.pose import Pose

FORCES = np.array([[30.0, -20.0], [-15.0, 35.0], [25.0, 30.0]])
POINTS = np.array([[0.3, 0.25], [0.1, 0.45], [-0.2, 0.3]])


def scara():
    return read_robot("scara-ruggeri").with_parameters(list(TABLE_2))


def by_hand(point, force):
    """002 eq. (6)-(8) the physical way round: gripper first, then torques at the links, then the joints."""
    values = np.array(TABLE_2)
    p, g = values[6:9], values[9:12]
    rigid = point - p[0] * force - g[0] * force / np.linalg.norm(force)
    links = planar_inverse(values, rigid)
    load = planar_jacobian(values, links).T @ force
    return links - p[1:] * load - g[1:] * np.sign(load), -load


def in_space(planar):
    return np.concatenate([planar, np.zeros((len(planar), 1))], axis=1)


def test_the_scara_backwards_in_closed_form():
    found = inverse(scara(), in_space(POINTS), in_space(FORCES), [0.5, 1.2])
    assert set(found.status) == {PoseStatus.REACHED}
    for i in range(3):
        q, torque = by_hand(POINTS[i], FORCES[i])
        np.testing.assert_allclose(found.q[i], q, rtol=0, atol=1e-11)
        np.testing.assert_allclose(found.torque[i], torque, rtol=1e-9)
    np.testing.assert_array_equal(found.free, 0)
    assert np.abs(found.left).max() < 1e-12


def test_the_scara_forwards_in_closed_form():
    pairs = [by_hand(p, f) for p, f in zip(POINTS, FORCES, strict=True)]
    found = direct(scara(), [q for q, _ in pairs], [t for _, t in pairs])
    np.testing.assert_allclose(found.force[:, :2], FORCES, rtol=1e-9)
    np.testing.assert_allclose(found.position[:, :2], POINTS, rtol=0, atol=1e-12)
    assert np.isnan(found.force[:, 2]).all()  # no joint feels a force along its axis
    assert np.abs(found.left).max() < 1e-9


def test_compliance_and_backlash_push_along_the_force():
    """Against the rigid arm at the same joint values: the loaded tip has moved along the force on it."""
    found = inverse(scara(), in_space(POINTS), in_space(FORCES), [0.5, 1.2])
    for i in range(3):
        moved = POINTS[i] - planar_tip(TABLE_2, found.q[i])
        assert moved @ FORCES[i] / np.linalg.norm(FORCES[i]) > 9.5e-5 + 1.1e-5 * np.linalg.norm(FORCES[i])


def test_six_joints_there_and_back_with_a_pose():
    base = read_robot("fanuc-m710ic50").with_elements(JointBacklash(joint="J2", gap=1e-4))
    model = base.with_parameters({"flange.payload_m": 30.0, "flange.payload_mx": 2.0})
    q = np.array([[0.3, 0.4, -0.2, 0.5, 0.7, -0.3], [-0.5, 0.2, 0.4, -0.6, 0.9, 0.2]])
    force = np.array([[100.0, -300.0, 200.0], [-250.0, 80.0, 400.0]])
    bent = equilibrium(model, q, [AppliedWrenches("tool", np.concatenate([force, 0 * force], axis=1))])
    at = [poses(model, q[i], bent.theta[i])["tool"] for i in range(2)]
    position, rotation = np.array([p[:3, 3] for p in at]), np.array([p[:3, :3] for p in at])
    found = inverse(model, position, force, q + 0.1, "tool", rotation)
    np.testing.assert_allclose(found.q, q, rtol=0, atol=1e-9)
    joints = [i for i, d in enumerate(model.chain.dofs) if d.axis == "joint"]
    for i in range(2):
        load = generalised_forces(model, q[i], bent.theta[i], [("tool", [*force[i], 0, 0, 0], False)])
        np.testing.assert_allclose(found.torque[i], -load[joints], rtol=1e-7)
    back = direct(model, q, found.torque, "tool")
    np.testing.assert_allclose(back.force, force, rtol=1e-7)
    np.testing.assert_allclose(back.rotation, rotation, rtol=0, atol=1e-10)
    assert back.left.max() < 1e-6


def test_torques_that_no_force_explains_are_left_over():
    model = read_robot("fanuc-m710ic50")
    q = np.array([[0.3, 0.4, -0.2, 0.5, 0.7, -0.3]])
    torque = direct_torque(model, q, [100.0, 50.0, 80.0])
    found = direct(model, q, torque + np.array([[0, 0, 0, 0, 0, 40.0]]), "flange")
    assert found.left[0] == pytest.approx(40.0, rel=1e-6)  # the flange lies on axis 6: no force there turns it


def direct_torque(model, q, force):
    """Drive torques under a force at the flange."""
    return holding_torque(model, q, [AppliedWrenches("flange", [[*force, 0, 0, 0]])])


def test_a_position_alone_leaves_freedoms_and_one_too_far_is_out_of_reach():
    model = random_robot(3, 6, 1, k=1e-6)
    start = np.full(model.n, 0.3)
    tip = poses(model, start, np.zeros(len(model.chain.dofs)))["tip"][:3, 3]
    found = inverse(model, [tip + np.array([0.01, -0.02, 0.01])], [[10.0, 20.0, -5.0]], start)
    assert found.status[0] == PoseStatus.REACHED
    assert found.free[0] == model.n - 3
    far = inverse(scara(), [[2.0, 0.0, 0.0]], [[5.0, 1.0, 0.0]], [0.3, 0.5])
    assert far.status[0] == PoseStatus.OUT_OF_REACH
    assert far.left[0, 0] == pytest.approx(2.0 - 0.6625, abs=0.03)
    assert np.isnan(far.torque).all()


@pytest.mark.parametrize("gaps", [False, True])
def test_the_slope_of_the_joints_loads_by_central_differences(gaps):
    """A soft arm, so that what bends carries part of the slope; at a force that holds the gaps on their sides."""
    model = random_robot(3, 4, 1, k=2e-4)
    if gaps:
        model = model.with_elements(GripperBacklash(frame=model.tool, gap=5e-3))
    q, force, flex = np.full((1, model.n), 0.3), np.array([[40.0, -25.0, 30.0]]), flexible(model)

    def loads(f):
        return joint_loads(flex, held_at(model, flex, q, f, model.tool))

    slope = loads(force)[1][0]
    step = 1e-2
    numeric = np.array([(loads(force + step * e)[0] - loads(force - step * e)[0])[0] / (2 * step) for e in np.eye(3)])
    np.testing.assert_allclose(slope, numeric.T, rtol=0, atol=1e-6 * np.abs(slope).max())
    rigid = random_robot(3, 4, 1, k=1e-12)
    stiff = joint_loads(flexible(rigid), held_at(rigid, flexible(rigid), q, force, rigid.tool))[1][0]
    assert np.abs(slope - stiff).max() > 0.01 * np.abs(slope).max()


def test_one_drive_tells_no_component_of_an_oblique_force():
    """A 2 m arm raised by 30 deg feels what acts across it, a mixture of fx and fz, and along it nothing."""
    tree = FrameTree(
        (Frame("J", joint=JointMotion("revolute", (0, -1, 0))), Frame("tip", "J", Pose(translation=(2.0, 0, 0))))
    )
    model = Robot("arm", tree, "tip", (JointCompliance(joint="J", k=1e-9),), np.zeros(3))
    across = direct(model, [[0.0]], [[-200.0]])
    np.testing.assert_allclose(across.force, [[np.nan, np.nan, 100.0]], rtol=1e-6)
    oblique = direct(model, [[np.pi / 6]], [[-200.0]])
    assert np.isnan(oblique.force).all()
    assert oblique.status[0] == Status.CONVERGED


def test_a_target_off_the_plane_of_the_arm_is_told_from_one_out_of_reach():
    found = inverse(scara(), [[0.3, 0.25, 0.1], [2.0, 0.0, 0.0], [0.3, 0.25, 0.0]], [[5.0, 1.0, 0.0]] * 3, [0.3, 0.9])
    assert list(found.status) == [PoseStatus.OFF_THE_PLANE, PoseStatus.OUT_OF_REACH, PoseStatus.REACHED]
    assert found.left[0, 2] == pytest.approx(0.1)
    assert "no start helps" in PoseStatus.OFF_THE_PLANE.text
    assert np.isnan(found.torque[:2]).all()
    space = inverse(read_robot("fanuc-m710ic50"), [[0.0, 0.0, 9.0]], [[1.0, 0, 0]], np.full(6, 0.2))
    assert space.status[0] == PoseStatus.OUT_OF_REACH


def test_what_counts_as_reached_goes_with_the_travel_of_slides():
    """A link of 0.5 m on a track of 20 m: 1e-9 of 20.5 m beside its plane is allowed, as in the search."""
    frames = (
        Frame("A", "base", Pose(), JointMotion("prismatic", (1, 0, 0), (0, 20))),
        Frame("B", "A", Pose(), JointMotion("revolute", (0, 0, 1), (-3, 3))),
        Frame("tip", "B", Pose(np.eye(3), [0.5, 0, 0])),
    )
    model = Robot("track", FrameTree(frames), "tip", (JointCompliance(joint="B", k=1e-5),))
    found = inverse(model, [[3.0, 0.3, 1e-8], [3.0, 0.3, 4e-8]], [[0.0, 50.0, 0.0]] * 2, [2.5, 0.3])
    assert list(found.status) == [PoseStatus.REACHED, PoseStatus.OFF_THE_PLANE]
    # the loaded link is at asin 0.6; the torque of 50 N on 0.4 m bends it by 2e-4 rad
    assert found.q[0, 1] == pytest.approx(np.arcsin(0.6) - 50 * 0.4 * 1e-5, abs=1e-9)


def test_neighbours_do_not_decide_a_result():
    """Alone or beside rows that end elsewhere, by steps or by Newton: the same bits."""
    position = np.array([[0.3, 0.25, 0.0], [2.0, 0.0, 0.0], [0.1, 0.45, 0.0], [0.3, 0.25, 0.1]])
    force = np.array([[30.0, -20.0, 0.0], [5.0, 1.0, 0.0], [-15.0, 35.0, 0.0], [5.0, 1.0, 0.0]])
    start = np.array([[0.5, 1.2], [0.3, 0.5], [-2.0, 0.4], [0.3, 0.9]])
    whole = inverse(scara(), position, force, start)
    assert list(whole.status) == [0, PoseStatus.OUT_OF_REACH, 0, PoseStatus.OFF_THE_PLANE]
    for i in range(4):
        alone = inverse(scara(), position[i], force[i], start[i])
        np.testing.assert_array_equal(alone.q[0], whole.q[i])
        np.testing.assert_array_equal(alone.torque[0], whole.torque[i])


def test_a_frame_that_no_joint_moves():
    found = inverse(read_robot("fanuc-m710ic50"), [[0.0, 0.0, 0.2]], [[5.0, 1.0, 0.0]], np.full(6, 0.2), "base")
    assert found.status[0] == PoseStatus.OFF_THE_PLANE
    assert found.left[0, 2] == pytest.approx(0.2)
    assert found.free[0] == 6


def test_no_force_leaves_the_gaps_unknown():
    found = inverse(scara(), [[0.3, 0.2, 0.0]], [[0.0, 0.0, 0.0]], [0.3, 0.9])
    assert found.status[0] == PoseStatus.NO_EQUILIBRIUM
    assert np.isnan(found.torque).all()
    q, _ = by_hand(POINTS[0], FORCES[0])
    still = direct(scara(), [q], [[0.0, 0.0]])
    assert still.status[0] == Status.UNDETERMINED_BACKLASH
    assert np.isnan(still.force).all()


def test_shapes_that_do_not_fit():
    with refused("shape", ("drive torques", (1, 1))):
        direct(scara(), [[0.1, 0.2]], [[1.0]])
    with refused("shape", ("positions", (1, 2))):
        inverse(scara(), [[0.1, 0.2]], [[1.0, 0, 0]], [0, 1])
    with refused("number", ("forces", 1)):
        inverse(scara(), [[0.1, 0.2, 0]], [[np.nan, 0, 0]], [0, 1])


def test_many_states_are_solved_a_few_at_a_time(monkeypatch):
    force = np.pad(FORCES, ((0, 0), (0, 1)))
    point = np.pad(POINTS, ((0, 0), (0, 1)))
    whole = inverse(scara(), point, force, np.radians([0.0, 90.0]))
    back = direct(scara(), whole.q, whole.torque)
    monkeypatch.setattr(kinetostatics, "chunk_size", lambda n: 2)
    monkeypatch.setattr(kinetostatics, "CHUNK", 2)
    pieces = inverse(scara(), point, force, np.radians([0.0, 90.0]))
    for name in ("q", "torque", "left", "free", "status"):
        np.testing.assert_array_equal(getattr(pieces, name), getattr(whole, name))
    np.testing.assert_allclose(direct(scara(), whole.q, whole.torque).force, back.force, rtol=1e-9)
    np.testing.assert_allclose(back.force[:, :2], FORCES, rtol=1e-6)
