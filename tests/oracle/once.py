"""What takes long is made once for all processes of a run."""

from __future__ import annotations

import os
import pickle
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Demonstration:
    folder: Path
    text: str


def once(place: Path, make: Callable[[], Any]) -> Any:
    """Made by the first process that asks for it, read from ``place`` by the others."""
    lock = place.with_suffix(".lock")
    while not place.exists():
        try:
            os.close(os.open(lock, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            time.sleep(0.05)
            continue
        try:
            if not place.exists():
                unfinished = place.with_suffix(".unfinished")
                unfinished.write_bytes(pickle.dumps(make()))
                unfinished.replace(place)
        finally:
            lock.unlink()
    return pickle.loads(place.read_bytes())
