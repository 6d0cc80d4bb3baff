"""The lock of a cell as Windows gives it: a byte far behind the text, by msvcrt, here played by a table of bytes."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from elastocal.files import lock


class Msvcrt:
    """Bytes that handles hold; another handle is refused, as by LockFile, and a closed one gives its bytes back."""

    LK_NBLCK, LK_UNLCK = 2, 0

    def __init__(self) -> None:
        self.bytes: dict[tuple[int, int], int] = {}

    def locking(self, handle: int, mode: int, count: int) -> None:
        assert count == 1
        at = (os.fstat(handle).st_ino, os.lseek(handle, 0, os.SEEK_CUR))
        if mode == self.LK_UNLCK:
            del self.bytes[at]
        elif self.bytes.setdefault(at, handle) != handle:
            raise PermissionError(13, "Permission denied")

    def close(self, handle: int) -> None:
        self.bytes = {k: h for k, h in self.bytes.items() if h != handle}
        os.close(handle)


@pytest.fixture
def windows(monkeypatch: pytest.MonkeyPatch) -> Msvcrt:
    made = Msvcrt()
    names: dict[str, Any] = {n: getattr(os, n) for n in dir(os) if not n.startswith("__")}
    monkeypatch.setattr(lock, "os", SimpleNamespace(**names | {"name": "nt", "close": made.close}))
    monkeypatch.setitem(sys.modules, "msvcrt", made)
    return made


def test_a_second_command_waits_for_the_first_and_is_told_who_it_is(tmp_path: Path, windows: Msvcrt) -> None:
    said: list[str] = []
    with lock.locked(tmp_path, "calibrate", said.append) as first:
        assert first
        ((_, place),) = windows.bytes
        assert place == 1 << 30  # the text in front of it can be read by those who wait
        assert lock.locked_by(tmp_path) == os.getpid()

        class Enough(Exception):
            pass

        def told(text: str) -> None:
            said.append(text)
            raise Enough

        with pytest.raises(Enough):
            lock._taken(tmp_path.resolve() / lock.NAME, told)
    assert "calibrate" in said[0]
    assert windows.bytes == {}
    assert lock.locked_by(tmp_path) is None
    with lock.locked(tmp_path, "plan", said.append) as again:
        assert again
    assert len(said) == 1
