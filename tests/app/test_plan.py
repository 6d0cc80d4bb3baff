"""The command plan: its files are what the other commands read, and its answer does not depend on who computes."""

from __future__ import annotations

import csv
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from elastocal.files.robot.read import shipped_text
from elastocal.quantities import significant

PLAN = """\
format: elastocal-plan/1
name: small cell
robot: cylindrical
statics: linear
seek: ["*.k"]
errors:
  - {kind: reading, sd_um: 10}
  - {kind: load_size, sd_percent: 0.5}
loads:
  - {kind: anchored, name: wall, sizes_N: [200, 800], at_mm: [0, 2500, 500], reach_mm: [500, 2400]}
  - {kind: actuator, name: jack, sizes_N: [800], directions: [[0, 0, 1]]}
candidates: 200
link_radius_mm: 50
obstacles:
  - {kind: sphere, name: post, centre_mm: [-600, -600, 500], radius_mm: 200}
feasible:
  - {kind: obstacles, clearance_mm: 20}
poses: 6
repeats: 2
test: {low_mm: [300, -200, 200], high_mm: [700, 200, 800], count: 8, force_N: [0, 300, -100]}
change_s: 60
"""


@pytest.fixture
def cell(tmp_path: Path) -> Path:
    (tmp_path / "cell.yaml").write_text(PLAN)
    return tmp_path / "cell.yaml"


def test_its_accuracy_is_what_assess_expects_of_its_files(run, cell) -> None:
    out = cell.parent / "out"
    planned = run("plan", cell, "--out", out, "--json")
    assert planned.code == 0, planned.err
    assessed = run("assess", out / "campaign.yaml", "--json").data["parameters"]
    found = {p["parameter"]: p["sd"] for p in planned.data["parameters"]}
    assert set(found) == {"q1.k", "q2.k", "q3.k"}
    for row in assessed:
        assert row["sd"] == pytest.approx(found[row["parameter"]], rel=1e-6)
    assert sorted(p.name for p in out.iterdir() if p.suffix != ".js") == ["campaign.yaml", "plan.csv", "report.html"]
    assert any("No measuring program" in note for note in planned.data["notes"])


def test_a_program_in_a_language_of_cam_systems_says_what_it_leaves_open(run, cell) -> None:
    out = cell.parent / "out"
    planned = run("plan", cell, "--out", out, "--language", "apt", "--json")
    assert planned.code == 0, planned.err
    text = (out / "small_cell.apt").read_text(encoding="ascii")
    assert text.count("GOTO/") >= 6
    assert text.index("STOP") < text.index("GOTO/")
    notes = " ".join(planned.data["notes"])
    for said in (
        "place and axis of the tool only",
        "the least turn from that at stop 1",
        "Straight ways of the tool are NOT CHECKED",
    ):
        assert said in notes
        assert said in " ".join(line.removeprefix("PPRINT/") for line in text.splitlines())
    assert run("plan", cell, "--out", out, "--language", "val3").code == 2


def test_simulate_and_identify_take_its_files_and_find_the_robot(run, cell) -> None:
    out = cell.parent / "out"
    assert run("plan", cell, "--out", out).code == 0
    assert run("simulate", out / "campaign.yaml", "--out", out / "virtual").code == 0
    found = run("calibrate", out / "virtual" / "campaign.yaml", "--out", out / "found.json", "--json")
    assert found.code == 0, found.err
    values = {p["parameter"]: (p["value"], p["sd"]) for p in found.data["parameters"]}
    for name, truth in (("q1.k", 1e-6), ("q2.k", 0.5e-6), ("q3.k", 2e-6)):
        value, sd = values[name]
        assert abs(value - truth) < 4 * sd
        assert sd < 0.02 * truth


