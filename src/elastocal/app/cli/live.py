"""A line on stderr that tells how a long job stands, from a thread of its own: a slow terminal holds up nothing."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from shutil import get_terminal_size

ON_TERMINAL = 0.5
ELSEWHERE = 10.0
"""Seconds between lines."""


@contextmanager
def live(line: Callable[[], str]) -> Iterator[None]:
    """One line that is renewed on a terminal, one after the other elsewhere."""
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
