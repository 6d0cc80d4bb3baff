"""What every kind of measurement must satisfy: a new kind without an example here fails."""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import replace

import numpy as np
import pytest
from oracle.campaigns import arm, arm_poses, loads, marker_poses, rotation_vectors
from oracle.mechanics import compliance, poses, twists
from oracle.refusals import refused
from oracle.robots import random_spd
from scipy.spatial.transform import Rotation

from elastocal import measure
from elastocal.measure.kind import Measurement
from elastocal.measure.markers import Deflection, Position
from elastocal.measure.setup import Setup
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
from elastocal.model.loads.gravity_compensator import GravityCompensator
from elastocal.model.loads.link_mass import LinkMass
from elastocal.model.loads.payload import Payload
from elastocal.model.loads.wrench import AppliedWrenches, Wrench
from elastocal.model.robot import Robot
from elastocal.model.statics.observation import Marker
from elastocal.spatial.pose import Pose

COUNT = 2
Q = arm_poses(COUNT, seed=2)
LOAD = loads("grip", COUNT, seed=3, size=120.0)
POINTS, MIXED = (Marker("m1"), Marker("m2")), (Marker("m1"), Marker("tip", "pose"))
SPD = as_matrix6(random_spd(np.random.default_rng(0), 2e-5))
MEASURED = Rotation.random(6, rng=5).as_matrix().reshape(3, 2, 3, 3)
"""Orientations far from anything that is predicted: rotation vectors of one to three radians."""

# name: (markers, the measurement of a setup)
EXAMPLES = {
    "deflection-linear": (POINTS, lambda s: Deflection(s, "linear")),
    "deflection-linear-pose": (MIXED, lambda s: Deflection(s, "linear")),
    "deflection-loaded": (POINTS, Deflection),
    "deflection-loaded-pose": (MIXED, Deflection),
    "position": (POINTS, Position),
    "position-pose": (MIXED, lambda s: Position(s, MEASURED[: s.count])),
}
cases = pytest.mark.parametrize("name", EXAMPLES)
poses_read = pytest.mark.parametrize("name", [n for n in EXAMPLES if n.endswith("pose")])


def example(name, q=Q, load=LOAD):
    markers, made = EXAMPLES[name]
    return made(Setup(q, load, markers))


def springs():
    """A soft arm, so that turns are far from small: joints, motors, links, foundation, offsets, weights, a spring."""
    return arm(
        MotorCompliance(joints=("j2", "j3"), structure=((60.0, 0.0), (-1.1, 40.0)), k=(0.6, 0.4)),
        JointOffset(joint="j2", offset=0.02),
        FrameError(frame="end", x=1e-2, y=-2e-2, z=1e-2, rx=2e-2, ry=-1e-2, rz=3e-2),
        FoundationCompliance(matrix=SPD),
        LinkCompliance(frame="end", matrix=SPD),
        Payload(frame="tip", mass=5.0, moment=(1.0, 0.5, -0.3)),
        GravityCompensator(joint="j2", a_x=0.35, a_y=0.12, L=0.18, phi0=1.1, k_c=2e-5, s_0=0.25),
        Wrench(frame="end", force=(30.0, -20, 40), moment=(4.0, 3, -5)),
        joints=(3e-4, None, None, 1e-4),
    )


def everything():
    """The same with backlash and with effects of angle and temperature: one parameter or more of every kind."""
    model = springs().with_elements(
        JointBacklash(joint="j3", gap=0.004),
        GripperBacklash(frame="tip", gap=3e-3),
        GearHarmonics(joint="j1", orders=(1, 3), sin=(2e-3, 1e-3), cos=(-1e-3, 5e-4)),
        JointGain(joint="p4", gain=2e-3),
        JointCoupling(joint="j3", of="j1", ratio=2e-3),
        ThermalGrowth(frame="j3", expansion=1e-5),
        OwnWeight(joint="j2", sag=3e-3, links={"j3": (1e-3, -2e-3, 3e-3)}),
        LateralWeight(joint="j1", tilt=(1e-3, -2e-3)),
        WeightBacklash(joint="j2", preload=1e-3),
    )
    return replace(model, temperature=12.0)


