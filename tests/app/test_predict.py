"""Predictions from a calibration file: against the robot that was measured, and how well they know themselves."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from app.virtual_desk import PLAN, Chain, asked, lay, refused
from lxml import html
from scipy import stats

Run = Callable[..., Any]
UNSEEN = """\
name,J1_deg,J2_deg,J3_deg,fx_N,fy_N,fz_N,mx_Nm
a,20,-50,80,0,0,-350,0
b,-100,-20,-60,200,150,-100,20
c,70,10,40,-150,200,0,0
d,-20,-90,120,0,-250,-250,-30
e,150,-40,10,100,100,300,0
f,-70,-70,-100,250,0,-200,10
"""
HERE = ("--at", "20,-50,80", "--force", "0,0,-350")


@pytest.fixture
def copied(chained: Chain, tmp_path: Path) -> Path:
    """The calibration file in a copy of its folder."""
    shutil.copytree(chained.folder, tmp_path / "desk")
    return tmp_path / "desk" / "calibration.json"


@pytest.fixture(scope="module")
def unseen(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("unseen") / "unseen.csv"
    path.write_text(UNSEEN, encoding="utf-8")
    return path


def moves(rows: list[dict[str, Any]], unit: str = "mm") -> np.ndarray:
    return np.array([[row[f"d{c}_{unit}"] for c in "xyz"] for row in rows])


def test_a_load_beyond_reason_is_called_so(chained: Chain) -> None:
    fair = asked("predict", chained.calibration, *HERE)["verdict"]
    absurd = asked("predict", chained.calibration, *HERE[:2], "--force", "0,0,-350000")["verdict"]
    assert not any("BEYOND" in line for line in fair)
    assert absurd[0].startswith("BEYOND REASON: by its compliances the arm would bend by ")
    assert "check the unit of the load" in absurd[0]


def test_poses_that_were_not_measured_lie_within_their_intervals(chained: Chain, unseen: Path) -> None:
    told = asked("predict", chained.calibration, "--configurations", unseen)["predictions"]
    true = moves(asked("deflect", chained.folder / "truth.yaml", "--configurations", unseen)["deflections"])
    guess = moves(asked("deflect", chained.folder / "arm.yaml", "--configurations", unseen)["deflections"])
    half = moves(told, "95_um") * 1e-3
    away = np.abs(moves(told) - true) / half
    assert np.mean(away < 1) > 0.8
    assert away.max() < 2
    assert half.max() < 0.12 * np.abs(true).max()
    assert np.mean(np.abs(guess - true) < half) < 0.5  # without the calibration they do not


def test_other_frames_are_predicted_too(chained: Chain) -> None:
    told = asked("predict", chained.calibration, *HERE, "--frame", "m2")
    true = asked("deflect", chained.folder / "truth.yaml", *HERE, "--frame", "m2")
    assert told["inputs"]["watched_frame"] == "m2"
    off = np.abs(moves(told["predictions"]) - moves(true["deflections"]))
    assert np.all(off < 2e-3 * moves(told["predictions"], "95_um"))
    tool = asked("predict", chained.calibration, *HERE)
    assert moves(tool["predictions"])[0, 2] != moves(told["predictions"])[0, 2]


def test_the_values_are_those_of_the_calibrated_robot(chained: Chain, tmp_path: Path) -> None:
    """A robot file with the calibrated numbers in it deflects the same."""
    from elastocal.files.calibration import identified_model, read_calibration
    from elastocal.files.robot.read import read_robot
    from elastocal.model.loads.wrench import AppliedWrenches
    from elastocal.model.statics.deflection import deflection

    known, notes = identified_model(read_calibration(chained.calibration), read_robot(str(chained.folder / "arm.yaml")))
    assert notes == ()
    load = AppliedWrenches("tool", [[0, 0, -350, 0, 0, 0]])
    exact = deflection(known.model, np.radians([[20, -50, 80]]), [load]).twist[0]
    row = asked("predict", chained.calibration, *HERE)["predictions"][0]
    np.testing.assert_allclose([row[f"d{c}_mm"] for c in "xyz"], 1e3 * exact[:3], rtol=1e-9)
    np.testing.assert_allclose([row[f"r{c}_mrad"] for c in "xyz"], 1e3 * exact[3:], rtol=1e-9)


def test_interval_and_ellipsoid_belong_to_the_covariance(chained: Chain) -> None:
    row = asked("predict", chained.calibration, *HERE)["predictions"][0]
    pairs = {"xx": (0, 0), "xy": (0, 1), "xz": (0, 2), "yy": (1, 1), "yz": (1, 2), "zz": (2, 2)}
    covariance = np.zeros((3, 3))
    for name, (i, j) in pairs.items():
        covariance[i, j] = covariance[j, i] = row[f"cov_{name}_m2"]
    sd = np.sqrt(np.diag(covariance))
    noise = json.loads(chained.calibration.read_text())["noise"]
    quantile = 1.959964 if noise["stated"] and noise["scatter"] <= 1 else stats.t.ppf(0.975, noise["freedom"])
    np.testing.assert_allclose([row[f"d{c}_95_um"] for c in "xyz"], 1e6 * quantile * sd, rtol=1e-6)
    axes = 1e6 * np.sqrt(np.linalg.eigvalsh(covariance))[::-1]
    np.testing.assert_allclose([row[f"ellipsoid_{n}_um"] for n in (1, 2, 3)], axes, rtol=1e-6)


def test_the_discrepancy_is_part_of_it(copied: Path) -> None:
    before = asked("predict", copied, *HERE)["predictions"][0]
    record = json.loads(copied.read_text())
    was = record["discrepancy_m"]
    record["discrepancy_m"] = 50e-6
    copied.write_text(json.dumps(record))
    told = asked("predict", copied, *HERE)
    grown = told["predictions"][0]["cov_xx_m2"] - before["cov_xx_m2"]
    assert grown == pytest.approx(50e-6**2 - was**2)
    assert "50 um per axis, is included" in " ".join(told["verdict"])
    record["discrepancy_m"] = None
    copied.write_text(json.dumps(record))
    assert "not known and not included" in " ".join(asked("predict", copied, *HERE)["verdict"])


def test_a_larger_load_moves_more_and_is_known_less(chained: Chain) -> None:
    small, large = (
        asked("predict", chained.calibration, "--at", "20,-50,80", "--force", f)["predictions"][0]
        for f in ("0,0,-100", "0,0,-400")
    )
    assert large["dz_mm"] == pytest.approx(4 * small["dz_mm"], rel=0.02)
    assert large["dz_95_um"] > 2 * small["dz_95_um"]


def test_csv_html_and_text_hold_the_same(run: Run, chained: Chain, unseen: Path, tmp_path: Path) -> None:
    table, page = tmp_path / "p.csv", tmp_path / "p.html"
    told = asked("predict", chained.calibration, "--configurations", unseen)
    got = run("predict", chained.calibration, "--configurations", unseen, "--csv", table, "--report", page)
    assert got.code == 0
    rows = list(csv.DictReader(io.StringIO(table.read_text(encoding="utf-8"))))
    assert [row["name"] for row in rows] == list("abcdef")
    for row, same in zip(rows, told["predictions"], strict=True):
        for key in ("dx_mm", "dz_95_um", "cov_xz_m2", "mx_Nm"):
            assert float(row[key]) == same[key]
    assert [float(row["mx_Nm"]) for row in rows] == [0, 20, 0, -30, 0, 10]
    tree = html.fromstring(page.read_text(encoding="utf-8"))
    verdict = [p.text_content() for p in tree.xpath("//div[@class='verdict']/p")]
    assert verdict == [line.replace(" um", " \N{MICRO SIGN}m") for line in told["verdict"]]
    shown = f"{told['predictions'][1]['dz_mm']:.4f}"
    assert shown in tree.xpath("//tbody")[0].text_content()
    assert shown in got.out
    assert not re.search(r"\bnan\b", got.out)


def test_text_fits_100_columns(run: Run, chained: Chain, unseen: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    got = run("predict", chained.calibration, "--configurations", unseen)
    long = [line for line in got.out.splitlines() if len(line) > 100]
    assert [line for line in long if "/" not in line] == []


def test_the_same_request_gives_the_same_bytes(run: Run, chained: Chain) -> None:
    first, second = (run("predict", chained.calibration, *HERE) for _ in range(2))
    assert first.out == second.out != ""


def test_what_the_campaign_left_out_is_left_out_and_said(tmp_path: Path) -> None:
    text = PLAN.replace("table:", "without: [link_compliance]\ntable:").replace(', "elbow.k*"', "")
    plan = lay(tmp_path, text.replace("load:", "statics: linear\nload:"))
    asked("simulate", plan, "--out", tmp_path / "v")
    asked("calibrate", tmp_path / "v" / "campaign.yaml", "--out", tmp_path / "c.json")
    told = asked("predict", tmp_path / "c.json", *HERE)
    assert told["inputs"]["left_out"] == ["link_compliance"]
    assert told["inputs"]["state"] == "linear statics, calibrated"


def test_a_changed_robot_file_is_noted(run: Run, copied: Path) -> None:
    robot = copied.parent / "arm.yaml"
    quiet = run("predict", copied, *HERE)
    assert "has changed since" not in quiet.out
    robot.write_text(robot.read_text().replace("mass_kg: 20", "mass_kg: 21"))
    got = run("predict", copied, *HERE)
    assert got.code == 0
    assert "has changed since it was calibrated" in " ".join(got.out.split())


def test_a_calibration_of_another_robot_is_refused(run: Run, copied: Path) -> None:
    folder = copied.parent
    (folder / "arm.yaml").write_text((folder / "arm.yaml").read_text().replace("J3", "J9"))
    said = refused(run, folder, "predict", copied, *HERE, "--csv", folder / "x.csv")
    assert "J3.k" in said
    assert "use that robot" in said
    shutil.copy(folder / "calibration.json", folder / "moved.json")
    record = json.loads((folder / "moved.json").read_text())
    record["robot"]["word"] = "kuka-kr270"
    (folder / "moved.json").write_text(json.dumps(record))
    assert "kuka-kr270 has no" in refused(run, folder, "predict", folder / "moved.json", "--at", "0,-90,90,0,30,0",
                                          "--force", "0,0,-350")  # fmt: skip


@pytest.mark.parametrize(
    ("words", "pieces"),
    [
        ((), ["no configuration", "--at"]),
        (("--at", "20,-50,80"), ["no load, so nothing bends", "--force"]),
        (("--at", "20,-50,80", "--force", "0,0,0"), ["no load, so nothing bends"]),
        (("--at", "20,-50", "--force", "0,0,-9"), ["3 numbers are needed", "2 were given"]),
        (("--at", "20,90,80", "--force", "0,0,-9"), ["J2 = 90 deg", "--ignore-limits"]),
        ((*HERE, "--frame", "m9"), ["'m9'", "m2"]),
        ((*HERE, "--load-frame", "tol"), ["did you mean 'tool'?"]),
    ],
)
def test_wrong_requests(run: Run, chained: Chain, words: tuple[str, ...], pieces: list[str]) -> None:
    said = refused(run, chained.folder, "predict", chained.calibration, *words)
    for piece in pieces:
        assert piece in said


@pytest.mark.parametrize(
    ("spoil", "pieces"),
    [
        (lambda t: "robot: arm", ["not valid JSON", "give the JSON file that a command wrote"]),
        (lambda t: "{}", ["format"]),
        (lambda t: t.replace('"format"', '"form"', 1), ["form"]),
        (lambda t: t.replace('"unit": "rad/(N m)"', '"unit": "m/N"', 1), ["J1.k"]),
        (lambda t: re.sub(r'"value": [-+.e0-9]+', '"value": NaN', t, count=1), ["NaN", "no number"]),
        (lambda t: t.replace('"names": ["J1.k", ', '"names": ["J7.k", '), ["the covariance lacks or adds J1.k"]),
    ],
)
def test_spoiled_calibrations(run: Run, copied: Path, spoil: Callable[[str], str], pieces: list[str]) -> None:
    text = copied.read_text(encoding="utf-8")
    assert spoil(text) != text
    copied.write_text(spoil(text), encoding="utf-8")
    said = refused(run, copied.parent, "predict", copied, *HERE, "--report", copied.parent / "x.html")
    assert "calibration.json" in said or "robot arm" in said
    for piece in pieces:
        assert piece in said


def test_no_input_is_written_over(run: Run, copied: Path, unseen: Path) -> None:
    folder = copied.parent
    table = folder / "unseen.csv"
    shutil.copy(unseen, table)
    assert "--configurations" in refused(run, folder, "predict", copied, "--configurations", table, "--csv", table)
    linked = folder / "linked.csv"
    linked.symlink_to(copied)
    assert "CALIBRATION.json" in refused(run, folder, "predict", copied, *HERE, "--csv", linked)
