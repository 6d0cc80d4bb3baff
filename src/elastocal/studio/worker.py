"""The process of a job: ``python -m elastocal.studio.worker [CELL]`` makes itself ready and waits for a line on stdin.

It practises on a copy of CELL, where the work will probably be.

The line is ``[PLACE, FOLDER]``: the job at PLACE is run in its cell, and nothing outside of FOLDER is read, whatever
files of the cell name.  Without a line, because the server has ended, it ends too.
"""

from __future__ import annotations

import io
import json
import logging
import os
import signal
import sys
import threading
import time
from contextlib import redirect_stderr
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any

from elastocal import desk
from elastocal.errors import InputError
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
    with desk.files.locked(place, "job of the studio", lambda message: None):
        job = jobs.read(place)
        if job is None or job.phase != "starting":
            return 2
        teller = _Told(place, replace(job, phase="running"))
        teller.note()
        code, message = _run(place.parents[2], folder, teller)
        phase: jobs.Phase = "cancelled" if code == 130 else "done" if code in (0, 1) else "failed"
        share = 1.0 if phase == "done" else teller.job.share
        data = {**teller.job.data, **(_result(place.parents[2], teller.job.words[0]) if phase == "done" else {})}
        jobs.save(place, replace(teller.job, phase=phase, share=share, said=message, ended=time.time(), data=data))
        return code


def _run(root: Path, folder: Path, teller: _Told) -> tuple[int, str]:
    """The exit code of the command, and the sentence that it ended with."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, stop)
    os.chdir(root)
    heard = io.StringIO()
    try:
        with redirect_stderr(heard), desk.files.reading_within(folder):
            code = desk.run(list(teller.job.words), teller)
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
    data = desk.files.data_of(desk.read_cell(root).path("reports") / f"{command}.json")
    kept: dict[str, Any] = {key: data[key] for key in ("verdict", "errors") if key in data}
    return {**kept, "chosen": next((row["model"] for row in data.get("models", ()) if row.get("chosen")), "")}


class _Called(Exception):
    """There is work to do."""


def wait() -> int:
    lines: list[str] = []
    called = threading.Event()

    def listen() -> None:
        lines.append(sys.stdin.readline())
        called.set()

    def go_on() -> None:
        if called.is_set():
            raise _Called

    threading.Thread(target=listen, daemon=True).start()
    try:
        desk.work.practise(go_on, Path(sys.argv[1]) if sys.argv[1:] else None)
    except (_Called, InputError, OSError):  # work need not wait for it, and says itself what is wrong with a cell
        pass
    except Exception:  # a process that cannot practise still works
        logging.getLogger(__name__).exception("practice before work has failed")
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
