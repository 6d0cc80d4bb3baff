"""One command at a time in a folder: a lock that says who holds it and since when.

The system itself gives the lock and takes it back when its owner ends in whatever way, so none is ever stale; a file
that was left by a killed run is free.  A folder that cannot be written to has no lock: nothing will change there.
"""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from stat import S_ISREG

from elastocal.errors import FileError, InputError

NAME = ".elastocal-lock"
POLL = 0.1
"""Seconds between looks at a lock that somebody else holds."""
_FAR = 1 << 30
"""The byte that is locked on Windows, behind all text: what is locked there cannot be read."""
_held: ContextVar[frozenset[Path]] = ContextVar("held", default=frozenset())


@contextmanager
def locked(folder: Path, command: str, wait: Callable[[str], None]) -> Iterator[bool]:
    """Alone in ``folder`` within; ``wait`` is told once who is waited for.  False where there can be no lock."""
    root = folder.resolve()
    if root in _held.get():
        yield True
        return
    handle = _taken(root / NAME, wait)
    if handle is None:
        yield False
        return
    token = _held.set(_held.get() | {root})
    try:
        owner = {"command": command, "process": os.getpid(), "machine": platform.node(), "since": time.time()}
        os.ftruncate(handle, 0)
        os.write(handle, json.dumps(owner).encode())
        yield True
    finally:
        _held.reset(token)
        _release(handle, root / NAME)


def locked_by(folder: Path) -> int | None:
    """The process that holds the lock of a folder; None where it is free, 0 where the owner is not known yet."""
    path = folder / NAME
    if not path.exists():
        return None
    handle = _opened(path)
    if handle is None:
        return None
    try:
        if _try(handle) != "busy":
            if os.name != "nt":
                path.unlink(missing_ok=True)  # it was left by a killed run; nobody else holds it now
            return None
        from elastocal.files.plain_data import parse_json

        process = parse_json(path.read_text(encoding="utf-8")[:4096], path.name)["process"]
        return process if isinstance(process, int) else 0
    except (OSError, ValueError, TypeError, KeyError, InputError):
        return 0
    finally:
        os.close(handle)


def _taken(path: Path, wait: Callable[[str], None]) -> int | None:
    """A handle of the locked file; None where files cannot be made or locked here."""
    warned = False
    while True:
        handle = _opened(path)
        if handle is None:
            return None
        state = _try(handle)
        if state == "taken" and _is(handle, path):
            return handle
        os.close(handle)
        if state == "none":
            return None
        if state == "busy":
            if not warned:
                wait(f"waiting for {_owner(path)} in the same cell")
                warned = True
            time.sleep(POLL)


def _opened(path: Path) -> int | None:
    """Never through a link: its target would be written on."""
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        before = path.lstat() if path.is_symlink() or path.exists() else None
        if before is not None and not (S_ISREG(before.st_mode) and before.st_nlink < 2):
            raise FileError(f"{path}: is a link, and must be a file of this cell; remove it", file=str(path))
        return os.open(path, flags, 0o666)
    except OSError:
        return None


def _try(handle: int) -> str:
    """``taken``, ``busy``, or ``none`` where the file system knows no locks."""
    try:
        if os.name == "nt":
            import msvcrt

            os.lseek(handle, _FAR, os.SEEK_SET)
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
            os.lseek(handle, 0, os.SEEK_SET)
        else:
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return "busy"
    except OSError:
        return "none"
    return "taken"


def _is(handle: int, path: Path) -> bool:
    """Whether the file is still the one that was opened: its last owner removes it."""
    try:
        return os.path.samestat(os.fstat(handle), path.stat())
    except OSError:
        return False


def _release(handle: int, path: Path) -> None:
    if os.name != "nt":  # while it is still locked, so that whoever waits sees that it is gone
        with suppress(OSError):
            path.unlink()
        os.close(handle)
        return
    os.close(handle)
    with suppress(OSError):
        path.unlink()


def _owner(path: Path) -> str:
    """``'elastocal plan' (process 4711 on pc7, for 12 s)``; of a lock that was just taken less is known."""
    from elastocal.files.plain_data import parse_json

    try:
        data = parse_json(path.read_text(encoding="utf-8")[:4096], path.name)
        age = max(0.0, time.time() - float(data["since"]))
        return f"'elastocal {data['command']}' (process {data['process']} on {data['machine']}, for {age:.0f} s)"
    except (OSError, ValueError, TypeError, KeyError, InputError):
        return "another command"
