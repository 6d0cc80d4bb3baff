"""Fingerprints of input files, so that a result says what it was made from."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from elastocal import __version__
from elastocal.errors import InputError
from elastocal.files.located import read_text, read_yaml
from elastocal.files.opened import sha256_of, watching
from elastocal.files.robot.read import robot_file

WORDS = ("title", "source", "status", "language")
"""Keys of a robot file that say nothing of how the arm moves or bends: text for people, the language of programs."""


def digests(files: Sequence[Path]) -> dict[str, str]:
    """SHA-256 by name; names are seen from the folder of the first file, so that they hold on any machine."""
    folder = files[0].parent if files else Path()
    return {(p.relative_to(folder) if p.is_relative_to(folder) else p).as_posix(): sha256_of(p) for p in files}


def robot_mark(word: str, folder: Path = Path()) -> str:
    """What tells whether a robot is still the same: of what its file says, or the version it is shipped with.

    Comments, layout, titles, sources of numbers and the language of its programs do not count.
    """
    file = robot_file(word)
    if file is None:
        return f"elastocal {__version__}"
    with watching():  # asking whether it is the same is not reading
        content = _xml(folder / file) if file.suffix.lower() == ".urdf" else _yaml(folder / file)
    return f"content:{hashlib.sha256(content.encode()).hexdigest()}"


def _yaml(file: Path) -> str:
    return json.dumps(_what_counts(read_yaml(file).data), sort_keys=True)


def _what_counts(data: Any) -> Any:
    """Without ``WORDS`` and entries that have nothing else, and 1 the same as 1.0."""
    if isinstance(data, dict):
        return {str(k): _what_counts(v) for k, v in data.items() if k not in WORDS and not _words_only(v)}
    if isinstance(data, list):
        return [_what_counts(v) for v in data]
    return float(data) if isinstance(data, int) and not isinstance(data, bool) else data


def _words_only(data: Any) -> bool:
    return isinstance(data, dict) and bool(data) and all(k in WORDS for k in data)


def _xml(file: Path) -> str:
    from xml.etree.ElementTree import ParseError, canonicalize

    try:
        return canonicalize(read_text(file), strip_text=True)
    except ParseError as error:
        raise InputError(f"{file}: not valid XML ({error}); correct it") from None
