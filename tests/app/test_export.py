"""A calibration for others: the same robot read back from URDF and from kinematics.yaml, pose by pose."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from app.program_desk import answered, calibration
from scipy.spatial.transform import Rotation

from elastocal.files.calibration import identified_model, read_calibration
from elastocal.files.robot.read import read_robot
from elastocal.files.robot.urdf import read_urdf
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.statics.deflection import frame_pose
from elastocal.model.statics.equilibrium import equilibrium

AXES = ("0 0 1", "0 1 0", "0 1 0", "1 0 0", "0 1 0", "1 0 0")
PLACES = ("0 0 0.4", "0.1 0 0.05", "0 0 0.6", "0.2 0.03 0", "0.4 0 0", "0.1 0 0")
JOINTS = "".join(
    f"""  <joint name="J{i + 1}" type="revolute"><origin xyz="{place}" rpy="0 0 {0.1 * i}"/><axis xyz="{axis}"/>
    <parent link="L{i}"/><child link="L{i + 1}"/><limit lower="-3" upper="3" effort="1" velocity="1"/></joint>
"""
    for i, (axis, place) in enumerate(zip(AXES, PLACES, strict=True))
)
URDF = f"""<robot name="arm"> <!-- six joints -->
{"".join(f'  <link name="L{i}"/>' for i in range(7))}<link name="hand"/>
{JOINTS}  <joint name="mount" type="fixed"><origin xyz="0.05 0 0.02" rpy="0 0.3 0"/>
    <parent link="L6"/><child link="hand"/></joint>
</robot>
"""
ERRORS = """
  - {kind: frame_error, frame: J2, x_mm: 0.4, rz_mrad: 0.7}
  - {kind: frame_error, frame: L3, y_mm: -0.3, rx_mrad: 0.5, ry_mrad: -0.2}
  - {kind: frame_error, frame: hand, z_mm: 0.2, rx_mrad: 1.1}
  - {kind: joint_offset, joint: J1, offset_rad: 0.002}
  - {kind: joint_offset, joint: J5, offset_rad: -0.0015}
