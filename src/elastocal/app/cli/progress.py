"""Progress on stderr, only for work that takes longer than a moment."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Progress = Callable[[int, int], None]
PATIENCE = 0.7
LINE_EVERY = 2.0


@contextmanager
def progress(what: str) -> Iterator[Progress]:
    """A callback (done, total): a bar on a terminal, now and then a line elsewhere."""
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
        TextColumn(what),
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
