"""Axes given by their motors: in tables, in campaigns, on the command line, and in robot files."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from oracle.refusals import refused

from elastocal.errors import InputError
from elastocal.files.located import parse_yaml
from elastocal.files.log.read import read_log
from elastocal.files.robot.file import build_robot
from elastocal.files.robot.read import read_robot
from elastocal.files.robot.write import robot_text
from elastocal.files.tables.configurations import read_configurations

ROBOT = """\
format: elastocal-robot/1
name: pair
source: written for a test
joints:
  - {name: J1, type: revolute, axis: [0, 1, 0]}
  - {name: J2, type: prismatic, axis: [1, 0, 0]}
  - {name: tip, type: fixed, xyz_mm: [500, 0, 0]}
controller:
  axes: [R, L]
  structure: [[50, 0], [3, 400]]
  counts_per_turn: {R: 1000, L: 2000}
  counts_at_zero: {L: 150}
elements:
  - {kind: joint_compliance, joint: J1, k_rad_per_Nm: 1.0e-6}
"""
AXES = {"R": "revolute", "L": "prismatic"}


@pytest.fixture
def pair():
    return build_robot(parse_yaml(ROBOT, "pair.yaml"))


def table(tmp_path, text, drives):
    path = tmp_path / "t.csv"
    path.write_text(text)
    return read_configurations(path, AXES, drives).values


def test_counts_and_motor_angles_give_axes(tmp_path, pair):
    drives = pair.controller.drives
    c = np.array([[0.2, 0.3]])
    motors = np.array([0.2 * 50, 0.2 * 3 + 0.3 * 400])
    counts = motors / (2 * np.pi) * [1000, 2000] + [0, 150]
    for text in (
        f"R_counts,L_counts\n{counts[0]!r},{counts[1]!r}\n",
        f"L_motor_rad,R_motor_deg\n{motors[1]!r},{np.rad2deg(motors[0])!r}\n",
        f"R_motor_turns,L_counts\n{motors[0] / (2 * np.pi)!r},{counts[1]!r}\n",
        "R_rad,L_mm\n0.2,300\n",
    ):
        np.testing.assert_allclose(
            table(tmp_path, text.replace("np.float64(", "").replace(")", ""), drives), c, rtol=1e-12
        )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("R_counts,L_mm\n1,2\n", "gives an axis by its motor and 'L_mm' gives one by its own value"),
        ("R_counts,R_motor_deg,L_counts\n1,2,3\n", "axis R is given in two ways"),
        ("R_counts\n1\n", "there is no column for axis L; add L_counts"),
        ("R_motor,L_counts\n1,2\n", "'R_motor' has no unit; write R_motor_deg"),
        ("R_motor_mm,L_counts\n1,2\n", "unit 'mm' does not fit a motor's angle"),
        ("R_counts,L_counts\n1,x\n", "line 2, column L_counts: 'x' is not a number"),
    ],
)
def test_complaints(tmp_path, pair, text, said):
    with pytest.raises(InputError) as error:
        table(tmp_path, text, pair.controller.drives)
    assert said in str(error.value)


def test_a_robot_without_drives_takes_no_counts(tmp_path, pair):
    with refused("no-structure"):
        table(tmp_path, "R_counts,L_counts\n1,2\n", None)
    blind = replace(pair.controller.drives, counts_per_turn=np.array([1000.0, np.nan]))
    with refused("missing", "L"):
        table(tmp_path, "R_counts,L_counts\n1,2\n", blind)
    assert table(tmp_path, "R_counts,L_motor_rad\n1000,12\n", blind)[0, 0] == pytest.approx(2 * np.pi / 50)


def log_of(tmp_path, text, model):
    path = tmp_path / "log.csv"
    path.write_text(text)
    return read_log(path, model)


def test_logs_by_motors(tmp_path, pair):
    """By hand: R = m1 / 50, L = (m2 - 3 R) / 400; by equal work tau_R = 50 t1 + 3 t2, tau_L = 400 t2."""
    text = (
        "time_s,R_motor_rad,L_motor_turns,R_motor_torque_Nm,L_motor_torque_Nm\n"
        f"0,10,{120.6 / (2 * np.pi)!r},2,0.5\n1,20,{121.2 / (2 * np.pi)!r},-1,0.25\n2,20,20,,0.25\n3,20,20,1,\n"
    )
    log = log_of(tmp_path, text, pair)
    np.testing.assert_allclose(log.q[:2], [[0.2, 0.3], [0.4, 0.3]], rtol=1e-12)
    np.testing.assert_allclose(log.torque, [[101.5, 200], [-49.25, 100], [np.nan, 100], [np.nan, np.nan]], rtol=1e-12)
    counted = log_of(tmp_path, "R_counts,L_counts,R_torque_Nm,L_torque_N\n1000,150,7,8\n", pair)
    np.testing.assert_allclose(counted.q, [[2 * np.pi / 50, -3 * 2 * np.pi / 50 / 400]], rtol=1e-12)
    np.testing.assert_allclose(counted.torque, [[7, 8]])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("R_counts,L_mm\n1,2\n", "gives an axis by its motor and 'L_mm' gives one by its own value"),
        ("R_counts\n1\n", "there is no column for axis L of pair; add L_counts"),
        ("R_deg,L_mm,R_motor_torque_Nm,L_torque_N\n1,2,3,4\n", "'R_motor_torque_Nm' gives the torque of a motor and"),
        ("R_deg,L_mm,R_motor_torque\n1,2,3\n", "'R_motor_torque' has no unit; write R_motor_torque_Nm"),
        ("R_deg,L_mm,L_motor_torque_N\n1,2,3\n", "unit 'N' does not fit L_motor_torque"),
    ],
)
def test_complaints_about_logs(tmp_path, pair, text, said):
    with pytest.raises(InputError) as error:
        log_of(tmp_path, text, pair)
    assert said in str(error.value)


def test_logs_by_motors_need_drives(tmp_path):
    driven = ("structure", "counts_per_turn", "counts_at_zero")
    text = "\n".join(line for line in ROBOT.splitlines() if not line.strip().startswith(driven)) + "\n"
    plain = build_robot(parse_yaml(text, "plain.yaml"))
    with refused("no-structure"):
        log_of(tmp_path, "R_deg,L_mm,R_motor_torque_Nm\n1,2,3\n", plain)
    with refused("no-structure"):
        log_of(tmp_path, "R_counts,L_counts\n1,2\n", plain)


def test_robot_files_keep_drives(pair):
    again = build_robot(parse_yaml(robot_text(pair), "again.yaml"))
    for key in ("structure", "counts_per_turn", "counts_at_zero"):
        np.testing.assert_array_equal(getattr(again.controller.drives, key), getattr(pair.controller.drives, key))
    kr5 = read_robot("kuka-kr5")
    np.testing.assert_array_equal(
        build_robot(parse_yaml(robot_text(kr5), "kr5")).controller.drives.structure, kr5.controller.drives.structure
    )


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("structure: [[50, 0], [3, 400]]", "structure: [[50, 0], [3]]", "structure[2]: must have 2 rows of 2 numbers"),
        ("structure: [[50, 0], [3, 400]]", "structure: [[50, 0]]", "must have 2 rows of 2 numbers"),
        ("  structure: [[50, 0], [3, 400]]\n", "", "belongs to motors; add structure"),
        ("structure: [[50, 0], [3, 400]]", "structure: [[50, 0], [100, 0]]", "structure is singular"),
        ("{R: 1000, L: 2000}", "{R: 1000, X: 2000}", "there is no controller axis 'X'"),
        ("{R: 1000, L: 2000}", "{R: 0}", "counts_per_turn must not be zero"),
    ],
)
def test_wrong_drives_are_named_with_their_line(old, new, said):
    with pytest.raises(InputError) as error:
        build_robot(parse_yaml(ROBOT.replace(old, new), "pair.yaml"))
    assert said in str(error.value)
    assert str(error.value).startswith("pair.yaml")
