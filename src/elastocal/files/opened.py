"""Which files a result rests on: every reader of this folder tells what it has read, whoever watches gets a list.

The marks are of the bytes that were read, not of what a file holds by the time that someone asks.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from elastocal.errors import InputError

SHIPPED = "shipped:"
"""Before the name of a robot that comes with the package."""
_watcher: ContextVar[dict[str, str] | None] = ContextVar("watcher", default=None)


@contextmanager
def watching() -> Iterator[dict[str, str]]:
    """SHA-256 by path, as the path was given, of everything that is read within."""
    seen: dict[str, str] = {}
    token = _watcher.set(seen)
    try:
        yield seen
    finally:
        _watcher.reset(token)


def noted(name: str | Path, content: bytes) -> bytes:
    """Tell the watcher that ``content`` was read under this name."""
    seen = _watcher.get()
    if seen is not None:
        seen[str(name)] = hashlib.sha256(content).hexdigest()
    return content


def note_file(path: Path) -> None:
    """The same for a file that is read in pieces."""
    seen = _watcher.get()
    if seen is not None:
        seen[str(path)] = sha256_of(path)


def note_marks(marks: Mapping[str, str]) -> None:
    """Tell the watcher what a part of its work has read, which had a watcher of its own."""
    seen = _watcher.get()
    if seen is not None:
        seen.update(marks)


def read_bytes(path: Path) -> bytes:
    return noted(path, _bytes(path))


def sha256_of(path: Path) -> str:
    """Of the bytes of a file, in hexadecimal digits; asking for it is not reading."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise unreadable(path, error) from None


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise unreadable(path, error) from None


def unreadable(path: Path, error: OSError) -> InputError:
    """What to tell of a file that the system does not give."""
    if isinstance(error, FileNotFoundError):
        return InputError(f"{path}: no such file; check the name")
    return InputError(f"{path}: cannot be read ({error.strerror}); check the name and its permissions")
