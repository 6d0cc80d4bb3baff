"""The process of a job: ``python -m elastocal.studio.worker`` loads what work needs and waits for a line on stdin.

The line is ``[PLACE, FOLDER]``: the job at PLACE is run in its cell, and nothing outside of FOLDER is read, whatever
files of the cell name.  Without a line, because the server has ended, it ends too.
"""

from __future__ import annotations

import io
import json
import os
import signal
import sys
import threading
import time
from contextlib import redirect_stderr, suppress
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any

from elastocal.studio import jobs

EVERY = 0.1
"""Seconds between notes of the progress."""


class _Told:
    """Progress, kept in the state of the job."""

    def __init__(self, place: Path, job: jobs.Job) -> None:
        self.place, self.job, self.last = place, job, 0.0

    def __call__(self, done: int, total: int, stage: str = "") -> None:
        stages = self.job.stages if not stage or stage in self.job.stages else (*self.job.stages, stage)
        share = done / max(total, 1)
        self.job = replace(self.job, share=share, stage=stage or self.job.stage, stages=stages)
        if time.monotonic() - self.last > EVERY:
            self.note()

    def note(self) -> None:
        self.last = time.monotonic()
        jobs.save(self.place, self.job)


def main(place: Path, folder: Path) -> int:
    from elastocal.files.lock import locked

    with locked(place, "job of the studio", lambda said: None):
        job = jobs.read(place)
        if job is None or job.phase != "starting":
            return 2
        told = _Told(place, replace(job, phase="running"))
        told.note()
        code, said = _run(place.parents[2], folder, told)
        phase: jobs.Phase = "cancelled" if code == 130 else "done" if code in (0, 1) else "failed"
        share = 1.0 if phase == "done" else told.job.share
        data = {**told.job.data, **(_result(place.parents[2], told.job.words[0]) if phase == "done" else {})}
        jobs.save(place, replace(told.job, phase=phase, share=share, said=said, ended=time.time(), data=data))
        return code


def _run(root: Path, folder: Path, told: _Told) -> tuple[int, str]:
    """The exit code of the command, and the sentence that it ended with."""
    from elastocal.app.desk.cell import run
    from elastocal.files.opened import reading_within

    def stop(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, stop)
    os.chdir(root)
    heard = io.StringIO()
    try:
        with redirect_stderr(heard), reading_within(folder):
            code = run(list(told.job.words), told)
    except KeyboardInterrupt:
        return 130, ""
    finally:
        sys.stderr.write(heard.getvalue())
    lines = [
        line.removeprefix("elastocal: ") for line in heard.getvalue().splitlines() if line.startswith("elastocal: ")
    ]
    return code, lines[-1] if code == 2 and lines else ""


def _result(root: Path, command: str) -> dict[str, Any]:
    """What the report says of errors, to be compared with other runs when this one has been replaced."""
    from elastocal.files.cell_yaml import read_cell
    from elastocal.studio.folder import data_of

    said = data_of(read_cell(root).path("reports") / f"{command}.json")
    kept: dict[str, Any] = {key: said[key] for key in ("verdict", "errors") if key in said}
    return {**kept, "chosen": next((row["model"] for row in said.get("models", ()) if row.get("chosen")), "")}


LOADED = ("app.cells.run", "app.commands.calibrate", "app.pages.calibrate", "files.campaign.observed")
"""Modules of the package that a command on a cell needs beside the calibration itself."""


class _Called(Exception):
    """There is work to do."""


def _practise(called: threading.Event) -> None:
    """Calibrate something small: what is imported where it is used is there when it counts; work need not wait."""

    def go_on(step: object = None) -> None:
        if called.is_set():
            raise _Called

    for name in ("elastocal.app.cli.main", "numpy", "elastocal", *(f"elastocal.{n}" for n in LOADED), "rich.console"):
        import_module(name)
        go_on()
    import numpy as np

    import elastocal as ec

    robot, k = ec.read_robot("cylindrical"), np.arange(9)
    q = np.column_stack([0.1 + 0.08 * k, np.cos(k), 0.4 + 0.05 * (k % 5)])
    force = np.zeros((9, 6))
    force[k, k % 3] = 900.0
    moved = ec.deflection(robot, q, force).translation + 1e-5 * np.cos(7.0 * np.arange(27)).reshape(9, 3)
    data = ec.Campaign(q=q, deflection=moved, wrench=force, length="m", angle="rad", noise=1e-5)
    with TemporaryDirectory(prefix="elastocal-") as made:
        cal = ec.calibrate(robot, data, ["compliance"], progress=go_on)
        go_on()
        cal.report(Path(made) / "report.html")


def wait() -> int:
    lines: list[str] = []
    called = threading.Event()

    def listen() -> None:
        lines.append(sys.stdin.readline())
        called.set()

    threading.Thread(target=listen, daemon=True).start()
    with suppress(_Called):
        _practise(called)
    called.wait()
    if not lines[0]:
        return 0
    place, folder = map(Path, json.loads(lines[0]))
    with (place / "log.txt").open("wb") as log:
        for number in (1, 2):
            os.dup2(log.fileno(), number)
    return main(place, folder)


if __name__ == "__main__":
    try:
        sys.exit(wait())
    except KeyboardInterrupt:
        sys.exit(130)