"""
Q = np.array([[0.3, -0.7, 1.1, 0.4, -0.9, 2.0], [-1.2, 0.2, -0.6, 1.9, 0.8, -0.4]])


@pytest.fixture
def desk(run: Any, tmp_path: Path) -> Path:
    """The folder with URDF, robot file with errors, and a calibration of it."""
    (tmp_path / "arm.urdf").write_text(URDF)
    assert run("convert", tmp_path / "arm.urdf", tmp_path / "arm.yaml", "--tool", "hand").code == 0
    robot = tmp_path / "arm.yaml"
    text = re.sub(r"k_rad_per_Nm: 0(?:\.0)?\b", "k_rad_per_Nm: 1.0e-6", robot.read_text())
    robot.write_text(text.rstrip() + ERRORS)
    calibration(tmp_path, "arm.yaml", ("J1.k", "J2.k"), 0.02)
    return tmp_path


def true_poses(folder: Path, frame: str) -> tuple[np.ndarray, np.ndarray]:
    """Poses of the calibrated robot when nothing pulls on it."""
    known, _ = identified_model(read_calibration(folder / "calibration.json"), read_robot(str(folder / "arm.yaml")))
    free = known.model.without("joint_compliance", "link_mass")
    return frame_pose(free, Q, equilibrium(free, Q), frame)


def test_the_corrected_urdf_is_the_calibrated_robot(run: Any, desk: Path) -> None:
    words = ("export", desk / "calibration.json", "--from", desk / "arm.urdf", "--urdf", desk / "new.urdf", "--json")
    told = answered(run(*words))
    assert len(told["files"]) == 2
    new, old = (read_urdf(desk / f"{n}.urdf", "hand").model for n in ("new", "arm"))
    place, turn = frame_pose(new, Q, equilibrium(new, Q), "hand")
    wanted, turned = true_poses(desk, "hand")
    np.testing.assert_allclose(place, wanted, atol=1e-12)
    np.testing.assert_allclose(turn, turned, atol=1e-12)
    assert np.abs(frame_pose(old, Q, equilibrium(old, Q), "hand")[0] - wanted).max() > 5e-4
    assert "<!-- six joints -->" in (desk / "new.urdf").read_text()
    beside = json.loads((desk / "new.compliance.json").read_text())
    assert {p["name"]: p["value"] for p in beside["parameters"]}["J3.k"] == 1e-6
    assert not [p for p in beside["parameters"] if "offset" in p["name"] or p["name"].endswith(".rx")]
    assert np.array(beside["covariance"]).shape == (2, 2)


def test_kinematics_yaml_turns_about_z(run: Any, desk: Path) -> None:
    """The product of origins and turns about z differs from the calibrated wrist by one constant pose."""
    assert run("export", desk / "calibration.json", "--kinematics", desk / "k.yaml").code == 0
    told = yaml.safe_load((desk / "k.yaml").read_text())["kinematics"]
    assert told.pop("hash").startswith("content:")
    assert list(told) == ["shoulder", "upper_arm", "forearm", "wrist_1", "wrist_2", "wrist_3"]
    place, turn = true_poses(desk, "hand")
    rests = []
    for n, q in enumerate(Q):
        whole = np.eye(4)
        for angle, row in zip(q, told.values(), strict=True):
            step, spin = np.eye(4), np.eye(4)
            step[:3, :3] = Rotation.from_euler("xyz", [row["roll"], row["pitch"], row["yaw"]]).as_matrix()
            step[:3, 3] = row["x"], row["y"], row["z"]
            spin[:3, :3] = Rotation.from_rotvec([0, 0, angle]).as_matrix()
            whole = whole @ step @ spin
        there = np.eye(4)
        there[:3, :3], there[:3, 3] = turn[:, :, n], place[:, n]
        rests.append(np.linalg.inv(whole) @ there)
    np.testing.assert_allclose(rests[0], rests[1], atol=1e-12)
    assert np.linalg.norm(rests[0][:3, 3]) == pytest.approx(np.hypot(0.05, 0.02), abs=5e-4)


def test_the_schema_knows_every_key_of_a_calibration(run: Any, desk: Path) -> None:
    assert run("export", desk / "calibration.json", "--schema", desk / "s.json").code == 0
    schema, record = (json.loads((desk / n).read_text()) for n in ("s.json", "calibration.json"))
    assert set(record) == set(schema["properties"])
    assert set(schema["required"]) <= set(record)
    for part in ("robot", "load", "noise"):
        assert set(record[part]) <= set(schema["properties"][part]["properties"])
    row = schema["properties"]["parameters"]["items"]
    assert all(set(p) <= set(row["properties"]) for p in record["parameters"])
    assert row["properties"]["value"]["type"] == "number"
    assert schema["properties"]["format"]["const"] == record["format"]


def test_the_robot_file_is_the_calibrated_robot_with_its_sources(run: Any, desk: Path) -> None:
    """It bends as the calibrated one does, and says which numbers were identified and by what."""
    calibration(desk, "arm.yaml", ("J1.k", "J2.k", "J2.x"), 0.02, scale=1.3)
    assert run("export", desk / "calibration.json", "--yaml", desk / "new.yaml").code == 0
    new, old = (read_robot(str(desk / f"{n}.yaml")) for n in ("new", "arm"))
    known, _ = identified_model(read_calibration(desk / "calibration.json"), old)
    push = AppliedWrenches("hand", np.array([[30.0, -40, 50, 1, 2, 3]]))
    place, turn, was = (
        *frame_pose(new, Q, equilibrium(new, Q, [push]), "hand"),
        frame_pose(known.model, Q, equilibrium(known.model, Q, [push]), "hand"),
    )
    np.testing.assert_allclose(place, was[0], atol=1e-12)
    np.testing.assert_allclose(turn, was[1], atol=1e-12)
    assert np.abs(frame_pose(old, Q, equilibrium(old, Q, [push]), "hand")[0] - place).max() > 1e-5
    rows, nominal = ({p.name: p for p in m.parameters} for m in (new, old))
    mark = hashlib.sha256((desk / "calibration.json").read_bytes()).hexdigest()[:16]
    assert rows["J2.k"].value == pytest.approx(1.3 * nominal["J2.k"].value, rel=1e-12)
    assert rows["J2.k"].source == f"identified (calibration.json, sha256 {mark}): J2.k +- 2e-08 rad/(N m)"
    assert rows["J3.k"].source == nominal["J3.k"].source
    assert rows["J2.x"].source == rows["J2.rz"].source  # one element: the rest keeps the file's
    assert rows["J2.rz"].source.endswith(f"m; the rest: {nominal['J2.rz'].source}")
    refused = run("export", desk / "calibration.json", "--yaml", desk / "arm.yaml")
    assert refused.code == 2
    assert "is also given to the robot" in refused.err


def test_refusals(run: Any, desk: Path) -> None:
    def said(*words: object) -> str:
        got = run("export", desk / "calibration.json", *words)
        assert got.code == 2
        return str(got.err)

    assert "nothing is asked for" in said()
    assert "--from" in said("--urdf", desk / "new.urdf")
    other = desk / "other.urdf"
    other.write_text(URDF.replace("0 0 0.6", "0 0 0.61"))
    assert "frame J3 stands elsewhere" in said("--urdf", desk / "new.urdf", "--from", other)
    assert "is also given to --from" in said("--urdf", desk / "arm.urdf", "--from", desk / "arm.urdf")
    assert not (desk / "new.urdf").exists()
    calibration(desk, "cylindrical", ("q1.k",), 0.1)
    assert "has not six revolute joints" in said("--kinematics", desk / "k.yaml")
