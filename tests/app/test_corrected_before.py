"""A program that compensate wrote is not corrected a second time unawares."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from app.program_desk import lay_program

FORCE = "--force=-100,0,-300"
ROBOT = ("--robot", "kuka-kr270")


@pytest.fixture
def cell(tmp_path: Path, run: Any) -> Path:
    """With one program, corrected by the robot file: the record is what counts."""
    folder = tmp_path / "cell"
    (folder / "programs").mkdir(parents=True)
    (folder / "cell.yaml").write_text("format: elastocal-cell/1\nname: small\nrobot: kuka-kr270\n")
    lay_program(folder / "programs", "src")
    got = run("compensate", folder, *ROBOT, FORCE)
    assert got.code == 0, got.err
    return folder


@pytest.mark.parametrize("place", ["programs/corrected/contour.src", "programs/other.src"])
def test_the_record_of_the_cell_tells_wherever_the_program_lies(cell: Path, run: Any, place: str) -> None:
    made, program = cell / "programs" / "corrected" / "contour.src", cell / place
    if program != made:
        for ending in (".src", ".dat"):
            shutil.copy(made.with_suffix(ending), program.with_suffix(ending))
    words = ("compensate", program, *ROBOT, FORCE, "--out", cell.parent / "twice")
    got = run(*words)
    assert got.code == 2
    assert "--again" in got.err
    assert not (cell.parent / "twice").exists()
    told = run(*words, "--again", "--json")
    assert told.code == 0
    assert any("CORRECTED AGAIN" in note for note in json.loads(told.out)["notes"])


def test_the_same_program_may_be_corrected_as_often_as_one_likes(cell: Path, run: Any) -> None:
    """Its data file, which nothing changed, is an output of the first run too."""
    assert run("compensate", cell, *ROBOT, FORCE).code == 0


def test_outside_of_cells_the_folder_is_a_hint(tmp_path: Path, run: Any) -> None:
    program = lay_program(tmp_path, "src")
    run("compensate", program, *ROBOT, FORCE, "--out", tmp_path / "corrected")
    told = run("compensate", tmp_path / "corrected" / "contour.src", *ROBOT, FORCE, "--json")
    assert told.code == 0
    assert any("corrected already" in note for note in json.loads(told.out)["notes"])
    assert "corrected already" not in run("compensate", program, *ROBOT, FORCE, "--json").out
