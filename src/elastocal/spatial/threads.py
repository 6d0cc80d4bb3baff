"""Linear algebra on one thread: on matrices as small as ours a second one waits longer than it works.

Measured: a calibration of 4 s took minutes with OpenBLAS's own choice of threads on a busy machine.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def hold_process() -> None:
    """Of this process and those it starts, unless the user has said otherwise; only before NumPy is loaded."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def one_thread(call: Callable[P, R]) -> Callable[P, R]:
    """The same call with BLAS held to one thread while it runs; before and after it is as the caller wants it."""

    @wraps(call)
    def held(*args: P.args, **kwargs: P.kwargs) -> R:
        if os.environ.get("OPENBLAS_NUM_THREADS") != "1":
            import scipy.linalg  # noqa: F401  its BLAS is not NumPy's, and must be loaded to be held
        from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

        with threadpool_limits(1, user_api="blas"):
            return call(*args, **kwargs)

    return held
