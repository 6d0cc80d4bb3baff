"""Axes called otherwise than by the robot: their numbers tell, and a note says so."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from elastocal.errors import InputError
from elastocal.files.campaign.recognise import recognise
from elastocal.files.log.read import read_log
from elastocal.files.robot.read import robot_from_text
from elastocal.files.tables.configurations import read_configurations
from elastocal.files.tables.points import read_sweeps
from elastocal.files.tables.raw import by_numbers, numbered_axis
from elastocal.model.robot import Robot

ARM = """\
format: elastocal-robot/1
name: arm
source: written for a test
joints:
  - {name: joint_1, type: revolute, axis: [0, 0, 1], limits_deg: [-180, 180]}
  - {name: joint_2, type: revolute, axis: [0, 1, 0], xyz_mm: [100, 0, 300], limits_deg: [-90, 90]}
  - {name: tip, xyz_mm: [500, 0, 50]}
tool: tip
"""
AXES = {"joint_1": "revolute", "joint_2": "revolute"}
WAYS = [("A1_deg", "A2_deg"), ("J1_deg", "J2_deg"), ("q1 [deg]", "q2 [deg]"), ("theta1 (deg)", "Theta 2 (deg)"),
        ("Joint 1 [°]", "Joint 2 [°]"), ("A2_deg", "A1_deg")]  # fmt: skip


@pytest.fixture
def arm() -> Robot:
    return robot_from_text(ARM, "arm.yaml")


@pytest.mark.parametrize("titles", WAYS)
def test_configurations_by_any_of_the_usual_names(titles: tuple[str, str], tmp_path: Path) -> None:
    path = tmp_path / "poses.csv"
    path.write_text(",".join(titles) + "\n10,20\n", encoding="utf-8")
    table = read_configurations(path, AXES)
    wanted = [20, 10] if titles[0] == "A2_deg" else [10, 20]
    np.testing.assert_allclose(np.degrees(table.values), [wanted])
    assert "is axis joint_1" in table.notes[-1]


def test_the_robots_own_names_need_no_note(tmp_path: Path) -> None:
    path = tmp_path / "poses.csv"
    path.write_text("joint_1_deg,joint_2_deg\n10,20\n")
    assert not read_configurations(path, AXES).notes


def test_too_few_or_too_many_numbered_axes_are_none(tmp_path: Path) -> None:
    for header in ("A1_deg", "A1_deg,A2_deg,A3_deg", "A1_deg,joint_2_deg"):
        path = tmp_path / "poses.csv"
        path.write_text(f"{header}\n{','.join('1' for _ in header.split(','))}\n")
        with pytest.raises(InputError):
            read_configurations(path, AXES)


def test_the_number_is_that_of_the_name_where_names_count_from_one() -> None:
    assert numbered_axis("A1", ("rail", "joint_1", "joint_2")) == "joint_1"
    assert numbered_axis("Achse 3", ("rail", "joint_1", "joint_2")) is None
    assert numbered_axis("J2", ("S", "L", "U")) == "L"
    wrists = ("shoulder_pan", "shoulder_lift", "elbow", "wrist_1_joint", "wrist_2_joint", "wrist_3_joint")
    assert [numbered_axis(f"J{i}", wrists) for i in (1, 4, 6)] == ["shoulder_pan", "wrist_1_joint", "wrist_3_joint"]
    assert numbered_axis("A1", ("joint_0", "joint_1")) == "joint_0"
    assert numbered_axis("x1", ("S", "L", "U")) is None
    assert by_numbers(("A2", "A1", "gripper"), ("joint_1", "joint_2")) == {"A2": "joint_2", "A1": "joint_1"}
    assert by_numbers(("A1", "gripper"), ("joint_1", "joint_2")) == {}


def test_readings_sweeps_and_logs_take_them_too(arm: Robot, tmp_path: Path) -> None:
    angles = np.radians([[0, 0], [10, 5], [20, 10], [30, 15]])
    rows = "".join(f"{a:.6f},{b:.6f},{500 + i},{i},0\n" for i, (a, b) in enumerate(np.degrees(angles)))
    readings, log = tmp_path / "readings.csv", tmp_path / "log.csv"
    readings.write_text("A1_deg,A2_deg,x_mm,y_mm,z_mm\n" + rows)
    log.write_text("time_s,A1_deg,A2_deg,A1_torque_Nm,A2_torque_Nm\n0,0,0,1,2\n1,10,5,3,4\n")
    (sweep,), notes = read_sweeps([readings], arm)
    np.testing.assert_allclose(sweep.q, angles, atol=1e-8)
    assert "A1 is axis joint_1, A2 is axis joint_2" in notes[0]
    found = recognise(readings, arm)
    assert found.sure
    assert [c.name for c in found.columns[:2]] == ["joint_1", "joint_2"]
    logged = read_log(log, arm)
    np.testing.assert_allclose(logged.torque, [[1, 2], [3, 4]])
    assert any("A2 is axis joint_2" in note for note in logged.notes)
