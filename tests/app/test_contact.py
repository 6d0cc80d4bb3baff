"""Contacts through the command line: simulate, calibrate and assess the plan of the document, and planted faults."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from app.cell_desk import well
from app.virtual_desk import findings
from oracle.contact_desk import DISCS, lay_plan
from oracle.scara import ACTUAL, NAMES

Run = Callable[..., Any]


@dataclass(frozen=True)
class Desk:
    folder: Path
    data: dict[str, Any]


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    """The same without a fault, looked at by several tests."""
    folder = tmp_path_factory.mktemp("plain")
    plan, virtual = lay_plan(folder), folder / "virtual"
    well("simulate", plan, "--out", virtual, "--truth", folder / "truth.yaml")
    words = ("calibrate", virtual / "campaign.yaml", "--json", "--out", folder / "found.json")
    return Desk(folder, well(*words, "--report", folder / "found.html").data)


@pytest.fixture
def desk(run: Run, tmp_path: Path) -> Callable[..., Desk]:
    """A virtual campaign of the actual robot, and what calibrate says of it."""

    def made(*words: str, spoil: Callable[[Path], None] = lambda folder: None) -> Desk:
        lay_plan(tmp_path)
        truth, virtual = tmp_path / "truth.yaml", tmp_path / "virtual"
        done = run("simulate", tmp_path / "plan.yaml", "--out", virtual, "--truth", truth, *words)
        assert done.code == 0, done.err
        spoil(tmp_path / "virtual")
        found = run("calibrate", tmp_path / "virtual" / "campaign.yaml", "--json", "--out", tmp_path / "found.json",
                    "--report", tmp_path / "found.html")  # fmt: skip
        assert found.code == 0, found.err
        return Desk(tmp_path, found.data)

    return made


def test_the_twelve_parameters_come_back_with_their_accuracy(plain: Desk) -> None:
    data = plain.data
    found = {row["parameter"]: row for row in data["parameters"]}
    assert set(found) == set(NAMES)
    for name, true in zip(NAMES, ACTUAL, strict=True):
        assert abs(found[name]["value"] - true) < 4 * found[name]["sd"], name
        assert found[name]["sd"] < 0.2 * abs(true)
    before, after = (row["e_f_N"] for row in data["force_error"])
    assert before > 100
    assert 0.05 < after < 0.3
    assert any("e_f (002 eq. 10) falls from 136 N to 0." in line for line in data["verdict"])
    assert data["residuals"]["y"]["unit"] == data["left_out"]["y"]["unit"] == "N"
    assert data["path"][-1]["left_out_N"] == pytest.approx(0.13, abs=0.1)
    assert "object-misplaced" not in findings(data)
    for when, near in (("before", False), ("after", True)):
        picture = {s["name"]: s for s in data[f"contour_{when}"]["series"]}
        assert {"objects", "robot", "contacts"} <= set(picture)
        felt, expected = (arrow_ends(picture[n]) for n in ("force measured", "force of the model"))
        assert len(felt) == 36
        same = felt.shape == expected.shape and bool(np.abs(felt - expected).max() < 2.0)  # mm in the picture
        assert same is near
    record = json.loads((plain.folder / "found.json").read_text())
    assert record["load"] == {"frame": "gripper", "follows": False}
    assert "Contour tracking after calibration" in (plain.folder / "found.html").read_text()


def test_a_prediction_from_the_middle_of_the_plays(plain: Desk, run: Run) -> None:
    """To first order J (k Q + gap sign Q) + p f + gap f / |f|, with the planar Jacobian of the actual arm."""
    told = run("predict", plain.folder / "found.json", "--at", "20,100", "--force", "30,0,0", "--json")
    assert told.code == 0, told.err
    true = dict(zip(NAMES, ACTUAL, strict=True))
    a, b = 0.33 + true["link1_end.x"], 0.33 + true["link2_end.x"]
    first = np.radians(20) + true["J1.offset"]
    both = first + np.radians(100) + true["J2.offset"]
    elbow, wrist = a * np.array([-np.sin(first), np.cos(first)]), b * np.array([-np.sin(both), np.cos(both)])
    jacobian = np.column_stack([elbow + wrist, wrist])
    f = np.array([30.0, 0.0])
    torque = jacobian.T @ f
    k, gap = (np.array([true[f"J1.{s}"], true[f"J2.{s}"]]) for s in ("k", "gap"))
    moved = jacobian @ (k * torque + gap * np.sign(torque)) + true["gripper.p"] * f + [true["gripper.gap"], 0.0]
    (row,) = told.data["predictions"]
    assert [row["dx_mm"], row["dy_mm"]] == pytest.approx(list(1e3 * moved), abs=3e-3)
    assert 0.5 < row["dx_95_um"] < 3
    assert any("floats in its backlash (configuration 1)" in note for note in told.data["notes"])


def arrow_ends(series: dict[str, Any]) -> Any:
    """Tips (n, 2) of arrows drawn as start, tip, barb, tip, barb and a break."""
    return np.array(list(zip(series["x"], series["y"], strict=True))[1::6], dtype=float)


def test_an_object_moved_by_a_millimetre_is_flagged(desk: Callable[..., Desk]) -> None:
    def moved(folder: Path) -> None:
        path = folder / "campaign.yaml"
        text = path.read_text()
        assert "centre_mm: [200, 400]" in text
        path.write_text(text.replace("centre_mm: [200, 400]", "centre_mm: [201, 400]"))

    data = desk(spoil=moved).data
    said = findings(data)
    assert (said["object-misplaced"]["object"], said["object-misplaced"]["what"]) == ("disc disc2", "place")
    assert any("disc2.x by -" in line for line in data["verdict"])
    assert said["noise-exceeded"]["scatter"] > 1.5


def test_a_gross_force_error_is_named_by_row(desk: Callable[..., Desk]) -> None:
    made = desk("--outliers", "1", "--outlier-N", "15", "--seed", "3")
    rows = made.data["wrong_contacts"]
    assert {r["place"] for r in rows} == {rows[0]["place"]}
    assert rows[0]["place"].startswith("readings.csv line ")
    found = {r["number"]: (float(r["read"].split()[0]), float(r["fits"].split()[0])) for r in rows}
    off = [abs(read - fits) for name, (read, fits) in found.items() if name in ("fx", "fy")]
    assert off == [pytest.approx(15.0, abs=1.5)]
    assert "outliers_removed" not in made.data
    assert findings(made.data)["contact-removed"]["place"] == rows[0]["place"]


def test_a_wrong_joint_value_is_named_by_line_and_column(desk: Callable[..., Desk]) -> None:
    def turned(folder: Path) -> None:
        path = folder / "readings.csv"
        lines = path.read_text().splitlines()
        column = lines[0].split(",").index("J2_rad")
        cells = lines[20].split(",")
        cells[column] = str(float(cells[column]) + 5e-3)
        lines[20] = ",".join(cells)
        path.write_text("\n".join(lines) + "\n")

    made = desk(spoil=turned)
    (row,) = made.data["wrong_contacts"]
    assert (row["place"], row["number"]) == ("readings.csv line 21", "J2")
    read, fits = (float(row[k].split()[0]) for k in ("read", "fits"))
    assert read - fits == pytest.approx(np.degrees(5e-3), abs=2e-3)
    told = findings(made.data)["estimated"]
    assert (told["estimated"], told["sought"], told["separately"]) == (12, 12, 12)


def test_the_published_plan_is_diagnosed_and_repaired(run: Run, tmp_path: Path) -> None:
    plan = lay_plan(tmp_path, (40.0,))
    found = run("assess", plan, "--json", "--csv", tmp_path / "sd.csv")
    assert found.code == 0, found.err
    said = " ".join(found.data["verdict"])
    assert "gripper.p and gripper.gap are identifiable only as 40 N * gripper.p + gripper.gap" in said
    assert "REPAIR: half the force on one contact (20 N and 40 N)." in said
    assert len(found.data["changes"]) == 1
    assert found.data["changes"][0]["force_N"] == pytest.approx(20.0)
    assert found.data["changes"][0]["place"].startswith("plan.csv line ")
    sd = {row["parameter"]: (row["sd_0"], row["sd_1"]) for row in found.data["parameters"]}
    assert sd["gripper.p"][0] is None
    assert 0 < sd["gripper.p"][1] < 2e-6
    assert (tmp_path / "sd.csv").read_text().startswith("parameter,unit,size,sd_0,sd_1")
    good = run("assess", lay_plan(tmp_path, (20.0, 40.0)), "--json")
    assert "12 of 12 parameters are resolved" in " ".join(good.data["verdict"])
    assert "changes" not in good.data


@pytest.mark.parametrize("seed", [1, 2])
def test_one_force_level_is_identified_as_a_combination(run: Run, tmp_path: Path, seed: int) -> None:
    """At seed 1 the first step of the fit loses all states; its weights are not taken then."""
    plan, virtual = lay_plan(tmp_path, (40.0,)), tmp_path / "virtual"
    done = run("simulate", plan, "--out", virtual, "--truth", tmp_path / "truth.yaml", "--seed", str(seed))
    assert done.code == 0, done.err
    found = run("calibrate", virtual / "campaign.yaml", "--json", "--out", tmp_path / "found.json")
    assert found.code == 0, found.err
    said = " ".join(found.data["verdict"])
    told = findings(found.data)["estimated"]
    assert (told["estimated"], told["separately"]) == (11, 10)
    assert "NOT SEPARATELY IDENTIFIABLE: only 40 N * gripper.p + gripper.gap is known" in said
    assert "REPAIR: all contacts press alike; press some of them with half the force (20 N and 40 N)." in said
    groups = {row["parameter"]: row["group"] for row in found.data["parameters"]}
    assert groups["gripper.p"] == "G3+"
    assert groups["base.x"] == "G1+"
    record = json.loads((tmp_path / "found.json").read_text())
    assert {p["name"]: p.get("group") for p in record["parameters"]}["gripper.p"] == "G3"


def test_a_plan_that_no_change_repairs_is_told_so(run: Run, tmp_path: Path) -> None:
    errors = "errors:\n  - {kind: force_sensor, sd_N: 50}\n"
    found = run("assess", lay_plan(tmp_path, (40.0,), errors=errors), "--json")
    assert found.code == 0, found.err
    (said,) = (line for line in found.data["verdict"] if "REPAIR" in line)
    assert said.startswith("NO REPAIR FOUND: neither a second force nor more contacts between these resolve everything")
    assert "J2.gap are still above size / 5. Lower the noise" in said


def test_an_assessment_of_contacts_needs_errors(run: Run, tmp_path: Path) -> None:
    plan = lay_plan(tmp_path, (40.0,), errors="")
    found = run("assess", plan)
    assert found.code == 2
    assert "none are stated; add for example errors: [{kind: force_sensor, sd_N: 0.5}]" in found.err


def test_bad_objects_end_the_command_with_one_sentence(run: Run, tmp_path: Path) -> None:
    plan = lay_plan(tmp_path, objects=DISCS.replace("radius_mm: 50", "radius_mm: 0"))
    found = run("simulate", plan, "--out", tmp_path / "virtual")
    assert found.code == 2
    assert found.err.count("\n") == 1
    assert not (tmp_path / "virtual").exists()
