"""Work that lasts shows a sign of life at once; quick work says nothing."""

from __future__ import annotations

import io
import sys
import threading
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from app.conftest import Reports

import elastocal as ec
from elastocal import __main__ as entry
from elastocal.app.cli import progress as shown
from elastocal.compensation.run import compensate


def test_the_first_line_comes_before_the_work_has_told_anything(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    told = threading.Event()
    monkeypatch.setattr(shown, "LINE_EVERY", 0.05)
    monkeypatch.setattr(shown._Lines, "start", lambda self: (print(f"{self.what}: started"), told.set()))
    with shown.progress("calibrating"):
        assert told.wait(10)
    assert capsys.readouterr().out == "calibrating: started\n"
    assert shown.PATIENCE < 0.3


def test_a_terminal_has_a_word_before_the_commands_are_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    class Late(ModuleType):
        def __getattr__(self, name: str) -> Any:
            if name != "main":
                raise AttributeError(name)
            return lambda: shown_then.append(terminal.getvalue())

    terminal, shown_then = Terminal(), list[str]()
    monkeypatch.setitem(sys.modules, "elastocal.app.cli.main", Late("late"))
    monkeypatch.setattr(sys, "stderr", terminal)
    for words, said in ((["plan", "."], "elastocal ...\r             \r"), (["--help"], ""), ([], "")):
        terminal.truncate(0)
        terminal.seek(0)
        monkeypatch.setattr(sys, "argv", ["elastocal", *words])
        entry.main()
        assert shown_then.pop() == said


def test_quick_work_is_quiet(capsys: pytest.CaptureFixture[str]) -> None:
    with shown.progress("reading") as tell:
        tell(1, 2, "half")
    assert capsys.readouterr() == ("", "")


def test_lines_name_stage_and_time(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    lines = shown._Lines("calibrating")
    lines.last -= 3 * shown.LINE_EVERY
    lines(30, 100, "model geometry")
    assert capsys.readouterr().err == "calibrating: 30 %, 0 s, model geometry\n"


def test_a_bar_takes_what_was_told_before_it_began() -> None:
    bar = shown._Bar("planning")
    bar(3, 10, "exchange")
    bar.start()
    task = bar.bar.tasks[0]
    assert (task.completed, task.total, task.description) == (3, 10, "planning: exchange")
    bar(7, 10, "route")
    assert (task.completed, task.description) == (7, "planning: route")
    bar.stop()
    bar.start()  # a late timer starts nothing
    assert not bar.bar.live.is_started


def test_on_a_terminal_the_first_words_come_before_the_bar_is_loaded(
    capsys: pytest.CaptureFixture[str],
) -> None:
    bar = shown._Bar("planning")
    bar.start()
    bar.stop()
    assert capsys.readouterr().err.startswith("planning ...\r")
    assert shown.PATIENCE <= 0.1


LONG = {"calibrate", "calibrate-reduce", "calibrate-contacts", "compensate", "gravity", "grid",
        "compensator", "transmission", "simulate", "validate", "compare", "compare-campaigns", "assess-campaign",
        "plan"}  # fmt: skip
"""Kinds of reports whose command may take longer than a moment."""


@pytest.mark.parametrize("kind", sorted(LONG))
def test_long_commands_tell_their_stages(kind: str, reports: Reports) -> None:
    told = reports(kind).told
    shares = [done / total for done, total, _ in told]
    assert shares == sorted(shares)
    assert max(shares) <= 1
    assert len({stage for *_, stage in told} - {""}) > 1


def test_stages_outside_of_any_progress_are_nobodys() -> None:
    shown.stage(1, 2, "quiet")


def test_a_compensation_names_its_stages() -> None:
    stages: list[str] = []
    robot = ec.read_robot("kuka-kr270")
    program = ec.read_program(Path(__file__).parents[2] / "examples" / "programs" / "contour.src")
    compensate(robot, program, [0, 0, -500, 0, 0, 0], progress=lambda done, total, stage: stages.append(stage))
    assert stages == ["loaded poses", "points between targets, new digits", "predicted residual error"]
