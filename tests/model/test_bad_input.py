"""Wrong input is refused in one sentence that says what, where and what to do."""

from __future__ import annotations

import numpy as np
import pytest
from oracle.refusals import refused

from elastocal.errors import InputError, RangeError, UnknownNameError
from elastocal.files.robot.read import read_robot
from elastocal.model.compliant.beam import Beam, HollowRectangle, Rectangle, Tube
from elastocal.model.compliant.frame_error import FrameError
from elastocal.model.compliant.gripper_backlash import GripperBacklash
from elastocal.model.compliant.joint_backlash import JointBacklash
from elastocal.model.compliant.joint_compliance import JointCompliance
from elastocal.model.compliant.joint_offset import JointOffset
from elastocal.model.compliant.link_compliance import LinkCompliance, as_matrix6
from elastocal.model.compliant.motor_compliance import MotorCompliance
from elastocal.model.frames import Frame, FrameTree, JointMotion
from elastocal.model.kinematics import kinematics
from elastocal.model.loads.gravity_compensator import GravityCompensator
from elastocal.model.loads.link_mass import LinkMass
from elastocal.model.loads.wrench import AppliedWrenches, Wrench
from elastocal.model.robot import Robot
from elastocal.model.statics.equilibrium import equilibrium
from elastocal.model.transmission import Transmission
from elastocal.spatial.pose import Pose

NAN, INF = float("nan"), float("inf")


@pytest.fixture(scope="module")
def kr270():
    return read_robot("kuka-kr270")


def test_wrong_joint_count(kr270):
    with refused("shape", (6, 5)):
        kinematics(kr270, np.zeros((4, 5)))
    with refused("shape", (6, 7)):
        equilibrium(kr270, [[0.0] * 7])


def test_a_robot_without_joints_says_so():
    with refused("shape", (0, 2)):
        kinematics(read_robot("orthoglide-link"), [[1.0, 2.0]])


@pytest.mark.parametrize("value", [NAN, INF])
def test_a_value_that_is_no_number_is_named_by_row_and_joint(kr270, value):
    q = np.zeros((3, 6))
    q[1, 3] = value
    with pytest.raises(InputError) as caught:
        kinematics(kr270, q)
    assert caught.value.code == "number"
    assert caught.value.value[:2] == (2, "A4")
    np.testing.assert_array_equal(caught.value.value[2], value)


def test_a_wrench_that_is_no_number_is_named_by_row_and_component():
    wrench = np.zeros((3, 6))
    wrench[2, 4] = NAN
    with pytest.raises(InputError) as caught:
        AppliedWrenches("tool", wrench)
    assert (caught.value.code, caught.value.value[:2]) == ("number", ("tool", 3))
    with refused("shape", ("tool", (1, 3))):
        AppliedWrenches("tool", [1.0, 2.0, 3.0])


def test_wrenches_must_match_the_configurations(kr270):
    with refused("shape", (2, "tool", 3)):
        equilibrium(kr270, np.zeros((3, 6)), [AppliedWrenches("tool", np.zeros((2, 6)))])


@pytest.mark.parametrize(
    ("ask", "nearest"),
    [
        (lambda m: kinematics(m, np.zeros((1, 6)), "marker_1"), "marker1"),
        (lambda m: equilibrium(m, np.zeros((1, 6)), [AppliedWrenches("flang", np.zeros((1, 6)))]), "flange"),
        (lambda m: m.with_parameters({"A2.offsett": 0.1}), "A2.offset"),
        (lambda m: m.with_elements(JointOffset(joint="a1")), "A1"),
        (lambda m: m.with_elements(LinkMass(frame="link2end", mass=1.0)), "link2_end"),
    ],
    ids=["frame", "load frame", "parameter", "joint", "mass frame"],
)
def test_unknown_names_list_the_valid_ones_and_the_nearest(kr270, ask, nearest):
    with pytest.raises(UnknownNameError) as caught:
        ask(kr270)
    assert caught.value.nearest == nearest
    assert nearest in caught.value.allowed
    assert f"did you mean {nearest!r}?" in str(caught.value)
    assert "valid: " in str(caught.value)
    assert isinstance(caught.value, InputError)


