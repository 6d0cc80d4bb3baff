"""One BLAS thread: on chunks this small two threads were measured slower than one."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any


def one_thread() -> AbstractContextManager[Any]:
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    limits: AbstractContextManager[Any] = threadpool_limits(1)
    return limits
