"""The first complaint is the most useful: what was typed comes before what was not, and an example says the rest."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer
from app.conftest import Ran, Run

from elastocal.app.cli.main import app

GROUP = typer.main.get_command(app)
COMMANDS: dict[str, typer.core.TyperCommand] = GROUP.commands  # type: ignore[attr-defined]
ALONE = {"robots", "reproduce", "demo", "status", "compensator", "studio", "history"}
"""Commands that need no argument, or say in words of their own what they need instead."""
TABLE = "A1_deg\n0\n"


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "table.csv").write_text(TABLE)
    return tmp_path


def one_sentence(got: Ran) -> str:
    assert (got.code, got.out, got.err.count("\n")) == (2, "", 1), got
    assert got.err.startswith("elastocal: ")
    return got.err.removeprefix("elastocal: ").rstrip("\n")


@pytest.mark.parametrize("command", sorted(COMMANDS.keys() - ALONE))
def test_without_any_word_an_example_is_shown(run: Run, desk: Path, command: str) -> None:
    said = one_sentence(run(command))
    assert said.startswith("missing argument '")
    assert f"; for example: elastocal {command} " in said


@pytest.mark.parametrize("command", sorted((COMMANDS.keys() - ALONE - {"new", "record"}) | {"status", "compensator"}))
def test_a_folder_where_a_file_is_meant(run: Run, desk: Path, command: str) -> None:
    second = {
        "assess": "table.csv",
        "convert": "out.yaml",
        "urdf": "out.urdf",
        "validate": "table.csv",
        "columns": "table.csv",
    }.get(command)
    more = ("--shift", "j:x=1mm") if command == "urdf" else ()
    said = one_sentence(run(command, "folder", *((second,) if second else ()), *more))
    assert said.startswith("folder: ") or command == "urdf"
    assert "cell" in said or "folder" in said
    assert sorted(p.name for p in desk.iterdir()) == ["folder", "table.csv"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("simulate", "lost.yaml"), "lost.yaml: no such file; check the name"),
        (("compensate", "lost.src"), "lost.src: no such file"),
        (("export", "lost.json"), "lost.json: no such file"),
        (("gravity", "lost.csv"), "lost.csv: no such file"),
        (("compensator", "lost.csv"), "lost.csv: no such file"),
        (("transmission", "table.csv", "lost.csv"), "lost.csv: no such file"),
        (("plan", "lost.yaml"), "lost.yaml: no such file"),
        (("plan", "kuka-kr27"), "there is no robot 'kuka-kr27'; did you mean 'kuka-kr270'?"),
        (("plan", "table.csv"), "table.csv: is not a robot file; give a .yaml or .urdf file"),
        (("plan", "kr270"), "--out is missing; give it, or a cell; for example: elastocal plan arm.urdf --poses 40"),
        (("gravity", "table.csv"), "ROBOT is missing; give it, or a cell; for example: elastocal gravity sweeps.csv"),
        (("new", "mycell"), "missing option '--robot'; for example: elastocal new mycell --robot kr270"),
        (("assess", "table.csv", "kuka-kr270"), "table.csv, line 1: there is no column for axis A2; add A2_deg"),
        (
            ("gravity", "kuka-kr5", "table.csv"),
            "table.csv, line 1: there is no column for axis A2 of kuka-kr5; add A2_deg",
        ),
        (("convert", "arm.yaml", "kuka-kr270"), "arm.yaml: no such file"),
        (("status",), ".: is a folder without cell.yaml; make a cell first (elastocal new)"),
    ],
)
def test_what_was_typed_comes_first(run: Run, desk: Path, words: tuple[str, ...], said: str) -> None:
    assert one_sentence(run(*words)).startswith(said)


def test_the_same_folder_twice(run: Run, desk: Path) -> None:
    assert one_sentence(run("gravity", "folder", "folder")).startswith("folder: is a folder and not a cell")
    assert one_sentence(run("assess", "folder", "folder")).startswith("folder: is a folder and not a cell")