def spring(change):
    k = np.diag([1e-6, 2e-6, 3e-6, 1e-5, 2e-5, 3e-5])
    for (i, j), value in change.items():
        k[i, j] = value
    return LinkCompliance(frame="flange", matrix=as_matrix6(k))


def test_an_asymmetric_compliance_is_refused_with_the_entry(kr270):
    with refused("range", (2, 6, 1e-06)):
        kr270.without("link_compliance").with_elements(spring({(1, 5): 1e-6}))


def test_an_indefinite_compliance_is_refused(kr270):
    with pytest.raises(InputError) as caught:
        kr270.without("link_compliance").with_elements(spring({(1, 5): 1e-5, (5, 1): 1e-5}))
    assert caught.value.code == "range"
    assert caught.value.value == pytest.approx(-0.291, abs=1e-3)  # the smallest eigenvalue
    with refused("range", -1.0):
        kr270.without("link_compliance").with_elements(spring({(0, 0): -1e-6}))


def test_a_matrix_that_does_not_fit_its_form_is_refused(kr270):
    full = spring({(0, 1): 1e-7, (1, 0): 1e-7})
    with refused("range", ("beam", 1, 2)):
        kr270.without("link_compliance").with_elements(full).with_link_form("beam")


BAD = {
    "negative joint compliance": JointCompliance(joint="A1", k=-1e-6),
    "nan joint compliance": JointCompliance(joint="A1", k=NAN),
    "negative gap": JointBacklash(joint="A1", gap=-1e-4),
    "nan gap": JointBacklash(joint="A1", gap=NAN),
    "negative gripper gap": GripperBacklash(frame="tool", gap=(1e-4, -1e-4, 0.0)),
    "negative mass": LinkMass(frame="flange", mass=-1.0),
    "infinite mass": LinkMass(frame="flange", mass=INF),
    "nan matrix": LinkCompliance(frame="flange", matrix=as_matrix6(np.full((6, 6), NAN))),
    "nan wrench": Wrench(frame="tool", force=(NAN, 0.0, 0.0)),
    "empty frame error": FrameError(frame="tool"),
    "singular motors": MotorCompliance(joints=("A4", "A5"), structure=((1.0, 1.0), (1.0, 1.0)), k=(0.1, 0.1)),
    "short motors": MotorCompliance(joints=("A4", "A5"), structure=((1.0,),), k=(0.1, 0.1)),
    "spring to a point": GravityCompensator(joint="A2", a_x=0.2, a_y=0.0, L=0.2, phi0=0.0, k_c=1e-6, s_0=0.1),
    "nan offset": JointOffset(joint="A1", offset=NAN),
    "nan frame error": FrameError(frame="tool", x=NAN),
    "nan mass moment": LinkMass(frame="flange", mass=1.0, moment=(NAN, 0.0, 0.0)),
    "nan spring angle": GravityCompensator(joint="A2", a_x=0.2, a_y=0.0, L=0.1, phi0=NAN, k_c=1e-6, s_0=0.1),
    "infinite gap": JointBacklash(joint="A1", gap=INF),
    "soft spring": GravityCompensator(joint="A2", a_x=0.2, a_y=0.0, L=0.1, phi0=0.0, k_c=-1e-6, s_0=0.1),
}


def bare(model):
    kinds = {e.kind for e in model.elements}
    return model.without(*kinds)


@pytest.mark.parametrize("what", BAD)
def test_impossible_effects_are_refused_by_name(kr270, what):
    element = BAD[what]
    with pytest.raises(InputError) as caught:
        bare(kr270).with_elements(element)
    assert element.kind in str(caught.value) or f"parameter {element.place}." in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("name", "value"), [("A3.k", -1e-6), ("link2_end.k33", -1e-9), ("A3.gap", -1e-4)])
