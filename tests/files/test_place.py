r"""Paths in files mean the same on every system: / and \ are read, / is written, another drive is no crash."""

from __future__ import annotations

import ntpath
import os
from pathlib import Path

import pytest
from files.campaign_desk import DEFLECTION, ERRORS, ROBOT, TABLE
from oracle.refusals import refused

from elastocal.files.campaign.read import read_campaign
from elastocal.files.cell import read_cell
from elastocal.files.located import Located
from elastocal.files.opened import existing, path_of, seen_from
from elastocal.files.robot.read import robot_file


def test_both_slashes_stand_between_folders() -> None:
    assert path_of(r"data\day 1/Größe.csv").parts == ("data", "day 1", "Größe.csv")
    assert robot_file(r"..\robot\arm.YAML") == Path("../robot/arm.YAML")


def test_a_campaign_written_on_windows(tmp_path: Path) -> None:
    (tmp_path / "robot").mkdir()
    (tmp_path / "data").mkdir()
    (tmp_path / "robot" / "arm.yaml").write_text(ROBOT, encoding="utf-8")
    (tmp_path / "data" / "readings.csv").write_text(TABLE, encoding="utf-8")
    text = (DEFLECTION + ERRORS).replace("arm.yaml", r"robot\arm.yaml").replace("readings.csv", r"data\readings.csv")
    (tmp_path / "campaign.yaml").write_text(text, encoding="utf-8")
    found = read_campaign(tmp_path / "campaign.yaml").files
    assert [p.relative_to(tmp_path).as_posix() for p in found] == [
        "campaign.yaml", "robot/arm.yaml", "data/readings.csv",
    ]  # fmt: skip


def test_a_backslash_that_yaml_has_eaten_is_named(tmp_path: Path) -> None:
    located = Located(f"{tmp_path.as_posix()}/plan.yaml", {}, {("table",): 3})
    with refused("no-file", "data\readings.csv", file="plan.yaml", line=3, column="table"):
        existing(located, ("table",), "data\readings.csv")
    with refused("no-file", r"data\readings.csv", file="plan.yaml", line=3, column="table"):
        existing(located, ("table",), r"data\readings.csv")


def test_another_drive_stays_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="mount"):  # what Windows says, and what must not reach a user
        ntpath.relpath("D:\\robots\\arm.yaml", "C:\\cell")
    monkeypatch.setattr(os.path, "relpath", lambda *_: ntpath.relpath("D:\\robots\\arm.yaml", "C:\\cell"))
    assert seen_from(Path("/robots/arm.yaml"), Path("/cell")) == "/robots/arm.yaml"


@pytest.mark.parametrize("place", [r"C:\data", "C:data", r"\data", "/data", r"..\data", r"a\..\..\data"])
def test_no_place_leads_out_of_a_cell_on_any_system(tmp_path: Path, place: str) -> None:
    (tmp_path / "cell.yaml").write_text(f"format: elastocal-cell/1\nname: x\ncampaign: '{place}'\n", encoding="utf-8")
    with refused("outside", place, file="cell.yaml", line=3, column="campaign"):
        read_cell(tmp_path)


def test_places_of_a_cell_written_on_windows(tmp_path: Path) -> None:
    text = "format: elastocal-cell/1\nname: x\nplan: plan\\a b\\plan.yaml\n"
    (tmp_path / "cell.yaml").write_text(text, encoding="utf-8")
    assert read_cell(tmp_path).places["plan"] == Path("plan", "a b", "plan.yaml")
