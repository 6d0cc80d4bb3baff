"""Linear algebra on one thread: on matrices as small as ours a second one waits longer than it works.

Measured: a calibration of 4 s took minutes with OpenBLAS's own choice of threads on a busy machine.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import cache, wraps
from typing import Any, ParamSpec, TypeVar

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
        with _blas("scipy.linalg" in sys.modules).limit(limits=1, user_api="blas"):
            return call(*args, **kwargs)

    return held


@cache
def _blas(with_scipy: bool) -> Any:
    """The libraries that are loaded: looking for them takes 2 ms, holding them hardly anything."""
    from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

    return ThreadpoolController()
