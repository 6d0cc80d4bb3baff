"""Every command on the folder of a cell: what it takes from there, where its results go, what typed words change."""

from __future__ import annotations

import importlib
import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
import typer
import yaml
from app.cell_desk import record, typed, well
from oracle.dial_gauge import csv_text, readings
from oracle.encoders import SINGLE, WRIST
from oracle.logs import logged, waves
from oracle.table_one import points_csv

from elastocal.app.cells.roles import USES
from elastocal.app.cli import main as cli
from elastocal.files.cell import PLACES
from elastocal.files.robot.read import read_robot
from elastocal.model.statics.deflection import deflection

AT = ("--at", "0,-90,90,0,30,0")
PUSH = ("--force", "0,0,-1000")
HEAD = "format: elastocal-cell/1\nname: mill\n"
VISITS = "pose,command_x_mm,command_y_mm,command_z_mm,x_mm,y_mm,z_mm\n" + "".join(
    f"P1,100,0,0,{100 + d},0,0\n" for d in (0.1, 0.2, 0.3)
)
NOT_USED = (
    "calibration/calibration.json exists and is not used here; predict uses it, and 'export --yaml' writes a "
    "calibrated robot file."
)
PAGE = Path(__file__).resolve().parents[2] / "docs" / "cells.md"


@pytest.fixture
def cell(kr5_cell: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(kr5_cell, tmp_path / "cell"))


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """A new cell in which nothing was run."""
    well("new", tmp_path / "bare", "--robot", "kr5")
    return tmp_path / "bare"


def table(folder: Path, name: str, text: str) -> None:
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8")


def test_questions_about_the_robot_are_those_about_its_file(cell: Path) -> None:
    file = cell / "robot" / "robot.yaml"
    for words in (("deflect", *AT, *PUSH), ("stiffness", *AT), ("kinetostatics", "--position", "1800,0,1200", *PUSH)):
        command, *options = words
        inside, outside = (well(command, robot, *options, "--json").data for robot in (cell, file))
        assert inside["inputs"]["sha256"] == {"robot/robot.yaml": next(iter(outside["inputs"]["sha256"].values()))}
        beside = [] if command == "kinetostatics" else [NOT_USED]
        assert sorted(inside["notes"]) == sorted([*outside["notes"], *beside])
        same = set(outside) - {"inputs", "notes"}
        assert {k: inside[k] for k in same} == {k: outside[k] for k in same}
    assert "KUKA KR 5" in well("show", cell, "--parameters", "A*.k").out
    assert not (cell / "records" / "deflect.json").exists()


def test_deflect_speaks_of_a_calibration_only_where_one_is(cell: Path) -> None:
    (cell / "cell.yaml").write_text(HEAD + "calibration: found/other.json\n", encoding="utf-8")
    asked = ("deflect", cell, *AT, *PUSH, "--json")
    assert not [n for n in well(*asked).data["notes"] if "predict" in n]
    table(cell, "found/other.json", "{}")
    assert NOT_USED.replace("calibration/calibration.json", "found/other.json") in well(*asked).data["notes"]


