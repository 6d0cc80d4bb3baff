"""A new cell of an ABB starts with a program in RAPID that says how its points are reached."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
from app.program_desk import answered
from compensation.posts.test_rapid_measuring import ARM, arm

from elastocal.app.starter.program import square_program
from elastocal.compensation.posts.post import ToolPath
from elastocal.compensation.posts.rapid import Rapid
from elastocal.model.kinematics import kinematics
from elastocal.spatial.pose import Pose


def test_a_new_cell_of_an_abb_starts_with_rapid(run: Any, tmp_path: Path) -> None:
    robot, cell = tmp_path / "arm.yaml", tmp_path / "cell"
    robot.write_text(ARM.format(title="ABB IRB 6700", controller="axes: [J1, J2, J3, J4, J5, J6]"), encoding="utf-8")
    made = run("new", cell, "--robot", robot)
    assert made.code == 0, made.err
    assert f"elastocal compensate {cell}" in " ".join(made.out.split())
    assert [p.name for p in (cell / "programs").glob("square*")] == ["square.mod"]
    assert "programs/square.mod" in (cell / "cell.yaml").read_text(encoding="utf-8")
    assert "`programs/square.mod` is an example" in (cell / "README.md").read_text(encoding="utf-8")
    program = Rapid().read({"square.mod": (cell / "programs" / "square.mod").read_bytes()})
    poses = program.positions[[t.kind == "pose" for t in program.targets]]
    np.testing.assert_allclose(
        np.linalg.norm(np.diff(poses, axis=0), axis=1), 0.2, atol=1e-6
    )  # a twentieth of the arm's reach, rounded
    tool = program.tools["tSquare"].pose
    assert tool is not None
    np.testing.assert_allclose(tool.translation, [0, 0, 0.3], atol=1e-9)
    told = answered(run("compensate", cell / "programs" / "square.mod", "--robot", robot, "--json"))
    assert [t["status"] for t in told["targets"]] == ["corrected"] * 5
    assert not [n for n in told["notes"] if "confdata" in n]


def test_axes_called_as_on_a_kuka_do_not_make_an_abb_one() -> None:
    """The plan of the same robot is in RAPID too."""
    made = square_program(arm("ABB IRB 6640", "axes: [A1, A2, A3, A4, A5, A6]"))
    assert made is not None
    assert made[0] == "square.mod"


def square_text(degrees: list[float]) -> str:
    """Of a path of one point at joint values."""
    model, q = arm(), np.radians(degrees)
    at = kinematics(model, q[None])
    return Rapid().example(model, ToolPath("square", q, at.position, at.rotation[0], Pose()))["square.mod"]


def test_the_load_of_the_tool_is_called_unknown() -> None:
    lines = [line.strip() for line in square_text([10, 20, 10, 5, 60, 5]).split("\r\n")]
    (at,) = [i for i, line in enumerate(lines) if line.startswith("PERS tooldata")]
    assert lines[at - 1] == "! load of the tool is not known: set it before running"


def test_an_axis_at_zero_is_in_quarter_turn_nought() -> None:
    text = square_text([-1e-9, 20, 10, -1e-9, 60, -1e-9])  # rounded to minus nought
    assert text.count("],[0,0,0,0],[9E9") == 1


def confdata(degrees: list[float]) -> list[list[int]]:
    text = square_text(degrees)
    return [[int(v) for v in m.split(",")] for m in re.findall(r"\],\[(-?\d,-?\d,-?\d,\d)\],\[9E9", text)]


def test_confdata_says_how_a_point_is_reached() -> None:
    """Quarter turns of axes 1, 4, 6; cfx as ABB counts: 2 for a wrist behind the lower arm, 1 for axis 5 below zero."""
    assert confdata([-10, 20, 10, 100, 60, -100]) == [[-1, 1, -2, 0]]
    assert confdata([10, 20, 10, -5, -60, 190]) == [[0, -1, 2, 1]]
    assert confdata([10, 60, -150, 5, 30, 5]) == [[0, 0, 0, 2]]
    assert confdata([10, 60, -150, 5, -30, 5]) == [[0, 0, 0, 3]]
