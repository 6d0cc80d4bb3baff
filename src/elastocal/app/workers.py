"""Who computes, and when it stops: this process, several of this machine or a Dask cluster."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from types import FrameType

from elastocal.errors import ConflictError, ExtraMissingError, FileError, RangeError


@contextmanager
def executor(workers: int | None, cluster: str | None) -> Iterator[Executor | None]:
    """None for this process; ``cluster`` is the address of a Dask scheduler, such as tcp://host:8786."""
    if workers is not None and cluster is not None:
        raise ConflictError("--workers and --cluster both say who computes; keep one")
    if workers is not None and workers < 1:
        raise RangeError(f"--workers {workers}: give at least 1", parameter="workers", value=workers)
    if cluster is not None:
        with _dask(cluster) as pool:
            yield pool
    elif workers is not None and workers > 1:
        from concurrent.futures import ProcessPoolExecutor
        from multiprocessing import get_context

        with ProcessPoolExecutor(workers, get_context("spawn")) as processes:
            yield processes
    else:
        yield None


@contextmanager
def _dask(address: str) -> Iterator[Executor]:
    try:
        from distributed import Client
    except ImportError:
        raise ExtraMissingError.needed("--cluster needs Dask", "cluster") from None
    try:
        client = Client(address, timeout=10)
    except (OSError, ValueError) as error:
        raise FileError(
            f"--cluster {address}: no scheduler answers there ({error}); check the address",
            parameter="cluster",
            value=address,
        ) from None
    try:
        pool: Executor = client.get_executor()
        yield pool
    finally:
        client.close()


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
