"""Files that commands write: never over an input, and always with what was computed."""

from __future__ import annotations

import json
from collections.abc import Callable
from hashlib import sha256
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from lxml import html

from elastocal import __version__

Run = Callable[..., Any]
PUSH = ("--force", "0,0,-1")
PLAN = "A_deg,fz_N\n10,-5\n40,-5\n"


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    path = tmp_path / "plan.csv"
    path.write_text(PLAN, encoding="utf-8")
    return path


def refused(run: Run, folder: Path, *words: object) -> str:
    """The sentence; nothing in the folder may have changed."""
    before = {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()}
    got = run(*words)
    assert (got.code, got.out) == (2, "")
    assert got.err.count("\n") == 1
    assert {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()} == before
    return str(got.err)


@pytest.mark.parametrize("option", ["--report", "--csv"])
def test_the_robot_file_is_never_written_over(run: Run, arm: Path, plan: Path, option: str) -> None:
    folder = arm.parent
    for words in (("deflect", arm, "--at", "10", *PUSH), ("stiffness", arm, "--at", "10"), ("assess", arm, plan)):
        assert "also given to ROBOT" in refused(run, folder, *words, option, arm)
        assert "also given to ROBOT" in refused(run, folder, *words, option, folder / "." / "arm.yaml")


def test_links_to_an_input_are_refused_too(run: Run, arm: Path, plan: Path) -> None:
    folder = arm.parent
    page, table = folder / "page.html", folder / "table.csv"
    page.symlink_to(arm)
    table.symlink_to(plan)
    assert "ROBOT" in refused(run, folder, "deflect", arm, "--at", "10", *PUSH, "--report", page)
    assert "PLAN.csv" in refused(run, folder, "assess", arm, plan, "--csv", table)
    assert "PLAN.csv" in refused(run, folder, "assess", arm, plan, "--csv", plan)


def test_a_urdf_is_never_written_over(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "lever.urdf"
    path.write_text('<robot name="lever"><link name="foot"/></robot>')
    assert "ROBOT" in refused(run, tmp_path, "deflect", path, *PUSH, "--csv", path)


def test_read_only_files_and_wrong_names_are_refused(run: Run, arm: Path) -> None:
    folder = arm.parent
    words = ("deflect", arm, "--at", "10", *PUSH)
    kept = folder / "kept.html"
    kept.write_text("mine")
    kept.chmod(0o444)
    assert "read-only" in refused(run, folder, *words, "--report", kept)
    assert "must end in .html or .htm" in refused(run, folder, *words, "--report", folder / "notes.txt")
    assert "must end in .csv" in refused(run, folder, *words, "--csv", folder / "table.html")
    assert run(*words, "--report", folder / "a.HTM", "--csv", folder / "a.CSV").code == 0


def test_outputs_say_what_was_computed(run: Run, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    words = ("deflect", "kuka-kr270", "--at", "0,-90,90,0,30,0", "--force", "0,0,-2500", "--load-frame", "flange",
             "--frame", "marker1", "--payload", "50", "--without", "foundation_compliance")  # fmt: skip
    inputs = run(*words, "--json").data["inputs"]
    mark = sha256(resources.files("elastocal.robots").joinpath("kuka-kr270.yaml").read_bytes()).hexdigest()
    assert inputs == {
        "elastocal": __version__,
        "robot": "kuka-kr270",
        "robot_file": None,
        "tool": "tool",
        "watched_frame": "marker1",
        "configurations": "0,-90,90,0,30,0",
        "load": "force (0, 0, -2500) N at flange, in base axes",
        "load_frame": "flange",
        "payload_kg": 50,
        "payload_frame": "flange",
        "left_out": ["foundation_compliance"],
        "state": "loaded minus unloaded equilibrium, weights and springs in both",
        "files": [f"shipped:kuka-kr270 {mark[:16]}"],
        "sha256": {"shipped:kuka-kr270": mark},
    }
    text = " ".join(run(*words, "--report", page, "--full").out.split())
    tree = html.fromstring(page.read_text(encoding="utf-8"))
    written = [dd.text_content() for dd in tree.xpath("//dl[@class='inputs']/dd")]
    for piece in (__version__, "marker1", inputs["load"], "50 kg at flange", "foundation_compliance", inputs["state"]):
        assert piece in text
        assert piece in written


def test_inputs_of_the_other_commands(run: Run, arm: Path, plan: Path) -> None:
    loaded = run("stiffness", arm, "--at", "10", "--loaded", "--json").data["inputs"]
    plain = run("stiffness", arm, "--at", "10", "--json").data["inputs"]
    assert (loaded["state"], plain["state"]) == ("loaded equilibrium", "unloaded, at the commanded configuration")
    assert (plain["robot"], plain["robot_file"], plain["load_frame"]) == ("arm", str(arm), None)
    told = run("assess", arm, plan, "--json").data["inputs"]
    assert (told["configurations"], told["watched_frame"]) == (str(plan), "tip")


def test_the_same_request_gives_the_same_bytes(run: Run, arm: Path, tmp_path: Path) -> None:
    pages = [tmp_path / name / "page.html" for name in ("a", "b")]
    for page in pages:
        page.parent.mkdir()
        run("deflect", arm, "--at", "10", *PUSH, "--report", page)
    assert pages[0].read_bytes() == pages[1].read_bytes()


def test_columns_is_respected_in_a_pipe(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ("deflect", "kuka-kr270", "--at", "0,-90,90,0,30,0", "--force", "0,0,-2500")
    monkeypatch.setenv("COLUMNS", "80")
    narrow = run(*words)
    assert max(map(len, narrow.out.splitlines())) <= 80
    monkeypatch.delenv("COLUMNS")
    assert max(map(len, run(*words).out.splitlines())) > 80
    row = json.loads(run(*words, "--json").out)["deflections"][0]
    assert f"{row['dz_mm']:.4f}" in narrow.out.split()
