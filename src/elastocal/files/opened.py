"""Files that are read: their bytes, which of them a result rests on, and the paths that stand in files.

Every reader of this folder tells what it has read, whoever watches gets a list.  The marks are of the bytes that were
read, not of what a file holds by the time that someone asks.  Paths are the same on every system, so that a cell made
on one of them works on all: written with / between the folders, read with the backslash too.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from stat import S_ISDIR, S_ISFIFO, S_ISREG
from typing import TYPE_CHECKING

from elastocal.errors import FileError, InputError

if TYPE_CHECKING:
    from elastocal.files.located import Located, Path_


SHIPPED = "shipped:"
"""Before the name of a robot that comes with the package."""
LARGEST = 256 << 20
"""Bytes of a file that is read as a whole."""
_watcher: ContextVar[dict[str, str] | None] = ContextVar("watcher", default=None)
_readable: ContextVar[Path | None] = ContextVar("readable", default=None)


@contextmanager
def watching() -> Iterator[dict[str, str]]:
    """SHA-256 by path, as the path was given, of everything that is read within."""
    seen: dict[str, str] = {}
    token = _watcher.set(seen)
    try:
        yield seen
    finally:
        _watcher.reset(token)


@contextmanager
def reading_within(folder: Path) -> Iterator[None]:
    """Within it no file outside of ``folder`` is read, whatever a file of somebody else names or links to."""
    token = _readable.set(folder.resolve())
    try:
        yield
    finally:
        _readable.reset(token)


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
        _check_kind(path)
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except (OSError, ValueError) as error:
        raise unreadable(path, error) from None


def _bytes(path: Path) -> bytes:
    try:
        _check_kind(path)
        with path.open("rb") as file:
            content = file.read(LARGEST + 1)
    except (OSError, ValueError) as error:
        raise unreadable(path, error) from None
    if len(content) > LARGEST:
        message = (
            f"{path}: is larger than {LARGEST >> 20} MiB, which is read as a whole; split it, or give every tenth line"
        )
        raise InputError(message, code="too-large", file=str(path))
    return content


def _check_kind(path: Path) -> None:
    """Refuse what never ends or waits for ever: devices, and pipes but for those that a shell has put under /dev."""
    folder = _readable.get()
    if folder is not None and not path.resolve().is_relative_to(folder):
        message = f"{path}: lies outside of the folder {folder.name}, and is not read; copy it into the cell"
        raise InputError(message, code="outside", file=str(path))
    mode = path.stat().st_mode
    if S_ISREG(mode) or S_ISDIR(mode) or (S_ISFIFO(mode) and path.absolute().is_relative_to("/dev")):
        return
    message = f"{path}: is a device or a pipe, not a file; copy what it holds into a file"
    raise InputError(message, code="no-file", file=str(path))


def unreadable(path: Path, error: OSError | ValueError) -> InputError:
    """What to tell of a file that the system does not give."""
    if isinstance(error, FileNotFoundError):
        return InputError(f"{path}: no such file; check the name", code="no-file", file=str(path))
    why = error.strerror if isinstance(error, OSError) else error
    message = f"{path}: cannot be read ({why}); check the name and its permissions"
    return InputError(message, code="no-file", file=str(path))


def path_of(word: str) -> Path:
    r"""The path that a word of a file names; both / and \ stand between folders."""
    return Path(word.replace("\\", "/"))


def seen_from(path: Path | str, folder: Path) -> str:
    """A path as it is to be written into a file of ``folder``; one on another drive stays whole."""
    try:
        return Path(os.path.relpath(path, folder)).as_posix()
    except ValueError:
        return Path(path).absolute().as_posix()


def existing(located: Located, path: Path_, word: str) -> Path:
    """The file that a word of a YAML file names, seen from the folder of that one."""
    own = Path(located.file)
    file = own.parent / path_of(word)
    if os.path.isfile(file):  # unlike Path.is_file it takes any word
        return file
    if not word.isprintable():
        problem = rf"{word!r} is no name; between double quotes write / in place of \ between folders"
        raise located.error(path, problem, FileError, code="no-file", value=word)
    problem = f"there is no file {file.as_posix()}; give its name as seen from {own.name}"
    raise located.error(path, problem, FileError, code="no-file", value=word)
