"""How work stands, on stderr: progress of what takes longer than a moment, and a line renewed during a long job."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from shutil import get_terminal_size
from typing import Any, Protocol

PATIENCE = 0.05
"""Seconds after which work is shown on a terminal; what is done before says nothing."""
LINE_EVERY = 2.0
"""Elsewhere, where every line stays: seconds before the first and between others."""
ON_TERMINAL = 0.5
ELSEWHERE = 10.0
"""Seconds between lines."""


class Progress(Protocol):
    """Told how much of the work is done, and the stage that it is in."""

    def __call__(self, done: int, total: int, stage: str = "") -> None: ...


_listener: ContextVar[Progress | None] = ContextVar("listener", default=None)
_shown: ContextVar[Progress | None] = ContextVar("shown", default=None)


def stage(done: int, total: int, name: str) -> None:
    """Tell the progress in which this runs, if any, that ``name`` begins."""
    shown = _shown.get()
    if shown is not None:
        shown(done, total, name)


@contextmanager
def told_to(listener: Progress) -> Iterator[None]:
    """Within it progress goes to ``listener`` in place of stderr."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


@contextmanager
def progress(what: str, reported: bool = True) -> Iterator[Progress]:
    """Shows the work while it lasts: a bar with stage and times on a terminal, now and then a line elsewhere.

    The first sign of life comes from a thread of its own, since the work may tell nothing for long.  Work that is not
    ``reported`` of has a name and a clock on a terminal, and no line elsewhere.
    """
    listener = _listener.get()
    if listener is not None:
        with _as_shown(listener):
            yield listener
        return
    terminal = sys.stderr.isatty()
    shown: _Bar | _Lines = _Bar(what) if terminal else _Lines(what)
    timer = threading.Timer(PATIENCE if terminal else LINE_EVERY, shown.start)
    timer.daemon = True
    if terminal or reported:
        timer.start()
    try:
        with _as_shown(shown):
            yield shown
    finally:
        timer.cancel()
        shown.stop()


@contextmanager
def _as_shown(progress: Progress) -> Iterator[None]:
    token = _shown.set(progress)
    try:
        yield
    finally:
        _shown.reset(token)


class _Bar:
    def __init__(self, what: str) -> None:
        self.what = what
        self.state: tuple[int, int | None, str] = (0, None, "")
        self.bar: Any = None
        self.lock = threading.Lock()
        self.ended = self.written = False

    def start(self) -> None:
        with self.lock:
            if self.ended:
                return
            self.written = True
            sys.stderr.write(f"{self.what} ...\r")  # at once: the bar, which takes its place, is slow to load
            sys.stderr.flush()
        from rich.console import Console
        from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        with self.lock:
            if self.ended:
                return
            times = (TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn())
            words = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), *times)
            self.bar = Bar(*words, console=Console(stderr=True), transient=True)
            done, total, stage = self.state
            self.bar.add_task(self._words(stage), total=total, completed=done)
            self.bar.start()

    def __call__(self, done: int, total: int, stage: str = "") -> None:
        with self.lock:
            self.state = (done, total, stage)
            if self.bar is not None:
                task = self.bar.task_ids[0]
                self.bar.update(task, completed=done, total=total, description=self._words(stage))

    def stop(self) -> None:
        with self.lock:
            self.ended = True
            if self.bar is not None:
                self.bar.stop()
            if self.written:  # blanks: not every console of Windows knows how to clear a line
                sys.stderr.write(" " * (len(self.what) + 4) + "\r")
                sys.stderr.flush()

    def _words(self, stage: str) -> str:
        return f"{self.what}: {stage}" if stage else self.what


class _Lines:
    def __init__(self, what: str) -> None:
        self.what, self.last, self.begun = what, time.monotonic(), time.monotonic()

    def start(self) -> None:
        print(f"{self.what}: started", file=sys.stderr, flush=True)

    def __call__(self, done: int, total: int, stage: str = "") -> None:
        now = time.monotonic()
        if done < total and now - self.last > LINE_EVERY:
            self.last = now
            message = f"{100 * done // max(total, 1)} %, {now - self.begun:.0f} s" + (f", {stage}" if stage else "")
            print(f"{self.what}: {message}", file=sys.stderr, flush=True)

    def stop(self) -> None:
        pass


@contextmanager
def live(line: Callable[[], str]) -> Iterator[None]:
    """One line at once, renewed on a terminal, one after the other elsewhere; from a thread of its own, so that a slow
    terminal holds up nothing."""
    terminal = sys.stderr.isatty()
    ended = threading.Event()

    def show() -> None:
        pause = 0.0
        while not ended.wait(pause):
            pause = ON_TERMINAL if terminal else ELSEWHERE
            width = get_terminal_size().columns - 1  # a line that wraps could not be renewed
            # blanks wipe out what stood there: not every console of Windows knows how to clear a line
            sys.stderr.write(f"\r{line()[:width]:<{width}}" if terminal else f"{line()}\n")
            sys.stderr.flush()

    thread = threading.Thread(target=show, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join(1.0)
        if terminal:
            print(file=sys.stderr)
