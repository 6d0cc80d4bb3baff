"""What a reader may do with a damaged file: read it into finite numbers, or refuse it in one sentence, in time."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
from fuzz.readers import Reader

from elastocal.errors import InputError
from elastocal.untrusted import MOST, shown_plainly

SLOWEST = 10.0
"""Seconds of processor time."""


class Hung(Exception):
    """It took longer than it may."""


def outcome(reader: Reader, path: Path) -> str:
    """``read`` or ``refused``; anything else raises."""
    try:
        with in_time():
            value = reader.read(path)
    except InputError as error:
        said = str(error)
        assert said, "a refusal says nothing"
        assert "\n" not in said, said
        assert len(said) <= MOST + 200, said
        assert shown_plainly(said) == said, said
        return "refused"
    wrong = next(infinite(value, reader.unknown), None)
    assert wrong is None, f"accepted: {wrong}"
    return "read"


@contextmanager
def in_time(seconds: float = SLOWEST) -> Iterator[None]:
    """Where the system has timers of processor time."""
    if not hasattr(signal, "setitimer"):
        yield
        return

    def ring(number: int, frame: Any) -> None:
        raise Hung(f"took more than {seconds:g} s")

    before = signal.signal(signal.SIGVTALRM, ring)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def infinite(value: Any, unknown: bool, place: str = "", seen: frozenset[int] = frozenset()) -> Iterator[str]:
    """Numbers in a value that are not finite; nan is allowed where ``unknown``."""
    if id(value) in seen or len(seen) > 30:
        return
    within = seen | {id(value)}
    if isinstance(value, float | np.ndarray | np.floating):
        numbers = np.asarray(value)
        if numbers.dtype.kind == "f":
            bad = np.isinf(numbers) if unknown else ~np.isfinite(numbers)
            if np.any(bad):
                yield f"{place}: {numbers[bad].ravel()[:3] if numbers.ndim else numbers}"
    elif is_dataclass(value) and not isinstance(value, type):
        for f in fields(value):
            yield from infinite(getattr(value, f.name, None), unknown, f"{place}.{f.name}", within)
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from infinite(item, unknown, f"{place}[{key!r}]", within)
    elif isinstance(value, list | tuple | set | frozenset):
        for i, item in enumerate(value):
            yield from infinite(item, unknown, f"{place}[{i}]", within)
