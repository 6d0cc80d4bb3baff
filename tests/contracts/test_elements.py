"""What every effect must satisfy, run over every kind in the registry: a new file without an example here fails."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from oracle.mechanics import compliance, generalised_forces
from oracle.refusals import refused
from oracle.robots import random_spd
from scipy.spatial.transform import Rotation

from elastocal.compensation.commands import correct
from elastocal.compensation.loads import PathLoads
from elastocal.compensation.targets import Targets
from elastocal.files.located import parse_yaml
from elastocal.files.robot.read import build_robot, read_robot
from elastocal.files.robot.write import robot_text
from elastocal.model.chain import Dof
from elastocal.model.compliant.foundation_compliance import FoundationCompliance
from elastocal.model.compliant.frame_error import FrameError
from elastocal.model.compliant.gear_harmonics import GearHarmonics
from elastocal.model.compliant.gripper_backlash import GripperBacklash
from elastocal.model.compliant.joint_backlash import JointBacklash
from elastocal.model.compliant.joint_compliance import JointCompliance
from elastocal.model.compliant.joint_coupling import JointCoupling
from elastocal.model.compliant.joint_gain import JointGain
from elastocal.model.compliant.joint_offset import JointOffset
from elastocal.model.compliant.lateral_weight import LateralWeight
from elastocal.model.compliant.link_compliance import LinkCompliance, as_matrix6
from elastocal.model.compliant.motor_compliance import MotorCompliance
from elastocal.model.compliant.own_weight import OwnWeight
from elastocal.model.compliant.thermal_growth import ThermalGrowth
from elastocal.model.compliant.weight_backlash import WeightBacklash
from elastocal.model.elements import element_kinds
from elastocal.model.frames import BASE, Frame, FrameTree, JointMotion
from elastocal.model.inverse_kinematics import Task, inverse_kinematics
from elastocal.model.kinematics import kinematics
from elastocal.model.loads.gravity_compensator import GravityCompensator
from elastocal.model.loads.link_mass import LinkMass
from elastocal.model.loads.payload import Payload
from elastocal.model.loads.wrench import AppliedWrenches, Wrench
from elastocal.model.posture import Configurations
from elastocal.model.robot import Robot
from elastocal.model.statics.deflection import frame_pose
from elastocal.model.statics.equilibrium import Status, equilibrium
from elastocal.model.statics.flexibility import assemble, flexible
from elastocal.model.statics.forces import forces_at
from elastocal.model.statics.kinetostatics import inverse
from elastocal.model.statics.observation import Marker, joint_columns, loaded_observation, response
from elastocal.spatial.pose import Pose

SPD = as_matrix6(random_spd(np.random.default_rng(0), 2e-5))
BEAM = as_matrix6(
    np.diag([1e-6, 3e-5, 4e-5, 5e-5, 6e-5, 7e-5])
    + 2e-5 * (np.eye(6)[[1]].T @ np.eye(6)[[5]] + np.eye(6)[[5]].T @ np.eye(6)[[1]])
    - 3e-5 * (np.eye(6)[[2]].T @ np.eye(6)[[4]] + np.eye(6)[[4]].T @ np.eye(6)[[2]])
)
STRUCTURE = ((60.0, 0.0), (-1.1, 40.0))
ZERO6 = as_matrix6(np.zeros((6, 6)))
SPRING = GravityCompensator(joint="j2", a_x=0.35, a_y=0.12, L=0.18, phi0=1.1, k_c=2e-5, s_0=0.25)

# name: (kind, the effect, the same at neutral parameters, what it replaces in the robot)
EXAMPLES = {
    "joint_compliance": (JointCompliance(joint="j3", k=3e-4), JointCompliance(joint="j3", k=0.0), "j3"),
    "joint_compliance-prismatic": (JointCompliance(joint="p4", k=3e-4), JointCompliance(joint="p4", k=0.0), "p4"),
    "joint_offset": (JointOffset(joint="j2", offset=0.02), JointOffset(joint="j2"), ""),
    "joint_backlash": (JointBacklash(joint="j3", gap=0.004), JointBacklash(joint="j3"), ""),
    "joint_backlash-mean": (
        JointBacklash(joint="j3", gap=0.004, transition=40.0),
        JointBacklash(joint="j3", transition=40.0),
        "",
    ),
    "gripper_backlash": (GripperBacklash(frame="tip", gap=3e-3), GripperBacklash(frame="tip"), ""),
    "gripper_backlash-uneven": (
        GripperBacklash(frame="tip", gap=(3e-3, 1e-3, 2e-3)),
        GripperBacklash(frame="tip", gap=(0.0, 0.0, 0.0)),
        "",
    ),
    "frame_error": (
        FrameError(frame="end", x=1e-2, y=-2e-2, z=1e-2, rx=2e-2, ry=-1e-2, rz=3e-2),
        FrameError(frame="end", x=0, y=0, z=0, rx=0, ry=0, rz=0),
        "",
    ),
    "link_compliance": (LinkCompliance(frame="end", matrix=SPD), LinkCompliance(frame="end", matrix=ZERO6), ""),
    "link_compliance-full": (
        LinkCompliance(frame="end", matrix=SPD, form="full"),
        LinkCompliance(frame="end", matrix=ZERO6, form="full"),
        "",
    ),
    "link_compliance-beam": (
        LinkCompliance(frame="end", matrix=BEAM, form="beam"),
        LinkCompliance(frame="end", matrix=ZERO6, form="beam"),
        "",
    ),
    "link_compliance-isotropic": (
        LinkCompliance(frame="end", matrix=as_matrix6(np.diag([2e-5] * 3 + [0] * 3)), form="isotropic"),
        LinkCompliance(frame="end", matrix=ZERO6, form="isotropic"),
        "",
    ),
    "link_compliance-planar": (
        LinkCompliance(frame="end", matrix=as_matrix6(np.pad([[2e-5, 4e-6], [4e-6, 1e-5]], (0, 4))), form="planar"),
        LinkCompliance(frame="end", matrix=ZERO6, form="planar"),
        "",
    ),
    "foundation_compliance": (FoundationCompliance(matrix=SPD), FoundationCompliance(matrix=ZERO6), ""),
    "motor_compliance": (
        MotorCompliance(joints=("j2", "j3"), structure=STRUCTURE, k=(0.3, 0.2)),
        MotorCompliance(joints=("j2", "j3"), structure=STRUCTURE, k=(0.0, 0.0)),
        "j2 j3",
    ),
    "gear_harmonics": (
        GearHarmonics(joint="j2", orders=(1, 2, 7.5), sin=(8e-3, 0.0, -2e-3), cos=(3e-3, -5e-3, 1e-3)),
        GearHarmonics(joint="j2", orders=(1, 2, 7.5)),
        "",
    ),
    "gear_harmonics-prismatic": (
        GearHarmonics(joint="p4", orders=(30.0,), sin=(1e-3,), cos=(-2e-3,)),
        GearHarmonics(joint="p4", orders=(30.0,)),
        "",
    ),
    "joint_gain": (JointGain(joint="j3", gain=0.02), JointGain(joint="j3"), ""),
    "joint_coupling": (JointCoupling(joint="j3", of="j2", ratio=0.02), JointCoupling(joint="j3", of="j2"), ""),
    "thermal_growth": (ThermalGrowth(frame="end", expansion=2e-3), ThermalGrowth(frame="end"), ""),
    "thermal_growth-joint": (ThermalGrowth(frame="j3", expansion=2e-3), ThermalGrowth(frame="j3"), ""),
    "own_weight": (
        OwnWeight(joint="j2", sag=0.01, links={"j2": (4e-3, -3e-3, 5e-3), "p4": (2e-3, 6e-3, -4e-3)}),
        OwnWeight(joint="j2", links={"j2": (0, 0, 0), "p4": (0, 0, 0)}),
        "",
    ),
    "own_weight-prismatic": (OwnWeight(joint="p4", sag=0.01), OwnWeight(joint="p4"), ""),
    "lateral_weight": (LateralWeight(joint="j2", tilt=(0.02, -0.01)), LateralWeight(joint="j2"), ""),
    "weight_backlash": (WeightBacklash(joint="j2", preload=0.01), WeightBacklash(joint="j2"), ""),
    "gravity_compensator": (SPRING, replace(SPRING, k_c=1e12), ""),
    "gravity_compensator-stiffness_only": (
        replace(SPRING, mode="stiffness_only"),
        replace(SPRING, mode="stiffness_only", k_c=1e12),
        "",
    ),
    "link_mass": (
        LinkMass(frame="p4", mass=30.0, moment=(3.0, -2.0, 4.0)),
        LinkMass(frame="p4", mass=0.0),
        "",
    ),
    "payload": (Payload(frame="tip", mass=20.0, moment=(1.0, 2.0, -3.0)), Payload(frame="tip", mass=0.0), ""),
    "wrench": (Wrench(frame="end", force=(90.0, -50, 70), moment=(20.0, 30, -10)), Wrench(frame="end"), ""),
    "wrench-follows": (
        Wrench(frame="tip", force=(90.0, -50, 70), moment=(20.0, 30, -10), follows=True),
        Wrench(frame="tip", follows=True),
        "",
    ),
}
Q = np.array([[0.4, -0.7, 0.9, 0.1], [-0.8, 0.5, -1.2, 0.3]])
LOAD = AppliedWrenches("tip", np.array([[120.0, -80, 150, 12, 9, -15], [-100, 60, 90, 5, -20, 10]]))
cases = pytest.mark.parametrize("name", EXAMPLES)


def robot(element, replaces=""):
    """A spatial arm of three turning joints and one slide, all elastic, weights on it, and the effect in question."""
    turn = Rotation.from_rotvec([0.3, -0.2, 0.5]).as_matrix()
    tree = FrameTree(
        (
            Frame("j1", BASE, Pose(turn, (0.1, 0, 0.4)), JointMotion("revolute", (0, 0, 1))),
            Frame("j2", "j1", Pose(turn.T, (0.2, 0.1, 0.1)), JointMotion("revolute", (0, 1, 0.2))),
            Frame("j3", "j2", Pose(translation=(0.5, 0, 0.1)), JointMotion("revolute", (0.1, 1, 0))),
            Frame("p4", "j3", Pose(turn, (0.3, 0.1, 0)), JointMotion("prismatic", (1, 0, 0.3))),
            Frame("end", "p4", Pose(turn, (0.1, 0.1, 0.1))),
            Frame("tip", "end", Pose(turn.T, (0.05, -0.1, 0.1))),
        )
    )
    springs = [JointCompliance(joint=j, k=k) for j, k in zip(tree.joint_names, (1e-4, 2e-4, 3e-4, 1e-4), strict=True)]
    kept = [s for s in springs if s.joint not in replaces.split()]
    return Robot(
        "bench",
        tree,
        "tip",
        (*kept, LinkMass(frame="j3", mass=8.0, moment=(2.0, 0.4, 0.3)), element),
        np.array([1.0, -2.0, -9.0]),
        temperature=8.0,
    )


def built(name):
    element, neutral, replaces = EXAMPLES[name]
    return robot(element, replaces), robot(neutral, replaces)


def marker(model, bent):
    """Positions (2, 3) and rotations (2, 3, 3) of the tip."""
    p, r = frame_pose(model, Q, bent, "tip")
    return p.T, np.moveaxis(r, -1, 0)


def solved(model):
    bent = equilibrium(model, Q, [LOAD])
    assert set(bent.status) == {Status.CONVERGED}
    return marker(model, bent)


def test_every_kind_has_an_example():
    assert {e.kind for e, _, _ in EXAMPLES.values()} == set(element_kinds())


@cases
def test_it_matters_and_at_neutral_parameters_it_does_not(name):
    element, _, replaces = EXAMPLES[name]
    with_it, neutral = built(name)
    bare = robot(JointOffset(joint="j1"), replaces)
    p, r = solved(bare)
    moved = np.abs(solved(with_it)[0] - p).max()
    assert moved > 1e-5
    np.testing.assert_allclose(solved(neutral)[0], p, rtol=0, atol=1e-12)
    np.testing.assert_allclose(solved(neutral)[1], r, rtol=0, atol=1e-12)
    assert element.kind == with_it.elements[-1].kind


@cases
def test_parameters_round_trip_through_with_values(name):
    model, _ = built(name)
    element = model.elements[-1]
    rows = element.parameters(model.tree)
    assert rows
    assert all(np.isfinite(p.value) and p.scale > 0 and p.unit and p.name.startswith(element.place) for p in rows)
    again = element.with_values([p.value for p in rows])
    assert [p.value for p in again.parameters(model.tree)] == [p.value for p in rows]
    changed = [1.25 * p.value + 0.1 * p.scale for p in rows]
    assert [p.value for p in element.with_values(changed).parameters(model.tree)] == pytest.approx(changed, rel=1e-15)
    assert np.array_equal(solved(replace(model, elements=(*model.elements[:-1], again)))[0], solved(model)[0])


def difference(model, parameter, h):
    """Central difference of the loaded tip pose (2, 6) for one parameter that changes by +-h."""
    now = model.parameters.values[model.parameters.index(parameter)]
    (p1, r1), (p0, r0) = (solved(model.with_estimates({parameter: now + s * h})) for s in (1, -1))
    spin = np.array([Rotation.from_matrix(a @ b.T).as_rotvec() for a, b in zip(r1, r0, strict=True)])
    return np.concatenate([p1 - p0, spin], axis=1) / (2 * h)


@cases
def test_derivatives_of_loaded_poses_by_every_parameter_match_central_differences(name):
    model, _ = built(name)
    element = model.elements[-1]
    sought = [p.name for p in element.parameters(model.tree)]
    names, got, status = loaded_observation(model, Q, [LOAD], [Marker("tip", "pose")], sought)
    assert set(status) == {Status.CONVERGED}
    scale = {p.name: max(abs(p.value), 0.1 * p.scale) for p in element.parameters(model.tree)}
    for i, parameter in enumerate(names):
        expected = difference(model, parameter, 1e-3 * scale[parameter])
        size = np.abs(expected).max()
        assert size > 0
        np.testing.assert_allclose(got[:, :, i], expected, rtol=0, atol=1e-5 * size, err_msg=parameter)


@cases
def test_derivatives_at_neutral_parameters_match_one_sided_differences(name):
    """Zero compliance, zero gap, no mass: the columns that an identification starts from."""
    model, neutral = built(name)
    element, start = model.elements[-1], neutral.elements[-1]
    if element.kind == "gravity_compensator":
        pytest.skip("its neutral stiffness is a limit, not a value")
    sought = [p.name for p in start.parameters(neutral.tree)]
    names, got, _ = loaded_observation(neutral, Q, [LOAD], [Marker("tip", "pose")], sought)
    values = [p.value for p in element.parameters(model.tree)]
    h = 1e-4
    if element.kind == "gripper_backlash" and len(values) == 3:
        pytest.skip("an ellipsoid has no slope by single axes at zero size")
    small = replace(neutral, elements=(*neutral.elements[:-1], start.with_values([h * v for v in values])))
    (p1, r1), (p0, r0) = solved(small), solved(neutral)
    spin = np.array([Rotation.from_matrix(a @ b.T).as_rotvec() for a, b in zip(r1, r0, strict=True)])
    expected = np.concatenate([p1 - p0, spin], axis=1) / h
    columns = got[:, :, [names.index(n) for n in sought]] @ np.array(values)
    assert np.abs(expected).max() > 1e-5
    np.testing.assert_allclose(columns, expected, rtol=0, atol=3e-4 * np.abs(expected).max())


@cases
def test_derivatives_of_poses_by_the_joint_values_match_central_differences(name):
    """Of the rigid and of the loaded arm: what is off by another amount at another angle moves the frame too."""
    model, _ = built(name)
    flex = flexible(model)
    bent = equilibrium(model, Q, [LOAD])
    theta = bent.theta.T[list(flex.dofs)]
    held = response(flex, model.posture(Q.T), theta, [LOAD], [Marker("tip", "pose")])
    loaded = np.moveaxis(joint_columns(flex, held), -1, 0)
    rigid = kinematics(model, Q, "tip").jacobian
    h = 1e-5
    for j in range(model.n):
        step = h * np.eye(model.n)[j]
        for got, pose in ((rigid, rigid_at), (loaded, loaded_at)):
            (p1, r1), (p0, r0) = pose(model, Q + step), pose(model, Q - step)
            spin = np.array([Rotation.from_matrix(a @ b.T).as_rotvec() for a, b in zip(r1, r0, strict=True)])
            expected = np.concatenate([p1 - p0, spin], axis=1) / (2 * h)
            np.testing.assert_allclose(got[:, :, j], expected, rtol=0, atol=2e-8)


def rigid_at(model, q):
    pose = kinematics(model, q, "tip")
    return pose.position, pose.rotation


def loaded_at(model, q):
    bent = equilibrium(model, q, [LOAD])
    p, r = frame_pose(model, q, bent, "tip")
    return p.T, np.moveaxis(r, -1, 0)


EVERYTHING = (
    *(EXAMPLES[n][0] for n in ("gear_harmonics", "joint_gain", "own_weight", "own_weight-prismatic", "lateral_weight")),
    *(EXAMPLES[n][0] for n in ("thermal_growth", "thermal_growth-joint", "frame_error", "link_compliance")),
)


def test_effects_of_the_angle_together_are_inverted_exactly():
    """Rigid inverse kinematics, and the commands whose loaded frame is at the target."""
    model = robot(JointOffset(joint="j2", offset=0.01)).with_elements(*EVERYTHING)
    what = Task("position", (0, 1, 2))
    place = kinematics(model, Q, "tip").position.T
    found = inverse_kinematics(model, "tip", what, place, None, Q.T + 0.05)
    assert found.reached.all()
    np.testing.assert_allclose(kinematics(model, found.q.T, "tip").position.T, place, rtol=0, atol=1e-9)
    place, _ = loaded_at(model, Q)
    held = inverse(model, place, LOAD.wrench[:, :3], Q)
    assert np.all(held.status == 0)
    only = AppliedWrenches("tip", np.concatenate([LOAD.wrench[:, :3], np.zeros((2, 3))], axis=1))
    again = frame_pose(model, held.q, equilibrium(model, held.q, [only]), "tip")[0].T
    np.testing.assert_allclose(again, place, rtol=0, atol=1e-9)


@pytest.mark.parametrize(
        "name",
    [
        "gear_harmonics", "joint_gain", "joint_coupling", "own_weight", "lateral_weight", "weight_backlash",
        "thermal_growth",
    ],
)  # fmt: skip
def test_a_target_is_compensated(name):
    """A 6R arm that springs, with the effect in its wrist or upper arm: the loaded tool is at the target."""
    element = {
        "gear_harmonics": GearHarmonics(joint="A5", orders=(1, 11), sin=(1e-3, 2e-4), cos=(-5e-4, 1e-4)),
        "joint_gain": JointGain(joint="A4", gain=3e-3),
        "joint_coupling": JointCoupling(joint="A6", of="A5", ratio=3e-3),
        "own_weight": OwnWeight(joint="A2", sag=3e-3, links={"A3": (1e-3, -2e-3, 1e-3)}),
        "lateral_weight": LateralWeight(joint="A3", tilt=(1e-3, 2e-3)),
        "weight_backlash": WeightBacklash(joint="A2", preload=1e-3),
        "thermal_growth": ThermalGrowth(frame="A3", expansion=1.2e-5),
    }[name]
    model = replace(read_robot("kuka-kr270").with_elements(element), temperature=15.0)
    q = np.array([[0.3, -1.2, 1.5, 0.4, 0.7, -0.2], [-0.6, -0.9, 1.1, -0.5, 1.0, 0.8]])
    nominal = kinematics(model.nominal, q)
    targets = Targets("tool", nominal.position, nominal.rotation, q)
    loads = PathLoads((AppliedWrenches("tool", [[300.0, -200, -800, 20, 10, 5]]),))
    done = correct(model, targets, loads)
    assert done.counts() == {"corrected": 2}
    bent = equilibrium(model, done.command, [loads.wrenches[0]])
    p, r = frame_pose(model, done.command, bent, "tool")
    np.testing.assert_allclose(p.T, nominal.position, rtol=0, atol=1e-9)
    np.testing.assert_allclose(np.moveaxis(r, -1, 0), nominal.rotation, rtol=0, atol=1e-9)


def test_temperature_comes_with_the_configurations_or_with_the_robot():
    model = replace(robot(ThermalGrowth(frame="end", expansion=1e-4)), temperature=None)
    with refused("missing", ("thermal_growth", "end")):
        kinematics(model, Q)
    warm = np.array([10.0, -5.0])
    by_row = kinematics(model, Configurations(Q, warm), "tip").position
    for i in range(2):
        alone = kinematics(replace(model, temperature=warm[i]), Q[i], "tip").position[0]
        np.testing.assert_array_equal(by_row[i], alone)
    _, slope, status = loaded_observation(model, Configurations(Q, warm), [LOAD], [Marker("tip")], ["end.expansion"])
    assert set(status) == {Status.CONVERGED}

    def place(expansion):
        grown = model.with_parameters({"end.expansion": expansion})
        return frame_pose(grown, Q, equilibrium(grown, Configurations(Q, warm), [LOAD]), "tip")[0].T

    np.testing.assert_allclose(slope[:, :, 0], (place(2e-4) - place(0.0)) / 2e-4, rtol=0, atol=1e-5)


def test_the_sag_of_a_stretched_arm_is_what_its_parameter_says():
    """A level arm of two equal links: the structured lever is 1, and h of a link is its moment by hand."""
    tree = FrameTree(
        (
            Frame("a", BASE, Pose(), JointMotion("revolute", (0, -1, 0))),
            Frame("b", "a", Pose(translation=(0.5, 0, 0)), JointMotion("revolute", (0, -1, 0))),
            Frame("tip", "b", Pose(translation=(0.5, 0, 0))),
        )
    )
    q = np.array([[0.3, 0.0], [0.0, 0.9]])
    model = Robot("arm", tree, "tip", (OwnWeight(joint="a", sag=2e-3),))
    np.testing.assert_allclose(equilibrium(model, [[0.0, 0.0]]).theta[0, 0], -2e-3, rtol=1e-12)
    lever = (0.25 * np.cos(0.0) + 0.6 * (0.5 + 0.25 * np.cos(0.9))) / (0.25 + 0.6 * 0.75)
    np.testing.assert_allclose(equilibrium(model, q).theta[:, 0], [-2e-3 * np.cos(0.3), -2e-3 * lever], rtol=1e-12)
    links = Robot("arm", tree, "tip", (OwnWeight(joint="a", links={"b": (1e-3, 0.0, 4e-3)}),))
    total = q.sum(axis=1)
    by_hand = -(1e-3 * np.cos(total) - 4e-3 * np.sin(total))
    np.testing.assert_allclose(equilibrium(links, q).theta[:, 0], by_hand, rtol=1e-12)


@cases
def test_it_can_be_written_to_a_robot_file_and_read_again(name):
    model, _ = built(name)
    again = build_robot(parse_yaml(robot_text(replace(model, temperature=None)), "again"))
    assert [p.name for p in again.parameters] == [p.name for p in model.parameters]
    np.testing.assert_allclose(again.parameters.values, model.parameters.values, rtol=1e-14)


@cases
def test_the_tangent_of_the_forces_matches_central_differences(name):
    model, _ = built(name)
    flex = assemble(model, range(len(model.chain.dofs)))
    theta = 0.02 * np.random.default_rng(3).normal(size=(flex.n, 2))

    def forces(t):
        return forces_at(flex, model.posture(Q.T), t, [LOAD]).q

    got = forces_at(flex, model.posture(Q.T), theta, [LOAD]).dense()
    h = 1e-6
    for j in range(flex.n):
        step = np.zeros_like(theta)
        step[j] = h
        expected = (forces(theta + step) - forces(theta - step)) / (2 * h)
        np.testing.assert_allclose(got[:, j], expected, rtol=0, atol=1e-7 * np.abs(got).max())


@cases
def test_turning_the_cell_turns_the_result(name):
    """A turned floor under everything, gravity and base-fixed wrenches turned with it."""
    element, _, replaces = EXAMPLES[name]
    model = robot(element, replaces)
    turn = Rotation.from_rotvec([0.6, 1.1, -0.8]).as_matrix()
    floor = "floor"
    frames = (
        Frame(floor, BASE, Pose(turn)),
        *(replace(f, parent=floor if f.parent == BASE else f.parent) for f in model.tree.frames),
    )
    if element.kind == "foundation_compliance":
        both = np.kron(np.eye(2), turn)
        element = replace(element, matrix=as_matrix6(both @ np.array(element.matrix) @ both.T))
    if element.kind == "wrench" and not element.follows:
        element = replace(element, force=tuple(turn @ element.force), moment=tuple(turn @ element.moment))
    other = replace(
        model, tree=FrameTree(frames), elements=(*model.elements[:-1], element), gravity=turn @ model.gravity
    )
    six = np.concatenate([LOAD.wrench[:, :3] @ turn.T, LOAD.wrench[:, 3:] @ turn.T], axis=1)
    p, r = solved(model)
    p1, r1 = marker(other, equilibrium(other, Q, [AppliedWrenches("tip", six)]))
    # the foundation bends in product coordinates rx ry rz, which turn into one another only to second order
    slack = 2e-4 if element.kind == "foundation_compliance" else 2e-12
    np.testing.assert_allclose(p1, p @ turn.T, rtol=0, atol=slack)
    np.testing.assert_allclose(r1, turn @ r, rtol=0, atol=slack)


def test_a_compensator_on_a_rigid_joint_has_zero_columns():
    model = robot(SPRING, "j2")
    names, got, _ = loaded_observation(model, Q, [LOAD], [Marker("tip")], ["j2.k_c", "j1.k"])
    assert np.all(got[:, :, names.index("j2.k_c")] == 0)
    assert np.any(got[:, :, names.index("j1.k")] != 0)


@pytest.mark.parametrize("value", [-1e-7, -1e-4])
def test_an_estimate_below_zero_is_solved_like_any_other(value):
    """An identification may pass through a negative compliance: theta = k Q still, and no warning."""
    model = robot(JointOffset(joint="j1")).with_estimates({"j3.k": value})
    bent = equilibrium(model, Q, [LOAD])
    assert set(bent.status) == {Status.CONVERGED}
    for row, theta, wrench in zip(Q, bent.theta, LOAD.wrench, strict=True):
        force = generalised_forces(model, row, theta, [("tip", wrench, False)])
        np.testing.assert_allclose(theta, compliance(model) @ force, rtol=0, atol=2e-12)
        assert theta[2] * force[2] < 0


def test_two_compliances_on_one_degree_of_freedom_are_refused():
    with refused("duplicate", (Dof(frame="j3", axis="joint"), "joint_compliance", "joint_compliance")):
        robot(JointCompliance(joint="j3", k=1e-4))
