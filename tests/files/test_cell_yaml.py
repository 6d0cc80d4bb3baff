"""cell.yaml: short by its defaults, and refused with one sentence where it is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from oracle.refusals import refused

from elastocal.files.cell import PLACES, is_cell, read_cell, tables_in

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
    ("text", "code", "value", "line", "column"),
    [
        ("", "empty", None, None, None),
        ("name: mill\n", "missing", "format", None, None),
        ("format: elastocal-cell/2\nname: mill\n", "format", "elastocal-cell/2", 1, "format"),
        ("format: elastocal-cell/1\n", "missing", "name", None, None),
        (HEAD + "robot: /etc/robot.yaml\n", "outside", "/etc/robot.yaml", 3, "robot"),
        (HEAD + "log: ../log.xml\n", "outside", "../log.xml", 3, "log"),
        (HEAD + "campaign: 7\n", "type", 7, 3, "campaign"),
        (HEAD + "options: [a]\n", "type", ["a"], 3, "options"),
        (HEAD + "robot: a.yaml\nrobot: b.yaml\n", "yaml", "robot", 4, None),
    ],
)
def test_what_is_wrong_is_named_with_its_line(
    tmp_path: Path, text: str, code: str, value: Any, line: int | None, column: str | None
) -> None:
    with refused(code, value, file="cell.yaml", line=line, column=column) as caught:
        read_cell(cell(tmp_path, text))
    assert str(caught.value).startswith(str(tmp_path / "cell.yaml"))


def test_an_unknown_key_names_the_nearest(tmp_path: Path) -> None:
    with refused("unknown-key", "campain", file="cell.yaml", line=3, column="campain") as caught:
        read_cell(cell(tmp_path, HEAD + "campain: x.yaml\n"))
    assert "campaign" in caught.value.allowed


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
