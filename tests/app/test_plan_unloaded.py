"""Planning a calibration without loads: a bare arm on the command line, and its cell from plan to validation."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import yaml
from app.cell_desk import well
from app.conftest import Run

import elastocal as ec
from elastocal.calibration.planning import drawn_robot
from elastocal.files.robot.write import robot_text

DH = """\
joint,a_mm,alpha_deg,d_mm,theta_deg,min_deg,max_deg
J1,150,-90,450,0,-170,170
J2,570,0,0,-90,-90,135
J3,130,-90,0,0,-80,150
J4,0,90,640,0,-180,180
J5,0,-90,0,0,-120,120
J6,0,0,95,180,-360,360
"""
PLAN = """\
format: elastocal-plan/1
name: bare
robot: arm.csv
measurement: position
model: [geometry, weight]
errors:
  - {kind: reading, sd_um: 20}
candidates: 400
poses: 14
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "arm.csv").write_text(DH)
    (tmp_path / "plan.yaml").write_text(PLAN)
    return tmp_path


def test_a_dh_table_alone_is_planned(run: Run, folder: Path) -> None:
    words = ("--poses", 20, "--candidates", 400, "--restarts", 1, "--language", "fanuc")
    done = run("plan", folder / "arm.csv", *words, "--out", folder / "out", "--json")
    assert done.code == 0, done.err
    data = done.data
    assert len(data["plan"]) == 20
    assert {row["load"] for row in data["plan"]} == {"no load"}
    errors = {row["what"]: row["error_mm"] for row in data["task"]}
    before = {row["effect"]: row["uncalibrated_um"] for row in data["effects"]}
    assert 0.01 < errors["root mean square"] < 0.3
    assert before["all"] > 10e3 * errors["root mean square"] > 0
    assert before["all"] == pytest.approx(sum(v**2 for k, v in before.items() if k != "all") ** 0.5, rel=0.01)
    assert "um RMS by the priors" in data["verdict"][1]
    assert data["inputs"]["model"] == ["geometry", "weight", "lateral", "harmonics", "preload", "coupling"]
    campaign = yaml.safe_load((folder / "out" / "campaign.yaml").read_text())
    assert (campaign["measurement"], "seek" in campaign, [e["kind"] for e in campaign["errors"]]) == (
        "position", False, ["reading"],
    )  # fmt: skip
    assert (folder / "out" / "plan.csv").read_text().startswith("name,J1_deg")
    assert "P20: read" in (folder / "out" / "PLAN_OF_ARM.LS").read_text()
    assert any("lies on the axis" in note for note in data["notes"])  # the flange of a DH table is on axis 6


def test_a_cell_without_loads_from_plan_to_validation(folder: Path) -> None:
    """What the plan promises is of the size of what validation finds on poses that took no part."""
    cell = folder / "cell"
    well("new", cell, "--robot", folder / "arm.csv", "--unloaded")
    assert "force" not in (cell / "cell.yaml").read_text().partition("options:")[2]
    assert "without loads" in (cell / "README.md").read_text()
    assert not ec.read_robot(cell / "robot" / "robot.yaml").parameters.names
    plan = well("plan", cell, "--restarts", 1, "--json").data
    promised = {row["what"]: row["error_mm"] for row in plan["task"]}["root mean square"]
    well("simulate", cell)
    well("calibrate", cell)
    other = folder / "check"
    well("plan", cell, "--restarts", 1, "--seed", 5, "--poses", 25, "--out", other)
    well("simulate", other / "campaign.yaml", "--truth", cell / "truth" / "robot.yaml", "--out", other / "read")
    well("validate", cell, other / "read" / "campaign.yaml")
    robot, readings = ec.read_campaign(other / "read" / "campaign.yaml")
    check = ec.read_calibration(cell / "calibration" / "calibration.json").validate(readings)
    noise = 0.03e-3 * 3**0.5
    assert check.before.rms > 1e-3
    assert check.after.rms == pytest.approx(((1e-3 * promised) ** 2 + noise**2) ** 0.5, rel=0.4)
    assert robot.tool == "tool"
    well("compensate", cell)
    assert {line["state"] for line in well("status", cell, "--json").data["results"]} == {"up to date"}


def test_a_plan_file_states_words_priors_and_what_was_calibrated_before(run: Run, folder: Path) -> None:
    def planned(text: str) -> dict[str, float]:
        (folder / "plan.yaml").write_text(text)
        done = run("plan", folder / "plan.yaml", "--restarts", 1, "--out", folder / "out", "--json")
        assert done.code == 0, done.err
        return {row["what"]: row["error_mm"] for row in done.data["task"]} | {
            row["effect"]: 1e-3 * row["uncalibrated_um"] for row in done.data["effects"]
        }

    plain = planned(PLAN)
    assert set(plain) >= {"geometry", "weight"}
    assert "harmonics" not in plain
    sure = planned(f'{PLAN}priors:\n  - {{parameters: "J?.offset", sd_mrad: 0.1}}\n')
    assert sure["geometry"] < 0.8 * plain["geometry"]
    assert yaml.safe_load((folder / "out" / "campaign.yaml").read_text())["priors"][0]["sd_mrad"] == 0.1
    planned(PLAN)
    truth = drawn_robot(ec.read_robot(folder / "arm.csv"), np.random.default_rng(4), ("geometry", "weight"))
    (folder / "true.yaml").write_text(robot_text(truth))
    well("simulate", folder / "out" / "campaign.yaml", "--truth", folder / "true.yaml", "--out", folder / "read")
    well("calibrate", folder / "read" / "campaign.yaml", "--out", folder / "cal.json")
    after = planned(f"{PLAN}earlier: cal.json\n")
    assert after["root mean square"] < 0.8 * plain["root mean square"]
    (folder / "plan.yaml").write_text(f"{PLAN}earlier: read/campaign.yaml\n")
    refused = run("plan", folder / "plan.yaml", "--out", folder / "out")
    assert refused.code == 2
    assert "give the calibration of it" in refused.err


