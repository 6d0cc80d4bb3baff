"""Long work: a command of the package on a cell, in a process of its own that outlives browser and server.

A job is a folder ``.studio/jobs/ID`` in the cell: ``job.json`` is what was asked for, ``state.json`` how far it is.
The process holds the lock of that folder as long as it lives, and the system takes it back however it ends; so a job
whose state says "running" and whose lock is free was interrupted, and says at which stage.  Its cell is whole in any
case: results are written in one step or not at all.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable
from dataclasses import asdict, field, replace
from pathlib import Path
from typing import Any, Literal

from elastocal.desk.files import locked_by, parse_json
from elastocal.errors import InputError
from elastocal.values import dataclass

PLACE = Path(".studio") / "jobs"
KEPT = 20
"""Jobs of a cell that are remembered."""
STARTING = 90.0
"""Seconds that a process may take until it holds its lock."""
NEXT = 4.0
"""Seconds after the start of work until the next process is made ready."""
PATIENCE = 3.0
"""Seconds between asking a process to stop and ending it."""
_ONE = threading.Lock()
Phase = Literal["starting", "running", "done", "failed", "cancelled", "interrupted"]


@dataclass(frozen=True)
class Job:
    """``words`` follow ``elastocal``, typed in the folder of the cell; ``stages`` are those it has gone through.

    ``said`` is the sentence of a failure, ``share`` how much is done, from 0 to 1.
    """

    id: str
    words: tuple[str, ...]
    title: str
    asked: float
    phase: Phase = "starting"
    share: float = 0.0
    stage: str = ""
    stages: tuple[str, ...] = ()
    said: str = ""
    ended: float | None = None
    page: str = ""
    data: dict[str, Any] = field(default_factory=dict)

    @property
    def active(self) -> bool:
        return self.phase in ("starting", "running")

    @property
    def sentence(self) -> str:
        """How it stands, for people."""
        text = f" at: {self.stage}" if self.stage else ""
        return {
            "starting": f"{self.title}: starting",
            "running": f"{self.title}: {self.stage or 'running'}",
            "done": f"{self.title}: done",
            "failed": f"{self.title}: {self.said}",
            "cancelled": f"{self.title} was cancelled{text}. Nothing was changed.",
            "interrupted": f"{self.title} was interrupted{text}: its process ended (power, restart or killed). "
            "The cell is as it was before; run it again.",
        }[self.phase]


def start(root: Path, folder: Path, words: tuple[str, ...], title: str, page: str, **data: Any) -> Job:
    """Begin; one job runs in a cell at a time, and it reads nothing outside of ``folder``."""
    asked = time.time()  # names sort by it: a refit may begin in the second that a fit did
    name = f"{time.strftime('%Y%m%d-%H%M%S', time.gmtime(asked))}-{int(asked % 1 * 1e6):06d}-{secrets.token_hex(3)}"
    job = Job(name, words, title, asked, page=page, data=data)
    place = root / PLACE / name
    with _ONE:  # two browsers may ask at once
        busy = running(root)
        if busy is not None:
            message = f"'{busy.title}' is running in this cell; wait until it is done, or cancel it"
            raise InputError(message, code="busy")
        place.mkdir(parents=True)
        save(place, job)
    ignore = root / PLACE.parts[0] / ".gitignore"
    ignore.write_text("*\n", encoding="utf-8")
    _SPARE.work(place, folder)
    _forget(root)
    return job


class _Spare:
    """A process that has loaded everything and waits, so that a click need not; it ends with the server.

    Once it has been told what to do, nothing ties it to the server any more.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def keep(self, cell: Path | None) -> None:
        with self._lock:
            if self._process is None or self._process.poll() is not None:
                self._process = self._begun(cell)

    def work(self, place: Path, folder: Path) -> None:
        with self._lock:
            waiting = self._process is not None and self._process.poll() is None
            process = self._process if waiting and self._process is not None else self._begun(place.parents[2])
            self._process = None
        assert process.stdin is not None
        process.stdin.write(json.dumps([str(place), str(folder)]).encode() + b"\n")
        process.stdin.close()
        if waiting:  # where a server runs: the next one, when this work has got going
            timer = threading.Timer(NEXT, self.keep, (place.parents[2],))
            timer.daemon = True
            timer.start()

    @staticmethod
    def _begun(cell: Path | None) -> subprocess.Popen[bytes]:
        words = [] if cell is None else [str(cell)]
        return subprocess.Popen(
            [sys.executable, "-m", "elastocal.studio.worker", *words], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, start_new_session=True, close_fds=True,
        )  # fmt: skip


_SPARE = _Spare()


def keep_spare(cells: Iterable[Path]) -> None:
    """Have a process ready for the first work, which is probably on the cell that was worked on last."""
    last = [(job.asked, cell) for cell in cells if (job := latest(cell)) is not None]
    _SPARE.keep(max(last)[1] if last else None)


def save(place: Path, job: Job) -> None:
    """In one step: whoever reads sees the state before or after."""
    temporary = place / f"state.{os.getpid()}.part"
    temporary.write_text(json.dumps(asdict(job)), encoding="utf-8")
    os.replace(temporary, place / "state.json")


def read(place: Path) -> Job | None:
    """As it really stands; None for a folder that holds no job."""
    alive = locked_by(place)  # before the state: it cannot end unseen in between
    known = _state(place)
    if known is None or not known.active or alive is not None:
        return known
    if known.phase == "starting" and time.time() - known.asked <= STARTING:
        return known
    again = _state(place)  # it may have ended between two looks
    return replace(known, phase="interrupted") if again is None or again.phase == known.phase else read(place)


def _state(place: Path) -> Job | None:
    try:
        data = parse_json((place / "state.json").read_text(encoding="utf-8"), "state.json")
        return Job(**{**data, "words": tuple(data["words"]), "stages": tuple(data["stages"]), "id": place.name})
    except (OSError, ValueError, TypeError, KeyError, InputError):
        return None


def every(root: Path) -> tuple[Job, ...]:
    """The jobs of a cell, the latest first."""
    folder = root / PLACE
    names = sorted((p.name for p in folder.iterdir() if p.is_dir()), reverse=True) if folder.is_dir() else []
    return tuple(job for name in names if (job := read(folder / name)) is not None)


def latest(root: Path) -> Job | None:
    return next(iter(every(root)), None)


def running(root: Path) -> Job | None:
    return next((job for job in every(root) if job.active), None)


def find(root: Path, name: str) -> Job:
    job = next((j for j in every(root) if j.id == name), None)
    if job is None:
        raise InputError("this job is not known any more; look at the page of the cell", code="no-job", value=name)
    return job


def cancel(root: Path, name: str) -> Job:
    """Ask the process to stop, and end it if it does not."""
    job = find(root, name)
    place = root / PLACE / job.id
    for wanted in (signal.SIGTERM, getattr(signal, "SIGKILL", signal.SIGTERM)):
        owner = locked_by(place)  # only a process that holds this lock is ours
        if owner is None or not find(root, name).active:
            break
        os.kill(owner, wanted)
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end and locked_by(place) is not None:
            time.sleep(0.05)
    now = find(root, name)
    if now.phase == "interrupted":
        now = replace(now, phase="cancelled", ended=time.time())
        save(place, now)
    return now


def _forget(root: Path) -> None:
    for old in every(root)[KEPT:]:
        if not old.active:
            shutil.rmtree(root / PLACE / old.id, ignore_errors=True)
