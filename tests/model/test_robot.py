"""The robot as a value: limits, parameters by name, forms, and transmission."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest
from oracle.mechanics import constants, poses, twists
from oracle.refusals import refused
from oracle.robots import configurations

from elastocal.errors import DuplicateError, UnknownNameError
from elastocal.files.robot.read import read_robot
from elastocal.model.chain import AXES, JOINT
from elastocal.model.compliant.frame_error import FrameError
from elastocal.model.compliant.motor_compliance import MotorCompliance
from elastocal.model.descriptions import beyond_form, in_form
from elastocal.model.kinematics import kinematics
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.posture import Configurations
from elastocal.model.robot import Robot
from elastocal.model.statics.equilibrium import equilibrium
from elastocal.model.transmission import Transmission


@pytest.fixture(scope="module")
def kr270():
    return read_robot("kuka-kr270")


def test_values_beyond_limits_are_listed_by_row_and_joint(kr270):
    q = np.deg2rad([[0.0, -90, 90, 0, 0, 0], [190, -90, 90, 0, 130, 0], [0, -4, 90, 0, 0, 0]])
    hits = kr270.beyond_limits(q)
    assert [(row, name) for row, name, _ in hits] == [(1, "A1"), (1, "A5"), (2, "A2")]
    assert hits[0][2] == pytest.approx(np.deg2rad(190))


def test_effects_are_left_out_by_kinds_that_exist(kr270):
    with pytest.raises(UnknownNameError) as caught:
        kr270.without("joint_complianc")
    assert caught.value.code == "unknown-kind-of-effect"
    assert caught.value.nearest == "joint_compliance"
    left = {e.kind for e in kr270.without("joint_compliance", "gripper_backlash").elements}
    assert left == {e.kind for e in kr270.elements} - {"joint_compliance"}


def test_a_value_on_its_limit_is_inside(kr270):
    q = np.array([[m.limits[1] for m in kr270.motions], [m.limits[0] for m in kr270.motions]])
    assert kr270.beyond_limits(q) == ()
    assert len(kr270.beyond_limits(q + 1e-6)) == 6


def test_changing_parameters_leaves_the_old_robot_alone(kr270):
    changed = kr270.with_parameters({"A2.k": 1e-6, "A3.offset": 0.01})
    at = kr270.parameters.index("A2.k")
    assert kr270.parameters.values[at] == 0.302e-6
    assert changed.parameters.values[at] == 1e-6
    assert changed.parameters.values[changed.parameters.index("A3.offset")] == 0.01
    back = changed.with_parameters(kr270.parameters.values)
    np.testing.assert_array_equal(back.parameters.values, kr270.parameters.values)


def test_parameters_are_chosen_by_pattern_in_table_order(kr270):
    picked = kr270.parameters.select(["A3.k", "A1.*"])
    names = [kr270.parameters.names[i] for i in picked]
    assert names[:2] == ["A1.k", "A3.k"]
    assert set(names) > {"A1.offset", "A1.gap", "A1.m"}
    with pytest.raises(UnknownNameError):
        kr270.parameters.select(["Z*"])


@pytest.mark.parametrize(("form", "count"), [("full", 36), ("symmetric", 21), ("beam", 8)])
def test_link_forms_describe_the_same_springs_by_36_21_or_8_numbers(kr270, form, count):
    other = kr270.with_link_form(form)
    rows = [p for p in other.parameters if p.name.startswith("link2_end.k")]
    assert len(rows) == count
    for old, new in zip(kr270.coordinates, other.coordinates, strict=True):
        np.testing.assert_array_equal(old.compliance(), new.compliance())


def test_without_removes_kinds(kr270):
    assert {e.kind for e in kr270.without("link_mass", "payload").elements} == {e.kind for e in kr270.elements} - {
        "link_mass",
        "payload",
    }


def test_degrees_of_freedom_stand_in_chain_order(kr270):
    order = [(d.frame, d.axis) for d in kr270.chain.dofs]
    assert order[:7] == [*(("base", a) for a in AXES), ("A1", JOINT)]
    names = [f for f, a in order if a == JOINT]
    assert names == list(kr270.joints)
    assert order.index(("link3_end", "rz")) < order.index(("A4", JOINT)) < order.index(("link4_end", "x"))


def test_geometric_errors_move_the_unloaded_frames(kr270):
    """Offsets of joints and errors of frames, in product coordinates x y z rx ry rz, against plain matrices."""
    bent = kr270.with_parameters({"A2.offset": 0.02, "A5.offset": -0.03}).with_elements(
        FrameError(frame="flange", x=0.01, y=-0.02, z=0.03, rx=0.04, ry=-0.05, rz=0.06),
        FrameError(frame="link1_end", z=0.005, ry=0.01),
    )
    q = configurations(bent, 3, seed=2)
    theta = constants(bent)
    got, drawn = kinematics(bent, q, "marker3"), kinematics(kr270, q, "marker3")
    assert np.linalg.norm(got.position - drawn.position, axis=1).min() > 0.01
    for i, row in enumerate(q):
        expected = poses(bent, row, theta)["marker3"]
        np.testing.assert_allclose(got.position[i], expected[:3, 3], rtol=0, atol=1e-14)
        np.testing.assert_allclose(got.rotation[i], expected[:3, :3], rtol=0, atol=1e-14)
        joints = [k for k, d in enumerate(bent.chain.dofs) if d.axis == JOINT]
        jacobian = twists(bent, row, theta, ["marker3"])["marker3"][:, joints]
        np.testing.assert_allclose(got.jacobian[i], jacobian, rtol=0, atol=1e-13)


def test_transmission_maps_signs_zeros_and_couplings():
    """q = M (c - z): by hand for c = (0.5, 0.2), z = (0.1, -0.1), M = [[-1, 0], [0.5, 1]]."""
    t = Transmission(("c1", "c2"), np.array([[-1.0, 0], [0.5, 1]]), np.array([0.1, -0.1]))
    np.testing.assert_allclose(t.to_joints(np.array([[0.5, 0.2]])), [[-0.4, 0.5]])
    np.testing.assert_allclose(t.to_controller(np.array([[-0.4, 0.5]])), [[0.5, 0.2]])
    # virtual work: tau_c . dc = tau . M dc
    np.testing.assert_allclose(t.torques_to_controller(np.array([[10.0, 4.0]])), [[-8.0, 4.0]])


def test_parameters_are_chosen_by_sets_of_characters_too() -> None:
    table = read_robot("kuka-kr270").parameters
    assert [table.names[i] for i in table.select(["A[2-4].k"])] == ["A2.k", "A3.k", "A4.k"]


def test_a_spring_that_has_no_place_in_a_form_is_named() -> None:
    robot = read_robot("kuka-kr270")
    assert beyond_form(robot, "beam") == ()
    odd = in_form(robot, "symmetric").with_parameters({"link2_end.k12": 1e-9})
    assert beyond_form(odd, "beam") == ("link2_end",)
    assert "link2_end.k12" in in_form(odd, "beam").parameters.names


def test_a_posture_is_that_of_its_own_robot_whoever_asks_meanwhile() -> None:
    """Requests of a server may share configurations: another thread may ask between the making of a posture and its
    return."""
    robot, at = read_robot("abb-irb120"), Configurations(np.full((1, 6), 0.1))
    strange = robot.nominal.posture(at)

    class Shared(list[object]):
        def __setitem__(self, at: object, value: object) -> None:
            super().__setitem__(slice(None), [strange])

    vars(at)["postures"] = Shared()
    assert robot.posture(at).model is robot
    assert robot.nominal.posture(at) is strange


def test_a_robot_of_other_values_goes_with_its_postures(kr270: Robot) -> None:
    """Without a cycle that would wait to be collected: a fit makes one for every step."""
    gc.disable()
    try:
        other = kr270.with_parameters({"A2.k": 3e-6})
        gone = weakref.ref(other)
        equilibrium(other, np.full((3, 6), 0.1))
        del other
        assert gone() is None
    finally:
        gc.enable()


def test_other_values_leave_nothing_of_the_old_ones_behind(kr270: Robot) -> None:
    """What values decide is worked out anew, what frames decide is shared; both as if the robot had been made so."""
    old = kr270.compliant, kr270.constants, kr270.load_values, kr270.load_sizes  # worked out before
    new = kr270.with_parameters({"A2.k": 3e-6, "A3.offset": 0.01})
    made = Robot(kr270.name, kr270.tree, kr270.tool, new.elements, kr270.gravity, estimated=True)
    assert new.chain is kr270.chain
    assert new.parameters == made.parameters
    assert new.parameters != kr270.parameters
    np.testing.assert_array_equal(new.constants, made.constants)
    assert np.any(new.constants != old[1])
    assert [c.terms for c in new.compliant] == [c.terms for c in made.compliant]
    assert [c.terms for c in new.compliant] != [c.terms for c in old[0]]
    assert new.load_values[1] == made.load_values[1]


def test_a_value_that_gives_a_joint_its_second_compliance_is_refused(kr270: Robot) -> None:
    shafts = MotorCompliance(joints=("A1", "A2"), structure=((1.0, 0.0), (0.0, 1.0)), k=(0.0, 0.0))
    two = kr270.with_elements(shafts)
    with pytest.raises(DuplicateError):
        two.with_parameters({two.parameters.names[-1]: 1e-6})


@pytest.mark.parametrize("frame", [None, "A4"])
def test_what_a_robot_says_of_itself_fits_together(kr270: Robot, frame: str | None) -> None:
    """Compliance is J k J^T of its own Jacobian; a small force at the frame moves it by that."""
    bare = kr270.nominal.with_elements(*(e for e in kr270.elements if e.kind == "joint_compliance"))
    q = configurations(bare, 3)
    k = np.diag([e.k for e in bare.elements])
    jacobian = bare.kinematics(q, frame).jacobian
    soft = bare.stiffness(q, frame).compliance
    np.testing.assert_allclose(soft, jacobian @ k @ jacobian.swapaxes(1, 2), rtol=1e-9, atol=1e-18)
    force = np.array([3.0, -2.0, 1.0, 0.5, 0.2, -0.4])
    at = [AppliedWrenches(frame, force)] if frame else force
    np.testing.assert_allclose(bare.deflection(q, at, frame).twist, soft @ force, rtol=1e-4, atol=1e-12)


def test_a_robot_tells_its_progress(kr270: Robot) -> None:
    told: list[tuple[int, int]] = []
    kr270.stiffness(np.zeros((4, 6)), progress=lambda done, total: told.append((done, total)))
    kr270.deflection(np.zeros((4, 6)), [0, 0, -100, 0, 0, 0], progress=lambda done, total: told.append((done, total)))
    assert told == [(4, 4), (4, 8), (8, 8)]


def test_a_parameter_is_had_by_its_name(kr270) -> None:
    row = kr270.parameters["A2.k"]
    assert (row.name, row.unit, row.kind) == ("A2.k", "rad/(N m)", "joint_compliance")
    assert row.value == kr270.parameters.values[kr270.parameters.names.index("A2.k")]
    assert "A2.k" in kr270.parameters
    assert "A9.k" not in kr270.parameters
    with refused("unknown-parameter", "A9.k"):
        kr270.parameters["A9.k"]
    assert len(kr270.parameters.to_frame()) == len(kr270.parameters)
