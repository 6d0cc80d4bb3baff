r"""Paths that stand in files: the same on every system, so that a cell made on one of them works on all.

Written are paths with / between the folders; read are those with \ too.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from elastocal.files.located import Located, Path_


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
    if file.is_file():
        return file
    if not word.isprintable():
        raise located.error(path, rf"{word!r} is no name; between double quotes write / in place of \ between folders")
    raise located.error(path, f"there is no file {file.as_posix()}; give its name as seen from {own.name}")