def test_the_next_poses_are_planned_from_a_calibration(run: Run, folder: Path) -> None:
    """By its robot, markers and model words; its covariance counts as known."""
    robot = ec.read_robot(folder / "arm.csv")
    truth = drawn_robot(robot, np.random.default_rng(4), ("geometry", "weight"))
    low, high = np.radians([[-90, -80, -60, -90, -80, -90], [90, 60, 60, 90, 80, 90]])
    q = np.random.default_rng(5).uniform(low, high, (14, 6))
    at = truth.kinematics(q)
    spots = np.array([[0.06, 0.0, 0.02], [-0.02, 0.05, 0.1]])
    points = at.position[:, None] + np.einsum("nij,mj->nmi", at.rotation, spots) + [1.0, 2.0, 0.0]
    points += np.random.default_rng(6).normal(scale=2e-5, size=points.shape)
    cal = ec.calibrate(robot, ec.Campaign(q=q, position=points, length="m", angle="rad"), ["geometry", "weight"])
    cal.save(folder / "cal.json")
    words = ("--poses", 8, "--candidates", 300, "--restarts", 1)
    done = run("plan", folder / "cal.json", *words, "--out", folder / "next", "--json")
    assert done.code == 0, done.err
    errors = {row["what"]: row["error_mm"] for row in done.data["task"]}
    now = 1e-3 * next(row["uncalibrated_um"] for row in done.data["effects"] if row["effect"] == "all")
    assert 0.2 * now < errors["root mean square"] < 0.9 * now < 0.2
    assert "before these poses" in done.data["verdict"][1]
    made = yaml.safe_load((folder / "next" / "campaign.yaml").read_text())
    assert (made["markers"], made["model"]) == (["marker1", "marker2"], ["geometry", "weight"])
    beside = ec.read_robot(folder / "next" / made["robot"])
    np.testing.assert_allclose(beside.kinematics(q[:1]).position, robot.kinematics(q[:1]).position, atol=1e-12)
    plain = ec.plan(robot, poses=8, restarts=1, model=["geometry", "weight"])
    after = ec.plan(cal, poses=8, restarts=1)
    assert after.rms_error < 0.5 * plain.rms_error
    assert "before these poses" in repr(after)
    _plans_with_the_noise_of(cal, done.data["notes"], after)
    with pytest.raises(ec.InputError, match="estimates nothing"):
        ec.plan(cal, poses=8, loads=[ec.loads.Hanging(masses=(40.0,))], seek=["J?.k"])


def _plans_with_the_noise_of(cal: ec.Calibration, told: list[str], after: ec.Plan) -> None:
    """As its prediction of a reading has it, where 0.03 mm is taken of a robot that nobody has measured."""
    (source,) = after.task.measuring.sources
    assert source.sd == pytest.approx(cal.noise["points"], rel=1e-9)
    assert not 2.7e-5 < source.sd < 3.3e-5
    assert [(n.code, n.data["noise"]) for n in after.notes] == [("noise-of-calibration", source.sd)]
    assert "note noise-of-calibration" in repr(after)
    assert any(f"{1e3 * source.sd:.3g} mm per axis" in note for note in told)
    stated = ec.plan(cal, poses=8, restarts=1, noise=1e-4)
    assert ([s.sd for s in stated.task.measuring.sources], stated.notes) == ([1e-4], ())
    assert stated.rms_error > after.rms_error


def test_poses_of_an_unloaded_plan_are_left_out_at_the_desk(folder: Path) -> None:
    cell = folder / "cell"
    well("new", cell, "--robot", folder / "arm.csv", "--unloaded")
    place = cell / "plan" / "plan.yaml"
    place.write_text(place.read_text().replace("model: auto ", "model: geometry ").replace("poses: 40", "poses: 12"))
    place.write_text(place.read_text() + "candidates: 300\n")
    well("plan", cell, "--restarts", 1)
    tried = ec.desk.plan.try_plan(ec.desk.cell.read_cell(cell), ("P1", "P2", "P3"), "", "")
    usual = {change.name: change for change in tried.errors}["RMS"]
    assert usual.after > 1.05 * usual.before > 0
    assert tried.parameters == ()


def test_how_many_poses_keep_an_error_everywhere(run: Run, folder: Path) -> None:
    """The largest error is required, the mean is searched for: a size that greedy poses would do with may not do."""
    words = ("--candidates", 600, "--restarts", 1, "--require", "error=0.09mm")
    done = run("plan", folder / "arm.csv", *words, "--out", folder / "out", "--json")
    assert done.code == 0, done.err
    assert 12 < len(done.data["plan"]) < 40
    assert {row["what"]: row["error_mm"] for row in done.data["task"]}["largest"] < 0.0905


def test_single_parameters_of_a_bare_arm_are_not_assessed(run: Run, folder: Path) -> None:
    assert run("plan", folder / "plan.yaml", "--restarts", 1, "--out", folder / "out").code == 0
    done = run("assess", folder / "out" / "campaign.yaml")
    assert done.code == 2
    assert "elastocal plan --given" in done.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--criterion", "d"), "chosen by the error"),
        (("--require", "J2.offset=2%"), "single parameters"),
    ],
)
def test_refusals(run: Run, folder: Path, words: tuple[str, ...], said: str) -> None:
    done = run("plan", folder / "plan.yaml", *words, "--out", folder / "out")
    assert done.code == 2
    assert said in done.err
    assert not json.dumps(done.err).count("Traceback")
