"""A cell writes only inside itself, and what a killed run leaves there is finished by the next one.

The cell.yaml of a cell that was received may name any place, and a folder of it may be a link that leads elsewhere.
Within ``confined`` all that this package writes is checked by where it would really go; only places that the user has
typed may lie elsewhere.

Files are staged beside their targets as ``.elastocal-PROCESS-....part``.  In a cell the moves that are about to be made
stand in ``.elastocal-journal`` before the first of them.  The next run, alone in the cell by its lock, makes those that
are left: all results of the killed run and its record, or, where it was killed before, none.
"""

from __future__ import annotations

import json
import os
import platform
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from zlib import crc32

from elastocal.errors import InputError
from elastocal.values import dataclass


@dataclass(frozen=True)
class Bounds:
    """``root`` is the folder of the cell, ``typed`` are places elsewhere; all are resolved."""

    root: Path
    typed: tuple[Path, ...] = ()

    def hold(self, path: Path) -> bool:
        place = path.resolve()
        return any(place.is_relative_to(folder) for folder in (self.root, *self.typed))


_bounds: ContextVar[Bounds | None] = ContextVar("bounds", default=None)


@contextmanager
def confined(root: Path, typed: tuple[Path, ...] = ()) -> Iterator[Bounds]:
    """Within it nothing is written outside of ``root`` but in ``typed`` places and below them."""
    bounds = Bounds(root.resolve(), tuple(path.resolve() for path in typed))
    token = _bounds.set(bounds)
    try:
        yield bounds
    finally:
        _bounds.reset(token)


def bounds() -> Bounds | None:
    """Where this run may write; None where it may anywhere."""
    return _bounds.get()


def check_inside(path: Path, name: str = "") -> None:
    """Refuse a place out of bounds; ``name`` is what the user knows it by."""
    within = _bounds.get()
    if within is None or within.hold(path):
        return
    place = path.resolve()
    raise InputError(
        f"{f'{name} ' if name else ''}{path}: would be written to {place}, outside of the cell; what a cell says or "
        "links to is written inside of it only, so type the place on the command line if it is meant",
        code="outside",
        file=str(path),
        value=str(place),
    )


PART = ".part"
JOURNAL = ".elastocal-journal"
LARGEST = 1 << 20
"""Bytes of a journal: it names files."""
OLD = 3600.0
"""Seconds after which a staged file is nobody's, whatever machine has made it."""
_PART = re.compile(r"\.elastocal-([0-9a-f]{8})-([0-9]{1,10})-\w+\.part")
_PASSED_BY = {".git", ".venv", "node_modules"}


def part_prefix() -> str:
    """Of the names of staged files: they tell machine and process."""
    return f".elastocal-{_machine()}-{os.getpid()}-"


def _machine() -> str:
    return f"{crc32(platform.node().encode()):08x}"


@contextmanager
def noted_moves(staged: Mapping[str, Path]) -> Iterator[None]:
    """The moves from staged files to their targets are about to be made: noted in the journal of the cell, if any."""
    within = bounds()
    inside = {} if within is None else {t: p for t, p in staged.items() if p.is_relative_to(within.root)}
    if within is None or len(inside) < 2:
        yield
        return
    journal = within.root / JOURNAL
    names = {_name(temporary, within.root): _name(place, within.root) for temporary, place in inside.items()}
    unfinished = journal.with_name(f"{part_prefix()}journal{PART}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    try:
        with os.fdopen(os.open(unfinished, flags, 0o666), "w", encoding="utf-8") as file:
            json.dump(names, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(unfinished, journal)
        yield
    except BaseException:
        if all(Path(temporary).exists() for temporary in inside):  # nothing was moved: nothing is to be finished
            _remove(unfinished, journal)
        raise
    _remove(journal)


def _remove(*files: Path) -> None:
    for file in files:
        with suppress(OSError):
            file.unlink(missing_ok=True)


def to_be_finished() -> bool:
    """Whether moves of this run are left to the next one."""
    within = bounds()
    return within is not None and (within.root / JOURNAL).exists()


def _name(path: str | Path, root: Path) -> str:
    return Path(path).resolve().relative_to(root).as_posix()


def finish(root: Path) -> tuple[str, ...]:
    """Make the moves of a killed run that are left, remove what it staged; the names of what was moved.

    Only for who is alone in the cell.  A journal is believed as far as it stays inside, since it may be received.
    """
    root = root.resolve()
    journal = root / JOURNAL
    moved = []
    for temporary, place in _moves(journal):
        source, target = root / temporary, root / place
        if not (_PART.fullmatch(source.name) and _inside(source, root) and _inside(target, root)):
            continue
        if source.is_file() and not source.is_symlink() and not _changed_since(target, journal):
            os.replace(source, target)
            moved.append(place)
    _remove(journal)
    for folder, folders, names in os.walk(root):
        folders[:] = [f for f in folders if f not in _PASSED_BY]
        for name in names:
            if _PART.fullmatch(name):
                _remove(Path(folder, name))
    return tuple(moved)


def _moves(journal: Path) -> Iterator[tuple[str, str]]:
    from elastocal.files.plain_data import parse_json

    if journal.is_symlink() or not journal.is_file() or journal.stat().st_size > LARGEST:
        return
    try:
        data = parse_json(journal.read_text(encoding="utf-8"), journal.name)
    except (OSError, UnicodeDecodeError, InputError):
        return
    if isinstance(data, dict):
        yield from ((str(a), str(b)) for a, b in data.items() if isinstance(b, str) and "\0" not in a + b)


def _inside(path: Path, root: Path) -> bool:
    return path.resolve().is_relative_to(root)


def _changed_since(target: Path, journal: Path) -> bool:
    return target.exists() and target.stat().st_mtime > journal.stat().st_mtime


def remove_parts(folder: Path) -> None:
    """Staged files of processes of this machine that have ended, and any that are old."""
    with suppress(OSError):
        for path in sorted(folder.glob(f".elastocal-*{PART}")):
            made = _PART.fullmatch(path.name)
            old = time.time() - path.stat().st_mtime > OLD
            if made and (old or (made[1] == _machine() and _ended(int(made[2])))):
                _remove(path)


def _ended(process: int) -> bool:
    """Windows does not tell without ending it: there age alone counts."""
    if os.name != "posix" or process == os.getpid():
        return False
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False
