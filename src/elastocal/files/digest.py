"""Fingerprints of input files, so that a result says what it was made from."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from elastocal import __version__
from elastocal.files.opened import sha256_of
from elastocal.files.robot.word import robot_file


def digests(files: Sequence[Path]) -> dict[str, str]:
    """SHA-256 by name; names are seen from the folder of the first file, so that they hold on any machine."""
    folder = files[0].parent if files else Path()
    return {(p.relative_to(folder) if p.is_relative_to(folder) else p).as_posix(): sha256_of(p) for p in files}


def robot_mark(word: str, folder: Path = Path()) -> str:
    """What tells whether a robot is still the same: the SHA-256 of its file, or the version it is shipped with."""
    file = robot_file(word)
    return f"elastocal {__version__}" if file is None else f"sha256:{sha256_of(folder / file)}"
