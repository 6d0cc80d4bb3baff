"""Work that lasts shows a sign of life at once; quick work says nothing."""

from __future__ import annotations

import threading

import pytest

from elastocal.app.cli import progress as shown


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
