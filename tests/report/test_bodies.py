"""Links as their URDF draws them, at the place that kinematics gives; capsules where it draws none."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

from elastocal.files.robot.read import read_robot
from elastocal.report.parts import Capsule, Mesh, Solids
from elastocal.report.robot_scene import robot_parts

URDF = """<robot name="arm">
<link name="foot">
  <visual><origin xyz="0 0 0.2"/><geometry><cylinder radius="0.1" length="0.4"/></geometry></visual></link>
<link name="upper">
  <visual><origin xyz="0.5 0 0"/><geometry><box size="1.0 0.1 0.2"/></geometry></visual>
  <collision><geometry><sphere radius="9"/></geometry></collision>
</link>
<link name="hand"><visual><geometry><mesh filename="hand.stl"/></geometry></visual>
  <collision><geometry><sphere radius="0.05"/></geometry></collision></link>
<link name="broken"><visual><geometry><box size="1 wide 1"/></geometry></visual></link>
<joint name="turn" type="revolute"><parent link="foot"/><child link="upper"/><origin xyz="0 0 0.4"/><axis xyz="0 0 1"/>
  <limit lower="-3" upper="3" effort="1" velocity="1"/></joint>
<joint name="wrist" type="fixed"><parent link="upper"/><child link="hand"/><origin xyz="1 0 0"/></joint>
<joint name="end" type="fixed"><parent link="hand"/><child link="broken"/></joint>
</robot>
"""


@pytest.fixture
def solids(tmp_path: Path) -> Solids:
    (tmp_path / "arm.urdf").write_text(URDF, encoding="utf-8")
    robot = read_robot(str(tmp_path / "arm.urdf"))
    (part,) = robot_parts(robot, np.array([np.pi / 2]))
    assert isinstance(part, Solids)
    return part


def test_bodies_move_with_their_links(solids: Solids) -> None:
    foot, upper, hand = solids.shapes
    assert isinstance(foot, Mesh)
    assert np.ptp(np.array(foot.points), axis=0) == pytest.approx([0.2, 0.2, 0.4])
    assert isinstance(upper, Mesh)
    corners = np.array(upper.points)
    assert corners.min(axis=0) == pytest.approx([-0.05, 0.0, 0.3])  # turned by 90 degrees: along y
    assert corners.max(axis=0) == pytest.approx([0.05, 1.0, 0.5])
    assert isinstance(hand, Capsule)  # a mesh file is not read: the sphere of its collision
    assert hand.start == pytest.approx((0.0, 1.0, 0.4))
    assert hand.radius == 0.05


def test_a_box_is_closed_and_its_faces_look_outwards(solids: Solids) -> None:
    """Volume by the divergence theorem."""
    for shape, volume in zip(solids.shapes[:2], (16 / 2 * np.sin(np.pi / 8) * 0.01 * 0.4, 0.02), strict=True):
        assert isinstance(shape, Mesh)
        p = np.array(shape.points)
        six = sum(np.dot(p[a], np.cross(p[b], p[c])) for a, b, c in shape.faces)
        assert abs(six) / 6 == pytest.approx(volume)


def test_a_robot_without_bodies_is_capsules_along_its_kinematics() -> None:
    robot = read_robot("kuka-kr270")
    links, _ = robot_parts(robot, np.zeros(6))
    assert isinstance(links, Solids)
    assert all(isinstance(s, Capsule) for s in links.shapes)
    ends = [(s.start, s.end) for s in links.shapes if isinstance(s, Capsule)]
    assert all(a[1] == b[0] for a, b in itertools.pairwise(ends))


def test_a_file_that_draws_its_table_but_not_its_links_gets_capsules(tmp_path: Path) -> None:
    """As robots whose links are meshes do, in a cell with a box for a table."""
    text = URDF.replace('<box size="1.0 0.1 0.2"/>', '<mesh filename="upper.stl"/>').replace(
        '<collision><geometry><sphere radius="9"/></geometry></collision>', ""
    )
    text = text.replace('<collision><geometry><sphere radius="0.05"/></geometry></collision>', "")
    (tmp_path / "arm.urdf").write_text(text, encoding="utf-8")
    robot = read_robot(str(tmp_path / "arm.urdf"))
    assert [b.frame for b in robot.bodies] == ["base"] or len(robot.bodies) == 1
    links, joints, table = robot_parts(robot, np.array([np.pi / 2]))
    assert isinstance(links, Solids)
    assert isinstance(joints, Solids)
    assert len(joints) == 1
    tips = [shape.end for shape in links.shapes if isinstance(shape, Capsule)]
    assert tips[-1] == pytest.approx((0.0, 1.0, 0.4))
    assert isinstance(table, Solids)
    assert len(table) == 1
