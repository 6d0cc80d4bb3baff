"""Virtual campaigns through the command line."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from app.virtual_desk import PLAN, POSES, TRUE, Chain, asked, lay, refused

from elastocal.files.robot.read import read_robot

Run = Callable[..., Any]
CALM = PLAN.split("errors:", maxsplit=1)[0]


def readings(folder: Path) -> np.ndarray:
    """The last six columns of readings.csv in m, whatever unit the file has."""
    with (folder / "readings.csv").open(encoding="utf-8") as file:
        header, *rows = list(csv.reader(file))
    units = {name.rpartition("_")[2] for name in header[-6:]}
    assert units <= {"m", "mm"}
    factor = 1.0 if units == {"m"} else 1e-3
    return factor * np.array([[float(cell) for cell in row[-6:]] for row in rows])


def test_readings_without_errors_are_the_loaded_deflection_of_the_truth(tmp_path: Path) -> None:
    plan = lay(tmp_path, CALM)
    asked("simulate", plan, "--truth", tmp_path / "truth.yaml", "--out", tmp_path / "v")
    found = readings(tmp_path / "v")
    assert found.shape == (20, 6)
    for number, marker in enumerate(("m1", "m2")):
        told = asked("deflect", tmp_path / "truth.yaml", "--configurations", tmp_path / "plan.csv", "--frame", marker)
        exact = np.array([[row[f"d{c}_mm"] for c in "xyz"] for row in told["deflections"]]) * 1e-3
        rows = found[:, 3 * number : 3 * number + 3]
        np.testing.assert_allclose(rows, np.repeat(exact, 2, axis=0), atol=0.6e-9)
    other = asked("deflect", tmp_path / "arm.yaml", "--configurations", tmp_path / "plan.csv", "--frame", "m1")
    assert abs(other["deflections"][0]["dz_mm"] * 1e-3 - found[0, 2]) > 1e-4


def test_the_campaign_written_is_the_plan_with_readings(chained: Chain) -> None:
    from elastocal.files.campaign.read import read_campaign

    read = read_campaign(chained.campaign)
    assert read.model.name == "arm"
    assert read.requests.seek == ("J?.k", "elbow.k*")
    assert [s.kind for s in read.campaign.sources] == ["reading", "repeatability", "load_size"]
    assert read.campaign.readings.shape == (20, 6)
    assert np.array_equal(read.campaign.readings, readings(chained.campaign.parent))


def test_the_scatter_is_the_one_stated(tmp_path: Path) -> None:
    plan = lay(tmp_path, PLAN.replace("repeats: 2", "repeats: 30").split("  - {kind: rep", maxsplit=1)[0])
    asked("simulate", plan, "--out", tmp_path / "v")
    per_state = readings(tmp_path / "v").reshape(10, 30, 6)
    sd = np.sqrt(np.mean(per_state.var(axis=1, ddof=1)))
    assert sd == pytest.approx(15e-6 * np.sqrt(2), rel=0.05)  # a deflection is a difference of two readings


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    plan = lay(tmp_path)
    for folder, seed in (("a", 5), ("b", 5), ("c", 6)):
        asked("simulate", plan, "--out", tmp_path / folder, "--seed", seed, "--outliers", 2)
    for name in ("campaign.yaml", "readings.csv"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    assert (tmp_path / "a" / "readings.csv").read_bytes() != (tmp_path / "c" / "readings.csv").read_bytes()


def test_gross_errors_stand_where_it_says(tmp_path: Path) -> None:
    plan = lay(tmp_path)
    told = asked("simulate", plan, "--out", tmp_path / "outliers", "--outliers", 3, "--outlier-mm", 1.5)
    asked("simulate", plan, "--out", tmp_path / "clean")
    off = readings(tmp_path / "outliers") - readings(tmp_path / "clean")
    columns = ["m1.dx", "m1.dy", "m1.dz", "m2.dx", "m2.dy", "m2.dz"]
    names = [row["name"] for row in csv.DictReader((tmp_path / "outliers" / "readings.csv").read_text().splitlines())]
    spots = [(f"readings.csv line {i + 2} ({name})", i) for i, name in enumerate(names)]
    where = {f"{s}, {columns[j]}": 1e3 * off[i, j] for s, i in spots for j in np.flatnonzero(np.abs(off[i]) > 1e-6)}
    assert len(where) == 3
    planted = {row["place"]: row["size_mm"] for row in told["planted"]}
    assert planted == pytest.approx(where, abs=1e-5)
    assert {abs(size) for size in planted.values()} == {1.5}


def test_common_errors_are_drawn_once_and_told(chained: Chain) -> None:
    drawn = {row["unknown"]: row["value"] for row in chained.simulated["drawn"]}
    assert set(drawn) == {"load size"}
    assert 0 < abs(drawn["load size"]) < 5 * 0.003


def test_the_bias_is_what_identify_finds_with_the_linear_model(tmp_path: Path) -> None:
    linear = "statics: linear\noutliers: keep\nload:"  # exact readings: what is left is no noise
    plan = lay(tmp_path, CALM.replace("load:", linear).replace(', "elbow.k*"', ""))
    told = asked("simulate", plan, "--truth", tmp_path / "truth.yaml", "--out", tmp_path / "v")
    bias = {row["parameter"]: row for row in told["bias"]}
    assert {n: r["truth"] for n, r in bias.items()} == TRUE
    found = asked("calibrate", tmp_path / "v" / "campaign.yaml")
    for row in found["parameters"]:
        assert row["value"] == pytest.approx(bias[row["parameter"]]["estimate"], rel=1e-3)
    assert max(abs(row["bias_percent"]) for row in bias.values()) > 0.1
    noise = {row["quantity"]: row for row in found["noise"]}
    assert noise["pure error"]["value"] == 0
    assert noise["ratio F"]["unknown"]["value"] == "repeats do not differ at all"
    assert any(line.startswith("LACK OF FIT") for line in found["verdict"])
    assert any("linear formula differs from the loaded deflection" in line for line in told["verdict"])


def test_positions_have_no_linear_model_and_no_bias(tmp_path: Path) -> None:
    told = asked("simulate", lay(tmp_path, PLAN.replace("deflection", "position")), "--out", tmp_path / "v")
    assert "bias" not in told
    assert "measurement: position" in (tmp_path / "v" / "campaign.yaml").read_text()


def test_text_says_what_was_drawn_and_written(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    got = run(
        "simulate",
        lay(tmp_path),
        "--out",
        tmp_path / "v",
        "--outliers",
        1,
        "--truth",
        tmp_path / "truth.yaml",
        "--full",
    )
    assert got.code == 0
    assert max(map(len, got.out.replace(str(tmp_path), "").splitlines())) <= 100
    words = " ".join(got.out.split())
    for piece in ("with 3 sources of error and 1 outlier.", "reading; repeatability; load size, common",
                  "readings.csv line", "Bias of the linear model"):  # fmt: skip
        assert piece in words
    assert f"written: {tmp_path / 'v' / 'readings.csv'}" in got.out


def test_inputs_say_how_to_have_it_again(chained: Chain) -> None:
    inputs = chained.simulated["inputs"]
    assert (inputs["seed"], inputs["outliers"], inputs["outlier_mm"]) == (3, 1, 2)
    assert inputs["truth"] == str(chained.folder / "truth.yaml")
    assert inputs["errors"] == ["reading", "repeatability", "load size, common"]


def test_nothing_is_written_over_what_it_reads(run: Run, tmp_path: Path) -> None:
    plan = lay(tmp_path, PLAN.replace("plan.csv", "readings.csv"))
    (tmp_path / "readings.csv").write_text(POSES)
    said = refused(run, tmp_path, "simulate", plan, "--out", tmp_path)
    assert "readings.csv" in said
    assert "PLAN.yaml" in said
    plan.rename(tmp_path / "campaign.yaml")
    assert "PLAN.yaml" in refused(run, tmp_path, "simulate", tmp_path / "campaign.yaml", "--out", tmp_path)


@pytest.mark.parametrize(
    ("words", "pieces"),
    [
        (("--outliers", "-1"), ["--outliers", "not be negative"]),
        (("--outlier-mm", "0"), ["--outlier-mm", "positive"]),
        (("--outliers", "121"), ["121 outliers do not fit into 120 numbers"]),
        (("--truth", "cylindrical"), ["--truth 'cylindrical'", "q1, q2, q3", "J1, J2, J3"]),
        (("--truth", "kuka-kr27"), ["did you mean 'kuka-kr270'?"]),
        (("--vary", "J2.k"), ["--vary 'J2.k'", "NAME=FACTOR"]),
        (("--vary", "J9.k=2"), ["J9.k"]),
    ],
)
def test_wrong_requests_write_nothing(run: Run, tmp_path: Path, words: tuple[str, ...], pieces: list[str]) -> None:
    said = refused(run, tmp_path, "simulate", lay(tmp_path), "--out", tmp_path / "v", *words)
    for piece in pieces:
        assert piece in said


def test_a_varied_robot_is_the_one_that_python_makes(tmp_path: Path) -> None:
    plan = lay(tmp_path, CALM)
    worn = read_robot(tmp_path / "arm.yaml")
    name = next(p.name for p in worn.parameters if p.kind == "joint_compliance")
    value = {p.name: p.value for p in worn.parameters}[name]
    told = asked(
        "simulate", plan, "--vary", f"{name}=1.25", "--write-truth", tmp_path / "worn.yaml", "--out", tmp_path / "v"
    )
    made = read_robot(tmp_path / "worn.yaml")
    assert {p.name: p.value for p in made.parameters}[name] == pytest.approx(1.25 * value, rel=1e-12)
    again = asked("simulate", plan, "--truth", tmp_path / "worn.yaml", "--out", tmp_path / "w")
    np.testing.assert_allclose(readings(tmp_path / "v"), readings(tmp_path / "w"), atol=1e-12)
    assert any(name in note for note in told["notes"])
    assert again


def test_the_folder_must_be_one(run: Run, tmp_path: Path) -> None:
    assert "folder cannot be made" in refused(run, tmp_path, "simulate", lay(tmp_path), "--out", tmp_path / "plan.csv")


def test_a_robot_without_a_determined_state_is_refused(run: Run, tmp_path: Path) -> None:
    plan = lay(tmp_path)
    soft = (tmp_path / "truth.yaml").read_text().replace("3.6e-6", "3.6e-2")
    (tmp_path / "truth.yaml").write_text(soft)
    said = refused(run, tmp_path, "simulate", plan, "--truth", tmp_path / "truth.yaml", "--out", tmp_path / "v")
    assert "reading 1" in said
    assert "no determined state" in said


def test_what_cannot_be_drawn_or_shown_is_said(tmp_path: Path) -> None:
    free = asked("simulate", lay(tmp_path, PLAN + "  - {kind: marker_places}\n"), "--out", tmp_path / "free")
    assert any("Drawn as zero" in note and "place of m1 x" in note for note in free["notes"])
    loud = PLAN.split("errors:", maxsplit=1)[0] + "errors:\n  - {kind: reading, sd_mm: 500}\n"
    lost = asked("simulate", lay(tmp_path, loud), "--out", tmp_path / "loud")
    assert any("What the linear model would make of it is not known" in note for note in lost["notes"])
    assert (tmp_path / "loud" / "readings.csv").exists()


def test_measured_readings_are_never_replaced(run: Run, tmp_path: Path) -> None:
    plan = lay(tmp_path)
    folder = tmp_path / "v"
    asked("simulate", plan, "--out", folder)
    first = (folder / "readings.csv").read_text()
    asked("simulate", plan, "--out", folder, "--seed", 5)  # virtual ones may be
    assert "simulated, not measured" in (folder / "campaign.yaml").read_text()
    (folder / "readings.csv").write_text(first)
    said = refused(run, tmp_path, "simulate", plan, "--out", folder)
    assert "holds a readings.csv that was changed since it was simulated and would be lost" in said
    own = (folder / "campaign.yaml").read_text().replace("# Virtual readings: simulated, not measured.\n", "")
    (folder / "campaign.yaml").write_text(own)
    said = refused(run, tmp_path, "simulate", plan, "--out", folder)
    assert "holds a campaign.yaml that was not simulated and would be lost; choose another folder" in said
    assert (folder / "readings.csv").read_text() == first
