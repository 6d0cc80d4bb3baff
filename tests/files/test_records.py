"""Records of YAML and JSON as tables: the same readings as from CSV, and complaints that name the line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import yaml
from oracle.refusals import refused

import elastocal as ec
from elastocal.app.cells.values import _of_robot
from elastocal.files.tables.records import is_records, read_records

DH = "joint,d_m,theta_deg,a_m,alpha_deg,convention\nj1,0,0,0,-90,standard\nj2,-0.475,-90,0,0,\n"
Q = np.array([[0.1, 0.2], [0.5, -0.4], [-0.8, 1.0]])
X = np.array([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6], [0.7, 0.8, 0.9]])
TURN = {"qw": 1.0, "qx": 0.0, "qy": 0.0, "qz": 0.0}
NESTED = {
    f"p{i}": {"camera_joints": [], "pose": dict(zip("xyz", x, strict=True)) | TURN, "target_joints": q}
    for i, (q, x) in enumerate(zip(Q.tolist(), X.tolist(), strict=True))
}
FLAT = [{"q": q, "position": x} for q, x in zip(Q.tolist(), X.tolist(), strict=True)]


@pytest.fixture
def robot(tmp_path: Path) -> Path:
    file = tmp_path / "arm.csv"
    file.write_text(DH, encoding="utf-8")
    return file


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.yaml", yaml.safe_dump(NESTED)), ("a.json", json.dumps(NESTED)), ("a.yml", yaml.safe_dump(FLAT)),
        ("a.json", json.dumps({"robot": "arm", "measurements": FLAT})),
    ],
    ids=["nested yaml", "nested json", "list", "below a key"],
)  # fmt: skip
def test_records_are_read_as_a_table(tmp_path: Path, robot: Path, name: str, text: str) -> None:
    file = tmp_path / name
    file.write_text(text, encoding="utf-8")
    _, data = ec.read_campaign(robot, file, length="m", angle="rad")
    np.testing.assert_allclose(data.q, Q)
    np.testing.assert_allclose(data.position[:, 0], X)


def test_places_and_names_are_those_of_the_file(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text(yaml.safe_dump(NESTED), encoding="utf-8")
    raw = read_records(file)
    assert raw.header[0] == "name"
    lines = file.read_text(encoding="utf-8").splitlines()
    assert [lines[line - 1] for line, _ in raw.rows] == ["p0:", "p1:", "p2:"]
    assert [cells[0] for _, cells in raw.rows] == ["p0", "p1", "p2"]


def test_two_lists_of_joints_keep_their_names(tmp_path: Path, robot: Path) -> None:
    file = tmp_path / "a.json"
    file.write_text(json.dumps([r | {"camera_joints": [0.0]} for r in NESTED.values()]), encoding="utf-8")
    with refused("missing-column", "j1", file="a.json", line=1):
        ec.read_campaign(robot, file, length="m", angle="rad")


def test_what_is_no_list_of_records_is_refused(tmp_path: Path, robot: Path) -> None:
    file = tmp_path / "a.json"
    for text in ("3", "[]", "[1, 2]", '{"a": 1}', '{"a": [{"x": 1}, {"x": 2}], "b": [{"x": 1}, {"x": 2}]}'):
        file.write_text(text, encoding="utf-8")
        with refused("no-records", file="a.json"):
            ec.read_campaign(robot, file, length="m", angle="rad")


def test_campaign_files_are_no_records(tmp_path: Path) -> None:
    file = tmp_path / "c.yaml"
    file.write_text("# mine\nformat: elastocal-campaign/1\n", encoding="utf-8")
    assert not is_records(file)
    assert not is_records(tmp_path / "absent.yaml")


def test_beside_records_a_cell_stands_for_its_robot_as_beside_any_table(tmp_path: Path) -> None:
    records, campaign = tmp_path / "a.yaml", tmp_path / "c.yaml"
    records.write_text(json.dumps(NESTED), encoding="utf-8")
    campaign.write_text("format: elastocal-campaign/1\n", encoding="utf-8")
    assert _of_robot("calibrate", {"tables": [records]})
    assert _of_robot("calibrate", {"tables": [tmp_path / "a.csv"]})
    assert not _of_robot("calibrate", {"tables": [campaign]})
