"""Values of a command line, taken by themselves, against Typer."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Annotated, Any

import pytest
import typer
from typer.core import TyperCommand

from elastocal.app.cli.words import PlainValues


def _parsed(cls: type[TyperCommand], words: list[str]) -> tuple[str, Any]:
    """What the command was called with, or the error and its words."""
    given: dict[str, Any] = {}

    def command(
        first: str, files: list[Path], out: Path | None = None, name: str = "x", count: int = 3, size: float = 0.5,
        most: Annotated[int, typer.Option(max=5)] = 2, part: list[str] | None = None, at: list[float] | None = None,
        ends: tuple[float, float] = (1.0, 2.0), must: Annotated[Path | None, typer.Option(exists=True)] = None,
        on: bool = False, here: Path = Path("there"),
    ) -> None:  # fmt: skip
        given.update(locals())

    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    app.command(cls=cls)(command)
    group: Any = typer.main.get_command(app)
    try:
        group.main(words, standalone_mode=False)
    except Exception as error:
        return type(error).__name__, error.format_message() if hasattr(error, "format_message") else str(error)
    return "called", {k: (type(v), v) for k, v in given.items() if k != "given"}


CALLS = [
    ["a", "b"],
    ["a", "b", "c.csv", "--out", "d", "--name", "", "--on", "--here", "."],
    ["a", "b", "--count", "7", "--size", "2", "--most", "4", "--ends", "3", "4.5"],
    ["a", "b", "--part", "x", "--part", "1", "--at", "2", "--at", "3.5"],
    ["a", "b", "--count", "7.5"],
    ["a", "b", "--size", "wide"],
    ["a", "b", "--most", "6"],
    ["a", "b", "--must", "nowhere.txt"],
    ["a", "b", "--at", "one"],
    ["a"],
    ["a", "b", "--else", "c"],
]


@pytest.mark.parametrize("words", CALLS, ids=" ".join)
def test_a_command_gets_what_typer_would_give_it(words: list[str]) -> None:
    assert _parsed(PlainValues, words) == _parsed(TyperCommand, words)


def test_a_file_that_must_not_be_read_is_refused_as_by_typer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    closed = tmp_path / "closed"
    closed.write_text("x")
    monkeypatch.setattr("os.access", lambda path, mode: False)
    refused = _parsed(PlainValues, ["a", "b", "--out", str(closed)])
    assert refused == _parsed(TyperCommand, ["a", "b", "--out", str(closed)])
    assert "not readable" in refused[1]


def test_a_command_runs_without_pydantic() -> None:
    words = ["elastocal", "stiffness", "kuka-kr270", "--at", "0,-90,90,0,90,0"]
    code = (
        f"import sys; sys.argv = {words!r}\n"
        "from elastocal.app.cli.main import main\n"
        "try: main()\n"
        "except SystemExit as end: print(end.code, 'pydantic' in sys.modules)"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.splitlines()[-1] == "0 False"
