"""Measuring programs of CAM languages: tool axes, and in comments all that these leave open."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from elastocal.compensation.posts.apt import Apt
from elastocal.compensation.posts.cam import CamPost
from elastocal.compensation.posts.csv import Csv
from elastocal.compensation.posts.gcode import Gcode
from elastocal.compensation.program import Given
from elastocal.design.method import Stop
from elastocal.files.robot.read import read_robot
from elastocal.model.kinematics import kinematics
from elastocal.spatial.rotation import Rotation, rpy_matrix

Q = np.radians([[10.0, -80, 95, 5, 40, -20], [-15.0, -70, 80, -30, 50, 10], [60.0, -60, 100, 120, -70, 200]])
STOPS = (Stop(Q[0], (), note="home", slow=True), Stop(Q[1], ("put on 100 kg", "read P1")), Stop(Q[2], ("read P2",)))


def numbers(text: str, pattern: str) -> np.ndarray:
    return np.array([[float(v) for v in m.groups()] for m in re.finditer(pattern, text)])


@pytest.mark.parametrize("post", [Apt(), Gcode()])
def test_axis_values_and_whole_poses_come_back_from_the_text(post: CamPost) -> None:
    """Place and axis by our reader, the orientation by the rule and the turn that the comments state."""
    model = read_robot("kuka-kr270")
    ((name, text),) = post.measuring_program("my plan", model, STOPS, ("careful",), 2.5).items()
    assert name == f"my_plan{post.suffixes[0]}"
    plain = " ".join(re.sub(r"^(PPRINT/|; )", "", line) for line in text.splitlines())
    axes = numbers(plain, "axes " + ", ".join(rf"A{i} (\S+) deg" for i in range(1, 7)))
    np.testing.assert_allclose(np.radians(axes), model.controller.to_controller(Q), atol=1e-6)
    stated = numbers(plain, r"\(A, B, C (\S+?),(\S+?),(\S+)\) where")[0]
    a, b, c = np.radians(stated)
    program = post.read({name: text.encode()}, Given(orientation=rpy_matrix(c, b, a)))
    assert not program.skipped
    assert not program.joints.size or np.isnan(program.joints).all()
    at = kinematics(model, Q)
    np.testing.assert_allclose(program.positions, at.position, atol=1e-7)
    np.testing.assert_allclose(program.rotations[:, :, 2], at.rotation[:, :, 2], atol=1e-6)
    turn = np.radians(numbers(plain, r"turn (-?[\d.]+) deg about"))
    whole = (Rotation.from_matrix(program.rotations) * Rotation.from_euler("z", turn)).as_matrix()
    np.testing.assert_allclose(whole, at.rotation, atol=4e-6)
    assert np.abs(turn[1:]).min() > 0.1  # the rule alone would not give the planned pose


def test_apt_stops_before_it_moves_goes_slowly_at_first_and_waits() -> None:
    text = Apt().measuring_program("p", read_robot("kuka-kr270"), STOPS, ("careful",), 2.5)["p.apt"]
    lines = text.splitlines()
    assert lines[:3] == ["PARTNO p", "UNITS/MM", "MULTAX/ON"]
    words = [line for line in lines if not line.startswith(("PPRINT", "PARTNO"))]
    kinds = [line.partition("/")[0] for line in words]
    one = ["FEDRAT", "GOTO", "DELAY"]
    assert kinds == ["UNITS", "MULTAX", "STOP", *one, *one, "STOP", "STOP", *one, "STOP", "FINI"]
    assert [line for line in words if line.startswith("FEDRAT")] == [
        "FEDRAT/3000,MMPM", "FEDRAT/12000,MMPM", "FEDRAT/12000,MMPM"
    ]  # fmt: skip
    assert "DELAY/2.5" in words
    assert max(len(line) for line in lines if line.startswith("PPRINT")) <= 7 + 66
    assert text.isascii()


def test_a_tool_that_is_another_frame_is_the_one_that_is_placed() -> None:
    model = read_robot("kuka-kr270")
    other = next(f.name for f in model.tree.frames if f.name.startswith("marker"))
    text = Apt().measuring_program("p", replace(model, tool=other), STOPS)["p.apt"]
    read = Apt().read({"p.apt": text.encode()})
    np.testing.assert_allclose(read.positions, kinematics(model, Q, other).position, atol=1e-7)


def test_sweeps_are_refused_where_no_speed_of_axes_can_be_stated() -> None:
    model, sweep = read_robot("kuka-kr270"), [Stop(Q[0], speed=3.0)]
    assert "sweeps" in Apt().hindrance(model, sweep)
    assert not Csv().hindrance(model, sweep)


def test_a_table_names_axes_speed_wait_and_what_is_to_be_done() -> None:
    model = read_robot("yaskawa-gp25")
    q = np.zeros((1, 6)) + 0.1
    text = Csv().measuring_program("plan", model, [Stop(q[0], ("read, twice",), label="P1")], (), 2.0)[
        "plan_program.csv"
    ]
    *head, titles, row = text.splitlines()
    assert "J1 to J6 are S, L, U, R, B, T" in " ".join(line[2:] for line in head)
    assert titles == "name,J1_deg,J2_deg,J3_deg,J4_deg,J5_deg,J6_deg,speed_percent,wait_s,do"
    cells = row.split(",")
    assert (cells[0], *cells[7:]) == ("P1", "5", "2", "read; twice")
    program = Csv().read({"plan_program.csv": text.encode()})
    np.testing.assert_allclose(program.joints, model.controller.to_controller(q), atol=1e-6)


def test_gcode_stops_before_it_moves_and_changes_no_tool() -> None:
    """A tool change is a motion of its own; what hangs at the flange while measuring is never changed for another."""
    text = Gcode().measuring_program("p", read_robot("kuka-kr270"), STOPS)["p.nc"]
    words = [re.sub(r"[(;].*", "", line).strip() for line in text.splitlines()]
    first = next(i for i, line in enumerate(words) if re.search(r"\bG0?1\b.*X", line))
    assert "M0" in words[:first]
    assert not any(re.search(r"(?i)\bM0?6\b|\bT\d", line) for line in words)
