"""Default plans are safe: floor, the arm itself, the column, free axes, and the ways, by kinematics written here."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from design.cell_desk import arm, candidates_of
from oracle.refusals import refused

from elastocal.calibration.planning import plan
from elastocal.design.candidates import CandidateSet, Draw, Poses, spread_poses
from elastocal.design.cell import Cell, Link, Safety
from elastocal.design.feasibility.collision import Obstacles, SelfCollision, obstacle_pairs
from elastocal.design.feasibility.filter import screened
from elastocal.design.loading import Hanging
from elastocal.design.obstacles import BoxObstacle, Capsule, Floor, SphereObstacle
from elastocal.design.planning import marker_task
from elastocal.design.result import Plan
from elastocal.design.safety import always_touching, body, safe_task
from elastocal.design.task import PlanTask
from elastocal.files.robot.read import read_robot
from elastocal.model.compliant.frame_error import FrameError
from elastocal.model.frames import Frame, FrameTree, JointMotion
from elastocal.model.loads.payload import Payload
from elastocal.model.robot import Robot
from elastocal.spatial.pose import Pose

ROBOTS = {"kuka-kr270": "A[2-6].k", "fanuc-m710ic50": "J[2-6].k", "kuka-kr5": "A[23].k"}


def origins(model: Robot, q: np.ndarray) -> dict[str, np.ndarray]:
    """Where every frame is (m): products of 4 x 4 matrices, joint by joint, by Rodrigues' formula."""
    value = dict(zip(model.joints, q, strict=True))
    done = {"base": np.eye(4)}
    for frame in model.tree.frames:
        fixed = np.eye(4)
        fixed[:3, :3], fixed[:3, 3] = frame.pose.rotation, frame.pose.translation
        turn = np.eye(4)
        if frame.joint is not None:
            u = np.asarray(frame.joint.unit_axis)
            cross = np.array([[0, -u[2], u[1]], [u[2], 0, -u[0]], [-u[1], u[0], 0]])
            angle = value[frame.name]
            turn[:3, :3] = np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross
        done[frame.name] = done[frame.parent] @ fixed @ turn
    return {name: t[:3, 3] for name, t in done.items()}


def task_of(name: str, cell: Cell | None = None) -> PlanTask:
    robot = read_robot(name)
    markers = [f for f in robot.tree.names if f.startswith("marker")]
    task = marker_task(robot, cell, [Hanging(masses=(50.0,))], markers, 3e-5)
    return replace(task, names=(ROBOTS[name],), draw=Draw(500))


def planned(task: PlanTask) -> Plan:
    return plan(task.model, task, restarts=1)


@pytest.fixture(scope="module", params=ROBOTS)
def found(request) -> Plan:
    return planned(task_of(request.param))


def test_no_frame_is_below_the_floor_at_a_pose_or_on_the_way(found: Plan) -> None:
    robot = found.task.model
    assert found.blocked == ()
    stops = [s.q for s in found.program]
    np.testing.assert_array_equal(stops[0], found.home)
    for a, b in pairwise(stops):
        for t in np.linspace(0, 1, 40):
            lowest = min(at[2] for at in origins(robot, a + t * (b - a)).values())
            assert lowest > -1e-9
    posed = np.array([s.q for s in found.program])
    assert all(np.any(np.all(posed == q, axis=1)) for q in found.chosen.q)


def test_the_wrist_stays_away_from_the_column_and_axes_within_half_a_turn(found: Plan) -> None:
    robot = found.task.model
    axes = [f.name for f in robot.tree.path(robot.tool) if f.joint is not None]
    first, second = (origins(robot, np.zeros(6))[axes[i]] for i in (0, 1))
    for q in found.chosen.q:
        wrist = origins(robot, q)[axes[4]]
        beside = np.hypot(*(wrist - first)[:2])
        assert wrist[2] > second[2] or beside > 0.1 * robot.size
    assert np.abs(np.degrees(found.axes)).max() < 180.001


