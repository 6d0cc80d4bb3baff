"""BLAS is held to one thread while a call runs, and is as it was afterwards."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys

import pytest
import scipy.linalg  # noqa: F401
from threadpoolctl import threadpool_info, threadpool_limits

import elastocal as ec
from elastocal.spatial.threads import one_thread


def _threads() -> set[int]:
    return {lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"}


def test_one_while_it_runs_and_as_before_afterwards():
    with threadpool_limits(2, user_api="blas"):
        assert one_thread(_threads)() == {1}
        assert _threads() == {2}
        with pytest.raises(ZeroDivisionError):
            one_thread(lambda: 1 / 0)()
        assert _threads() == {2}


LATER = """
import numpy
from elastocal.spatial.threads import one_thread
from threadpoolctl import threadpool_info, threadpool_limits
threads = lambda: {lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"}
for module in ("numpy", "scipy.linalg"):
    __import__(module)
    with threadpool_limits(2, user_api="blas"):
        print(one_thread(threads)(), threads())
"""


def test_a_library_that_is_loaded_after_the_first_call_is_held_too():
    """SciPy has a BLAS of its own, and a short command does not load it before it is asked for."""
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
    said = subprocess.run([sys.executable, "-c", LATER], env=environment, capture_output=True, text=True, check=True)
    assert said.stdout.split("\n") == ["{1} {2}", "{1} {2}", ""]


CALLS = {name: getattr(ec, name) for name in ("calibrate", "plan", "compensate")}
CALLS |= {name: getattr(ec.procedures, name).identify for name in ("gravity", "transmission", "loops", "contact")}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_the_long_calls_of_the_front_door_are_held(call):
    assert inspect.unwrap(call) is not call
