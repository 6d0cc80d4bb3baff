"""Readings and decisions on them, by the forms of the studio, on a small cell that is measured."""

from __future__ import annotations

import json
import re
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from studio.studio_desk import Studio, served
from studio.test_guard import posted

import elastocal as ec
from elastocal.app.commands.new import new
from elastocal.files.cell import read_cell
from elastocal.studio import jobs


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cell, and beside it a table of twelve deflections, of which one is off by 1 mm."""
    out = tmp_path_factory.mktemp("cells")
    new(out / "one", "cylindrical")
    robot = ec.read_robot("cylindrical")
    rng = np.random.default_rng(3)
    q = np.column_stack([rng.uniform(0.1, 0.9, 12), rng.uniform(-1.5, 1.5, 12), rng.uniform(0.4, 0.9, 12)])
    force = np.zeros((12, 6))
    force[np.arange(12), np.arange(12) % 3] = 900.0
    moved = robot.with_parameters({"q2.k": 7e-7}).deflection(q, force).translation + rng.normal(0, 1e-5, (12, 3))
    moved[2, 0] += 1e-3
    rows = [
        ",".join(f"{v:.9g}" for v in (1e3 * a, np.degrees(b), 1e3 * c, *w[:3], *(1e3 * d)))
        for (a, b, c), w, d in zip(q, force, moved, strict=True)
    ]
    head = "q1,q2,q3,fx_N,fy_N,fz_N,dx,dy,dz"
    (out / "table.csv").write_text("\n".join([head, *rows]) + "\n", encoding="utf-8")
    return out


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    with served(tmp_path_factory.mktemp("studio")) as running:
        yield running


@pytest.fixture
def cell(measured: Path, server: Studio) -> Studio:
    """The studio with that cell as it was made."""
    shutil.rmtree(server.folder / "one", ignore_errors=True)
    shutil.copytree(measured / "one", server.folder / "one")
    return server


def ended(root: Path) -> jobs.Job:
    for _ in range(1200):
        last = jobs.latest(root)
        if last is not None and not last.active:
            return last
        time.sleep(0.1)
    raise AssertionError("the work does not end")


def codes(root: Path) -> set[str]:
    """Of what the report of the calibration finds."""
    said = json.loads((root / "reports" / "calibrate.json").read_text(encoding="utf-8"))
    return {f["code"] for f in said["findings"]}


def test_a_table_is_confirmed_before_it_counts_and_a_decision_has_a_reason(cell: Studio, measured: Path) -> None:
    root = cell.folder / "one"
    table = (measured / "table.csv").read_bytes()
    assert posted(cell, "/cell/one/readings", {}, ("table.csv", table))[0] == 303
    text = cell.get("/cell/one/readings")
    assert "Not understood yet" in text
    assert "q1" in text  # it is shown all the same
    assert posted(cell, "/cell/one/readings/confirm", {})[0] == 422
    assert posted(cell, "/cell/one/readings", {"length": "mm", "angle": "deg"})[0] == 303
    text = cell.get("/cell/one/readings")
    for word in ("q2 <b>[deg]</b>", "dx <b>[mm]</b>", "fz <b>[N]</b>"):
        assert word in text
    assert not (root / "campaign" / "campaign.yaml").exists()
    assert posted(cell, "/cell/one/readings/confirm", {})[0] == 303
    assert (root / "campaign" / "table.csv").read_bytes() == table
    assert posted(cell, "/cell/one/calibrate", {"automatic": "yes"})[0] == 303
    assert ended(root).phase == "done"
    before = ec.read_calibration(root / "calibration" / "calibration.json")
    assert [o.place for o in before.outliers] == ["table.csv line 4"]
    text = cell.get("/cell/one/calibrate")
    assert "left out by the test" in text
    assert "sd from what all others predict" in text
    keep = {"reading": "table.csv line 4", "what": "keep"}
    status, _, text = posted(cell, "/cell/one/calibrate/decide", keep)
    assert (status, "give a reason" in text) == (422, True)
    assert posted(cell, "/cell/one/calibrate/decide", {**keep, "reason": "read twice: 'yes' # <b>"})[0] == 303
    assert ended(root).phase == "done"
    after = ec.read_calibration(root / "calibration" / "calibration.json")
    assert after.outliers == ()
    assert after.leave_one_out.max > 5 * before.leave_one_out.max
    report = (root / "reports" / "calibrate.json").read_text(encoding="utf-8")
    assert "Kept by hand against the outlier test: table.csv line 4: read twice" in report
    text = cell.get("/cell/one/calibrate")
    assert "kept by hand" in text
    assert ended(root).words == ("calibrate", ".", "--start", "calibration/calibration.json")
    assert codes(root) >= {"model-kept"}
    assert after.words == before.words
    assert "Choose the model again" in text
    assert "<b>" not in text.split("kept by hand")[0].split("table.csv line 4")[-1]
    undo = {"reading": "table.csv line 4", "what": "undo"}
    assert posted(cell, "/cell/one/calibrate/decide", undo)[0] == 303
    assert ended(root).phase == "done"
    campaign = root / "campaign" / "campaign.yaml"
    assert "keep" not in campaign.read_text(encoding="utf-8")
    again = ec.read_calibration(root / "calibration" / "calibration.json")
    assert [o.place for o in again.outliers] == ["table.csv line 4"]
    assert posted(cell, "/cell/one/calibrate", {"automatic": "yes"})[0] == 303
    assert ended(root).phase == "done"
    assert "model-kept" not in codes(root)
    text = cell.get("/cell/one/calibrate")
    assert "chosen by the readings: compliance" in text
    assert "Not up to date" not in text
    campaign.write_text(campaign.read_text(encoding="utf-8") + "# changed\n", encoding="utf-8")
    assert "Not up to date.</strong> What is shown was made before this: input changed: campaign/campaign.yaml" in (
        cell.get("/cell/one/calibrate")
    )


WRONG = [
    ("table.csv", b"", "table.csv"),
    ("table.csv", b"\x00\xff\xfe\x01" * 50, "table.csv"),
    ("table.csv", b"u,v,w\n1,2,3\n", "Not understood yet"),
    ("table.xlsx", b"PK\x03\x04 not a workbook", "table.xlsx"),
    ("table.exe", b"MZ", "none of the files"),
]


def test_a_wrong_table_is_named_and_nothing_is_replaced(cell: Studio) -> None:
    for name, content, word in WRONG:
        status, _, text = posted(cell, "/cell/one/readings", {}, (name, content))
        text = text if status == 422 else cell.get("/cell/one/readings")
        assert word in text, name
        assert posted(cell, "/cell/one/readings/confirm", {})[0] == 422
        assert not (cell.folder / "one" / "campaign" / "campaign.yaml").exists()


def test_a_wrong_program_fails_with_one_sentence(cell: Studio, measured: Path) -> None:
    root = cell.folder / "one"
    assert posted(cell, "/cell/one/program", {}, ("part.pdf", b"x"))[0] == 422
    assert posted(cell, "/cell/one/program", {}, ("part.src", b"DEF part()\nLIN {X 1,Y\nEND\n"))[0] == 303
    assert posted(cell, "/cell/one/program/correct", {"of": "../part.src"})[0] == 422
    assert posted(cell, "/cell/one/program/correct", {"of": "part.src"})[0] == 303
    last = ended(root)
    assert last.phase == "failed"
    assert "calibration" in last.said  # there is none yet
    assert "Traceback" not in cell.get("/cell/one/program")


def test_a_campaign_that_names_a_file_elsewhere_is_not_read(cell: Studio, measured: Path) -> None:
    """Neither by the page nor by the work."""
    root = cell.folder / "one"
    secret = cell.folder.parent / "secret.csv"
    secret.write_bytes((measured / "table.csv").read_bytes())
    (root / "campaign" / "campaign.yaml").write_text(
        "format: elastocal-campaign/1\nname: x\nrobot: ../robot/robot.yaml\ntable: ../../../secret.csv\n"
        "units: {length: mm, angle: deg}\n",
        encoding="utf-8",
    )
    text = cell.get("/cell/one/readings")
    assert "outside of the folder" in text
    numbers = {v for v in secret.read_text(encoding="utf-8").replace("\n", ",").split(",") if len(v) > 6}
    assert numbers  # long ones: short ones may be in a token of the page by chance
    assert not [v for v in numbers if v in text]
    assert posted(cell, "/cell/one/calibrate", {"automatic": "yes"})[0] == 303
    last = ended(root)
    assert last.phase == "failed"
    assert "outside of the folder" in last.said


def test_what_belongs_on_the_certificate_is_stated_in_the_cell(cell: Studio) -> None:
    file = cell.folder / "one" / "cell.yaml"
    before = file.read_text(encoding="utf-8")
    for wrong in ({"tolerance_mm": "-1"}, {"date": "yesterday"}, {"statistic": "best"}, {"temperature_C": "warm"}):
        assert posted(cell, "/cell/one/certificate", wrong)[0] == 422, wrong
        assert file.read_text(encoding="utf-8") == before
    given = {
        "tolerance_mm": "0,3",
        "operator": "A. <b>Engineer</b>: # 'x'",
        "date": "2026-11-17",
        "temperature_C": "20.5",
    }
    assert posted(cell, "/cell/one/certificate", given)[0] == 303
    stated = read_cell(file.parent).certificate
    assert (stated.tolerance, stated.operator, stated.temperature_C) == (pytest.approx(3e-4), given["operator"], 20.5)
    assert str(stated.date) == given["date"]
    text = file.read_text(encoding="utf-8")
    assert text.startswith(before.split("options:")[0])  # comments stay
    assert "&lt;b&gt;Engineer" in cell.get("/cell/one/")


def test_titles_in_another_language_are_confirmed_once(cell: Studio) -> None:
    rows = [f"P{i};{100 * i},0;{10 * i},0;{400 + 50 * i},0;{300 + i},5;{20 * i},5;{100 * i},5" for i in range(1, 8)]
    table = "\n".join(["Punkt;Hub;Achse 2;Weg;X Ist [mm];Y Ist [mm];Z Ist [mm]", *rows, ""]).encode()
    assert posted(cell, "/cell/one/readings", {}, ("export.csv", table))[0] == 303
    text = cell.get("/cell/one/readings")
    assert "Not understood yet" in text
    assert 'value="q2_deg"' in text  # a proposal
    told = {"q1_mm": "Hub", "q2_deg": "Achse 2", "q3_mm": "Weg", **{f"{c}_mm": f"{c.upper()} Ist [mm]" for c in "xyz"}}
    pairs = [("title", t) for t in told.values()] + [("means", n) for n in told]
    assert posted(cell, "/cell/one/readings", pairs)[0] == 303
    assert "Achse 2" in (cell.folder / "one" / "columns.yaml").read_text(encoding="utf-8")
    text = cell.get("/cell/one/readings")
    assert "q2 <b>[deg]</b>" in text
    assert "Not understood yet" not in text


def test_a_plan_is_changed_as_a_whole_and_only_as_the_cell_allows(cell: Studio) -> None:
    """Table, campaign, program and report of the changed plan say the same; a pose beyond the limits is refused."""
    root = cell.folder / "one"
    request = root / "plan" / "plan.yaml"
    text = request.read_text(encoding="utf-8")
    for wrong in ("poses: many", "posse: 6"):
        bad = re.sub(r"(?m)^poses: .*$", wrong, text)
        status, _, page = posted(cell, "/cell/one/plan/file", {"source": bad})
        assert (status, "plan.yaml" in page) == (422, True)
        assert request.read_text(encoding="utf-8") == text
    small = re.sub(r"(?m)^candidates: .*$", "candidates: 60", re.sub(r"(?m)^poses: .*$", "poses: 6", text))
    assert posted(cell, "/cell/one/plan/file", {"source": small})[0] == 303
    assert request.read_text(encoding="utf-8") == small
    assert [p.name for p in request.parent.iterdir() if p.name.startswith(".")] in ([], [".gitkeep"])
    assert posted(cell, "/cell/one/plan", {"poses": "6"})[0] == 303
    assert ended(root).phase == "done"
    before = _names(root)
    refused = {"out": "P1", "added": "99999, 0, 500", "like": "P2"}
    status, _, page = posted(cell, "/cell/one/plan/try", refused)
    assert (status, "the cell does not allow" in page) == (422, True)
    good = {"out": "P1", "added": "500, 30, 600", "like": "P2"}
    status, _, page = posted(cell, "/cell/one/plan/try", good)
    assert (status, "changed plan" in page) == (200, True)
    assert _names(root) == before  # a trial changes nothing
    assert posted(cell, "/cell/one/plan/try", {**good, "keep": "yes"})[0] == 303
    assert ended(root).phase == "done"
    after = _names(root)
    assert len(after) == len(before) == 6
    assert len(set(before) - set(after)) == len(set(after) - set(before)) == 1
    assert any(row[:3] == ("500", "30", "600") for row in after)
    report = (root / "reports" / "plan.json").read_text(encoding="utf-8")
    assert "none was searched for" in report
    assert "changed by hand" in cell.get("/cell/one/plan")


def _names(root: Path) -> list[tuple[str, ...]]:
    """Joint values and loads of the planned poses."""
    _, *rows = (root / "plan" / "plan.csv").read_text(encoding="utf-8").splitlines()
    return sorted({tuple(row.split(",")[1:7]) for row in rows})
