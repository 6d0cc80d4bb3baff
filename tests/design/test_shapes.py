"""Plans judge collisions by the shapes of a URDF; Pinocchio and coal judge poses and ways by the exact ones."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from elastocal.calibration.planning import plan
from elastocal.design.cell import Link
from elastocal.design.loading import Hanging
from elastocal.design.result import Plan
from elastocal.design.safety import body
from elastocal.files.robot.read import read_robot, robot_from_text
from elastocal.files.robot.write import robot_text
from elastocal.model.robot import Robot

INERTIA = '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'


def link(name: str, shape: str, xyz: str, rpy: str = "0 0 0") -> str:
    return (
        f'<link name="{name}"><inertial><mass value="20"/>{INERTIA}</inertial>'
        f'<collision><origin xyz="{xyz}" rpy="{rpy}"/>'
        f"<geometry>{shape}</geometry></collision></link>\n"
    )


def joint(k: int, xyz: str, axis: str, low: float, high: float) -> str:
    return (
        f'<joint name="J{k}" type="revolute"><parent link="l{k - 1}"/><child link="l{k}"/><origin xyz="{xyz}"/>'
        f'<axis xyz="{axis}"/><limit lower="{low}" upper="{high}" effort="9" velocity="9"/></joint>\n'
    )


ARM = f"""<robot name="stout">
{link("l0", '<box size="0.6 0.6 0.2"/>', "0 0 0.1")}
{link("l1", '<cylinder radius="0.15" length="0.3"/>', "0 0 0.15")}
{link("l2", '<box size="0.16 0.2 0.8"/>', "0 0 0.4")}
{link("l3", '<box size="0.5 0.14 0.14"/>', "0.15 0 0.1")}
{link("l4", '<cylinder radius="0.06" length="0.4"/>', "0.2 0 0", "0 1.5708 0")}
{link("l5", '<sphere radius="0.07"/>', "0.02 0 0")}
{link("l6", '<box size="0.05 0.5 0.05"/>', "0.1 0 0")}
{joint(1, "0 0 0.25", "0 0 1", -3, 3)}{joint(2, "0.1 0 0.3", "0 1 0", -2, 2)}{joint(3, "0 0 0.8", "0 1 0", -2.4, 2.4)}
{joint(4, "0.4 0 0.1", "1 0 0", -3, 3)}{joint(5, "0.4 0 0", "0 1 0", -2, 2)}{joint(6, "0.1 0 0", "1 0 0", -3, 3)}
<link name="tool0"/>
<joint name="end" type="fixed"><parent link="l6"/><child link="tool0"/><origin xyz="0.2 0 0"/></joint>
</robot>"""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("stout") / "stout.urdf"
    path.write_text(ARM)
    return path


@pytest.fixture(scope="module")
def robot(file: Path) -> Robot:
    return read_robot(file)


def planned(robot: Robot) -> Plan:
    return plan(robot, loads=[Hanging(masses=(10.0,))], seek=["J[2-5].k"], poses=8, restarts=1)


@pytest.fixture(scope="module")
def found(robot: Robot) -> Plan:
    return planned(robot)


def collisions(file: Path, places: np.ndarray) -> int:
    """Configurations in which two links with two joints or more between them, or l3 to l6 and the floor, overlap."""
    import coal
    import pinocchio as pin

    model = pin.buildModelFromUrdf(str(file))
    shapes = pin.buildGeomFromUrdf(model, str(file), pin.GeometryType.COLLISION)
    for i, a in enumerate(shapes.geometryObjects):
        for j, b in enumerate(shapes.geometryObjects[:i]):
            if a.parentJoint - b.parentJoint >= 2 and (b.parentJoint, a.parentJoint) != (4, 6):  # a wrist
                shapes.addCollisionPair(pin.CollisionPair(j, i))
    data, geometry, hit = model.createData(), shapes.createData(), 0
    ground, still = coal.Halfspace(np.array([0.0, 0, 1]), 0.0), coal.Transform3s.Identity()
    for q in places:
        inside = pin.computeCollisions(model, data, shapes, geometry, q, True)
        for k, shape in enumerate(shapes.geometryObjects):
            at = geometry.oMg[k]
            where = coal.Transform3s(at.rotation, at.translation)
            asked, said = coal.CollisionRequest(), coal.CollisionResult()
            inside = inside or (
                shape.parentJoint >= 3 and coal.collide(shape.geometry, where, ground, still, asked, said) > 0
            )
        hit += bool(inside)
    return hit


def on_the_way(found: Plan) -> np.ndarray:
    stops = [s.q for s in found.program]
    return np.concatenate([a + np.linspace(0, 1, 30)[:, None] * (b - a) for a, b in pairwise(stops)])


def test_nothing_collides_at_poses_or_on_ways_by_the_exact_shapes(file: Path, found: Plan) -> None:
    assert found.blocked == ()
    assert collisions(file, on_the_way(found)) == 0


def test_capsules_from_joint_to_joint_would_let_collisions_through(file: Path, robot: Robot, found: Plan) -> None:
    """Without the shapes candidates are taken in which the exact links overlap; with them none."""
    thin, whole = (p.problem.candidates.poses.q[:400] for p in (planned(replace(robot, shapes=())), found))
    assert collisions(file, thin) >= 5
    assert collisions(file, whole) == 0


def test_what_stood_for_the_links_is_said(found: Plan) -> None:
    (check,) = [c for c in found.checks if c.code == "self-collision"]
    assert check.text == (
        "the arm with itself, by shapes of the robot file (base, l1, l2, l3, l4, l5, l6) and by capsules (l6-tool0)"
    )


def test_a_tool_without_a_shape_is_as_thick_as_what_carries_it(robot: Robot) -> None:
    (tool,) = [k for k in body(robot, 1.0) if k.label == "l6-tool0"]
    assert tool.radius == min(s.radius for s in robot.shapes if s.frame == "l6")
    assert sum(k.label == "l5" for k in body(robot, 0.1)) == 1
    assert body(replace(robot, shapes=()), 0.1)[0] == Link("base", "J1", 0.1)


def test_shapes_are_kept_by_a_robot_file(robot: Robot) -> None:
    """What ``new`` and ``convert`` write."""
    again = robot_from_text(robot_text(robot), "again.yaml")
    assert [s.frame for s in again.shapes] == [s.frame for s in robot.shapes]
    ball = next(s for s in again.shapes if s.frame == "l5")
    np.testing.assert_allclose([*ball.start, ball.radius], [0.02, 0, 0, 0.0702], atol=1e-9)


def test_shapes_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    path = tmp_path / "arm.urdf"
    path.write_text(
        ARM.replace('<sphere radius="0.07"/>', '<mesh filename="package://stout/ball.stl"/>').replace(
            '<cylinder radius="0.06" length="0.4"/>', '<cylinder radius="wide" length="0.4"/>'
        )
    )
    robot = read_robot(path)
    assert {s.frame for s in robot.shapes} == {"base", "l1", "l2", "l3", "l6"}
    (note,) = [n for n in robot.notes if n.startswith("collision shapes")]
    assert "links l4, l5 cannot be read" in note
    assert "'wide'" in note
    assert "l4-J5" in {k.label for k in body(robot, 0.1)}