def test_every_kind_has_an_example():
    found = set()
    for info in pkgutil.iter_modules(measure.__path__):
        module = importlib.import_module(f"{measure.__name__}.{info.name}")
        things = [t for t in vars(module).values() if isinstance(t, type) and issubclass(t, Measurement)]
        found |= {t.kind for t in things if "kind" in vars(t)}
    elsewhere = {"joint_torque", "contact_force", "contact_gap"}  # kinds without markers have tests of their own
    assert found == {example(name).kind for name in EXAMPLES} | elsewhere


@cases
def test_counts_and_rows(name):
    model, kind = springs(), example(name)
    height = 9 if name.endswith("pose") else 6
    assert kind.count == COUNT
    assert kind.predict(model).shape == (COUNT, height)
    assert np.isfinite(kind.predict(model)).all()
    assert [r.unit for r in kind.rows] == (["m"] * 6 + ["rad"] * 3)[:height]
    letters = {"deflection": "dx dy dz drx dry drz", "position": "x y z rx ry rz"}[kind.kind].split()
    second = "tip" if name.endswith("pose") else "m2"
    expected = [f"m1.{a}" for a in letters[:3]] + [f"{second}.{a}" for a in letters[: height - 3]]
    assert [r.name for r in kind.rows] == expected
    names = kind.names(model, None)
    assert kind.derivative(model, names).shape == (COUNT, height, len(names))
    assert kind.affine == name.startswith("deflection-linear")
    assert kind.states == (2 if kind.kind == "deflection" else 1)


@poses_read
def test_readings_are_those_of_plain_mechanics(name):
    model, kind = springs(), example(name)
    got = kind.predict(model)
    frames = [m.frame for m in kind.setup.markers]
    for i, (q, six) in enumerate(zip(Q, LOAD.wrench, strict=True)):
        push = [("grip", six, False)]
        if name.startswith("deflection-linear"):
            still = np.array(model.constants)
            move = twists(model, q, still, [*frames, "grip"])
            parts = [move[f] @ compliance(model) @ move["grip"].T @ six for f in frames]
        elif kind.kind == "deflection":
            bent, free = marker_poses(model, q, push, frames), marker_poses(model, q, (), frames)
            parts = [
                [*(a[:3, 3] - b[:3, 3]), *rotation_vectors(a[:3, :3] @ b[:3, :3].T)]
                for a, b in zip(bent, free, strict=True)
            ]
            assert np.linalg.norm(parts[1][3:]) > 0.01
        else:
            bent = marker_poses(model, q, push, frames)
            turned = [p[:3, :3] @ r.T for p, r in zip(bent, MEASURED[i], strict=True)]
            parts = [[*p[:3, 3], *rotation_vectors(t)] for p, t in zip(bent, turned, strict=True)]
        expected = np.concatenate([np.asarray(p)[: m.rows] for p, m in zip(parts, kind.setup.markers, strict=True)])
        assert np.abs(expected).min() > 1e-5
        np.testing.assert_allclose(got[i], expected, rtol=0, atol=1e-10)


@poses_read
def test_derivatives_match_central_differences_for_every_kind_of_parameter(name):
    """All parameters of an element change together, each by its own random share."""
    model, kind = everything(), example(name)
    assert {e.kind for e in model.elements} == set(element_kinds())
    have = kind.names(model, None)
    slopes = kind.derivative(model, have)
    rng = np.random.default_rng(9)
    seen = set()
    for element in model.elements:
        rows = [p for p in element.parameters(model.tree) if p.name in have]
        if not rows:
            continue
        seen.add(element.kind)
        step = {p.name: 1e-3 * max(abs(p.value), 1e-2 * p.scale) * rng.uniform(0.3, 1) for p in rows}
        two = [kind.predict(model.with_parameters({p.name: p.value + s * step[p.name] for p in rows})) for s in (1, -1)]
        expected = (two[0] - two[1]) / 2
        got = slopes[:, :, [have.index(n) for n in step]] @ np.array(list(step.values()))
        size = np.abs(expected).max()
        assert size > 0
        np.testing.assert_allclose(got, expected, rtol=0, atol=2e-5 * size, err_msg=element.kind)
    compliances = {"joint_compliance", "motor_compliance", "link_compliance", "foundation_compliance"}
    assert seen == (compliances if name.startswith("deflection-linear") else set(element_kinds()))


