"""A log only grows: a line given to the system is not lost when the program is killed.

Every line is handed to the operating system whole, before ``add`` returns; from then on it outlives the program.  A
thread of its own asks the disk every ``SYNC_EVERY`` seconds to keep what it has, so a power cut costs at most that
much, and whoever adds lines never waits for the disk.
"""

from __future__ import annotations

import os
import threading
from pathlib import Path
from types import TracebackType
from typing import Self

from elastocal.errors import InputError
from elastocal.files.confined import check_inside

SYNC_EVERY = 1.0
"""In s."""
_AS_IT_IS: int = getattr(os, "O_BINARY", 0)
"""Windows would put a carriage return before every line end."""


class AppendedLog:
    """A new file; one that exists is refused, since a recording cannot be had again.

    Where nothing followed the first line the file is removed in the end: it would only stand in the way of a retry.
    """

    def __init__(self, path: Path, first_line: bytes) -> None:
        check_inside(path)
        try:
            self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL | _AS_IT_IS, 0o666)
        except FileExistsError:
            raise InputError(
                f"{path}: exists already; choose another name, no recording is overwritten",
                code="would-replace",
                file=str(path),
                parameter="out",
            ) from None
        except OSError as error:
            message = f"{path}: cannot be written ({error.strerror}); choose another place"
            raise InputError(message, code="not-writable", file=str(path), parameter="out") from None
        self._path = path
        self.size = 0
        self._failed: OSError | None = None
        self._ended = threading.Event()
        self._syncing = threading.Thread(target=self._sync, daemon=True)
        self.add(first_line)
        self._bare = True
        self._syncing.start()

    def add(self, line: bytes) -> None:
        """The line and its end; raises OSError where the disk is full or has failed."""
        if self._failed is not None:
            raise self._failed
        self._bare = False
        rest = memoryview(line + b"\n")
        self.size += len(rest)
        while rest:
            rest = rest[os.write(self._file, rest) :]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._syncing.join()
        os.close(self._file)
        if self._bare:
            self._path.unlink(missing_ok=True)

    def _sync(self) -> None:
        try:
            while not self._ended.wait(SYNC_EVERY):
                os.fsync(self._file)
            os.fsync(self._file)
        except OSError as error:
            self._failed = error