def test_values_that_no_robot_has_are_refused(kr270, name, value):
    with pytest.raises(RangeError):
        kr270.with_parameters({name: value})
    estimate = kr270.with_estimates({name: value})  # noise may take one there
    assert estimate.parameters[name].value == value
    assert estimate.with_parameters({"A2.k": 1e-6}).parameters[name].value == value  # what is not changed stays


def test_a_structure_matrix_must_be_finite(kr270):
    with pytest.raises(InputError):
        bare(kr270).with_elements(
            MotorCompliance(joints=("A4", "A5"), structure=((1.0, NAN), (0.0, 1.0)), k=(0.1, 0.1))
        )


def test_gravity_must_be_three_finite_numbers(kr270):
    with refused("gravity"):
        Robot("r", kr270.tree, "tool", (), np.array([0.0, NAN, 1.0]))


def joint(name, parent="base", **motion):
    return Frame(name, parent, Pose(translation=(0.1, 0, 0)), JointMotion("revolute", (0, 0, 1), **motion))


def test_trees_refuse_loops_doubles_and_orphans():
    with refused("parent-later", ("a", "b")):
        FrameTree((joint("a", "b"), joint("b", "a")))
    with refused("duplicate", ("a", "base")):
        FrameTree((joint("a"), joint("a")))
    with refused("duplicate", ("base", "base")):
        FrameTree((joint("base"),))
    with refused("no-parent", ("a", "shoulder")):
        FrameTree((joint("a", "shoulder"),))


def test_joints_refuse_empty_axes_and_reversed_limits():
    with refused("no-direction", ("a", (0, 0, 0))):
        FrameTree((Frame("a", joint=JointMotion("revolute", (0, 0, 0))),))
    with refused("range", ("a", 1.0, -1.0)):
        FrameTree((joint("a", limits=(1.0, -1.0)),))


def test_followers_need_a_leader_that_moves_by_itself():
    with refused("unknown-joint", "c"):
        FrameTree((joint("a"), joint("b", "a", follows="c")))
    with refused("conflict", ("c", "b")):
        FrameTree((joint("a"), joint("b", "a", follows="a"), joint("c", "b", follows="b")))


def test_a_branch_that_moves_is_not_serial():
    tree = FrameTree((joint("a"), joint("b", "a"), joint("c", "a")))
    with refused("format", ("c", "b")):
        Robot("fork", tree, "b").chain  # noqa: B018


def test_two_elements_with_the_same_parameters_are_refused(kr270):
    with refused("duplicate", ("A1.offset",)):
        kr270.with_elements(JointOffset(joint="A1"))


def test_the_controller_must_have_one_axis_per_joint(kr270):
    with refused("shape", (5, 6)):
        Robot("r", kr270.tree, "tool", transmission=Transmission.identity(tuple("abcde")))
    with refused("singular-map"):
        Transmission(("a", "b"), np.ones((2, 2)), np.zeros(2))


def test_parameter_vectors_must_have_the_right_length(kr270):
    with refused("shape", (112, (3,))):
        kr270.with_parameters(np.zeros(3))


@pytest.mark.parametrize(
    "make",
    [
        lambda: HollowRectangle(width=0.1, height=0.1, wall=0.05).properties,
        lambda: Tube(diameter=0.1, wall=0.05).properties,
        lambda: Rectangle(width=-0.1, height=0.1).properties,
        lambda: Beam(section=Rectangle(width=0.1, height=0.1), length=0.0, E=1e9, nu=0.3).compliance(),
        lambda: Beam(section=Rectangle(width=0.1, height=0.1), length=1.0, E=1e9, nu=0.6).compliance(),
    ],
)
def test_impossible_beams_are_refused(make):
    with pytest.raises(InputError):
        make()