@cases
def test_positions_are_the_first_rows_of_poses(name):
    """Nothing is left to prove for kinds that watch points only."""
    model, kind = springs(), example(name)
    posed = example(f"{name.removesuffix('-pose')}-pose")
    names = ["end.k22", "p4.k", "j1.k"]
    np.testing.assert_allclose(kind.predict(model)[:, :3], posed.predict(model)[:, :3], rtol=0, atol=1e-14)
    np.testing.assert_allclose(
        kind.derivative(model, names)[:, :3], posed.derivative(model, names)[:, :3], rtol=1e-12, atol=1e-12
    )


@cases
def test_columns_come_in_the_order_asked_for(name):
    model, kind = springs(), example(name)
    names = ["end.k22", "p4.k", "j1.k"]
    got = kind.derivative(model, names)
    assert np.abs(got).max(axis=(0, 1)).min() > 0
    np.testing.assert_array_equal(got[:, :, ::-1], kind.derivative(model, names[::-1]))
    np.testing.assert_array_equal(got[:, :, :1], kind.derivative(model, names[:1]))


@cases
def test_turning_the_cell_turns_the_readings(name):
    """A turned floor, with gravity and all forces turned; vectors in base axes turn, whatever they are."""
    model = springs().without("foundation_compliance")  # it bends in base axes
    turn = Rotation.from_rotvec([0.6, 1.1, -0.8]).as_matrix()
    frames = (
        Frame("floor", BASE, Pose(turn)),
        *(replace(f, parent="floor" if f.parent == BASE else f.parent) for f in model.tree.frames),
    )
    elements = tuple(
        replace(e, force=tuple(turn @ e.force), moment=tuple(turn @ e.moment)) if isinstance(e, Wrench) else e
        for e in model.elements
    )
    other = replace(model, tree=FrameTree(frames), elements=elements, gravity=turn @ model.gravity)
    six = np.concatenate([LOAD.wrench[:, :3] @ turn.T, LOAD.wrench[:, 3:] @ turn.T], axis=1)
    plain, turned = example(name), example(name, load=AppliedWrenches("grip", six))
    if isinstance(turned, Position) and turned.turned is not None:
        turned = Position(turned.where, turn @ turned.turned)
    expected = (plain.predict(model).reshape(COUNT, -1, 3) @ turn.T).reshape(COUNT, -1)
    assert np.abs(expected - plain.predict(model)).max() > 1e-3
    np.testing.assert_allclose(turned.predict(other), expected, rtol=0, atol=1e-11)


@cases
def test_each_reading_depends_on_its_own_configuration_and_load_only(name):
    model, whole = springs(), example(name)
    one = example(name, Q[:1], AppliedWrenches("grip", LOAD.wrench[:1]))
    np.testing.assert_allclose(one.predict(model), whole.predict(model)[:1], rtol=0, atol=1e-13)
    same = example(name, Q[[0, 0]], AppliedWrenches("grip", LOAD.wrench[:1]))  # one wrench for all
    expected = whole.predict(model)[0]
    rows = 3 if name == "position-pose" else len(expected)  # orientations are measured from other ones
    np.testing.assert_allclose(same.predict(model)[1, :rows], expected[:rows], rtol=0, atol=1e-13)


