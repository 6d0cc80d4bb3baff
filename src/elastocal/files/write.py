"""Writing that never leaves a half-written file: everything is staged beside its target, then moved in one step.

Windows lets nobody replace a file that another program holds open, as a spreadsheet does with its table: all targets
are tried before the first is replaced.

In a cell (``elastocal.files.confined``) nothing is written outside of it but what the user has typed.  What is about to
be moved there is first noted in a journal, so that a run that was killed between two moves is finished by the next one:
results and their record are of the same run.

A log only grows.  Every line of it is handed to the operating system whole, before ``add`` returns; from then on it
outlives the program.  A thread of its own asks the disk every ``SYNC_EVERY`` seconds to keep what it has, so a power
cut costs at most that much, and whoever adds lines never waits for the disk.
"""

from __future__ import annotations

import csv
import os
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from elastocal.errors import FileError, FormatError, InputError
from elastocal.files.confined import PART, bounds, check_inside, noted_moves, part_prefix, remove_parts, to_be_finished

Content = str | bytes | Iterator[str]
"""Of a file; a long text may come in parts."""
_YAML = (".yaml", ".yml")
SUFFIXES = {
    "report": (".html", ".htm"), "csv": (".csv", ".xlsx"), "dh": (".csv", ".xlsx"), "yaml": _YAML, "kinematics": _YAML,
    "urdf": (".urdf", ".xml"), "schema": (".json",),
}  # fmt: skip
"""By the name of a target, without what a command line puts before it."""


def check_targets(targets: Mapping[str, Path | None], inputs: Mapping[str, Path | None] | None = None) -> None:
    """Refuse targets that cannot or must not be written, before anything is computed; keys as the user named them."""
    taken = [(name, p) for name, p in (inputs or {}).items() if p is not None]
    for name, path in targets.items():
        if path is None:
            continue
        check_inside(path, name)
        _check_writable(name, path)
        for other, used in taken:
            if _same(path, used):
                raise InputError(
                    f"{name} {path}: is also given to {other}; choose another name", code="same-file", file=str(path)
                )
        taken.append((name, path))
    for name, path in targets.items():
        suffixes = SUFFIXES.get(name.lstrip("-"), ())
        if path is not None and suffixes and path.suffix.lower() not in suffixes:
            paper = "; a PDF is made of certificates" if path.suffix.lower() == ".pdf" else ""
            raise InputError(
                f"{name} {path}: the name must end in {' or '.join(suffixes)}{paper}",
                code="suffix", file=str(path), value=path.suffix, allowed=suffixes,
            )  # fmt: skip


def _check_writable(name: str, path: Path) -> None:
    folder = path.absolute().parent
    if path.is_dir():
        raise InputError(f"{name} {path}: is a folder; name a file in it", code="is-folder", file=str(path))
    if not folder.is_dir():
        message = f"{name} {path}: the folder {folder} does not exist; create it first"
        raise InputError(message, code="no-folder", file=str(path))
    if path.exists() and not (os.access(path, os.W_OK) and path.stat().st_mode & 0o222):
        message = f"{name} {path}: exists and is read-only; choose another name"
        raise InputError(message, code="not-writable", file=str(path))
    if not os.access(folder, os.W_OK):
        message = f"{name} {path}: the folder {folder} cannot be written to; choose another"
        raise InputError(message, code="not-writable", file=str(path))


def write_files(contents: Mapping[Path, Content]) -> None:
    """All files or none; text as UTF-8 with its line ends; a file that exists keeps its permissions."""
    staged: dict[str, Path] = {}
    path = Path()
    try:
        for path in contents:
            check_inside(path)
            if bounds() is None:
                remove_parts(path.resolve().parent)
        for path, content in contents.items():
            staged[_stage(path, content)] = path.resolve()
        for path in staged.values():
            _try_to_move(path)
        with noted_moves(staged):
            while staged:
                temporary, path = next(iter(staged.items()))
                os.replace(temporary, path)
                staged.pop(temporary)
    except OSError as error:
        raise FileError(
            f"{path}: cannot be written ({error.strerror or error}); check folder and permissions, and whether another "
            "program has it open",
            file=str(path),
            value=error.strerror or str(error),
        ) from None
    finally:
        for temporary in staged if not to_be_finished() else ():
            with suppress(OSError):
                os.unlink(temporary)


def encoded(path: Path, content: str | bytes) -> bytes:
    """What the file will hold."""
    try:
        return content.encode("utf-8") if isinstance(content, str) else content
    except UnicodeEncodeError as error:
        name = error.object[max(0, error.start - 20) : error.end + 20]
        raise FormatError(
            f"{path}: would hold a name that is no text, in {name!r}; rename that file or folder",
            code="no-text",
            file=str(path),
            value=name,
        ) from None


def make_folder(path: Path) -> None:
    check_inside(path)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(
            f"{path}: the folder cannot be made ({error.strerror or error}); choose another",
            file=str(path),
            value=error.strerror,
        ) from None


def _stage(path: Path, content: Content) -> str:
    place = path.resolve()
    handle, temporary = tempfile.mkstemp(dir=place.parent, prefix=part_prefix(), suffix=PART)
    try:
        with os.fdopen(handle, "wb") as file:
            for part in (content,) if isinstance(content, str | bytes) else content:
                file.write(encoded(path, part))
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, place.stat().st_mode & 0o777 if place.exists() else 0o666 & ~_umask())
    except BaseException:
        os.unlink(temporary)
        raise
    return temporary


def _try_to_move(place: Path) -> None:
    """Moving a file onto itself changes nothing, and fails where it could not be replaced."""
    if place.exists():
        with suppress(FileExistsError):
            os.rename(place, place)


def _umask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


def _same(one: Path, other: Path) -> bool:
    """Also through links, and on disks that do not tell upper from lower case."""
    if os.path.realpath(one) == os.path.realpath(other):
        return True
    return one.exists() and other.exists() and os.path.samefile(one, other)


def check_cells_empty(path: Path, text: str) -> None:
    """``text`` is about to be written to ``path``: what it leaves empty must be empty there too."""
    if not path.exists():
        return
    new = list(csv.DictReader(text.splitlines()))
    empty = [name for name in new[0] if not any(row[name] for row in new)] if new else []
    old = path.read_bytes().decode("utf-8", errors="replace").splitlines()
    for row in (reader := csv.DictReader(old)):
        filled = [name for name in empty if row.get(name)]
        if filled:
            raise InputError(
                f"{path}, line {reader.line_num}, column {filled[0]}: holds a reading ({row[filled[0]]}), and a new "
                "plan would replace it; move the table to the campaign's folder, or plan into another one",
                code="would-replace",
                file=str(path),
                line=reader.line_num,
                column=filled[0],
                parameter="out",
            )


def write_script(path: Path, text: Callable[[], str]) -> None:
    """The script that the reports of a folder share; nothing where it lies there already, and ``text`` is not asked."""
    if not path.is_file() or path.stat().st_size == 0:
        write_files({path: text()})


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
