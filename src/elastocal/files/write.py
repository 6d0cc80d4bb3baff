"""Writing that never leaves a half-written file: everything is staged beside its target, then moved in one step.

Windows lets nobody replace a file that another program holds open, as a spreadsheet does with its table: all targets
are tried before the first is replaced.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from elastocal.errors import InputError

SUFFIXES = {"report": (".html", ".htm"), "csv": (".csv",)}
"""By the name of a target, without what a command line puts before it."""


def check_targets(targets: Mapping[str, Path | None], inputs: Mapping[str, Path | None] | None = None) -> None:
    """Refuse targets that cannot or must not be written, before anything is computed; keys as the user named them."""
    taken = [(name, p) for name, p in (inputs or {}).items() if p is not None]
    for name, path in targets.items():
        if path is None:
            continue
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
            raise InputError(
                f"{name} {path}: the name must end in {' or '.join(suffixes)}",
                code="suffix",
                file=str(path),
                allowed=suffixes,
            )


def _check_writable(name: str, path: Path) -> None:
    folder = path.absolute().parent
    if path.is_dir():
        raise InputError(f"{name} {path}: is a folder; name a file in it", code="is-folder", file=str(path))
    if not folder.is_dir():
        said = f"{name} {path}: the folder {folder} does not exist; create it first"
        raise InputError(said, code="no-folder", file=str(path))
    if path.exists() and not (os.access(path, os.W_OK) and path.stat().st_mode & 0o222):
        said = f"{name} {path}: exists and is read-only; choose another name"
        raise InputError(said, code="not-writable", file=str(path))
    if not os.access(folder, os.W_OK):
        said = f"{name} {path}: the folder {folder} cannot be written to; choose another"
        raise InputError(said, code="not-writable", file=str(path))


def write_files(contents: Mapping[Path, str | bytes]) -> None:
    """All files or none; text as UTF-8 with its line ends; a file that exists keeps its permissions."""
    staged: list[tuple[str, Path]] = []
    at = Path()
    try:
        for at, content in contents.items():
            staged.append((_stage(at, content), at))
        for _, at in staged:
            _try_to_move(at.resolve())
        while staged:
            temporary, at = staged[0]
            os.replace(temporary, at.resolve())
            staged.pop(0)
    except OSError as error:
        raise InputError(
            f"{at}: cannot be written ({error.strerror or error}); check folder and permissions, and whether another "
            "program has it open"
        ) from None
    finally:
        for temporary, _ in staged:
            with suppress(OSError):
                os.unlink(temporary)


def encoded(path: Path, content: str | bytes) -> bytes:
    """What the file will hold."""
    try:
        return content.encode("utf-8") if isinstance(content, str) else content
    except UnicodeEncodeError as error:
        name = error.object[max(0, error.start - 20) : error.end + 20]
        raise InputError(
            f"{path}: would hold a name that is no text, in {name!r}; rename that file or folder"
        ) from None


def make_folder(path: Path) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{path}: the folder cannot be made ({error.strerror or error}); choose another") from None


def _stage(path: Path, content: str | bytes) -> str:
    place = path.resolve()
    handle, temporary = tempfile.mkstemp(dir=place.parent, prefix=".", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(encoded(path, content))
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
