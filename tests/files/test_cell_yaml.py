"""cell.yaml: short by its defaults, and refused with one sentence where it is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest
from oracle.refusals import refused

from elastocal.errors import InputError
from elastocal.files.cell_yaml import PLACES, is_cell, read_cell, tables_in

HEAD = "format: elastocal-cell/1\nname: mill\n"


def cell(folder: Path, text: str) -> Path:
    (folder / "cell.yaml").write_text(text, encoding="utf-8")
    return folder


def test_two_lines_are_a_cell(tmp_path: Path) -> None:
    found = read_cell(cell(tmp_path, HEAD))
    assert found.name == "mill"
    assert found.place("calibration") == Path("calibration/calibration.json")
    assert found.path("planned") == tmp_path.resolve() / "plan" / "campaign.yaml"
    assert set(found.places) == set(PLACES)
    assert dict(found.options) == {}


def test_places_and_options_are_read(tmp_path: Path) -> None:
    text = HEAD + "campaign: campaign/may.yaml\noptions:\n  calibrate: {seed: 3}\n"
    found = read_cell(cell(tmp_path, text))
    assert found.place("campaign") == Path("campaign/may.yaml")
    assert found.options["calibrate"] == {"seed": 3}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty; a cell file starts with 'format: elastocal-cell/1'"),
        ("name: mill\n", "the line 'format: elastocal-cell/1' is missing"),
        ("format: elastocal-cell/2\nname: mill\n", "line 1, format: elastocal-cell/2 is of another version"),
        ("format: elastocal-cell/1\n", "'name' is missing"),
        (HEAD + "robot: /etc/robot.yaml\n", "line 3, robot: '/etc/robot.yaml' is not a place in the cell"),
        (HEAD + "log: ../log.xml\n", "line 3, log: '../log.xml' leads out of the cell"),
        (HEAD + "campaign: 7\n", "line 3, campaign: 7 does not fit; write text"),
        (HEAD + "options: [a]\n", "line 3, options: ['a'] does not fit; write a mapping"),
        (HEAD + "robot: a.yaml\nrobot: b.yaml\n", "key 'robot' stands twice"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        read_cell(cell(tmp_path, text))
    assert said in str(caught.value)
    assert str(caught.value).startswith(str(tmp_path / "cell.yaml"))


def test_an_unknown_key_names_the_nearest(tmp_path: Path) -> None:
    with refused("input", file="cell.yaml", line=3, column="campain") as caught:
        read_cell(cell(tmp_path, HEAD + "campain: x.yaml\n"))
    assert "line 3" in str(caught.value)


def test_a_folder_without_it_is_no_cell(tmp_path: Path) -> None:
    assert not is_cell(tmp_path)
    with refused("no-cell", file=tmp_path.name):
        read_cell(tmp_path)


def test_files_that_excel_and_macos_lay_beside_tables_are_none(tmp_path: Path) -> None:
    found = read_cell(cell(tmp_path, HEAD))
    (tmp_path / "tables").mkdir()
    for name in ("a.csv", "b.xlsx", "~$b.xlsx", "._a.csv"):
        (tmp_path / "tables" / name).write_text("", encoding="utf-8")
    assert tables_in(found, Path("tables")) == (Path("tables/a.csv"), Path("tables/b.xlsx"))