def test_the_table_holds_the_plan(run, cell) -> None:
    out = cell.parent / "out"
    data = run("plan", cell, "--out", out, "--json").data
    with (out / "plan.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 12  # six poses, each twice
    assert [row["name"] for row in rows] == [pose["pose"] for pose in data["plan"] for _ in range(2)]
    for pose, row in zip(data["plan"], rows[::2], strict=True):
        assert float(row["q3_mm"]) == pytest.approx(pose["q3_mm"])
        assert float(row["fz_N"]) == pytest.approx(pose["fz_N"])
    jacks = [p["load"] for p in data["plan"]]
    assert jacks == sorted(jacks) or jacks == sorted(jacks, reverse=True)  # one change of load


def test_counts_of_the_filters_add_up(run, cell) -> None:
    steps = run("plan", cell, "--out", cell.parent / "out", "--json").data["removed"]
    assert [s["filter"] for s in steps] == ["joint limits", "obstacles", "self collision", "load", "way from home"]
    left = 600
    for step in steps:
        assert step["left"] == left - step["removed"]
        left = step["left"]
    assert steps[1]["removed"] > 0
    assert steps[3]["removed"] > 0


@pytest.mark.parametrize("criterion", ["a", "e", "condition", "test_pose"])
def test_every_criterion(run, cell, criterion) -> None:
    data = run("plan", cell, "--out", cell.parent / "out", "--criterion", criterion, "--restarts", 3, "--json").data
    assert [q["criterion"] for q in data["quality"]] == [criterion, "d"]
    certified = data["quality"][0]["efficiency_percent"]
    assert (certified is None) == (criterion in ("e", "condition"))


def test_the_verdict_says_how_good_the_plan_is_by_its_own_criterion(run, cell) -> None:
    said = {}
    for criterion in ("d", "e", "test_pose"):
        ran = run("plan", cell, "--out", cell.parent / "out", "--criterion", criterion, "--restarts", 2, "--json")
        said[criterion] = next(line for line in ran.data["verdict"] if "efficiency" in line)
        shares = {q["criterion"]: q["efficiency_percent"] for q in ran.data["quality"]}
        assert f"D-efficiency of the plan: at least {shares['d']:.1f} %" in said[criterion]
    assert f"by its own criterion (test_pose) at least {shares['test_pose']:.1f} %" in said["test_pose"]
    assert "own criterion" not in said["d"]
    assert "its own criterion (e) has no bound" in said["e"]


def test_links_that_are_not_compared_and_speeds_that_are_assumed_are_named(run, cell) -> None:
    data = run("plan", cell, "--out", cell.parent / "out", "--json").data
    assert not any("q3-tool" in note for note in data["notes"])
    (motion,) = [line for line in data["verdict"] if "count with 1 rad/s" in line]
    assert "against the order in which the poses were chosen" in motion
    body = "links: [{between: [base, q2], radius_mm: 900}, {between: [q3, tool], radius_mm: 900}]"
    text = PLAN.replace("link_radius_mm: 50", body).replace("feasible:", "feasible:\n  - {kind: self_collision}")
    text = text.replace("radius_mm: 200}", "radius_mm: 1}").replace("[-600, -600, 500]", "[-9000, -9000, 500]")
    cell.write_text(text)
    data = run("plan", cell, "--out", cell.parent / "out", "--json").data
    assert any("base-q2 with q3-tool (not compared)" in note for note in data["notes"])


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("speeds_deg_s: {q2: 60, q1: 500}", "speeds_deg_s: q1 slides"),
        ("speeds_mm_s: {q1: 500, q2: 60}", "speeds_mm_s: q2 turns"),
        ("feasible: [{kind: joint_limits, axes_deg: {q3: [0, 90]}}]", "feasible[1].axes_deg: q3 slides"),
    ],
)
def test_degrees_are_not_taken_for_metres(run, cell, line, said) -> None:
    text = PLAN.replace("feasible:\n  - {kind: obstacles, clearance_mm: 20}\n", "")
    cell.write_text(text + line + "\n")
    ran = run("plan", cell, "--out", cell.parent / "out")
    assert ran.code == 2
    assert said in ran.err


