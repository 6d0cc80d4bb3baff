"""Pauses the search for cycles while long-lived values are made by the thousand.

Python looks through all of them again and again as their number grows; none of them can be part of a cycle.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def unsearched() -> Iterator[None]:
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()
