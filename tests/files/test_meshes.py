"""Meshes of a URDF through trimesh: found by package or beside, coarse, drawn; missing or broken ones are left out."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import trimesh
from oracle.refusals import refused

from elastocal.files.robot.geometry import MOST, coarse, read_mesh
from elastocal.files.robot.read import read_robot
from elastocal.report.robot_scene import robot_parts

URDF = """<robot name="drawn">
  <link name="base_link"><visual><geometry><mesh filename="package://arm_support/meshes/foot.{0}"/></geometry></visual></link>
  <link name="arm"><collision><origin xyz="0 0 0.1"/><geometry><mesh filename="ball.stl" scale="0.001 0.001 0.001"/>
  </geometry></collision></link>
  <link name="hand"><visual><geometry><mesh filename="missing.stl"/></geometry></visual></link>
  <joint name="A" type="revolute"><origin xyz="0 0 0.5"/><parent link="base_link"/><child link="arm"/>
  <axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="0" velocity="0"/></joint>
  <joint name="h" type="fixed"><origin xyz="1 0 0"/><parent link="arm"/><child link="hand"/></joint>
</robot>
"""


@pytest.mark.parametrize("kind", ["stl", "obj", "dae"])
def test_meshes_are_found_scaled_and_drawn(tmp_path: Path, kind: str) -> None:
    folder = tmp_path / "arm_support" / "urdf"
    folder.mkdir(parents=True)
    (tmp_path / "arm_support" / "meshes").mkdir()
    trimesh.creation.box((0.4, 0.3, 0.2)).export(tmp_path / "arm_support" / "meshes" / f"foot.{kind}")
    trimesh.creation.icosphere(subdivisions=4, radius=100.0).export(folder / "ball.stl")
    (folder / "arm.urdf").write_text(URDF.format(kind))
    robot = read_robot(folder / "arm.urdf")
    foot, ball = robot.bodies
    assert foot.kind == ball.kind == "mesh"
    np.testing.assert_allclose(np.ptp(foot.corners, axis=0), [0.4, 0.3, 0.2], atol=1e-6)
    assert len(ball.faces) <= MOST
    assert np.linalg.norm(ball.corners, axis=1).max() == pytest.approx(0.1, abs=0.02)
    (drawn,) = robot_parts(robot, np.zeros(1))
    assert len(drawn.shapes) == 2


def test_coarse_meshes_keep_their_size() -> None:
    fine = trimesh.creation.icosphere(subdivisions=5)
    corners, faces = coarse(np.asarray(fine.vertices), np.asarray(fine.faces), 300)
    assert 50 < len(faces) <= 300
    assert np.linalg.norm(corners[np.unique(faces)], axis=1).min() > 0.8


def test_a_broken_mesh_is_refused_by_its_reader_and_left_out_of_pictures(tmp_path: Path) -> None:
    (tmp_path / "a.obj").write_text("nothing at all")
    with refused("no-triangles", file="a.obj"):
        read_mesh(tmp_path / "a.obj", np.ones(3))
