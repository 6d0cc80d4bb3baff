"""A cell from the URDF of a maker's arm: its language, its names of axes, its coupling, each of them said."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from app.cell_desk import well

from elastocal.compensation.posts.post import language
from elastocal.files.robot.read import read_robot
from elastocal.model.kinematics import kinematics

# six joints as ROS-Industrial writes them: origin and axis each; lengths of a FANUC M-20iA and of a KUKA KR 16-2
FANUC = [("0 0 0.525", "0 0 1"), ("0.15 0 0", "0 1 0"), ("0 0 0.79", "0 -1 0"), ("0 0 0.25", "-1 0 0"),
         ("0.835 0 0", "0 -1 0"), ("0.1 0 0", "-1 0 0")]  # fmt: skip
KUKA = [("0 0 0.675", "0 0 -1"), ("0.26 0 0", "0 1 0"), ("0.68 0 0", "0 1 0"), ("0 0 -0.035", "-1 0 0"),
        ("0.67 0 0", "0 1 0"), ("0.158 0 0", "-1 0 0")]  # fmt: skip


def urdf(name: str, joints: list[tuple[str, str]], last: str, low: tuple[float, ...]) -> str:
    links = "".join(f'<link name="l{i}"/>' for i in range(7))
    moving = "".join(
        f'<joint name="joint_{i}" type="revolute"><origin xyz="{xyz}"/><parent link="l{i - 1}"/><child link="l{i}"/>'
        f'<axis xyz="{axis}"/><limit lower="{low[0]}" upper="{low[1]}" effort="0" velocity="3"/></joint>'
        for i, (xyz, axis) in enumerate(joints, 1)
    )
    tool = f'<joint name="t" type="fixed"><origin rpy="{last}"/><parent link="l6"/><child link="tool0"/></joint>'
    return f'<robot name="{name}">{links}<link name="tool0"/>{moving}{tool}</robot>'


@pytest.mark.parametrize(
    ("name", "joints", "last", "spoken", "axes", "program"),
    [
        ("fanuc_m20ia", FANUC, "3.141592653589793 -1.5707963267948966 0", "fanuc", "J1 J2 J3 J4 J5 J6", "SQUARE.LS"),
        ("kuka_kr16_2", KUKA, "0 1.5707963267948966 0", "krl", "A1 A2 A3 A4 A5 A6", "square.src"),
    ],
)
def test_a_cell_speaks_the_language_of_its_maker(
    tmp_path: Path, name: str, joints: list[tuple[str, str]], last: str, spoken: str, axes: str, program: str
) -> None:
    (tmp_path / "arm.urdf").write_text(urdf(name, joints, last, (-2.4, 2.4)))
    cell = tmp_path / "cell"
    well("new", cell, "--robot", tmp_path / "arm.urdf")
    robot = read_robot(cell / "robot" / "robot.yaml")
    assert language(robot) == spoken
    assert robot.controller.axes == tuple(axes.split())
    assert (cell / "programs" / program).exists()
    assumed = (cell / "ASSUMPTIONS.md").read_text()
    assert f"programs are taken to be in {spoken}" in assumed
    assert f"are taken as axes {', '.join(axes.split())}" in assumed


def test_the_forearm_of_a_fanuc_keeps_its_direction_when_j2_moves(tmp_path: Path) -> None:
    (tmp_path / "arm.urdf").write_text(urdf("fanuc_m20ia", FANUC, "0 0 0", (-2.4, 2.4)))
    cell = tmp_path / "cell"
    well("new", cell, "--robot", tmp_path / "arm.urdf")
    robot = read_robot(cell / "robot" / "robot.yaml")
    q = robot.controller.to_joints(np.radians([[0.0, 0, 0, 0, 0, 0], [0, 30, 0, 0, 0, 0]]))
    turn = kinematics(robot, q, "joint_4").rotation
    np.testing.assert_allclose(turn[1], turn[0], atol=1e-12)
    assert np.degrees(q[1, 2]) == pytest.approx(30)
    assert "coupled to J2" in (cell / "ASSUMPTIONS.md").read_text()


def test_a_name_that_tells_nothing_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "arm.urdf").write_text(urdf("my_arm", KUKA, "0 0 0", (-2.4, 2.4)))
    cell = tmp_path / "cell"
    well("new", cell, "--robot", tmp_path / "arm.urdf")
    robot = read_robot(cell / "robot" / "robot.yaml")
    assert robot.controller.axes == robot.joints
    assert language(robot) == ""


# a wrist without a common point, singular where its fifth joint is zero; the base looks to -x, joints turn twice
UR = [("0 0 0.18", "0 0 1"), ("0 0 0", "0 -1 0"), ("-0.61 0 0", "0 -1 0"), ("-0.57 0 0", "0 -1 0"),
      ("0 -0.17 0", "0 0 -1"), ("0 0 -0.12", "0 -1 0")]  # fmt: skip


def test_the_example_program_keeps_off_singular_poses_wherever_the_base_looks(tmp_path: Path) -> None:
    (tmp_path / "arm.urdf").write_text(urdf("ur10", UR, "1.5707963267948966 0 0", (-6.28, 6.28)))
    cell = tmp_path / "cell"
    well("new", cell, "--robot", tmp_path / "arm.urdf")
    said = well("compensate", cell / "programs" / "square.script", "--robot", cell / "robot" / "robot.yaml",
                "--out", tmp_path / "corrected", "--tool", "p=tool0")  # fmt: skip
    assert "the tool is where the program says at every motion" in " ".join(said.out.split())
