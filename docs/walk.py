"""Counts what runs between a line of readings and a corrected line: the table of ``docs/architecture.md``.

    python docs/walk.py

The files are those of the tutorial ``tracker-file.md``; every way is gone twice and counted the second time.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import numpy as np

import elastocal as ec
from elastocal.app.cli.main import run_words

PAGE = Path(__file__).with_name("tutorials") / "tracker-file.md"
SOURCES = str(Path(ec.__file__).parent)
FILE = re.compile(r"^```\{code-block\} \w+\n:caption: (\S+)\n\n?(.*?)^```$", re.MULTILINE | re.DOTALL)
TABLES = re.compile(r"^```python\n(import numpy.*?)^```$", re.MULTILINE | re.DOTALL)


def counted(way: Callable[[], object]) -> tuple[int, int]:
    """Modules of which at least one function runs, and functions that have a name."""
    way()
    seen: set[tuple[str, str]] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(SOURCES) and code.co_name != "<module>":
            seen.add((code.co_filename, code.co_qualname))

    sys.setprofile(note)
    try:
        way()
    finally:
        sys.setprofile(None)
    return len({file for file, _ in seen}), sum(not name.endswith(">") for _, name in seen)


def main() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for name, content in FILE.findall(text):
        Path(name).write_text(content, encoding="utf-8")
    exec(TABLES.search(text)[1], {})  # type: ignore[index]
    robot = ec.read_robot("arm.urdf", tool="flange")
    table = np.loadtxt("readings.csv", delimiter=",", skiprows=1)
    data = ec.Campaign(q=table[:, :6], position=table[:, 6:], length="mm", angle="deg")

    def by_command() -> None:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            assert run_words(["calibrate", "campaign.yaml", "--out", "again.json", "--report", "again.html"]) == 0

    def to_program() -> None:
        cal = ec.calibrate(*ec.read_campaign("campaign.yaml"))
        ec.compensate(cal, ec.read_program("slot.src")).write("corrected")

    ways: tuple[tuple[str, str, Callable[[], object]], ...] = (
        ("arrays (`ec.calibrate`)", "`Calibration`", lambda: ec.calibrate(robot, data)),
        (
            "campaign file (`ec.read_campaign`)",
            "`Calibration`",
            lambda: ec.calibrate(*ec.read_campaign("campaign.yaml")),
        ),
        ("campaign file, by the command", "report and calibration file", by_command),
        ("campaign file, in Python", "corrected program", to_program),
    )
    print("| from | to | modules | functions |\n|---|---|---|---|")
    for start, end, way in ways:
        modules, functions = counted(way)
        print(f"| {start} | {end} | {modules} | {functions} |")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        main()
        os.chdir("/")