def test_the_plan_for_the_task_is_better_there(run, cell) -> None:
    error = {}
    for criterion in ("d", "test_pose"):
        data = run("plan", cell, "--out", cell.parent / "out", "--criterion", criterion, "--json").data
        error[criterion] = data["task"][0]["error_mm"]
    assert 0 < error["test_pose"] < error["d"]


def test_two_processes_give_the_same_files(run, cell) -> None:
    one, two = cell.parent / "one", cell.parent / "two"
    assert run("plan", cell, "--out", one, "--restarts", 3).code == 0
    assert run("plan", cell, "--out", two, "--restarts", 3, "--workers", 2).code == 0
    for file in one.iterdir():
        assert (two / file.name).read_bytes() == file.read_bytes()


def test_a_cluster_gives_the_same_files(run, cell) -> None:
    distributed = pytest.importorskip("distributed", reason="the extra 'cluster' is not installed")
    one, two = cell.parent / "one", cell.parent / "two"
    assert run("plan", cell, "--out", one, "--restarts", 2).code == 0
    with distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster:
        assert run("plan", cell, "--out", two, "--restarts", 2, "--cluster", cluster.scheduler_address).code == 0
    for file in one.iterdir():
        assert (two / file.name).read_bytes() == file.read_bytes()


def test_curve_and_requirement(run, cell) -> None:
    data = run("plan", cell, "--out", cell.parent / "out", "--curve", "--require", "q*.k=1%", "--json").data
    counts, errors = zip(*((p["poses"], p["error_mm"]) for p in data["curve"]), strict=True)
    assert list(counts) == sorted(counts)
    assert errors[-1] < errors[0]
    assert all(p["percent"] <= 1 for p in data["parameters"])
    assert any("smallest plan" in line for line in data["verdict"])


def test_an_earlier_campaign_and_its_calibration_add_what_they_know(run, cell) -> None:
    out = cell.parent / "out"
    alone = run("plan", cell, "--out", out, "--json").data
    run("simulate", out / "campaign.yaml", "--out", out / "virtual")
    run("calibrate", out / "virtual" / "campaign.yaml", "--out", out / "found.json")
    sd = {"alone": np.array([p["sd"] for p in alone["parameters"]])}
    for word in ("out/virtual/campaign.yaml", "out/found.json"):
        cell.write_text(f"{PLAN}earlier: {word}\n")
        after = run("plan", cell, "--out", cell.parent / "next", "--json")
        assert after.code == 0, after.err
        sd[word] = np.array([p["sd"] for p in after.data["parameters"]])
        assert np.all(sd[word] < 0.85 * sd["alone"])
    np.testing.assert_allclose(sd["out/found.json"], sd["out/virtual/campaign.yaml"], rtol=0.15)


def test_positions_without_load(run, cell) -> None:
    text = PLAN[: PLAN.index("loads:")] + "measurement: position\ncandidates: 60\nposes: 5\n"
    text = text.replace("statics: linear\n", "").replace('seek: ["*.k"]', "seek: [q1.k]")
    cell.write_text(text)
    said = run("plan", cell, "--out", cell.parent / "out")
    assert said.code == 2
    assert "no candidate depends on q1.k" in said.err


def test_simulate_keeps_the_names_of_the_poses(run, cell) -> None:
    out = cell.parent / "out"
    run("plan", cell, "--out", out)
    text = (out / "plan.csv").read_text().replace("P3,", "near the door,")
    (out / "plan.csv").write_text(text)
    said = run("simulate", out / "campaign.yaml", "--out", out / "virtual", "--outliers", 12, "--json").data
    assert any(row["place"].startswith("readings.csv line 6 (near the door), ") for row in said["planted"])
    with (out / "virtual" / "readings.csv").open() as file:
        names = [row["name"] for row in csv.DictReader(file)]
    assert names == ["P1", "P1", "P2", "P2", "near the door", "near the door", *(f"P{i // 2}" for i in range(8, 14))]


