"""Robot or calibration first, then data; files tell the other way round."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, get_args, get_origin

import pytest
import typer

from elastocal.app.cli.command import declared as declared_commands
from elastocal.app.cli.main import run_words
from elastocal.app.cli.words import ACTS, DATA, in_order, with_options


@pytest.mark.parametrize(
    ("first", "second", "swapped"),
    [
        ("points.csv", "arm.urdf", True), ("arm.urdf", "points.csv", False), ("points.csv", "kuka-kr270", True),
        ("kr270", "points.csv", False), ("points.csv", "arm.yaml", True), ("points.csv", "campaign.yaml", False),
        ("points.csv", "dh.csv", True), ("dh.csv", "points.csv", False), ("points.csv", "other.csv", False),
        ("arm.urdf", "kr270", False),
    ],
)  # fmt: skip
def test_a_robot_and_a_table_in_either_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: str, second: str, swapped: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("arm.yaml").write_text("format: elastocal-robot/1\n", encoding="utf-8")
    Path("campaign.yaml").write_text("format: elastocal-campaign/1\nrobot: arm.yaml\n", encoding="utf-8")
    Path("dh.csv").write_text("joint,theta_deg,alpha_deg,convention\n", encoding="utf-8")
    for name in ("points.csv", "other.csv"):
        Path(name).write_text("J1,x\n1,2\n", encoding="utf-8")
    found = in_order({"robot": first, "table": Path(second)}, ["robot", "table"])
    assert found == ({"robot": second, "table": Path(first)} if swapped else {"robot": first, "table": Path(second)})
    several = {"campaign": Path(first), "tables": [Path("a.csv"), Path(second)]}
    wanted = {"campaign": Path(second), "tables": [Path(first), Path("a.csv")]}
    assert in_order(several, ["campaign", "tables"]) == (wanted if swapped else several)


def test_a_calibration_and_a_table_in_either_order() -> None:
    typed = {"calibration": Path("later.csv"), "measured": Path("cal.json"), "refit": True}
    wanted = {"calibration": Path("cal.json"), "measured": Path("later.csv"), "refit": True}
    assert in_order(typed, ["calibration", "measured"]) == wanted
    assert in_order(wanted, ["calibration", "measured"]) == wanted
    none = {"calibration": Path("cal.json"), "table": None}
    assert in_order(none, ["calibration", "table"]) == none


def test_a_robot_among_tables_where_it_is_an_option() -> None:
    tables = [Path("kr270"), Path("a.csv")]
    assert in_order({"robot": None, "tables": tables}, ["tables"]) == {"robot": "kr270", "tables": [Path("a.csv")]}
    stated = {"robot": "kr5", "tables": tables}
    assert in_order(stated, ["tables"]) == stated


def test_what_has_an_option_may_stand_before_the_data() -> None:
    options = ("--calibration", "--robot", "--out")
    words = ["compensate", "cal.json", "part.src", "--out", "new.json"]
    assert with_options(words, options) == ["compensate", "part.src", "--out", "new.json", "--calibration", "cal.json"]
    assert with_options(["compensate", "kr270", "a.src"], options) == ["compensate", "a.src", "--robot", "kr270"]
    assert with_options(["compensate", "a.src", "b.src"], options) is None
    assert with_options(["compensate", "a.src", "--out", "c.json"], options) is None
    assert with_options(["compensate", "c.json", "a.src", "--calibration", "d.json"], options) is None
    assert with_options(["loops", "cal.json", "a.csv"], ("--out",)) is None


def test_every_command_has_what_acts_before_its_data() -> None:
    """``gravity`` is older than the rule; both orders are understood there."""
    for declared in declared_commands():
        hints = {p: get_args(h)[1] for p, h in declared.hints.items() if get_origin(h) is Annotated}
        order = [p for p, info in hints.items() if isinstance(info, typer.models.ArgumentInfo) and p in (*ACTS, *DATA)]
        places = [ACTS.index(p) if p in ACTS else len(ACTS) for p in order]
        assert declared.name == "gravity" or places == sorted(places), declared.name


def test_the_command_line_takes_both(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "p.csv"
    table.write_text("A1_deg,A2_deg,A3_deg,A4_deg,A5_deg,A6_deg,x_mm,y_mm,z_mm\n0,-90,90,0,0,0,1,2,3\n", "utf-8")
    assert run_words(["columns", "kuka-kr270", str(table)]) == 0
    first = capsys.readouterr().out
    assert run_words(["columns", str(table), "kuka-kr270"]) == 0
    assert capsys.readouterr().out == first
    program = tmp_path / "part.src"
    program.write_text("DEF a()\nEND\n", "utf-8")
    assert run_words(["compensate", "kuka-kr270", str(program)]) == 2
    assert "has no target that can be corrected" in capsys.readouterr().err
