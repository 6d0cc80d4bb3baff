"""Corrected commands: checked by the engine's equilibrium, by an independent root finder, by closed forms."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from oracle.mechanics import generalised_forces
from oracle.mechanics import poses as oracle_poses
from oracle.refusals import refused
from oracle.robots import random_robot

from elastocal.compensation.commands import Commands, correct, correction_chunks
from elastocal.compensation.job import first_order
from elastocal.compensation.loads import PathLoads, PayloadChange
from elastocal.compensation.targets import Targets, TargetStatus
from elastocal.compensation.verification import residual
from elastocal.files.robot.read import read_robot
from elastocal.model.compliant.frame_error import FrameError
from elastocal.model.compliant.joint_compliance import JointCompliance
from elastocal.model.compliant.link_compliance import LinkCompliance, as_matrix6
from elastocal.model.frames import Frame, FrameTree, JointMotion
from elastocal.model.inverse_kinematics import task
from elastocal.model.kinematics import kinematics
from elastocal.model.loads.payload import Payload
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.robot import Robot
from elastocal.model.statics.equilibrium import equilibrium
from elastocal.model.statics.loaded_inverse import Goal, fixed_point, loaded_newton
from elastocal.model.statics.loaded_state import LoadedRobot
from elastocal.spatial.pose import Pose

LINKS = ("link_compliance", "foundation_compliance")
PUSH = np.array([1000.0, 500.0, -2500.0, 100.0, 50.0, 30.0])
GAPS = {"A1.gap": 1e-4, "A2.gap": 8e-5, "A3.gap": 1.2e-4, "A4.gap": 2e-4, "A5.gap": 2e-4, "A6.gap": 3e-4}
OFFSETS = {"A1.offset": 1e-3, "A2.offset": -8e-4, "A3.offset": 5e-4, "A5.offset": -1e-3}


def kr270(*, links=True, gaps=False, geometry=False, spring="stiffness_only"):
    model = read_robot("kuka-kr270") if links else read_robot("kuka-kr270").without(*LINKS)
    if spring == "torque":
        springs = {"gravity_compensator": {"mode": "torque", "k_c": 8e-6, "s_0": 0.45}}
        model = replace(model, elements=tuple(replace(e, **springs.get(e.kind, {})) for e in model.elements))
    if geometry:
        model = model.with_elements(
            FrameError(frame="link2_end", x=1e-3, ry=4e-4), FrameError(frame="base", z=-2e-3, rx=3e-4)
        )
    values = {**(GAPS if gaps else {}), **(OFFSETS if geometry else {})}
    return model.with_parameters(values) if values else model


def path(count=300):
    t = np.linspace(0, 1, count)
    start = np.array([0.1, -1.35, 1.6, 0.4, 0.8, -0.3])
    swing = np.array([0.5, 0.3, -0.3, 0.6, 0.4, 1.5])
    q = start + swing * np.sin(np.pi * t)[:, None] + 0.1 * np.sin(9 * t)[:, None]
    k = kinematics(read_robot("kuka-kr270"), q)
    return Targets("tool", k.position, k.rotation, q[0])


def push(targets, scale=1.0):
    rng = np.random.default_rng(3)
    return PathLoads((AppliedWrenches("tool", scale * PUSH * rng.uniform(0.5, 1.0, (len(targets), 6))),))


VARIANTS = {
    "joints": {"links": False},
    "joints, real spring": {"links": False, "spring": "torque"},
    "joints, gaps": {"links": False, "gaps": True},
    "joints, geometry": {"links": False, "geometry": True},
    "links": {},
    "links, gaps, geometry, real spring": {"gaps": True, "geometry": True, "spring": "torque"},
    "links, gaps, geometry": {"gaps": True, "geometry": True},
}


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_loaded_pose_of_the_command_is_the_desired_pose(variant):
    model = kr270(**VARIANTS[variant])
    targets = path()
    loads = push(targets)
    out = correct(model, targets, loads)
    assert out.counts() == {"corrected": len(targets)}
    before = residual(model, out.nominal, targets, loads)
    after = residual(model, out.command, targets, loads)
    assert before.distances().mean > 1e-3
    assert after.distances().max < 1e-9
    assert after.angles().max < 1e-9
    if variant == "joints":
        assert after.distances().max < 1e-13


def test_an_independent_root_finder_finds_the_same_command():
    """Joints, one link, backlash, a real spring, geometry errors; equations of the oracle, unknowns q and all bends."""
    from scipy.optimize import root
    from scipy.spatial.transform import Rotation

    model = kr270(gaps=True, geometry=True, spring="torque").without("foundation_compliance")
    kept = [e for e in model.elements if e.kind != "link_compliance" or e.frame == "link2_end"]
    model = replace(model, elements=tuple(kept))
    targets = path(3)
    loads = push(targets)
    out = correct(model, targets, loads)
    dofs = list(model.chain.dofs)
    constant, k = np.zeros(len(dofs)), np.zeros((len(dofs), len(dofs)))
    gap = np.zeros(len(dofs))
    for e in model.elements:
        if hasattr(e, "dofs"):
            at = [dofs.index(d) for d in e.dofs()]
            constant[at] += e.unloaded(model.posture(np.zeros((6, 1))))
            k[np.ix_(at, at)] += e.compliance()
            if e.kind == "joint_backlash":
                gap[at] += e.gap
    for row in (0, 1):
        wrench = [("tool", loads.wrenches[0].wrench[row], False)]

        def equations(x, wrench=wrench, row=row):
            q, theta = x[:6], x[6:]
            force = generalised_forces(model, q, theta, wrench)
            tool = oracle_poses(model, q, theta)["tool"]
            turn = Rotation.from_matrix(tool[:3, :3] @ targets.rotation[row].T).as_rotvec()
            off = tool[:3, 3] - targets.position[row]
            return np.concatenate([off, turn, 1e3 * (constant + k @ force + gap * np.sign(force) - theta)])

        start = np.concatenate([out.nominal[row], constant])
        found = root(equations, start, tol=1e-13)
        assert np.abs(found.fun).max() < 1e-9
        assert np.abs(found.x[:6] - out.nominal[row]).max() > 1e-3
        np.testing.assert_allclose(out.command[row], found.x[:6], rtol=0, atol=2e-9)


@pytest.mark.parametrize("aim", ["pose", "position"])
@pytest.mark.parametrize("links", [False, True])
def test_both_searches_find_the_same(links, aim):
    """The fast steps without dQ/dtheta, and Newton on the command with the loaded Jacobian."""
    model = kr270(links=links, gaps=True, geometry=True)
    targets = path(20)
    robot, what = LoadedRobot(model), task(model, "tool", aim)
    start = correct(model, targets, push(targets)).nominal.T
    position, rotation = targets.last(slice(None))
    goal = Goal(position, rotation, list(push(targets).wrenches))
    fast, slow = (f(robot, "tool", what, goal, start) for f in (fixed_point, loaded_newton))
    assert fast.done.all()
    assert slow.done.all()
    np.testing.assert_allclose(fast.q, slow.q, rtol=0, atol=1e-8)
    np.testing.assert_allclose(fast.theta, slow.theta, rtol=0, atol=1e-9)


def test_position_only_keeps_the_told_orientation():
    model = kr270(gaps=True, geometry=True)
    targets = path(60)
    loads = push(targets)
    out = correct(model, targets, loads, "position")
    assert out.counts() == {"corrected": 60}
    left = residual(model, out.command, targets, loads)
    assert left.distances().max < 1e-9
    assert left.angles().mean > 1e-3  # the tool is still tilted by the load
    assert np.abs(out.rotation - targets.rotation).max() < 1e-9
    assert np.linalg.norm(out.moved(targets)[:, :3], axis=1).mean() > 1e-3


def test_the_told_pose_is_the_nominal_pose_of_the_command():
    model = kr270(geometry=True)
    targets = path(12)
    out = correct(model, targets, push(targets))
    for row in range(12):
        tool = oracle_poses(read_robot("kuka-kr270"), out.command[row])["tool"]
        np.testing.assert_allclose(out.position[row], tool[:3, 3], atol=1e-13)
        np.testing.assert_allclose(out.rotation[row], tool[:3, :3], atol=1e-13)
    other = read_robot("kuka-kr270").with_elements()
    frames = tuple(
        replace(f, pose=Pose(np.eye(3), [1.151, 0, 0])) if f.name == "link2_end" else f for f in other.tree.frames
    )
    controller = replace(other, tree=FrameTree(frames))
    told = correct(model, targets, push(targets), controller=controller)
    np.testing.assert_array_equal(told.command, out.command)
    np.testing.assert_allclose(told.position[3], oracle_poses(controller, out.command[3])["tool"][:3, 3], atol=1e-13)
    assert np.linalg.norm(told.position - out.position, axis=1).min() > 0.9e-3


def test_forces_are_taken_at_the_desired_pose_not_at_the_command():
    """q = IK(T) - k Q with everything at IK(T); with the forces at the command it would be micrometres off."""
    model = kr270(links=False, spring="torque")
    targets, loads = path(100), PathLoads((AppliedWrenches("tool", PUSH[None]),))
    out = correct(model, targets, loads)
    robot = LoadedRobot(model)
    applied = [w.rows(slice(0, 100), 100) for w in loads.wrenches]
    at_command = robot.state(out.command.T, None, applied)
    other = out.nominal - robot.joint_bends(at_command).T
    off = residual(model, other, targets, loads).distances()
    assert 5e-7 < off.mean < 5e-5
    assert residual(model, out.command, targets, loads).distances().max < 1e-13
    first = first_order(model, targets, loads)
    left = residual(model, first.command, targets, loads)
    assert 1e-6 < left.distances().mean < 1e-4
    assert left.angles().mean < 5e-5 < 1e-3 < residual(model, out.nominal, targets, loads).angles().mean


def test_a_model_that_does_not_know_everything_helps_but_not_wholly():
    """Truth: links, backlash, a real spring, a payload.  Known: joints 3 % off, a spring of another law, no gaps."""
    truth = kr270(gaps=True, spring="torque").with_parameters({"flange.payload_m": 120.0, "flange.payload_mx": 20.0})
    known = kr270(links=False, spring="torque")
    known = known.with_parameters({f"A{i}.k": 1.12 * known.parameters.rows[known.parameters.index(f"A{i}.k")].value
                                   for i in range(1, 7)})  # fmt: skip
    targets = path(200)
    loads = push(targets)
    out = correct(known, targets, loads)
    from elastocal.compensation.verification import verify

    seen = verify(truth, out.nominal, out.command, targets, loads)
    assert 60 < seen.compensated_percent < 99.5
    assert seen.after.distances().mean > 2e-5
    exact = correct(truth, targets, loads)
    assert verify(truth, exact.nominal, exact.command, targets, loads).compensated_percent > 99.9999


def test_cylindrical_path_without_noise_is_exact():
    model = read_robot("cylindrical")
    t = np.linspace(0, 2 * np.pi, 200)
    place = np.column_stack([0.6 + 0.2 * np.cos(t), 0.25 * np.sin(t), 0.5 + 0.1 * np.cos(2 * t)])
    targets = Targets("tool", place, np.repeat(np.eye(3)[None], 200, axis=0), np.array([0.5, 0.0, 0.7]))
    wrench = np.array([1000.0, -800.0, 1000.0, 100.0, 0.0, 1000.0])
    loads = PathLoads((AppliedWrenches("tool", wrench[None]),))
    out = correct(model, targets, loads)
    assert out.counts() == {"corrected": 200}
    # closed form: at the desired place the joints feel fz, mz + x fy - y fx and the force along the arm
    x, y, z = place.T
    reach, angle = np.hypot(x, y), np.arctan2(y, x)
    forces = np.stack([np.full(200, 1000.0), 1000.0 + x * -800.0 - y * 1000.0, (x * 1000.0 - y * 800.0) / reach])
    expected = np.stack([z, angle, reach]) - np.array([[1e-6], [0.5e-6], [2e-6]]) * forces
    np.testing.assert_allclose(out.command, expected.T, atol=1e-12)
    assert residual(model, out.command, targets, loads).distances().max < 1e-11
    assert residual(model, out.nominal, targets, loads).distances().mean > 1e-3
    first = residual(model, first_order(model, targets, loads).command, targets, loads).distances()
    assert 1e-8 < first.mean < 1e-4


def test_scara_with_gripper_backlash_and_geometry():
    model = read_robot("scara-ruggeri").with_parameters(
        {"gripper.gap": 2e-4, "J1.gap": 3e-4, "J2.gap": 2e-4, "base.x": 1e-3, "base.y": -2e-3, "link1_end.x": 5e-4,
         "J1.offset": 2e-3, "J2.offset": -1e-3}
    )  # fmt: skip
    t = np.linspace(0, 2 * np.pi, 80)
    place = np.column_stack([0.35 + 0.1 * np.cos(t), 0.15 * np.sin(t), 0 * t])
    targets = Targets("gripper", place, np.repeat(np.eye(3)[None], 80, axis=0), np.array([-0.7, 1.6]))
    loads = PathLoads(
        (AppliedWrenches("gripper", np.column_stack([30 * np.cos(3 * t), 30 * np.sin(3 * t), *[0 * t] * 4])),)
    )
    out = correct(model, targets, loads)
    good = out.status == TargetStatus.CORRECTED
    assert good.mean() > 0.85
    assert set(out.counts()) <= {"corrected", "undetermined_backlash"}
    left = residual(model, out.command, targets, loads)
    assert np.nanmax(np.linalg.norm(left.position, axis=1)) < 1e-9
    assert residual(model, out.nominal, targets, loads).distances().mean > 1e-3
    assert np.isnan(out.command[~good]).all()


def test_redundant_robot_on_a_track():
    model = read_robot("iiwa14-on-track").with_parameters({"flange.payload_m": 5.0, "T.gap": 5e-5})
    t = np.linspace(0, 1, 60)[:, None]
    q = np.array([0.5, 0.2, 0.4, 0.1, -1.3, 0.2, 0.7, 0.0]) + t * np.array([1.0, 0.5, 0.3, -0.4, 0.3, 0.2, -0.3, 0.5])
    k = kinematics(read_robot("iiwa14-on-track"), q)
    loads = PathLoads((AppliedWrenches("tool", np.array([[60.0, -40, -80, 5, 3, -2]])),))
    for reference in (q[0], q):
        targets = Targets("tool", k.position, k.rotation, reference)
        out = correct(model, targets, loads)
        assert out.counts() == {"corrected": 60}
        assert residual(model, out.command, targets, loads).distances().max < 1e-9
        assert residual(model, out.nominal, targets, loads).distances().mean > 1e-2
        assert np.abs(out.command - out.nominal).max() < 0.2
    np.testing.assert_allclose(out.nominal, q, atol=1e-12)


def test_a_soft_arm_needs_the_loaded_jacobian():
    """Bends of a tenth of a radian: the fast steps would take long or not end; Newton on the command does."""
    model = random_robot(11, 6, 2, k=4e-4)
    q = np.random.default_rng(0).uniform(-0.5, 0.5, (6, 6))
    k = kinematics(model, q)
    targets = Targets("tip", k.position, k.rotation, q)
    loads = PathLoads((AppliedWrenches("tip", np.array([[15.0, 25, -30, 2, 1, 1]])),))
    out = correct(model, targets, loads)
    good = out.status == TargetStatus.CORRECTED
    assert good.sum() >= 3
    left = residual(model, out.command, targets, loads)
    assert np.nanmax(np.abs(left.position[good])) < 2e-8
    assert np.abs(out.command - out.nominal)[good].max() > 0.02


def test_joints_that_follow_others():
    frames = (
        Frame("A", "base", Pose(), JointMotion("revolute", (0, 0, 1), (-3, 3))),
        Frame("B", "A", Pose(np.eye(3), [0.4, 0, 0]), JointMotion("revolute", (0, 0, 1), None, "A", -0.5, 0.3)),
        Frame("C", "B", Pose(np.eye(3), [0.3, 0, 0]), JointMotion("prismatic", (1, 0, 0), (0, 1))),
        Frame("tip", "C", Pose(np.eye(3), [0.1, 0, 0])),
    )
    springs = (
        JointCompliance(joint="A", k=1e-4),
        JointCompliance(joint="B", k=2e-4),
        JointCompliance(joint="C", k=1e-5),
    )
    model = Robot("led", FrameTree(frames), "tip", springs)
    q = np.array([[0.7, 0.25], [0.2, 0.4]])
    k = kinematics(model, q)
    targets = Targets("tip", k.position, k.rotation, q)
    loads = PathLoads((AppliedWrenches("tip", np.array([[30.0, 50.0, 0, 0, 0, 1.0]])),))
    out = correct(model, targets, loads)
    assert out.counts() == {"corrected": 2}
    assert residual(model, out.command, targets, loads).distances().max < 1e-8
    assert residual(model, out.nominal, targets, loads).distances().mean > 1e-3


def test_payloads_change_along_the_path():
    model = kr270(links=False)
    targets = path(40)
    heavy = Payload(frame="flange", mass=200.0, moment=(30.0, 0.0, 10.0))
    light = Payload(frame="flange", mass=20.0)
    loads = PathLoads(push(targets).wrenches, (PayloadChange(10, heavy), PayloadChange(25, light)))
    out = correct(model, targets, loads)
    for rows, load in ((slice(0, 10), None), (slice(10, 25), heavy), (slice(25, 40), light)):
        there = model if load is None else model.without("payload").with_elements(load)
        some = Targets("tool", targets.position[rows], targets.rotation[rows], out.nominal[rows])
        wrench = AppliedWrenches("tool", loads.wrenches[0].wrench[rows])
        alone = correct(there, some, PathLoads((wrench,)))
        np.testing.assert_allclose(out.command[rows], alone.command, rtol=0, atol=1e-14)
    assert residual(model, out.command, targets, loads).distances().max < 1e-12
    assert residual(model, out.command, targets, PathLoads(loads.wrenches)).distances().max > 1e-4


def test_order_and_chunks_do_not_matter(monkeypatch):
    import elastocal.compensation.commands as module

    model = kr270(gaps=True)
    targets = path(50)
    whole = correct(model, targets, push(targets))
    own = Targets("tool", targets.position, targets.rotation, whole.nominal)
    straight = correct(model, own, push(targets))
    back = np.arange(50)[::-1]
    wrench = AppliedWrenches("tool", push(targets).wrenches[0].wrench[back])
    turned = correct(model, own.picked(back), PathLoads((wrench,)))
    np.testing.assert_array_equal(turned.command[back], straight.command)
    monkeypatch.setattr(module, "_chunk", lambda robot: 7)
    np.testing.assert_array_equal(correct(model, targets, push(targets)).command, whole.command)
    pieces = list(correction_chunks(model, targets, push(targets)))
    assert [rows.stop - rows.start for rows, _ in pieces] == [7] * 7 + [1]


def status_at(q, model=None, scale=1.0, **change):
    model = model or kr270(links=False)
    k = kinematics(read_robot("kuka-kr270"), q)
    position = k.position + change.get("away", 0.0)
    loads = PathLoads((AppliedWrenches("tool", scale * PUSH[None]),))
    return correct(model, Targets("tool", position, k.rotation, np.asarray(q)), loads)


def test_statuses_name_what_is_wrong():
    good = [0.1, -1.35, 1.6, 0.4, 0.8, -0.3]
    out: dict[str, Commands] = {
        "corrected": status_at([good]),
        "out_of_reach": status_at([good], away=np.array([3.0, 0, 0])),
        "joint_limit": status_at([[0.1, np.deg2rad(-140.0) + 1e-5, 1.9, 0.4, 0.8, -0.3]]),
        "near_wrist_singularity": status_at([[0.1, -1.35, 1.6, 0.4, 5e-4, -0.3]]),
        "near_elbow_singularity": status_at([[0.1, -1.0, 5e-4 - np.arctan2(41.0, 1200.0), 0.4, 0.8, -0.3]]),
        "unstable": status_at([good], model=_weak(), scale=1.0),
        "configuration_flip": status_at([[0.1, -1.35, 1.6, 0.4, 2e-3, -0.3]], scale=2.0),
    }
    shoulder = np.array([0.1, -2.2, 0.5, 0.4, 0.8, -0.3])
    from scipy.optimize import brentq

    def ahead(a3):
        at = oracle_poses(read_robot("kuka-kr270"), [0.0, -2.2, a3, 0.4, 0.8, 0.0])
        return at["A5"][0, 3]

    shoulder[2] = brentq(ahead, -1.0, 2.5)
    out["near_shoulder_singularity"] = status_at([shoulder])
    assert {name: result.counts() for name, result in out.items()} == {name: {name: 1} for name in out}
    for name in out:
        assert TargetStatus[name.upper()].text
    lost = ("out_of_reach", "unstable")
    for name, result in out.items():
        assert np.isnan(result.command).all() == (name in lost), name
        assert np.isnan(result.moved(path(1))).all() == (name in lost)


def _weak():
    """So compliant in A2 that the load bends it faster than the gear holds it."""
    return kr270(links=False).without("gravity_compensator").with_parameters({"A2.k": 1.5e-4, "A3.k": 2e-4})


def test_backlash_without_force_is_undetermined():
    model = kr270(links=False).without("gravity_compensator").with_parameters({"A1.gap": 1e-4})
    q = [[0.0, -1.35, 1.6, 0.0, 0.8, 0.0]]
    k = kinematics(model, q)
    targets = Targets("tool", k.position, k.rotation, np.asarray(q))
    idle = correct(model, targets)  # nothing pushes A1 sideways but the weight, which cannot
    assert idle.counts() == {"undetermined_backlash": 1}
    pushed = correct(model, targets, PathLoads((AppliedWrenches("tool", np.array([[0, 300.0, 0, 0, 0, 0]])),)))
    assert pushed.counts() == {"corrected": 1}
    bent = equilibrium(model, pushed.command, [AppliedWrenches("tool", np.array([[0, 300.0, 0, 0, 0, 0]]))])
    assert bent.theta[0, 0] < -1e-4


def test_an_estimate_that_violates_physics_is_still_corrected():
    model = kr270(links=False).with_estimates({"A4.k": -1e-6})
    targets = path(5)
    out = correct(model, targets, push(targets))
    assert out.counts() == {"corrected": 5}
    assert residual(model, out.command, targets, push(targets)).distances().max < 1e-12


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"reference": np.zeros(5)}, ("shape", ("kuka-kr270", 6, ("A1", "A2", "A3", "A4", "A5", "A6")))),
        ({"frame": "spindle"}, ("unknown-frame", "spindle")),
        ({"rotation": 2 * np.eye(3)[None]}, ("range", 1)),
        ({"position": np.array([[0, np.nan, 0]])}, ("number", 1)),
        ({"position": np.zeros((2, 3))}, ("shape", ((2, 3), (1, 3, 3)))),
        ({"reference": np.zeros((4, 6))}, ("shape", (4, 1))),
    ],
)
def test_bad_targets_are_refused(change, message):
    given = {
        "frame": "tool",
        "position": np.zeros((1, 3)),
        "rotation": np.eye(3)[None],
        "reference": np.zeros(6),
        **change,
    }
    with refused(*message):
        correct(kr270(), Targets(**given))


def test_bad_loads_are_refused():
    targets = path(4)
    with refused("shape", (3, "tool", 4)):
        correct(kr270(), targets, PathLoads((AppliedWrenches("tool", np.zeros((3, 6))),)))
    twice = (PayloadChange(2, Payload(frame="flange", mass=1.0)), PayloadChange(1, Payload(frame="flange", mass=2.0)))
    with refused("shape", [2, 1]):
        correct(kr270(), targets, PathLoads((), twice))
    with refused("no-targets"):
        correct(kr270(), Targets("tool", np.zeros((0, 3)), np.zeros((0, 3, 3)), np.zeros(6)))


def test_links_on_a_stiff_gripper_of_six_springs():
    """A spring at the tool alone: the tool frame moves, the load acts beyond it."""
    k = np.diag([2e-7, 3e-7, 1e-7, 4e-6, 5e-6, 3e-6])
    model = kr270(links=False).with_elements(LinkCompliance(frame="tool", matrix=as_matrix6(k)))
    targets = path(30)
    out = correct(model, targets, push(targets))
    assert out.counts() == {"corrected": 30}
    assert residual(model, out.command, targets, push(targets)).distances().max < 1e-9


def test_bends_beside_the_task_are_waited_for():
    """A flat arm whose link bends down by some mrad: the task is x and y, which that moves by its cosine only."""
    frames = (
        Frame("A", "base", Pose(), JointMotion("revolute", (0, 0, 1), (-3, 3))),
        Frame("elbow", "A", Pose(np.eye(3), [0.5, 0, 0])),
        Frame("B", "elbow", Pose(), JointMotion("revolute", (0, 0, 1), (-3, 3))),
        Frame("tip", "B", Pose(np.eye(3), [0.4, 0, 0])),
    )
    spring = LinkCompliance(frame="elbow", matrix=as_matrix6(np.diag([0, 0, 0, 0, 4e-5, 0])))
    model = Robot("flat", FrameTree(frames), "tip", (spring,))
    q = np.array([[0.3, 0.9], [-0.2, 1.1]])
    k = kinematics(model, q)
    loads = PathLoads((AppliedWrenches("tip", np.array([[0, 0, -300.0, 0, 0, 0]])),))
    targets = Targets("tip", k.position, k.rotation, q)
    out = correct(model, targets, loads)
    before, after = (residual(model, c, targets, loads).position for c in (out.nominal, out.command))
    assert np.abs(before[:, 0]).max() > 5e-7
    assert np.abs(after[:, :2]).max() < 1e-12
    # alpha down about the link's own y: the elbow stays, what is ahead of it comes back by 1 - cos(alpha)
    ahead = 0.4 * np.cos(q[:, 1])
    alpha = 4e-5 * 300.0 * ahead
    np.testing.assert_allclose(np.linalg.norm(before[:, :2], axis=1), ahead * alpha**2 / 2, rtol=1e-3)