def test_a_report_in_the_cell_gets_a_record_of_its_own(cell: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(cell.parent)
    said = well("deflect", "cell", *AT, *PUSH, "--report", "cell/reports/reach.html")
    assert f"written: {Path('cell/reports/reach.html')}" in said.out
    assert record(cell, "deflect-reach")["command"] == [
        "deflect", ".", *AT, *PUSH, "--report", "reports/reach.html",
    ]  # fmt: skip
    kept = json.loads((cell / "reports" / "reach.json").read_text(encoding="utf-8"))
    shown = well("deflect", "cell", *AT, *PUSH, "--json").data
    assert kept == shown
    assert next(iter(kept.items())) == ("format", "elastocal-result/1")
    well("deflect", "cell", *AT, *PUSH, "--report", "outside.html")
    assert (cell.parent / "outside.html").is_file()
    assert not (cell.parent / "outside.json").exists()
    assert not (cell / "records" / "deflect-outside.json").exists()


def test_assess_takes_the_plan_or_with_a_table_the_robot(cell: Path, tmp_path: Path) -> None:
    data = well("assess", cell, "--json").data
    assert set(data["inputs"]["sha256"]) == {"plan/campaign.yaml", "plan/plan.csv", "robot/robot.yaml"}
    assert (cell / "reports" / "assess.html").is_file()
    poses = tmp_path / "poses.csv"
    poses.write_text("A1_deg,A2_deg,A3_deg,A4_deg,A5_deg,A6_deg,fz_N\n0,-60,75,0,60,0,-900\n", encoding="utf-8")
    data = well("assess", cell, poses, "--parameters", "A2.k", "--json").data
    assert set(data["inputs"]["sha256"]) == {"../poses.csv", "robot/robot.yaml"}


def test_predict_export_and_convert_take_what_was_found(cell: Path, tmp_path: Path) -> None:
    data = well("predict", cell, *AT, *PUSH, "--json").data
    assert "calibration/calibration.json" in data["inputs"]["sha256"]
    assert well("export", cell, "--json").data["files"] == [str(cell / "calibration" / "kinematics.yaml")]
    well("export", cell, "--schema", tmp_path / "schema.json")
    assert (tmp_path / "schema.json").is_file()
    well("convert", cell, tmp_path / "copy.yaml")
    assert read_robot(tmp_path / "copy.yaml").joints == read_robot("kuka-kr5").joints


def test_one_program_or_all_of_them(cell: Path) -> None:
    square = cell / "programs" / "square.src"
    second = cell / "programs" / "second.src"
    second.write_bytes(square.read_bytes().replace(b"SQUARE", b"SECOND"))
    before = (cell / "records" / "compensate-square.src.json").read_bytes()
    well("compensate", second, "--calibration", cell)
    assert (cell / "programs" / "corrected" / "second.src").is_file()
    assert (cell / "reports" / "compensate-second.src.html").is_file()
    assert record(cell, "compensate-second.src")["command"] == [
        "compensate", "programs/second.src", "--calibration", ".",
    ]  # fmt: skip
    assert (cell / "records" / "compensate-square.src.json").read_bytes() == before
    data = well("compensate", cell, "--json").data
    assert data["format"] == "elastocal-result/1"
    assert [one["inputs"]["program"] for one in data["programs"]] == ["programs/second.src", "programs/square.src"]


def test_a_trial_leaves_record_and_report_of_the_cell_alone(cell: Path) -> None:
    label = "compensate-square.src"
    kept = [cell / "records" / f"{label}.json", *(cell / "reports" / f"{label}.{e}" for e in ("html", "json"))]
    before = [path.read_bytes() for path in kept]
    square, light = cell / "programs" / "square.src", ("--force", "0,0,-9")
    well("compensate", square, "--calibration", cell, *light, "--out", cell.parent / "trial")
    assert [path.read_bytes() for path in kept] == before
    own = record(cell, f"{label}-trial")
    assert set(own["outputs"]) == {
        "../trial/square.src", f"reports/{label}-trial.html", f"reports/{label}-trial.json",
    }  # fmt: skip
    assert "(0, 0, -9) N" in (cell / "reports" / f"{label}-trial.html").read_text(encoding="utf-8")
    shutil.rmtree(cell.parent / "trial")
    assert well("status", cell).code == 0
    well("compensate", cell, *light, "--out", cell.parent / "a" / "trial")
    assert record(cell, f"{label}-a-trial")["outputs"].keys() != own["outputs"].keys()
    well("compensate", cell, "--out", cell / "programs" / "corrected", "--csv", cell / "targets.csv")
    assert "targets.csv" in record(cell, label)["outputs"]  # the cell's own place, typed


def test_a_program_corrected_elsewhere_is_not_corrected_in_the_cell(cell: Path) -> None:
    second = cell / "programs" / "second.src"
    second.write_bytes((cell / "programs" / "square.src").read_bytes())
    well("compensate", second, "--calibration", cell, "--out", cell.parent / "trial")
    assert "not corrected: programs/second.src" in " ".join(well("status", cell).out.split())


def test_trials_of_other_commands_have_labels_of_their_own(cell: Path) -> None:
    before = {p.name: p.read_bytes() for p in (cell / "records").iterdir()}
    well("calibrate", cell, "--seed", "4", "--out", cell.parent / "second.json")
    well("simulate", cell, "--seed", "4", "--out", cell.parent / "virtual.4")
    well("export", cell, "--schema", cell / "schema.json")
    new = {p.name for p in (cell / "records").iterdir()} - set(before)
    assert new == {"calibrate-second.json", "simulate-virtual.json", "export-schema.json"}
    assert {name: (cell / "records" / name).read_bytes() for name in before} == before


def test_typed_words_come_before_cell_yaml_and_that_before_the_places(cell: Path) -> None:
    (cell / "cell.yaml").write_text(HEAD + "options: {simulate: {seed: 3, outliers: 1}}\n", encoding="utf-8")
    well("simulate", cell)
    assert record(cell, "simulate")["seed"] == 3
    told = (cell / "reports" / "simulate.json").read_text(encoding="utf-8")
    assert '"seed": 3,' in told  # not 3.0
    assert '"outliers": 1,' in told
    assert {"reports/simulate.html", "reports/simulate.json"} < set(record(cell, "simulate")["outputs"])
    before = (cell / "reports" / "simulate.html").read_bytes()
    assert record(cell, "simulate")["cell"]["options"] == {"seed": 3, "outliers": 1}
    data = well("simulate", cell, "--seed", "1", "--outliers", "0", "--out", cell / "other", "--json").data
    assert data["inputs"]["outliers"] == 0
    assert record(cell, "simulate-other")["seed"] == 1
    assert "reports/simulate-other.html" in record(cell, "simulate-other")["outputs"]
    assert (cell / "reports" / "simulate.html").read_bytes() == before  # each run has a report of its own
    same = Path(cell.parent / "same")
    well("simulate", cell / "plan" / "campaign.yaml", "--out", same)
    assert (same / "readings.csv").read_bytes() == (cell / "other" / "readings.csv").read_bytes()
    assert (same / "readings.csv").read_bytes() != (cell / "campaign" / "readings.csv").read_bytes()


MILL = "kc_MPa=90,ap_mm=2,ae_mm=3,D_mm=10,teeth=4,spindle_rpm=6000,feed_mm_min=600"


def test_a_load_that_is_typed_in_another_way_comes_before_that_of_cell_yaml(cell: Path) -> None:
    """The new cell has a force in cell.yaml, which is said whenever it is used."""
    plain = well("compensate", cell, "--json")
    force = yaml.safe_load((cell / "cell.yaml").read_text(encoding="utf-8"))["options"]["compensate"]["force"]
    said = f"From cell.yaml: --force {force}; --rated-kg 5."
    assert said in plain.data["notes"]
    assert said in plain.err
    milled = well("compensate", cell, "--milling", MILL, "--json").data
    assert milled["inputs"]["load"].startswith("milling: kc 90 MPa, ap 2 mm")
    assert "--force of cell.yaml is not used, since --milling was typed." in milled["notes"]
    assert "From cell.yaml: --rated-kg 5." in milled["notes"]
    light = well("compensate", cell, "--force", "0,0,-9", "--json").data
    assert light["inputs"]["load"].startswith("(0, 0, -9) N")
    assert "From cell.yaml: --rated-kg 5." in light["notes"]
    both = typed("compensate", cell, "--force", "0,0,-9", "--milling", MILL)
    assert "give the load once" in both.err
    (cell / "cell.yaml").write_text(HEAD + f"options: {{deflect: {{at: {json.dumps(AT[1])}}}}}\n", encoding="utf-8")
    (cell / "two.csv").write_text(
        "A1_deg,A2_deg,A3_deg,A4_deg,A5_deg,A6_deg\n0,-60,75,0,60,0\n9,-60,75,0,60,0\n", encoding="utf-8"
    )
    assert len(well("deflect", cell, *PUSH, "--json").data["deflections"]) == 1
    assert len(well("deflect", cell, *PUSH, "--configurations", cell / "two.csv", "--json").data["deflections"]) == 2


def test_a_start_sets_aside_the_model_of_the_files_but_not_one_that_is_typed(tmp_path: Path) -> None:
    """As a decision on a reading in the studio calls it."""
    cell = tmp_path / "one"
    well("new", cell, "--robot", "cylindrical")
    rng = np.random.default_rng(3)
    q = np.column_stack([rng.uniform(0.1, 0.9, 12), rng.uniform(-1.5, 1.5, 12), rng.uniform(0.4, 0.9, 12)])
    force = np.zeros((12, 6))
    force[np.arange(12), np.arange(12) % 3] = 900.0
    robot = read_robot("cylindrical").with_parameters({"q2.k": 7e-7})
    moved = deflection(robot, q, force).translation + rng.normal(0, 1e-5, (12, 3))
    rows = np.column_stack([q * [1e3, 180 / np.pi, 1e3], force[:, :3], 1e3 * moved])
    head = "q1_mm,q2_deg,q3_mm,fx_N,fy_N,fz_N,dx_mm,dy_mm,dz_mm\n"
    table(cell, "campaign/table.csv", head + "".join(",".join(f"{v:.9g}" for v in r) + "\n" for r in rows))
    file = "format: elastocal-campaign/1\nrobot: ../robot/robot.yaml\ntable: table.csv\n"
    table(cell, "campaign/campaign.yaml", file)
    table(cell, "cell.yaml", HEAD + "options: {calibrate: {model: compliance}}\n")
    assert "From cell.yaml: --model compliance." in well("calibrate", cell, "--json").data["notes"]
    start = ("--start", cell / "calibration" / "calibration.json")
    kept = well("calibrate", cell, *start, "--json").data
    assert "--model of cell.yaml is not used, since --start was typed." in kept["notes"]
    assert "model-kept" in [f["code"] for f in kept["findings"]]
    assert typed("calibrate", cell, *start, "--model", "compliance").code == 2
    table(cell, "cell.yaml", HEAD)
    table(cell, "campaign/campaign.yaml", file + "model: compliance\n")
    kept = well("calibrate", cell, *start, "--json").data
    assert [n for n in kept["notes"] if "campaign file" in n and "--start" in n]
    assert not [n for n in well("calibrate", cell, "--json").data["notes"] if "--start" in n]


def test_the_force_of_a_new_cell_is_called_made_up(bare: Path) -> None:
    assert "# MADE UP for programs/square.src" in (bare / "cell.yaml").read_text(encoding="utf-8")
    assert "a made-up force for the example stands" in (bare / "README.md").read_text(encoding="utf-8")


def test_the_truth_may_be_a_cell(cell: Path, tmp_path: Path) -> None:
    soft = tmp_path / "soft"
    well("new", soft, "--robot", "kr5")
    file = soft / "robot" / "robot.yaml"
    file.write_text(file.read_text(encoding="utf-8").replace("2.0e-6", "2.4e-6"), encoding="utf-8")
    well("simulate", cell, "--truth", soft)
    assert record(cell, "simulate")["command"] == ["simulate", ".", "--truth", "../soft"]
    assert "../soft/robot/robot.yaml" in record(cell, "simulate")["inputs"]


def test_a_measured_campaign_is_never_written_over(cell: Path) -> None:
    for name in ("campaign.yaml", "readings.csv"):
        path = cell / "campaign" / name
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        path.write_text("".join(x for x in lines if not x.startswith("#")), encoding="utf-8")
    before = (cell / "campaign" / "campaign.yaml").read_bytes()
    said = typed("simulate", cell)
    assert said.code == 2
    assert "was not simulated and would be lost" in said.err
    assert (cell / "campaign" / "campaign.yaml").read_bytes() == before


def test_tables_of_other_instruments(cell: Path) -> None:
    table(cell, "tables/points.csv", points_csv())
    rng = np.random.default_rng(1)
    loops = {d: readings(3.76e-5, 1e-4, 8e-6, noise=1e-6, rng=rng) for d in range(0, 360, 60)}
    table(cell, "tables/loops.csv", csv_text(loops))
    table(cell, "tables/validation.csv", VISITS)
    options = "{arcs: {known: P1}, compensator: {moving: P1, pivot: [P01, P02], joint: A2}}"
    (cell / "cell.yaml").write_text(f"{HEAD}options: {options}\n", encoding="utf-8")
    for command, place in (
        ("arcs", "points"),
        ("compensator", "points"),
        ("loops", "loops"),
        ("iso9283", "validation"),
    ):
        data = well(command, cell, "--json").data
        assert f"tables/{place}.csv" in data["inputs"]["sha256"]
        assert (cell / "reports" / f"{command}.html").is_file()
        assert f"tables/{place}.csv" in record(cell, command)["inputs"]
    assert "robot/robot.yaml" in record(cell, "compensator")["inputs"]


def test_counts_and_logs(bare: Path) -> None:
    (bare / "tables").mkdir()
    for name, text in (("single", SINGLE), ("wrist", WRIST)):
        table(bare, f"tables/counts/{name}.csv", text)
    well("transmission", bare)
    read = {"tables/counts/single.csv", "tables/counts/wrist.csv", "robot/robot.yaml"}
    assert set(record(bare, "transmission")["inputs"]) == read
    assert read_robot(bare / "robot" / "transmission.yaml").joints == read_robot("kuka-kr5").joints
    assert well("status", bare, "--json").data["results"][0]["state"] == "up to date"
    table(bare, "tables/counts/more.csv", SINGLE)
    row = typed("status", bare, "--json").data["results"][0]
    assert row["state"] != "up to date"
    assert "tables/counts/more.csv" in str(row)
    q, v = waves(6, 1200, seed=4, size=0.6, rate=0.12)
    log = logged(read_robot("kuka-kr5"), q + np.radians([0, -80, 80, 0, 20, 0]), v, noise=0.2, seed=0)
    names = [f"A{i}" for i in range(1, 7)]
    rows = np.column_stack([log.time, np.degrees(log.q), log.torque])
    head = ",".join(["time_s", *(f"{a}_deg" for a in names), *(f"{a}_torque_Nm" for a in names)])
    table(bare, "logs/log.csv", "\n".join([head, *(",".join(f"{x:.6f}" for x in row) for row in rows)]) + "\n")
    (bare / "cell.yaml").write_text(HEAD + "log: logs/log.csv\n", encoding="utf-8")
    well("gravity", bare)
    assert set(record(bare, "gravity")["inputs"]) == {"logs/log.csv", "robot/robot.yaml"}
    assert (bare / "robot" / "gravity.yaml").is_file()


def test_a_recording_goes_to_the_log_of_the_cell(bare: Path) -> None:
    words = ("record", "rsi", "--listen", "127.0.0.1:0", "--out", bare, "--rehearse", "4", "--max", "20")
    well(*words)
    assert (bare / "logs" / "log.xml").is_file()
    said = typed(*words)
    assert said.code == 2
    assert "log.xml" in said.err


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("assess", "plan/campaign.yaml is not there; run 'elastocal plan CELL' first"),
        ("simulate", "plan/campaign.yaml is not there"),
        ("calibrate", "campaign/campaign.yaml is not there; put what was measured there"),
        ("predict", "calibration/calibration.json is not there; run 'elastocal calibrate CELL' first"),
        ("compensate", "calibration/calibration.json is not there"),
        ("loops", "tables/loops.csv is not there; put the table there (another place can be named under 'loops'"),
    ],
)
def test_what_is_not_there_yet_is_named_with_what_to_do(bare: Path, command: str, said: str) -> None:
    got = typed(command, bare)
    assert (got.code, got.out) == (2, "")
    assert got.err.startswith(f"elastocal: {bare}: ")
    assert said in got.err
    assert got.err.count("\n") == 1


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            "{calibrat: {seed: 1}}",
            "line 3, options.calibrat: there is no command 'calibrat'; did you mean 'calibrate'?",
        ),
        ("{show: {sed: 1}}", "line 3, options.show.sed: there is no option 'sed'"),
        ("{show: {parameters: {a: 1}}}", "line 3, options.show.parameters: {'a': 1} does not fit"),
        ("{show: {json: true}}", "there is no option 'json'"),
    ],
)
def test_wrong_options_in_cell_yaml(bare: Path, options: str, said: str) -> None:
    (bare / "cell.yaml").write_text(f"{HEAD}options: {options}\n", encoding="utf-8")
    got = typed("show", bare)
    assert (got.code, got.out) == (2, "")
    assert said in got.err