def swivel():
    """j2 carries a weight and has play; j1 turns its axis away from upright (q1 = 0)."""
    tree = FrameTree(
        (
            Frame("j1", BASE, Pose(), JointMotion("revolute", (1, 0, 0))),
            Frame("j2", "j1", Pose(), JointMotion("revolute", (0, 0, 1))),
            Frame("m1", "j2", Pose(translation=(0.4, 0.1, 0))),
            Frame("tip", "m1", Pose()),
            Frame("m2", "j2", Pose(translation=(0.2, -0.1, 0))),
            Frame("grip", "j2", Pose(translation=(0.3, 0, 0))),
        )
    )
    mass = LinkMass(frame="j2", mass=5.0, moment=(1.0, 0, 0))
    joint = (JointCompliance(joint="j2", k=1e-5), JointBacklash(joint="j2", gap=1e-3))
    return Robot("swivel", tree, "tip", (*joint, mass))


@cases
def test_no_reading_where_backlash_lies_on_no_side(name):
    """At q1 = 0 the weight does not turn j2: without load its side is unknown, with a side load it is known."""
    model = swivel()
    q = np.array([[1.0, 0.3], [0.0, 0.3], [0.0, 0.3]])
    sideways = [0, 50.0, 0, 0, 0, 0]
    kind = example(name, q, AppliedWrenches("grip", [sideways, sideways, [0] * 6]))
    lost = {"deflection": [False, True, True], "position": [False, False, True]}[kind.kind]
    if name.startswith("deflection-linear"):
        lost = [False] * 3  # knows no backlash
    got, slope = kind.predict(model), kind.derivative(model, ["j2.k"])
    assert np.isnan(got).all(axis=1).tolist() == np.isnan(got).any(axis=1).tolist() == lost
    assert np.isnan(slope).all(axis=(1, 2)).tolist() == np.isnan(slope).any(axis=(1, 2)).tolist() == lost


def test_markers_without_load_stand_where_the_rigid_chain_puts_them():
    model, at = arm(), Setup(Q, LOAD, MIXED)
    for i, q in enumerate(Q):
        found = poses(model, q)
        for j, m in enumerate(MIXED):
            np.testing.assert_allclose(at.positions(model)[i, j], found[m.frame][:3, 3], rtol=0, atol=1e-14)


def test_rank_is_judged_without_effects_of_second_order_where_a_kind_has_such_a_form():
    model = everything()
    at = Setup(Q, LOAD, POINTS)
    plain = Deflection(at).structure(model, ["j1.k", "end.k22"])
    assert (plain.kind, plain.statics, plain.setup) == ("deflection", "linear", at)
    for kind, names in ((Deflection(at), ["j1.k", "j2.offset"]), (Position(at), ["j1.k"])):
        assert kind.structure(model, names) is kind


def test_equal_configurations_share_a_pose_and_equal_loads_a_state():
    q = Q[[0, 1, 0, 0, 1]]
    six = LOAD.wrench[[0, 0, 0, 1, 0]]
    at = Setup(q, AppliedWrenches("grip", six), POINTS)
    assert [[a == b for b in at.pose] for a in at.pose] == [[np.array_equal(a, b) for b in q] for a in q]
    both = np.concatenate([q, six], axis=1)
    assert [[a == b for b in at.state] for a in at.state] == [[np.array_equal(a, b) for b in both] for a in both]
    some = at.picked(np.array([3, 1]))
    np.testing.assert_array_equal(some.q, q[[3, 1]])
    np.testing.assert_array_equal(some.wrenches, six[[3, 1]])


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (lambda: Setup(Q, LOAD, ()), ("no-markers",)),
        (lambda: Setup(Q, AppliedWrenches("grip", LOAD.wrench[[0, 1, 1]]), POINTS), ("shape", (3, 2))),
        (lambda: Position(Setup(Q, LOAD, MIXED)), ("no-orientations",)),
        (
            lambda: Deflection(Setup(Q, LOAD, POINTS), "linear").names(everything(), ["j3.gap"]),
            ("unsupported", "j3.gap"),
        ),
    ],
)
def test_what_cannot_be_measured_is_refused(made, words):
    with refused(*words):
        made()
