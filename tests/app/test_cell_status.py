"""What has changed is noticed: by status, and by every command that builds on it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from app.cell_desk import record, results, typed, well

TAKEN = "readings were changed since simulate: taken as measured"

TRUTH = "simulate: {truth: truth/robot.yaml}"
PUSHED = "compensate: {force: '-17.6,0,-8.8'}"
"""Options as a new cell has them."""


@pytest.fixture
def cell(kr5_cell: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(kr5_cell, tmp_path / "cell"))


def states(cell: Path) -> dict[str, tuple[str, str]]:
    said = typed("status", cell, "--json")
    rows = {row["step"]: (row["state"], row["because"]) for row in said.data["results"]}
    assert said.code == (1 if any(state == "stale" for state, _ in rows.values()) else 0)
    return rows


def add_a_byte(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"\n")


def test_everything_is_up_to_date_after_the_chain_and_says_how_to_repeat_it(cell: Path) -> None:
    said = well("status", cell, "--json").data
    assert [row["step"] for row in said["results"]] == ["plan", "simulate", "calibrate", "compensate-square.src"]
    assert {row["state"] for row in said["results"]} == {"up to date"}
    assert said["results"][0]["repeat"] == "elastocal plan . --candidates 60 --restarts 1"
    assert said["verdict"] == ["All 4 results are up to date.", "Next: nothing is left to do."]


def test_a_byte_in_the_plan_makes_everything_after_it_stale(cell: Path) -> None:
    add_a_byte(cell / "plan" / "plan.yaml")
    rows = states(cell)
    assert rows["plan"] == ("stale", "input changed: plan/plan.yaml")
    assert rows["simulate"][1].startswith("input is stale: plan/campaign.yaml")
    assert rows["calibrate"][0] == rows["compensate-square.src"][0] == "stale"
    text = typed("status", cell).out
    assert "Next: repeat 'elastocal plan . --candidates 60 --restarts 1' in the cell." in text


def test_a_byte_in_the_readings_stops_at_the_calibration(cell: Path) -> None:
    add_a_byte(cell / "campaign" / "readings.csv")
    rows = states(cell)
    assert rows["plan"][0] == "up to date"
    assert rows["simulate"] == ("replaced", TAKEN)
    assert rows["calibrate"][1].startswith("input changed: campaign/readings.csv")
    assert rows["compensate-square.src"][1] == "input is stale: calibration/calibration.json"


def measure(cell: Path) -> bytes:
    """A file of readings put where simulated ones stood, with the campaign file of simulate kept."""
    path = cell / "campaign" / "readings.csv"
    lines = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join([lines[0], *reversed(lines[1:])]) + "\n", encoding="utf-8")
    return path.read_bytes()


def test_readings_put_in_place_of_simulated_ones_are_measured_ones(cell: Path) -> None:
    own = measure(cell)
    said = typed("status", cell, "--json").data
    line = next(row for row in said["results"] if row["step"] == "simulate")
    assert (line["state"], line["because"], line["repeat"]) == ("replaced", TAKEN, "")
    assert said["verdict"][0] == "STALE: calibrate, compensate-square.src, 2 of 3 results."
    assert said["verdict"][1:] == [f"R{TAKEN[1:]}.", "Next: repeat 'elastocal calibrate .' in the cell."]
    told = well("calibrate", cell, "--json")
    assert f"campaign/readings.csv: {TAKEN}." in told.data["notes"]
    assert not any("STALE" in note or "repeat" in note for note in told.data["notes"])
    refused = typed("simulate", cell)
    assert refused.code == 2
    assert "holds a readings.csv that was changed since it was simulated and would be lost" in refused.err
    assert (cell / "campaign" / "readings.csv").read_bytes() == own
    well("compensate", cell)
    assert typed("status", cell).code == 0
    add_a_byte(cell / "plan" / "plan.yaml")  # what was measured does not rest on the plan that it came from
    assert {step for step, (state, _) in states(cell).items() if state == "stale"} == {"plan"}


def test_a_campaign_file_that_was_changed_by_hand_is_kept(cell: Path) -> None:
    path = cell / "campaign" / "campaign.yaml"
    path.write_text(path.read_text(encoding="utf-8").replace("name:", "name: second"), encoding="utf-8")
    assert states(cell)["simulate"] == ("replaced", "campaign/campaign.yaml was changed since simulate: kept as it is")
    said = typed("simulate", cell)
    assert said.code == 2
    assert "holds a campaign.yaml that was changed since it was simulated" in said.err


def test_readings_of_another_simulation_are_not_measured(cell: Path) -> None:
    well("simulate", cell, "--seed", "5", "--report", cell / "reports" / "five.html")
    assert states(cell)["simulate"][0] == "stale"
    well("simulate", cell)
    assert states(cell)["simulate"] == ("up to date", "")


def test_a_program_of_ones_own_is_stale_alone(cell: Path) -> None:
    program = cell / "programs" / "square.src"
    program.write_bytes(program.read_bytes().replace(b"$VEL.CP=0.05", b"$VEL.CP=0.04"))
    stale = {step for step, (state, _) in states(cell).items() if state == "stale"}
    assert stale == {"compensate-square.src"}
    well("compensate", cell)
    assert {state for state, _ in states(cell).values()} == {"up to date"}


def test_a_lost_report_is_named_but_spoils_nothing_else(cell: Path) -> None:
    (cell / "reports" / "calibrate.html").unlink()
    rows = states(cell)
    assert rows["calibrate"] == ("stale", "output missing: reports/calibrate.html")
    assert rows["compensate-square.src"][0] == "up to date"


def test_options_and_places_in_cell_yaml_count_as_inputs(cell: Path) -> None:
    (cell / "cell.yaml").write_text(
        f"format: elastocal-cell/1\nname: kr5\noptions: {{{TRUTH}, compensate: {{force: '-100,0,0'}}}}\n",
        encoding="utf-8",
    )
    assert states(cell)["compensate-square.src"] == ("stale", "changed in cell.yaml: options")
    assert states(cell)["calibrate"][0] == "up to date"
    shutil.copy(cell / "campaign" / "campaign.yaml", cell / "campaign" / "may.yaml")
    (cell / "cell.yaml").write_text(
        "format: elastocal-cell/1\nname: kr5\ncampaign: campaign/may.yaml\n", encoding="utf-8"
    )
    assert "changed in cell.yaml: campaign" in states(cell)["calibrate"][1]


def test_an_option_that_was_not_there_is_noticed(cell: Path) -> None:
    (cell / "cell.yaml").write_text(
        f"format: elastocal-cell/1\nname: kr5\noptions: {{{TRUTH}, calibrate: {{seed: 3}}, {PUSHED}}}\n",
        encoding="utf-8",
    )
    rows = states(cell)
    assert rows["calibrate"] == ("stale", "changed in cell.yaml: options")
    assert rows["simulate"][0] == "up to date"
    well("calibrate", cell, "--seed", "1")
    well("compensate", cell)
    assert {state for state, _ in states(cell).values()} == {"up to date"}


def test_a_program_that_is_new_waits_for_its_correction(cell: Path) -> None:
    shutil.copy(cell / "programs" / "square.src", cell / "programs" / "second.src")
    said = well("status", cell, "--json").data
    (waiting,) = [row for row in said["results"] if row["state"] == "not run yet"]
    assert (waiting["step"], waiting["because"]) == ("compensate", "not corrected: programs/second.src")
    assert said["verdict"][1] == "Next: 'elastocal compensate .' in the cell."
    well("compensate", cell)
    assert {state for state, _ in states(cell).values()} == {"up to date"}


def test_commands_warn_of_a_stale_input_in_words_html_and_json(cell: Path) -> None:
    assert "STALE" not in well("export", cell).out
    add_a_byte(cell / "campaign" / "readings.csv")
    words = "STALE INPUT calibration/calibration.json (input changed: campaign/readings.csv"
    said = well("compensate", cell)
    assert words in " ".join(said.out.split())
    assert "repeat 'elastocal calibrate .' in the cell" in " ".join(said.out.split())
    assert "STALE INPUT calibration/calibration.json" in (cell / "reports" / "compensate-square.src.html").read_text(
        encoding="utf-8"
    )
    said = well("predict", cell, "--at", "0,-90,90,0,30,0", "--force", "0,0,-900", "--json")
    assert any(words in note for note in said.data["notes"])
    assert words in said.err


def test_a_record_says_what_made_a_result(cell: Path) -> None:
    found = record(cell, "calibrate")
    assert found["format"] == "elastocal-record/1"
    assert found["command"] == ["calibrate", "."]
    assert found["seed"] == 1
    assert set(found["inputs"]) == {"campaign/campaign.yaml", "campaign/readings.csv", "robot/robot.yaml"}
    assert set(found["outputs"]) == {
        "calibration/calibration.json", "reports/calibrate.html", "reports/calibrate.json",
    }  # fmt: skip
    assert set(found["versions"]) == {"elastocal", "python", "numpy", "scipy"}
    assert found["cell"] == {
        "campaign": "campaign/campaign.yaml", "calibration": "calibration/calibration.json", "reports": "reports",
        "options": {}, "certificate": {},
    }  # fmt: skip
    assert len(found["time"]) == 20
    assert found["time"].endswith("Z")
    corrected = record(cell, "compensate-square.src")
    assert "calibration/calibration.json" in corrected["inputs"]
    assert "programs/corrected/square.src" in corrected["outputs"]
    assert corrected["cell"]["options"] == {"force": "-17.6,0,-8.8", "rated_kg": 5}


def test_the_same_bytes_again_from_anywhere_but_the_time_of_the_record(
    cell: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, old = results(cell), record(cell, "compensate-square.src")
    well("compensate", cell)
    monkeypatch.chdir(cell / "programs")
    well("simulate", "..")
    well("compensate", "..")
    monkeypatch.chdir(cell)
    well("compensate", ".")
    assert results(cell) == before
    new = record(cell, "compensate-square.src")
    assert {**new, "time": old["time"]} == old


def test_a_spoiled_record_is_refused_with_its_name(cell: Path) -> None:
    (cell / "records" / "plan.json").write_text("{", encoding="utf-8")
    said = typed("status", cell)
    assert said.code == 2
    assert "plan.json, line 1: not valid JSON" in said.err


def test_a_shipped_robot_is_known_by_its_bytes(tmp_path: Path) -> None:
    cell = tmp_path / "cell"
    well("new", cell, "--robot", "scara")
    plan = cell / "plan" / "plan.yaml"
    plan.write_text(plan.read_text(encoding="utf-8").replace("../robot/robot.yaml", "scara-ruggeri"), encoding="utf-8")
    well("plan", cell, "--candidates", "20", "--restarts", "1")
    assert states(cell)["plan"] == ("up to date", "")
    path = cell / "records" / "plan.json"
    found = json.loads(path.read_text(encoding="utf-8"))
    assert set(found["inputs"]) == {"plan/plan.yaml", "shipped:scara-ruggeri"}
    found["inputs"]["shipped:scara-ruggeri"] = "0" * 64
    path.write_text(json.dumps(found), encoding="utf-8")
    assert states(cell)["plan"] == ("stale", "input changed: shipped:scara-ruggeri")


def test_a_new_cell_has_everything_before_it(tmp_path: Path) -> None:
    well("new", tmp_path / "cell", "--robot", "kr5")
    rows = states(tmp_path / "cell")
    assert {step: state for step, (state, _) in rows.items()} == dict.fromkeys(
        ("plan", "simulate", "calibrate", "compensate"), "not run yet"
    )
    assert "Next: 'elastocal plan .' in the cell." in well("status", tmp_path / "cell").out


def test_what_is_stated_for_the_certificate_is_asked_for_and_makes_its_reports_stale(tmp_path: Path) -> None:
    from elastocal.app.cells.freshness import setting, usual_settings
    from elastocal.files.cell import read_cell

    (tmp_path / "cell.yaml").write_text("format: elastocal-cell/1\nname: c\n", encoding="utf-8")
    before = setting(read_cell(tmp_path), "certificate", "calibrate")
    stated = "certificate: {tolerance_mm: 0.3, date: 2026-11-17}\n"
    (tmp_path / "cell.yaml").write_text(f"format: elastocal-cell/1\nname: c\n{stated}", encoding="utf-8")
    cell = read_cell(tmp_path)
    assert (before, setting(cell, "certificate", "calibrate")) == ({}, {"tolerance_mm": "0.3", "date": "2026-11-17"})
    assert "certificate" in usual_settings("calibrate")
    assert "certificate" not in usual_settings("plan")
    assert cell.certificate.tolerance == 3e-4
    assert "tolerance_mm" not in cell.certificate.missing
    assert "operator" in cell.certificate.missing


def test_a_workpiece_of_the_cell_is_where_maps_are_drawn(tmp_path: Path) -> None:
    """A box turned by 90 deg about z: along its x the places of the map go along y of the base."""
    cell = tmp_path / "cell"
    well("new", cell, "--robot", "kr270")
    file = cell / "cell.yaml"
    area = "workpiece: {low_mm: [0, 0, 0], high_mm: [400, 200, 50], object_mm: [1900, -200, 700], turn_deg: [90, 0, 0]}"
    file.write_text(file.read_text() + area + "\n")
    told = well("stiffness", cell, "--map", "workpiece", "--at", "0,-70,100,0,60,0", "--json").data
    softest = told["map"]
    assert (softest["x"]["values"][0], softest["x"]["values"][-1]) == (0, pytest.approx(400))
    assert (softest["y"]["values"][0], softest["y"]["values"][-1]) == (0, pytest.approx(200))
    turned = "x:1700:1900:17,y:-200:200:25,z:700"  # the same places in base axes
    plain = well("stiffness", "kuka-kr270", "--map", turned, "--at", "0,-70,100,0,60,0", "--json").data["map"]
    there = np.array(softest["values"], dtype=float)  # rows along y of the object, which is -x of the base
    np.testing.assert_allclose(there[::-1].T, np.array(plain["values"], dtype=float), rtol=1e-6)
    file.write_text(file.read_text().replace("[400, 200, 50]", "[400, -1, 50]"))
    wrong = typed("stiffness", cell, "--map", "workpiece", "--at", "0,-70,100,0,60,0")
    assert wrong.code == 2
    assert "workpiece" in wrong.err


def test_without_a_workpiece_the_word_is_refused() -> None:
    said = typed("stiffness", "kuka-kr270", "--map", "workpiece", "--at", "0,-70,100,0,60,0")
    assert said.code == 2
    assert "cell.yaml" in said.err
