"""Real robots of ``../shared/data``, seen from the repository."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import yaml

from elastocal.calibration.campaign import Campaign
from elastocal.files.robot.read import read_robot, robot_from_text
from elastocal.model.robot import Robot

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"


def table(name: str) -> tuple[list[str], np.ndarray]:
    with (DATA / name).open(encoding="utf-8") as file:
        head = file.readline().strip().split(",")
        return head, np.loadtxt(file, delimiter=",")


def picked(head: list[str], rows: np.ndarray, names: list[str]) -> np.ndarray:
    return rows[:, [head.index(n) for n in names]]


def talos() -> tuple[Robot, Campaign]:
    robot = read_robot(DATA / "talos" / "talos_full_v2.urdf", tool="gripper_left_base_link")
    head, rows = table("talos/left_arm_points.csv")
    q, x = picked(head, rows, list(robot.joints)), picked(head, rows, ["x1", "y1", "z1"])
    return robot, Campaign(q=q, position=x, length="m", angle="rad")


def tiago() -> tuple[Robot, Campaign]:
    """Four markers, the fourth a copy of the third."""
    robot = read_robot(DATA / "tiago" / "tiago_no_hand.urdf", tool="wrist_ft_tool_link")
    head, rows = table("tiago/mocap.csv")
    x = picked(head, rows, [f"{a}{i}" for i in (1, 2, 3) for a in "xyz"])
    return robot, Campaign(q=picked(head, rows, list(robot.joints)), position=x, length="m", angle="rad")


def ur10() -> tuple[Robot, Campaign]:
    robot = read_robot(DATA / "ur10" / "ur10_robot.urdf", tool="wrist_3_link")
    head, rows = table("ur10/calibration.csv")
    q, x = picked(head, rows, list(robot.joints)), picked(head, rows, ["x1", "y1", "z1"])
    return robot, Campaign(q=q, position=x, length="m", angle="rad")


POSITIONER = """
format: elastocal-robot/1
name: positioner
title: Two-axis positioner
source: README of the data, nominal DH parameters
status: published
gravity_m_s2: [0, 0, 0]
joints:
  - {name: j1, type: revolute, parent: base, axis: [0, 0, 1]}
  - {name: j2, type: revolute, rpy_deg: [-90, 0, 0], axis: [0, 0, 1]}
  - {name: table, type: fixed, xyz_mm: [0, 0, -475], rpy_deg: [0, 0, -90]}
tool: table
"""
"""j1 (d 0, theta 0, a 0, alpha -90 deg), j2 (d -0.475 m, theta -90 deg, 0, 0)."""


def positioner() -> tuple[Robot, Campaign]:
    """Poses of the target seen by a camera that stands still."""
    rows = yaml.load((DATA / "positioner" / "measurements.yaml").read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    q = [row["target_joints"] for row in rows.values()]
    x = [[row["pose"][k] for k in ("x", "y", "z")] for row in rows.values()]
    turn = [[row["pose"][k] for k in ("qx", "qy", "qz", "qw")] for row in rows.values()]
    return robot_from_text(POSITIONER, "positioner.yaml"), Campaign(
        q=q, position=x, orientation=turn, length="m", angle="rad"
    )
