"""Options of cell.yaml for one program."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from app.program_desk import lay_program

ROBOT = ("--robot", "kuka-kr270")
HEAD = "format: elastocal-cell/1\nname: small\nrobot: kuka-kr270\noptions:\n  compensate:\n"


@pytest.fixture
def cell(tmp_path: Path) -> Path:
    folder = tmp_path / "cell"
    (folder / "programs").mkdir(parents=True)
    lay_program(folder / "programs", "src")
    for ending in (".src", ".dat"):
        shutil.copy(folder / "programs" / f"contour{ending}", folder / "programs" / f"short{ending}")
    return folder


def laid(cell: Path, *lines: str) -> None:
    (cell / "cell.yaml").write_text(HEAD + "".join(f"    {line}\n" for line in lines))


def test_lines_with_load_are_those_of_one_program(cell: Path, run: Any) -> None:
    laid(cell, "force: '-400,0,-150'", "programs: {contour.src: {load_lines: '40-44'}}")
    got = run("compensate", cell, *ROBOT, "--json")
    assert got.code == 0, got.err
    answers = {Path(a["inputs"]["program"]).name: a for a in json.loads(got.out)["programs"]}
    loads = {name: a["inputs"]["load"] for name, a in answers.items()}
    assert loads["contour.src"] != loads["short.src"]
    assert any("--load-lines 40-44" in note for note in answers["contour.src"]["notes"])
    assert not any("--load-lines" in note for note in answers["short.src"]["notes"])

    typed = run("compensate", cell, *ROBOT, "--force=-400,0,-150", "--json")
    answers = {Path(a["inputs"]["program"]).name: a for a in json.loads(typed.out)["programs"]}
    assert answers["contour.src"]["inputs"]["load"] == loads["short.src"]
    assert any("--load-lines of cell.yaml is not used" in note for note in answers["contour.src"]["notes"])


MILLING = "milling: 'kc_MPa=700,ap_mm=2,ae_mm=4,D_mm=10,teeth=2,spindle_rpm=9000'"


def test_lines_are_named_by_numbers_too(cell: Path, run: Any) -> None:
    """As YAML has them: a number for one line, a list of them for several."""
    laid(cell, MILLING, "programs: {contour.src: {load_lines: ['41-43', 44], lead_lines: 44}}")
    got = run("compensate", cell, *ROBOT, "--json")
    assert got.code == 0, got.err
    answer = {Path(a["inputs"]["program"]).name: a for a in json.loads(got.out)["programs"]}["contour.src"]
    assert any("--load-lines 41-43; --load-lines 44; --lead-lines 44" in note for note in answer["notes"])
    assert "growing or falling on lines 44" in answer["inputs"]["load"]


def test_leads_by_length_are_for_all_programs(cell: Path, run: Any) -> None:
    """One number beside the milling process; a force that is typed sets both aside."""
    laid(cell, MILLING, "lead_mm: 5", "programs: {contour.src: {load_lines: 41-44}}")
    got = run("compensate", cell, *ROBOT, "--json")
    assert got.code == 0, got.err
    for answer in json.loads(got.out)["programs"]:
        assert "on leads up to 5 mm" in answer["inputs"]["load"]
        assert any(note.startswith("Leads up to 5 mm") for note in answer["notes"])
    typed = run("compensate", cell, *ROBOT, "--force=-400,0,-150", "--json")
    assert typed.code == 0, typed.err
    laid(cell, "force: '-400,0,-150'", "lead_mm: 5")
    refused = run("compensate", cell, *ROBOT)
    assert (refused.code, "lead" in refused.err, "cell.yaml" in refused.err) == (2, True, True)


@pytest.mark.parametrize(
    ("lines", "named"),
    [
        (("load_lines: '40-44'",), ("load_lines", "cell.yaml, line 6")),
        (("programs: {contur.src: {load_lines: '40-44'}}",), ("contur.src", "contour.src")),
        (("programs: [contour.src]",), ("cell.yaml, line 6",)),
        (("force: '0,0,-100'", "programs: {contour.src: {load_lines: '900'}}"), ("contour.src", "cell.yaml")),
        ((MILLING, "programs: {contour.src: {load_lines: [41-44, 900]}}"), ("load_lines 900", "cell.yaml")),
        ((MILLING, "programs: {contour.src: {load_lines: 41-44, lead_lines: [44, 900]}}"), ("lead_lines 900",)),
        ((MILLING, "programs: {contour.src: {load_lines: 44-41}}"), ("load_lines '44-41'", "such as 40-60")),
    ],
)
def test_what_is_wrong_is_named_with_its_place(cell: Path, run: Any, lines: Any, named: Any) -> None:
    laid(cell, *lines)
    got = run("compensate", cell, *ROBOT)
    assert got.code == 2
    assert all(word in got.err for word in named), got.err
