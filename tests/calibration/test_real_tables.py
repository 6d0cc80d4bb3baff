"""Tables of real robots as a stranger types them: robot, table, units, nothing else."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from real import DATA

from elastocal.calibration.readings import campaign_of
from elastocal.calibration.run import calibrate
from elastocal.files.campaign.observed import Observed, observed_tables

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="real data are not here (../shared/data)")
DH = "joint,d_m,theta_deg,a_m,alpha_deg,convention\nj1,0,0,0,-90,standard\nj2,-0.475,-90,0,0,\n"


def typed(robot: Path, table: str, **keys: str) -> Observed:
    return observed_tables([DATA / table], str(robot), {"units": {"length": "m", "angle": "rad"}, **keys})


def test_ur10_angles_are_roll_pitch_yaw_by_the_robot() -> None:
    """By scipy and Pinocchio: xyz leaves 0.51 deg RMS, the next best order 44 deg."""
    found = typed(DATA / "ur10/ur10_robot.urdf", "ur10/calibration.csv", tool="wrist_3_link")
    assert found.entry.euler == "xyz"
    assert found.kinds == ("position", "orientation")
    assert any("phix1, phiy1, phiz1 are taken for Euler angles xyz" in n.text for n in found.notes)
    robot, data = campaign_of(found)
    result = calibrate(robot, data, ["geometry"])
    assert 3.2 < 1e3 * result.leave_one_out.mean < 4.2


def test_positioner_yaml_is_a_table(tmp_path: Path) -> None:
    arm = tmp_path / "arm.csv"
    arm.write_text(DH, encoding="utf-8")
    found = typed(arm, "positioner/measurements.yaml")
    assert len(found.readings.values) == 205
    assert found.kinds == ("position", "orientation")
    robot, data = campaign_of(found)
    result = calibrate(robot, data, ["geometry"])
    assert 0.30 < 1e3 * result.leave_one_out.mean < 0.40


@pytest.mark.parametrize(
    ("robot", "table", "last", "shape"),
    [
        ("talos/talos_full_v2.urdf", "talos/left_arm_points.csv", "arm_left_7_joint", (61, 1, 3)),
        ("tiago/tiago_no_hand.urdf", "tiago/mocap.csv", "arm_7_joint", (34, 3, 3)),
    ],
)
def test_csv_of_pal_robots_need_no_tool(robot: str, table: str, last: str, shape: tuple[int, ...]) -> None:
    found = typed(DATA / robot, table)
    assert found.readings.read["position"].shape == shape
    assert np.isfinite(found.readings.read["position"]).all()
    assert found.model.joints[-1] == last