def test_a_folder_that_is_no_cell_and_what_is_missing_outside_of_one(tmp_path: Path) -> None:
    assert f"{tmp_path}: is a folder and not a cell; give a file, or make" in typed("calibrate", tmp_path).err
    (tmp_path / "table.csv").touch()
    assert "table.csv: is a file; give the folder of a cell" in typed("status", tmp_path / "table.csv").err
    assert "--out is missing; give it, or a cell" in typed("plan", "cylindrical", "--force", "0,0,9").err
    assert "ROBOT is missing" in typed("gravity", tmp_path / "table.csv").err


def test_folders_that_git_does_not_keep_are_made_again(cell: Path) -> None:
    for name in ("programs/corrected", "reports", "records"):
        shutil.rmtree(cell / name)
    well("compensate", cell)
    assert (cell / "programs" / "corrected" / "square.src").is_file()
    assert record(cell, "compensate-square.src")["outputs"]


def test_a_failure_writes_neither_result_nor_record(bare: Path) -> None:
    before = sorted(p for p in bare.rglob("*") if p.is_file())
    assert typed("plan", bare, "--poses", "0").code == 2
    assert sorted(p for p in bare.rglob("*") if p.is_file()) == before


def test_the_page_shows_every_command_and_place(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("sphinx")
    monkeypatch.syspath_prepend(str(PAGE.parent / "_ext"))
    page = PAGE.read_text(encoding="utf-8")
    assert "```{command-table} cells\n" in page
    group = typer.main.get_command(cli.app)
    commands = set(group.commands)  # type: ignore[attr-defined]
    made = importlib.import_module("command_tables").command_table("cells")
    rows = {row.split("|")[1].strip(" `"): row for row in made if row.startswith("| `")}
    assert set(rows) == set(USES)
    for command, uses in USES.items():
        assert all(f"`{role}`" in rows[command] for role in uses.roles.values()), command
    assert commands - set(USES) - {"new", "status"} == set(
        re.findall(r"`(\w+)`", next(x for x in page.splitlines() if "have nothing to take from a cell" in x))
    )
    assert all(f"`{place}`" in page for place in PLACES)


def test_standing_in_a_cell_the_cell_need_not_be_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert typed("new", tmp_path / "cell", "--robot", "cylindrical").code == 0
    monkeypatch.chdir(tmp_path)
    assert "missing argument" in typed("show").err
    monkeypatch.chdir(tmp_path / "cell")
    assert typed("show").out == typed("show", ".").out != ""
