"""How work stands, on stderr: progress of what takes longer than a moment, and a line renewed during a long job."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from shutil import get_terminal_size

from elastocal.untrusted import shown_plainly

Progress = Callable[[int, int], None]
PATIENCE = 0.7
LINE_EVERY = 2.0
ON_TERMINAL = 0.5
ELSEWHERE = 10.0
"""Seconds between lines."""


@contextmanager
def progress(what: str) -> Iterator[Progress]:
    """A callback (done, total): a bar on a terminal, now and then a line elsewhere."""
    what = shown_plainly(what)
    if sys.stderr.isatty():
        with _bar(what) as callback:
            yield callback
    else:
        yield _lines(what)


@contextmanager
def _bar(what: str) -> Iterator[Progress]:
    from rich.console import Console
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    bar = Bar(
        TextColumn(what, markup=False),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    task = bar.add_task(what, total=None)
    began = time.monotonic()
    started = False

    def callback(done: int, total: int) -> None:
        nonlocal started
        if not started and time.monotonic() - began > PATIENCE:
            bar.start()
            started = True
        bar.update(task, completed=done, total=total)

    try:
        yield callback
    finally:
        bar.stop()


def _lines(what: str) -> Progress:
    last = time.monotonic()

    def callback(done: int, total: int) -> None:
        nonlocal last
        if done < total and time.monotonic() - last > LINE_EVERY:
            last = time.monotonic()
            print(f"{what}: {100 * done // max(total, 1)} %", file=sys.stderr, flush=True)

    return callback


@contextmanager
def live(line: Callable[[], str]) -> Iterator[None]:
    """One line that is renewed on a terminal, one after the other elsewhere; from a thread of its own, so that a slow
    terminal holds up nothing."""
    terminal = sys.stderr.isatty()
    ended = threading.Event()

    def show() -> None:
        while not ended.wait(ON_TERMINAL if terminal else ELSEWHERE):
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