def test_a_forearm_folded_upon_the_upper_arm_is_a_collision() -> None:
    """Both are always near each other at the elbow; the outer half of the forearm tells, here by points along both."""
    task = safe_task(task_of("fanuc-m710ic50"))
    robot, rng = task.model, np.random.default_rng(1)
    low, high = np.array([m.limits for m in robot.motions]).T
    q = low + (high - low) * rng.random((300, 6))
    share = np.linspace(0, 1, 40)[:, None]
    gap = []
    for o in (origins(robot, each) for each in q):
        upper, outer = o["J2"] + share * (o["J3"] - o["J2"]), o["J4"] + (1 + share) / 2 * (o["J5"] - o["J4"])
        gap.append(np.linalg.norm(upper[:, None] - outer[None], axis=2).min())
    folded = np.array(gap) < 2 * 0.035 * robot.size - 0.03
    free = SelfCollision().passes(CandidateSet.of(Poses(robot, q), (), robot.tool), task.cell)
    assert np.sum(folded) > 15
    assert not free[folded].any()
    assert "J2-J3 with J4-J5 (compared without the ends that face each other)" in always_touching(task)


def test_what_was_checked_is_said(found: Plan) -> None:
    done = {c.code: c.done for c in found.checks}
    assert done == {
        "joint-limits": True, "free-axes": True, "floor": True, "keep-out": True, "self-collision": True,
        "obstacles": False, "ways": True, "outside": False,
    }  # fmt: skip
    (touching,) = [w for w in found.warnings if w.code == "always-touching"]
    assert any("with floor (not compared)" in pair for pair in touching.data["pairs"])  # the foot
    assert "NOT checked" in repr(found)


def test_a_wider_cell_is_asked_for() -> None:
    """Without a floor candidates of a KR 270 go below its foot, and the plan says that nothing was checked."""
    task = task_of("kuka-kr270")
    tool = task.model.tool
    wide, usual = planned(replace(task, safety=None)), planned(task)
    assert wide.problem.candidates.poses.origin(tool)[:, 2].min() < -0.5
    assert usual.problem.candidates.poses.origin(tool)[:, 2].min() > 0
    assert wide.home is None
    assert [c.code for c in wide.checks if c.done] == ["joint-limits"]
    free = planned(replace(task, safety=Safety(floor=None)))
    assert {c.code for c in free.checks if not c.done} == {"floor", "obstacles", "outside"}
    low = planned(replace(task, safety=Safety(floor=-0.3)))
    assert -0.3 < low.problem.candidates.poses.origin(tool)[:, 2].min() < 0


@pytest.mark.parametrize("word", ["abb-irb4600-60", "kuka-kr270"])
def test_errors_of_a_robot_that_was_measured_close_no_way(word: str) -> None:
    """By them its foot turns with the first axis, some tenths of a millimetre and milliradians off."""
    rng, robot = np.random.default_rng(6), read_robot(word).nominal
    task = marker_task(robot, None, [Hanging(masses=(50.0,))], (), 3e-5)
    joints = [f.name for f in task.model.tree.path(task.model.tool) if f.joint is not None]
    errors = [FrameError(frame=j, **dict(zip(("x", "y", "z", "rx", "ry"), 5e-4 * rng.normal(size=5), strict=True)))
              for j in joints]  # fmt: skip
    errors[0] = replace(errors[0], rx=2e-3)
    off = replace(task, model=task.model.with_elements(*errors))
    safe, nominal = safe_task(off), safe_task(task)
    assert always_touching(safe) == always_touching(nominal) != ()
    assert len(safe.cell.guards) == len(nominal.cell.guards) == 2
    q = spread_poses(robot, 300, rng)
    passed = [screened(candidates_of(t.model, q), t.cell, t.filters)[0] for t in (safe, nominal)]
    assert len(passed[0]) == pytest.approx(len(passed[1]), rel=0.05)
    assert len(passed[1]) > 20


