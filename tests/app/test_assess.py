"""The command that judges a plan, through the command line."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from elastocal.app.cli.main import app
from elastocal.errors import InputError

ARM = """format: elastocal-robot/1
name: arm
source: example
gravity_m_s2: [0, 0, 0]
joints:
  - {name: J1, type: revolute, axis: [0, 0, 1], limits_deg: [-180, 180]}
  - {name: elbow, xyz_mm: [1000, 0, 0]}
  - {name: J2, type: revolute, axis: [0, 0, 1], limits_deg: [-180, 180]}
  - {name: tip, xyz_mm: [500, 0, 0]}
elements:
  - {kind: joint_compliance, joint: J1, k_urad_per_Nm: 2}
  - {kind: joint_compliance, joint: J2, k_urad_per_Nm: 4}
  - {kind: link_compliance, frame: elbow, form: beam, entries_SI: {k66: 1.0e-6}}
"""
PLAN = "J1_deg,J2_deg,fx_N,fy_N\n0,30,0,100\n0,90,100,0\n20,-50,0,100\n-60,120,50,50\n"


@pytest.fixture
def files(tmp_path):
    (tmp_path / "arm.yaml").write_text(ARM)
    (tmp_path / "plan.csv").write_text(PLAN)
    return tmp_path


def call(*args):
    return CliRunner().invoke(app, ["assess", *map(str, args)])


def test_the_answer_for_a_planar_arm_is_the_hand_calculation(files):
    done = call(files / "arm.yaml", files / "plan.csv", "--parameters", "J*.k", "--noise-mm", 0.01, "--json")
    assert done.exit_code == 0, done.output
    table = json.loads(done.stdout)
    text = json.dumps(table)
    assert "G1+" in text
    rows = []
    for j1, j2, fx, fy in [(0, 30, 0, 100), (0, 90, 100, 0), (20, -50, 0, 100), (-60, 120, 50, 50)]:
        a, b = np.radians(j1), np.radians(j1 + j2)
        tip = np.array([np.cos(a) + 0.5 * np.cos(b), np.sin(a) + 0.5 * np.sin(b)])
        arms = [np.array([-tip[1], tip[0]]), 0.5 * np.array([-np.sin(b), np.cos(b)])]
        rows.append(np.column_stack([arm * (arm @ [fx, fy]) for arm in arms]))
    matrix = np.concatenate(rows)
    sd = np.sqrt(np.diag(np.linalg.inv(matrix.T @ matrix))) * 1e-5 * np.sqrt(2)
    found = [float(row["sd"]) for row in _rows(table)]
    np.testing.assert_allclose(found, sd, rtol=1e-9)


def _rows(data):
    """The parameter table wherever the JSON keeps it."""
    if isinstance(data, dict):
        if "sd" in data:
            return [data]
        return [row for value in data.values() for row in _rows(value)]
    if isinstance(data, list):
        return [row for value in data for row in _rows(value)]
    return []


def test_a_link_that_turns_about_the_next_joint_is_absorbed_by_it(files):
    done = call(files / "arm.yaml", files / "plan.csv", "--parameters", "J*.k", "--parameters", "elbow.k66")
    assert done.exit_code == 0
    assert "J2.k + 1 elbow.k66" in done.output


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (["--noise-mm", "0"], "must be positive"),
        (["--pose"], "--noise-mrad"),
        (["--repeats", "0"], "at least one reading"),
        (["--marker", "top"], "there is no frame 'top'"),
        (["--form", "bean"], "did you mean 'beam'"),
        (["--parameters", "J9.k"], "there is no parameter 'J9.k'"),
        (["--thresholds", "1", "2"], "upper must be above the lower"),
    ],
)
def test_bad_requests_get_one_sentence(files, change, words):
    done = call(files / "arm.yaml", files / "plan.csv", *change)
    assert isinstance(done.exception, InputError)
    assert words in str(done.exception)
    assert "\n" not in str(done.exception)


def test_a_plan_without_load_is_refused(files):
    (files / "plan.csv").write_text("J1_deg,J2_deg\n0,30\n")
    done = call(files / "arm.yaml", files / "plan.csv")
    assert "nothing bends" in str(done.exception)