def test_readings_in_its_table_are_never_replaced(run, cell) -> None:
    words = ("plan", cell, "--out", cell.parent / "p")
    assert run(*words).code == 0
    assert run(*words).code == 0  # an empty table may go
    table = cell.parent / "p" / "plan.csv"
    lines = table.read_text().splitlines()
    lines[2] += "0.731"
    table.write_text("\n".join(lines) + "\n")
    again = run(*words)
    assert again.code == 2
    assert f"plan.csv, line 3, column {lines[0].rpartition(',')[2]}: holds a reading (0.731)" in again.err
    assert table.read_text().splitlines() == lines


def test_determined_is_not_called_known_well(run, cell) -> None:
    """Tile and verdict name the worst parameters with their percentage; those within 20 % are not among them."""
    cell.write_text(PLAN.replace("sd_um: 10", "sd_um: 400"))
    data = run("plan", cell, "--out", cell.parent / "out", "--json").data
    known = sorted(((p["percent"], p["parameter"]) for p in data["parameters"]), reverse=True)
    weak = [f"{name} {significant(percent)} %" for percent, name in known if percent > 20]
    assert 0 < len(weak) < len(known)
    (tile,) = [t for t in data["tiles"] if t["name"] == "parameters"]
    assert tile["note"] == f"{len(weak)} known worse than to 20 %, worst: {weak[0]}"
    assert f"not significant (value below 5 sd): {', '.join(weak)}." in data["verdict"][0]


def test_what_is_drowned_in_noise_is_not_determined(run, cell) -> None:
    cell.write_text(PLAN.replace("sd_um: 10}", "sd_um: 1.0e+7}"))
    data = run("plan", cell, "--out", cell.parent / "out", "--json").data
    assert "determine 0 parameters; not determined: q1.k, q2.k, q3.k." in data["verdict"][0]
    assert [row["percent"] for row in data["parameters"]] == [None] * 3


def changes(data) -> int:
    loads = [pose["load"] for pose in data["plan"]]
    return sum(a != b for a, b in pairwise(loads))


def test_poses_under_one_load_stand_together_unless_a_change_takes_no_time(run, cell) -> None:
    text = PLAN.replace("poses: 6", "poses: 12").replace("change_s: 60\n", "")
    cell.write_text(text)
    usual = run("plan", cell, "--out", cell.parent / "out", "--json").data
    loads = len({pose["load"] for pose in usual["plan"]})
    assert loads > 1
    assert changes(usual) == loads - 1
    assert any("of the time of motion with the changes of load" in line for line in usual["verdict"])
    cell.write_text(f"{text}change_s: 0\n")
    free = run("plan", cell, "--out", cell.parent / "out", "--json").data
    assert changes(free) > loads - 1


def test_notes_on_loads_name_what_cures_them(run, cell) -> None:
    beside = PLAN.replace("directions: [[0, 0, 1]]}", "directions: [[0, 0, 1]], points: [q2]}").replace(
        "reach_mm: [500, 2400]}", "reach_mm: [500, 2400], points: [q2]}"
    )
    cell.write_text(beside.replace("*.k", "q1.k"))
    notes = run("plan", cell, "--out", cell.parent / "out", "--json").data["notes"]
    assert any("(load_frame: q2 states it where it acts)" in note for note in notes)


HEAVY = """\
format: elastocal-plan/1
name: heavy
robot: arm.yaml
seek: [A2.k, A3.k]
markers: [marker1]
loads: [{kind: hanging, name: weight, masses_kg: [120, 200]}]
candidates: 40
poses: 4
"""


