"""The command from counts to the coupling of motors and joints: every output, robot files, every wrong input."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest
from oracle.encoders import SINGLE, WRIST

from elastocal.files.robot.read import read_robot


@pytest.fixture
def tables(tmp_path):
    single, wrist = tmp_path / "single.csv", tmp_path / "wrist.csv"
    single.write_text(SINGLE)
    wrist.write_text(WRIST)
    return single, wrist


def test_matrix_entries_ratios_and_outliers(tables, run):
    done = run("transmission", *tables, "--json")
    assert done.code == 0
    data = done.data
    matrix = {row["motor"]: row for row in data["matrix"]}
    assert matrix["A4"]["by_A4"] == pytest.approx(74.37, abs=0.01)
    assert matrix["A5"]["by_A4"] == pytest.approx(-1.11, abs=0.005)
    assert matrix["A1"]["by_A2"] is None
    assert "counts as zero" in matrix["A1"]["unknown"]["by_A2"]
    entries = {(e["motor"], e["joint"]): e for e in data["entries"]}
    assert len(entries) == 12
    assert entries["A6", "A5"]["t"] == pytest.approx(34.11, abs=0.03)
    assert not entries["A4", "A6"]["coupled"]
    assert [r["simple"] for r in data["ratios"]] == ["125", "125", "87", "670/9", "-10/9", "380/9", "-1", "1", "410/17"]
    first, second = data["outliers"]
    assert (first["table"], first["row"], first["column"], first["axis"]) == ("single.csv", 19, "joint_deg", "A4")
    assert (second["table"], second["row"], second["column"]) == ("wrist.csv", 2, "A5_counts")
    assert "transposed: 10433 for 14033" in second["slip"]
    compared = {(e["motor"], e["joint"], e["table"]): e for e in data["by_table"]}
    assert compared["A5", "A5", "wrist.csv"]["s_all"] == pytest.approx(42.00, abs=0.01)
    assert compared["A5", "A5", "wrist.csv"]["s"] == pytest.approx(42.24, abs=0.01)
    assert "24 entries are not measured" in done.err
    assert data["inputs"]["offsets"].startswith("zero, by a test")


def test_robot_file_and_fragment(tables, run, tmp_path):
    out, part, page, entries = (tmp_path / n for n in ("robot.yaml", "part.yaml", "out.html", "entries.csv"))
    done = run("transmission", *tables, "--robot", "kuka-kr5", "--out", out, "--report", page, "--csv", entries)
    assert done.code == 0
    assert "written:" in done.out
    written, shipped = (read_robot(r).controller.drives for r in (out, "kuka-kr5"))
    np.testing.assert_allclose(written.structure, shipped.structure, rtol=1e-15)
    np.testing.assert_array_equal(written.counts_per_turn, shipped.counts_per_turn)
    assert "14.5115" in page.read_text()
    assert len(list(csv.reader(io.StringIO(entries.read_text())))) == 13
    assert run("transmission", *tables, "--measured", "--out", part).code == 0
    text = part.read_text()
    assert text.startswith("controller:\n  axes: [A1")
    assert "16386.4" in text


def test_counts_in_place_of_joint_values_everywhere(tables, run, tmp_path):
    """The same deflection from degrees, counts and motor angles."""
    model = read_robot("kuka-kr5")
    shown = np.radians([[10, -60, 80, 20, 40, -30]])
    counts, motors = model.controller.drives.counts(shown)[0], model.controller.drives.motors(shown)[0]
    files = {
        "deg": ("_deg", np.degrees(shown[0])),
        "counts": ("_counts", counts),
        "motors": ("_motor_deg", np.degrees(motors)),
    }
    answers = []
    for name, (suffix, values) in files.items():
        path = tmp_path / f"{name}.csv"
        head = ",".join(f"A{i}{suffix}" for i in range(1, 7))
        path.write_text(f"{head}\n{','.join(repr(float(v)) for v in values)}\n")
        done = run("deflect", "kuka-kr5", "--configurations", path, "--force", "0,0,-500", "--json")
        assert done.code == 0, done.err
        answers.append(done.data["deflections"][0]["dz_mm"])
    at = "counts: " + ",".join(repr(float(v)) for v in counts)
    typed = run("deflect", "kuka-kr5", "--at", at, "--force", "0,0,-500", "--json").data["deflections"][0]
    answers.append(typed["dz_mm"])
    at = "motor_deg: " + ",".join(repr(float(v)) for v in np.degrees(motors))
    answers.append(
        run("deflect", "kuka-kr5", "--at", at, "--force", "0,0,-500", "--json").data["deflections"][0]["dz_mm"]
    )
    assert abs(answers[0]) > 0.05
    assert answers == pytest.approx([answers[0]] * 5, rel=1e-9)
    assert typed["A5_deg"] == pytest.approx(40)


def test_campaign_tables_take_counts(run, tmp_path):
    model = read_robot("kuka-kr5")
    rng = np.random.default_rng(1)
    shown = np.radians(rng.uniform([-90, -100, 20, -90, -60, -90], [90, -20, 100, 90, 60, 90], (6, 6)))
    found = []
    for suffix, values in (("_rad", shown), ("_counts", model.controller.drives.counts(shown))):
        folder = tmp_path / suffix
        folder.mkdir()
        head = ",".join(f"A{i}{suffix}" for i in range(1, 7))
        rows = "".join(",".join(repr(float(v)) for v in row) + ",500,-800\n" for row in values)
        (folder / "p.csv").write_text(f"{head},fy_N,fz_N\n{rows}")
        (folder / "p.yaml").write_text(
            "format: elastocal-campaign/1\nname: p\nrobot: kuka-kr5\ntable: p.csv\nmeasurement: deflection\n"
            "seek: [A1.k, A2.k, A3.k]\nerrors: [{kind: reading, sd_um: 10}]\n"
        )
        done = run("assess", folder / "p.yaml", "--json")
        assert done.code == 0, done.err
        found.append([p["sd"] for p in done.data["parameters"]])
    assert min(found[0]) > 0
    assert found[0] == pytest.approx(found[1], rel=1e-6)


def test_rank_and_determinant_are_numbers(tables, run):
    (r,) = run("transmission", *tables, "--json").data["regularity"]
    assert (r["rank"], r["axes"]) == (6, 6)
    assert r["determinant"] == pytest.approx(124.96 * 124.94 * 87.03 * 74.37 * 42.24 * 24.12, rel=1e-3)
    assert 0 < r["determinant_sd"] < 1e-2 * r["determinant"]
    assert 1 < r["condition"] < 2


def test_without_counts_per_turn_the_rank_is_known_and_the_determinant_is_not(tables, run):
    done = run("transmission", tables[1], "--json")
    (r,) = done.data["regularity"]
    assert (done.code, r["rank"], r["determinant"]) == (0, 3, None)
    assert "counts per turn" in r["unknown"]["determinant"]
    assert "NOT REGULAR" not in run("transmission", tables[1]).out


def test_prismatic_axes_have_turns_per_millimetre(tmp_path, run):
    path = tmp_path / "p.csv"
    path.write_text("q_mm,q_counts,q_motor_turns\n" + "".join(f"{12 * k},{12288 * k},{3 * k}\n" for k in range(1, 13)))
    done = run("transmission", path, "--json")
    (ratio,), (joint, _) = done.data["ratios"], done.data["noise"][::-1]
    assert (ratio["simple"], ratio["unit"]) == ("1/4", "turns/mm")
    assert joint["angle_deg"] is None
    assert joint["length_mm"] is not None
    assert "gear ratio" not in done.err
    assert "rad/m" in done.data["controller"]


def test_swapped_columns_name_the_table_that_has_them(tables, run):
    tables[1].write_text(WRIST.replace("A4_deg,A5_deg", "A5_deg,A4_deg"))
    done = run("transmission", *tables)
    assert done.code == 2
    assert done.err.startswith("elastocal: wrist.csv: columns A4_deg and A5_deg look swapped")


WRAPPED = "".join(
    ["A_deg,A_counts\n", *(f"{k},{(60000 + 5000 * k) % 65536}\n" for k in range(20))]
)  # fmt: skip


@pytest.mark.parametrize(
    ("text", "words", "said"),
    [
        (WRAPPED, (), "t.csv, line 4, column A_counts: the counter runs over at 65536"),
        ("A_deg,A_counts\n3,1\n3,2\n3,3\n", (), "joint A never moves"),
        ("A_deg,B_deg,A_counts,B_counts\n1,2,3,4\n2,4,6,7\n3,6,8,9\n4,8,1,2\n", (), "do not tell apart what A and B"),
        (WRIST, ("--offsets", "none"), "there is no way to treat offsets 'none'"),
        (WRIST, ("--wrap", "1"), "--wrap 1: must be the number of counts"),
        (WRIST, ("--wrap", "65536"), "do not wrap at 65536"),
        (WRIST, ("--counts-per-turn", "A4=x"), "--counts-per-turn 'A4=x': is not of the form"),
        (WRIST, ("--counts-per-turn", "B4=16384"), "there is no axis 'B4'"),
        (WRIST, ("--out", "x.yaml"), "counts per turn are unknown"),
        (WRIST, ("--out", "x.txt"), "must end in .yaml"),
        (WRIST, ("--robot", "kuka-kr5"), "there are no counts of axis A1; add its column A1_counts"),
        (WRIST, ("--robot", "scara-ruggeri"), "there is no axis 'A4'"),
        ("q1_deg,q1_counts\n1,2\n2,3\n", ("--robot", "cylindrical"), "joint is prismatic in robot cylindrical"),
    ],
)  # fmt: skip
def test_wrong_input_gets_one_sentence_and_nothing_is_written(tmp_path, monkeypatch, run, text, words, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text(text)
    done = run("transmission", "t.csv", *words, "--report", "out.html")
    assert done.code == 2
    assert said in done.err
    assert done.err.count("\n") == 1
    assert not done.out
    assert [p.name for p in tmp_path.iterdir()] == ["t.csv"]


def test_wrapped_counts_are_unwrapped_on_request(tmp_path, run):
    path = tmp_path / "t.csv"
    path.write_text(WRAPPED)
    done = run("transmission", path, "--wrap", 65536, "--counts-per-turn", "A=1000", "--json")
    assert done.code == 0
    assert done.data["matrix"][0]["by_A"] == pytest.approx(5000 * 360 / 1000)
    assert "gear ratio of A would be 1800" in done.err


@pytest.mark.parametrize(
    ("at", "said"),
    [
        ("count: 1,2,3,4,5,6", "there is no way to give axes 'count'; did you mean 'counts'?"),
        ("counts: 1,2,3", "6 numbers are needed (counts of A1, A2"),
    ],
)
def test_wrong_ways_to_type_axes(run, at, said):
    done = run("deflect", "kuka-kr5", "--at", at, "--force", "0,0,-1")
    assert done.code == 2
    assert said in done.err


def test_a_robot_without_drives_says_what_is_missing(run):
    done = run("deflect", "kuka-kr270", "--at", "counts: 1,2,3,4,5,6", "--force", "0,0,-1")
    assert done.code == 2
    assert "does not say how motors move the axes" in done.err
