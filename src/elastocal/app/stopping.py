"""Stopping on request: Ctrl-C and SIGTERM end a long job in good order, with its answer."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Request:
    """``by`` names the signal once one has come."""

    by: str | None = None


@contextmanager
def stoppable() -> Iterator[Request]:
    request = Request()

    def note(number: int, frame: FrameType | None) -> None:
        request.by = {signal.SIGINT: "Ctrl-C", signal.SIGTERM: "SIGTERM"}[signal.Signals(number)]

    before = {s: signal.signal(s, note) for s in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield request
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