def test_the_largest_load_is_told_with_what_is_carried_anyway_unless_it_is_judged(run, tmp_path) -> None:
    arm, nothing = (
        shipped_text("kuka-kr270").replace("rated_payload_kg: 270\n", ""),
        "kind: payload, frame: flange, mass_kg: 0",
    )
    assert nothing in arm
    (tmp_path / "arm.yaml").write_text(arm.replace(nothing, f"{nothing[:-1]}40"), encoding="utf-8")
    plan = tmp_path / "plan.yaml"
    words = ("plan", plan, "--restarts", 1, "--out", tmp_path / "out", "--json")
    plan.write_text(HEAVY)
    (said,) = [note for note in run(*words).data["notes"] if note.startswith("The largest load")]
    assert said.startswith(
        "The largest load, 200 kg weight, is 200 kg, with the 40 kg that the robot carries anyway 240 kg; the rated "
        "payload is not known (feasible: - {kind: payload, most_kg: ...})"
    )
    plan.write_text(f"{HEAVY}feasible: [{{kind: payload, most_kg: 300}}]\n")
    assert not any("largest load" in note for note in run(*words).data["notes"])


def test_the_largest_load_is_judged_by_the_rated_payload_of_the_robot_file(run, tmp_path) -> None:
    plan, arm = tmp_path / "plan.yaml", shipped_text("kuka-kr270")
    plan.write_text(HEAVY)
    words = ("plan", plan, "--restarts", 1, "--out", tmp_path / "out", "--json")
    (tmp_path / "arm.yaml").write_text(arm, encoding="utf-8")
    assert not any(note.startswith("The largest load") for note in run(*words).data["notes"])
    (tmp_path / "arm.yaml").write_text(arm.replace("payload_kg: 270", "payload_kg: 150"), encoding="utf-8")
    (said,) = [note for note in run(*words).data["notes"] if note.startswith("The largest load")]
    assert "is 200 kg; the robot is rated for 150 kg" in said


def test_too_few_candidates_are_told_with_what_each_filter_took(run, cell) -> None:
    box = "  - {kind: tool_box, low_mm: [0, 0, 0], high_mm: [500, 500, 500]}\n"
    cell.write_text(PLAN.replace("feasible:\n", f"feasible:\n{box}").replace("poses: 6", "poses: 60"))
    said = run("plan", cell, "--out", cell.parent / "out")
    assert said.code == 2
    assert "a plan of 60 needs more than the " in said.err
    assert "tool box took " in said.err
    assert "load took " in said.err


def test_a_robot_alone_and_its_kuka_program(run, tmp_path) -> None:
    out = tmp_path / "kuka"
    words = ("--hang", 100, "--hang", 200, "--seek", "A[2-5].k", "--marker", "marker1", "--candidates", 150)
    ran = run("plan", "kuka-kr270", *words, "--poses", 4, "--restarts", 2, "--out", out, "--json")
    assert ran.code == 0, ran.err
    program = (out / "plan_of_kuka_kr270.src").read_text()
    points = (out / "plan_of_kuka_kr270.dat").read_text()
    assert program.count("PTP XM") == points.count("DECL E6AXIS") == 9  # home, then without and with the weight
    assert "put on 200 kg weight" in program
    first = ran.data["plan"][0]
    assert f"A1 {first['A1_deg']:.4f},A2 {first['A2_deg']:.4f}" in points
    assert (out / "plan.csv").read_text().startswith("name,A1_deg,A2_deg")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("kuka-kr270", "--seek", "A2.k"), "no load is given"),
        (("kuka-kr270", "--hang", 100, "--seek", "B*"), "there is no parameter matching"),
        (("kuka-kr270", "--force", "0,0,0"), "a load of zero"),
        (("kuka-kr270", "--hang", 1, "--noise-mm", 0), "must be positive"),
        (("cell.yaml", "--hang", 100), "--hang goes with a robot"),
        (("cell.yaml", "--criterion", "g"), "there is no criterion 'g'"),
        (("cell.yaml", "--poses", 0), "--poses 0: give 1 to 1000"),
        (("cell.yaml", "--poses", 10**9), "poses: 1000000000 are too many, at most 2000"),
        (("cell.yaml", "--repeats", 10**9), "repeats: 1000000000 are too many"),
        (("cell.yaml", "--candidates", 10**9), "candidates: 1000000000 are too many"),
        (("cell.yaml", "--restarts", 10**9), "restarts: 1000000000 are too many"),
        (("cell.yaml", "--seed", -1), "--seed"),
        (("cell.yaml", "--require", "q1.k=inf%"), "write NAME=2%"),
        (("cell.yaml", "--workers", 0), "give at least 1"),
        (("cell.yaml", "--workers", 2, "--cluster", "tcp://x:1"), "keep one"),
        (("cell.yaml", "--require", "q1.k"), "write NAME=2%"),
        (("cell.yaml", "--require", "error=2%"), "error=0.1mm"),
        (("cell.yaml", "--require", "q7.k=2%"), "q7.k"),
        (("cell.yaml", "--require", "q1.k=0.001%", "--most", 8), "8 poses do not meet"),
        (("lost.yaml",), "lost.yaml"),
    ],
)
def test_mistakes_end_with_one_sentence_and_no_files(run, cell, monkeypatch, words, said) -> None:
    monkeypatch.chdir(cell.parent)
    ran = run("plan", *words, "--out", "out")
    assert ran.code == 2
    sentences = [line for line in ran.err.splitlines() if not line.startswith("planning: ")]  # progress
    assert len(sentences) == 1
    assert said in sentences[0]
    assert not Path("out").exists()