def test_a_floor_box_under_the_foot_leaves_plans() -> None:
    """What a user writes for a floor: the robot's own foot stands in it and is left out by itself."""
    box = BoxObstacle(name="ground", centre=(0, 0, -0.5), size=(10, 10, 1))
    safe = safe_task(replace(task_of("kuka-kr270", Cell(obstacles=(box,))), safety=Safety(floor=None)))
    assert "base-link0_end with ground (not compared)" in always_touching(safe)
    found = planned(safe)
    assert min(at[2] for q in found.chosen.q for at in origins(found.task.model, q).values()) > -1e-9


def test_a_home_pose_is_where_the_program_starts() -> None:
    task = task_of("kuka-kr270")
    home = tuple(task.model.controller.to_joints(np.radians([[0.0, -90, 90, 0, 45, 0]]))[0])
    found = planned(replace(task, home=home))
    assert found.program[0].label == "home"
    np.testing.assert_array_equal(found.program[0].q, home)
    assert [s.slow for s in found.program[:2]] == [True, found.program[1].label != ""]


def test_a_link_that_moves_is_never_left_out_of_what_stands_there() -> None:
    """An arm whose shoulder lies in the floor: its axis still has to stay above."""
    robot = read_robot("scara-ruggeri")
    links = body(robot, 0.03)
    pairs = obstacle_pairs(robot, Cell(links, guards=(Floor(name="floor"),)))
    assert {p.by for p in pairs} == {"axis"}  # a planar arm lies in it
    cell = Cell(links, (Floor(height=0.01),))
    assert {p.by for p in obstacle_pairs(robot, cell)} == {"axis"}
    flat = CandidateSet.of(Poses(robot, np.zeros((3, 2))), (), robot.tool)
    with refused("infeasible", {"obstacles": 3}):
        screened(flat, cell, [Obstacles()])


def test_a_payload_is_a_ball_about_its_frame() -> None:
    """Of aluminium 0.1 m in radius, its centre 0.03 m off the tool; 0.05 m of the hand alone reach less far."""
    mass = 2700 * 4 / 3 * np.pi * 0.1**3
    load = Payload(frame="tool", mass=mass, moment=(0.0, 0.0, 0.03 * mass))
    bare, loaded = arm(), replace(arm(), elements=(*arm().elements, load))
    for gap, free in ((0.06, [True, False]), (0.12, [True, False]), (0.14, [True, True])):
        post = SphereObstacle(centre=(1.5, 0.0, gap + 0.02), radius=0.02)
        passed = [
            bool(Obstacles().passes(candidates_of(m, [0.0, 0.0]), Cell(body(m, 0.05), (post,)))[0])
            for m in (bare, loaded)
        ]
        assert passed == free


@pytest.mark.parametrize(("offset", "by"), [(0.18, "nothing"), (0.22, "capsule")])
def test_a_shape_whose_joint_stays_beside_the_column_is_not_compared_with_it(offset: float, by: str) -> None:
    """Up to two radii of a guard, here 0.1 m; what really stands there is compared, and so is what comes and goes."""
    swing = JointMotion("revolute", (0.0, 1.0, 0.0), (-2.0, 2.0))
    frames = (
        Frame("turn", joint=JointMotion("revolute", (0.0, 0.0, 1.0), (-3.0, 3.0))),
        Frame("lean", "turn", Pose(translation=np.array([offset, 0, 0.3])), swing),
        Frame("bend", "lean", Pose(translation=np.array([0, 0, 0.5])), swing),
    )
    robot = Robot("beside", FrameTree(frames), "bend", ())
    links = tuple(Link(f, f, 0.02, ((0.0, 0.0, 0.0), (0.0, 0.0, 0.4))) for f in ("lean", "bend"))
    column = Capsule(start=(0.0, 0, 0), end=(0.0, 0, 1), radius=0.1)
    guarded = obstacle_pairs(robot, Cell(links, guards=(column,)))
    standing = obstacle_pairs(robot, Cell(links, (column,)))
    assert [p.by for p in (*guarded, *standing)] == [by, "capsule", "capsule", "capsule"]
