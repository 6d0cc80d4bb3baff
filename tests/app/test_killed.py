"""A command that is killed at any step of its writing leaves old files or new ones, and after the next run of one kind.

Every write of every command is done over and over in processes that end without a word at the first, the second, ...
call that changes the disk, until one gets through.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from app.cell_desk import LOOPS, VISITS, well
from app.program_desk import HOME, calibration, lay_program
from app.test_confinement import POINTS
from app.virtual_desk import ARM, PLAN, POSES
from oracle.encoders import SINGLE

from elastocal.app.cli.main import run_words
from elastocal.files import write
from elastocal.files.confined import bounds, finish

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes that share their memory at the start")
LONG = "ELASTOCAL_FUZZ" in os.environ
"""Set by ``make fuzz``: every command that writes, else one of each kind; all write by the same function."""
STEPS = ("replace", "rename", "unlink", "fsync", "chmod", "open", "write", "mkdir")
"""Calls of the system that change the disk."""


def dying(steps: int, work: Callable[[], None]) -> bool:
    """Whether ``work`` got through in a process that ends at so many steps."""
    child = os.fork()
    if child == 0:
        left = steps
        for name in STEPS:
            real = getattr(os, name)

            def step(*words: Any, _real: Any = real, **named: Any) -> Any:
                nonlocal left
                left -= 1
                if left < 0:
                    os._exit(9)
                return _real(*words, **named)

            setattr(os, name, step)
        try:
            work()
        except BaseException:
            os._exit(1)
        os._exit(0)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in (0, 9), "the write failed"
    return code == 0


class Killer:
    """Takes the place of ``write_files``: kills at every step, then writes."""

    def __init__(self, real: Callable[[Any], None]) -> None:
        self.real, self.deaths, self.writes = real, 0, 0

    def __call__(self, contents: Any) -> None:
        within = bounds()
        root = Path(os.path.commonpath([p.absolute().parent for p in contents])) if within is None else within.root
        new = {p.absolute(): write.encoded(p, c) for p, c in contents.items()}
        old = {p: p.read_bytes() if p.exists() else None for p in new}
        others = {p: p.stat() for p in root.rglob("*") if p.is_file() and p not in new and ".part" not in p.name}
        self.writes += 1
        steps = 0
        while not dying(steps, lambda: self.real(contents)):
            self.deaths += 1
            for path in new:
                now = path.read_bytes() if path.exists() else None
                assert now in (old[path], new[path]), f"{path} is half written after {steps} steps"
            if within is not None:
                finish(root)
                kinds = {p: p.exists() and p.read_bytes() == new[p] for p in new if p.is_relative_to(root)}
                same = [p for p in kinds if old[p] == new[p]]
                assert len({k for p, k in kinds.items() if p not in same}) <= 1, f"mixed after {steps} steps: {kinds}"
                assert not list(root.rglob(".elastocal-*.part"))
            assert {p: p.stat().st_mtime_ns for p in others} == {p: s.st_mtime_ns for p, s in others.items()}
            for path, content in old.items():
                path.write_bytes(content) if content is not None else path.unlink(missing_ok=True)
            steps += 1
        if within is None:
            assert not list(root.rglob(".elastocal-*.part")), "what killed runs had staged is still there"


@pytest.fixture
def killer(monkeypatch: pytest.MonkeyPatch) -> Iterator[Killer]:
    made = Killer(write.write_files)
    monkeypatch.setattr(write, "write_files", made)
    yield made
    assert made.deaths > 5 * made.writes > 0


@pytest.fixture
def cell(tmp_path: Path) -> Path:
    folder = tmp_path / "cell"
    for place in ("robot", "tables/counts", "plan", "calibration", "programs"):
        (folder / place).mkdir(parents=True)
    (folder / "cell.yaml").write_text("format: elastocal-cell/1\nname: c\n")
    (folder / "robot" / "arm.yaml").write_text(ARM)
    (folder / "robot" / "robot.yaml").write_text(ARM)
    (folder / "plan" / "campaign.yaml").write_text(PLAN.replace("arm.yaml", "../robot/robot.yaml"))
    (folder / "plan" / "plan.csv").write_text(POSES)
    for name, text in (("points", POINTS), ("loops", LOOPS), ("validation", VISITS), ("counts/one", SINGLE)):
        (folder / "tables" / f"{name}.csv").write_text(text)
    return folder


@pytest.mark.parametrize("command", ["arcs", "loops", "iso9283", "transmission"][: 4 if LONG else 1])
def test_tables_and_reports(cell: Path, killer: Killer, command: str) -> None:
    words = ("--robot", "kuka-kr270") if command == "transmission" else ()
    well(command, cell, *words)
    well(command, cell, *words, "--csv", cell / "out.csv")  # over what is there
    well("convert", cell, cell / "robot" / "other.yaml")
    if LONG:
        push = ("--at", "0,-30,60", "--force", "0,0,-100")
        well("deflect", cell, *push, "--csv", cell / "d.csv", "--report", cell / "d.html")
        well("stiffness", cell, "--at", "0,-30,60", "--csv", cell / "s.csv")
    assert killer.writes >= 3


def test_from_plan_to_prediction(cell: Path, killer: Killer) -> None:
    well("simulate", cell)
    well("calibrate", cell)
    if LONG:
        well("predict", cell, "--at", "0,-30,60", "--force", "0,0,-100", "--csv", cell / "p.csv")
        well("export", cell, "--yaml", cell / "robot" / "calibrated.yaml")
    assert killer.writes >= 2


def test_compensate(cell: Path, killer: Killer) -> None:
    lay_program(cell / "programs", "src")
    shutil.copy(
        calibration(cell / "calibration", "kuka-kr270", ("A2.k", "A3.k"), 0.05), cell / "calibration" / "c.json"
    )
    (cell / "calibration" / "c.json").unlink()
    well("compensate", cell, "--force", "-400,0,-150", "--near", HOME)
    well("compensate", cell, "--force", "-300,0,-150", "--near", HOME)
    assert (cell / "programs" / "corrected" / "contour.src").is_file()
    record = json.loads((cell / "records" / "compensate-contour.src.json").read_text())
    assert "programs/corrected/contour.src" in record["outputs"]


def test_outside_of_a_cell_and_a_new_one(tmp_path: Path, killer: Killer) -> None:
    (tmp_path / "points.csv").write_text(POINTS)
    well("arcs", tmp_path / "points.csv", "--csv", tmp_path / "a.csv", "--report", tmp_path / "a.html")
    well("arcs", tmp_path / "points.csv", "--csv", tmp_path / "a.csv", "--report", tmp_path / "a.html")
    assert killer.writes >= 2


@pytest.mark.parametrize("moves", [0, 1, 3])
def test_a_real_kill_between_two_moves_is_finished_by_the_next_run(cell: Path, moves: int) -> None:
    """The journal is the first move; behind it everything is to be done, before it nothing."""
    child = os.fork()
    if child == 0:
        left, real = moves, os.replace

        def replace(*words: Any) -> None:
            nonlocal left
            left -= 1
            if left < 0:
                os.kill(os.getpid(), signal.SIGKILL)
            real(*words)

        os.replace = replace  # type: ignore[assignment]
        os._exit(run_words(["arcs", str(cell)]))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    assert list(cell.rglob(".elastocal-*.part"))
    well("loops", cell)
    assert list(cell.rglob(".elastocal-*")) == []
    made = sorted(p.name for p in cell.rglob("arcs.*"))
    assert made == ([] if moves == 0 else ["arcs.html", "arcs.json", "arcs.json"])
    assert "arcs" not in well("status", cell).out or moves