def test_nothing_feasible_and_nothing_over_its_own_input(run, cell) -> None:
    cell.write_text(PLAN.replace("radius_mm: 200", "radius_mm: 9000"))
    ran = run("plan", cell, "--out", cell.parent / "out")
    assert "obstacles removed the last 600" in ran.err
    named = cell.parent / "campaign.yaml"
    named.write_text(PLAN)
    ran = run("plan", named, "--out", cell.parent)
    assert ran.code == 2
    assert "is also given to PLAN.yaml" in ran.err
    assert named.read_text() == PLAN
    assert "is a file" in run("plan", cell, "--out", cell).err


CELL_270 = """\
format: elastocal-plan/1
name: safe
robot: kuka-kr270
markers: [marker1]
seek: ["A[2-5].k"]
loads: [{kind: hanging, name: weight, masses_kg: [100]}]
errors: [{kind: reading, sd_um: 30}]
candidates: 200
poses: 4
"""


@pytest.mark.parametrize(
    ("line", "left"),
    [
        ("", {"obstacles", "outside"}),
        ("floor: none\nself_collision: none", {"floor", "self-collision", "obstacles", "outside"}),
        ("floor_mm: -500\nkeep_out: none\nmost_turn: none", {"keep-out", "free-axes", "obstacles", "outside"}),
        ("obstacles: [{kind: sphere, name: post, centre_mm: [5000, 0, 0], radius_mm: 50}]", {"outside"}),
    ],
)
def test_report_and_program_say_what_was_not_checked(run, tmp_path, line, left) -> None:
    (tmp_path / "plan.yaml").write_text(CELL_270 + line + "\n")
    ran = run("plan", tmp_path / "plan.yaml", "--restarts", 1, "--out", tmp_path / "out", "--json")
    assert ran.code == 0, ran.err
    assert {c["code"] for c in ran.data["checks"] if c["done"] == "NO"} == left
    program = (tmp_path / "out" / "safe.src").read_text()
    assert program.index("NOT CHECKED:") < program.index("HALT") < program.index("PTP XM")
    assert any("not checked" in text for text in ran.data["verdict"])


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("keep_out_mm: -1", "keep_out: none"),
        ("home_deg: {B1: 0}", "B1"),
        ("home_deg: {A2: 90}", "A2"),
    ],
)
def test_a_home_or_guard_that_cannot_be(run, tmp_path, line, said) -> None:
    (tmp_path / "plan.yaml").write_text(CELL_270 + line + "\n")
    ran = run("plan", tmp_path / "plan.yaml", "--out", tmp_path / "out")
    assert ran.code == 2
    assert said in ran.err
