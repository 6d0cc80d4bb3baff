"""A plan judged with all its sources of error, before anything is measured."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from app.virtual_desk import PLAN, Chain, asked, lay, refused
from lxml import html

Run = Callable[..., Any]
KR_POSES = (
    (0, -90, 90, 0, 30, 0), (45, -60, 60, 20, -40, 90), (-30, -110, 100, -60, 50, 45), (80, -45, 70, 90, 60, -30),
    (-60, -75, 40, -120, -70, 120), (20, -120, 130, 45, 80, -90),
)  # fmt: skip
KR_PLAN = """\
format: elastocal-campaign/1
name: kr270
robot: kuka-kr270
table: plan.csv
measurement: deflection
load: {frame: tool}
markers: [marker1, marker2, marker3]
seek: ["A?.k", "base.k??"]
errors:
  - {kind: tracker, at_mm: [4000, 0, 1000], along_um: 5, across_um: 7.5, across_slope_um_per_m: 3}
  - {kind: load_direction, sd_mrad: 2}
"""
DOWN, SIDE = (0, 0, -2500), (0, 2500, 0)


def kr270(folder: Path, *forces: tuple[int, int, int]) -> Path:
    rows = ["A1_deg,A2_deg,A3_deg,A4_deg,A5_deg,A6_deg,fx_N,fy_N,fz_N"]
    rows += [",".join(str(v) for v in (*pose, *force)) for pose in KR_POSES for force in forces]
    (folder / "plan.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    (folder / "plan.yaml").write_text(KR_PLAN, encoding="utf-8")
    return folder / "plan.yaml"


def rows(data: Any, table: str = "parameters") -> dict[str, dict[str, Any]]:
    return {row["parameter"]: row for row in data[table]}


def test_vertical_loads_alone_do_not_show_axis_1_and_it_says_so(tmp_path: Path) -> None:
    told = asked("assess", kr270(tmp_path, DOWN))
    groups = {name: row["group"] for name, row in rows(told).items()}
    silent = {name for name, group in groups.items() if group == "G2"}
    assert {"A1.k", "base.k66"} <= silent
    assert not {"A2.k", "A3.k", "A5.k"} & silent
    said = next(line for line in told["verdict"] if line.startswith("Unobservable"))
    assert "A1.k" in said
    assert "base.k66" in said
    assert "load other directions" in said
    assert rows(told)["A1.k"]["sd"] is None
    assert "nothing that is measured depends on it" in rows(told)["A1.k"]["unknown"]["sd"]


def test_a_side_load_mends_it(tmp_path: Path) -> None:
    told = asked("assess", kr270(tmp_path, DOWN, SIDE))
    found = rows(told)
    silent = {name for name, row in found.items() if row["group"] == "G2"}
    assert silent == {"base.k11"}  # a push along x is still missing
    assert not any("A1.k" in line for line in told["verdict"] if line.startswith("Unobservable"))
    assert found["A1.k"]["group"] == "G3+"  # the foundation turns about the same axis
    assert any(row["combination"] == "A1.k + 1 base.k66" for row in told["combinations"])
    assert found["A1.k"]["sd"] < 0.02 * 3e-7
    both = asked("assess", kr270(tmp_path, DOWN, SIDE, (2500, 0, 0)))
    assert not any(line.startswith("Unobservable") for line in both["verdict"])


def test_what_it_expects_is_what_identify_then_has(chained: Chain) -> None:
    """The accuracy does not depend on the readings, only on where they are taken and on the errors stated."""
    told = rows(asked("assess", chained.folder / "plan.yaml"))
    plan = lay_linear(chained.folder.parent / "expected")
    expected = rows(asked("assess", plan))
    asked("simulate", plan, "--out", plan.parent / "v")
    found = rows(asked("calibrate", plan.parent / "v" / "campaign.yaml"))
    assert set(found) == {"J1.k", "J2.k", "J3.k"}
    for name, row in found.items():
        assert row["sd_stated"] == pytest.approx(expected[name]["sd"], rel=0.02)
        assert told[name]["sd"] > 1.05 * expected[name]["sd"]  # with the link sought too it is less


def lay_linear(folder: Path) -> Path:
    folder.mkdir()
    return lay(folder, PLAN.replace(', "elbow.k*"', "").replace("load:", "statics: linear\nload:"))


def test_nuisances_and_budget_are_shown(chained: Chain) -> None:
    told = asked("assess", chained.folder / "plan.yaml")
    assert rows(told)["load size"]["group"] == "nuisance"
    assert "11 parameters and 1 nuisance" in told["verdict"][0]
    budget = rows(told, "budget")
    assert set(budget["J2.k"]) == {"parameter", "reading_percent", "repeatability_percent", "load_size_common_percent"}
    for row in budget.values():
        assert sum(v for k, v in row.items() if k != "parameter") == pytest.approx(100)
    assert "Errors: reading; repeatability; load size, common." in told["notes"]


def test_repeats_help_against_scatter_and_not_against_the_load(tmp_path: Path) -> None:
    sd = {}
    for n in (1, 16):
        folder = tmp_path / str(n)
        folder.mkdir()
        told = asked("assess", lay(folder, PLAN.replace("repeats: 2", f"repeats: {n}")))
        sd[n] = {name: row["sd"] for name, row in rows(told).items()}
        assert any(f"{10 * n} readings" in note for note in told["notes"])
    assert sd[16]["elbow.k44"] == pytest.approx(sd[1]["elbow.k44"] / 4, rel=0.1)
    assert sd[16]["load size"] > 0.9 * sd[1]["load size"]


def test_without_errors_a_plain_noise_is_assumed_and_said(tmp_path: Path) -> None:
    told = asked("assess", lay(tmp_path, PLAN[: PLAN.index("errors:")]))
    assert "Errors: none stated: 10 um per axis and reading assumed." in told["notes"]
    assert "budget" not in told


def test_text_csv_and_html_hold_the_same(run: Run, chained: Chain, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    table, page = tmp_path / "a.csv", tmp_path / "a.html"
    plan = chained.folder / "plan.yaml"
    told = asked("assess", plan)
    got = run("assess", plan, "--csv", table, "--report", page)
    assert got.code == 0
    long = [line for line in got.out.splitlines() if len(line) > 100]
    assert [line for line in long if "/" not in line] == []
    read = list(csv.DictReader(io.StringIO(table.read_text(encoding="utf-8"))))
    assert [row["parameter"] for row in read] == [row["parameter"] for row in told["parameters"]]
    assert float(read[1]["sd"]) == told["parameters"][1]["sd"]
    tree = html.fromstring(page.read_text(encoding="utf-8"))
    assert [p.text_content() for p in tree.xpath("//div[@class='verdict']/p")] == told["verdict"]
    heads = [h.text_content() for h in tree.xpath("//h2")]
    assert "Uncertainty budget" in heads
    words = " ".join(got.out.split())
    assert all(" ".join(line.split()) in words for line in told["verdict"])


def test_a_campaign_with_readings_may_be_assessed_too(chained: Chain) -> None:
    plan, campaign = (asked("assess", f) for f in (chained.folder / "plan.yaml", chained.campaign))
    names = [name for name, row in rows(plan).items() if row["sd"] is not None]
    assert len(names) > 8
    for name in names:
        assert rows(campaign)[name]["sd"] == pytest.approx(rows(plan)[name]["sd"], rel=1e-9)


@pytest.mark.parametrize(
    "words",
    [("--force", "0,0,-9"), ("--noise-mm", "0.01"), ("--marker", "m1"), ("--repeats", "3"), ("--parameters", "J?.k"),
     ("--form", "beam"), ("--thresholds", "6", "2"), ("--pose",)],
)  # fmt: skip
def test_options_of_the_other_form_are_refused(run: Run, chained: Chain, words: tuple[str, ...]) -> None:
    said = refused(run, chained.folder, "assess", chained.folder / "plan.yaml", *words)
    assert words[0] in said
    assert "campaign file" in said


def test_no_input_is_written_over(run: Run, tmp_path: Path) -> None:
    plan = lay(tmp_path)
    said = refused(run, tmp_path, "assess", plan, "--csv", tmp_path / "plan.csv")
    assert "plan.csv" in said
    assert "also given to" in said


@pytest.mark.parametrize(
    ("plan", "pieces"),
    [
        ("seek: [J7.k]", ["'J7.k'"]),
        ("seek: []", ["names nothing"]),
        ("hold: ['*']", ["nothing is left to seek"]),
        ("load: {frame: hand}", ["'hand'"]),
        ("statics: linea", ["statics", "linear"]),
        ("errors: [{kind: noise}]", ["'noise'", "reading"]),
        ("errors: [{kind: reading, sd_um: -3}]", ["must be positive"]),
        ("repeats: 0", ["repeats", "at least 1"]),
    ],
)
def test_wrong_plans(run: Run, tmp_path: Path, plan: str, pieces: list[str]) -> None:
    key = plan.partition(":")[0]
    kept = [line for line in PLAN.splitlines() if not line.startswith((key, "  - " if key == "errors" else "\0"))]
    said = refused(run, tmp_path, "assess", lay(tmp_path, "\n".join([*kept, plan]) + "\n"))
    for piece in pieces:
        assert piece in said


def test_a_table_alone_is_no_plan(run: Run, tmp_path: Path) -> None:
    lay(tmp_path)
    assert "campaign file (.yaml) alone" in refused(run, tmp_path, "assess", tmp_path / "plan.csv")
