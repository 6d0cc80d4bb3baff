"""The same task for several random streams, here or on workers; the result does not depend on who does what.

Every piece gets its own stream, a child of the caller's, and results come back in the order of the streams.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from typing import TypeVar

import numpy as np

Result = TypeVar("Result")


def in_parallel(
    task: Callable[[int, np.random.Generator], Result],
    count: int,
    rng: np.random.Generator,
    executor: Executor | None = None,
) -> tuple[Result, ...]:
    """task(0, stream), task(1, stream), ...; it must be picklable where the executor runs other processes."""
    streams = rng.spawn(count)
    if executor is None:
        return tuple(map(task, range(count), streams))
    return tuple(executor.map(task, range(count), streams))
