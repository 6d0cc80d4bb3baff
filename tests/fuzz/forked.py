"""Processes that a reader starts, forked from this one: importing takes most of their time."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch


@contextmanager
def forked_expansion() -> Iterator[None]:
    """A copy of this process, which has xacrodoc already, expands xacro files; where the system cannot, as ever."""
    if not hasattr(os, "fork"):
        yield
        return
    import xacrodoc  # noqa: F401  (the copies have it)

    with patch("elastocal.files.robot.xacro.subprocess.run", _run):
        yield


def _run(words: Sequence[str], timeout: float, **_: object) -> subprocess.CompletedProcess[bytes]:
    """What ``python -c CODE ARGUMENTS`` gives."""
    _, _, code, *arguments = words
    with TemporaryDirectory() as folder:
        out, err = Path(folder, "out"), Path(folder, "err")
        child = os.fork()
        if child == 0:
            _become(code, arguments, int(timeout), out, err)
        status = os.waitpid(child, 0)[1]
        if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGALRM:
            raise subprocess.TimeoutExpired(words, timeout)
        return subprocess.CompletedProcess(words, os.waitstatus_to_exitcode(status), out.read_bytes(), err.read_bytes())


def _become(code: str, arguments: Sequence[str], seconds: int, out: Path, err: Path) -> None:
    """Never returns."""
    import traceback

    status = 1
    try:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(seconds)
        for number, path in ((1, out), (2, err)):
            os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT), number)
        sys.argv = ["-c", *arguments]
        exec(code, {"__name__": "__main__"})
        sys.stdout.flush()
        status = 0
    except BaseException:
        os.write(2, traceback.format_exc().encode())
    finally:
        os._exit(status)
