"""Telegrams in a file, one after the other, whatever stands between them and however the file ends.

A recorder that was killed, or a disk that was full, leaves the last telegram cut off; joined logs may have such a
piece in the middle.  Every piece is handed on with its line: telegrams, cut ones, telegrams that a recorder has set
aside as malformed (in a comment), and other text.  The file is read in pieces, so a log may be larger than memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from elastocal.files.log.rsi_telegram import LARGEST
from elastocal.files.opened import note_file, unreadable

PIECE = 1 << 20
_OPEN = re.compile(rb"<Rob[\s>/]|<!--")
_AGAIN = re.compile(rb"<Rob[\s>/]")
_PLAIN = re.compile(rb"(?:\s|<\?[^>]*\?>|</?[A-Za-z][^<>]*>|\xef\xbb\xbf)*")
"""White space, declarations and the tags of an enclosing element."""

Kind = Literal["telegram", "cut", "comment", "text"]


@dataclass(frozen=True)
class Piece:
    line: int
    kind: Kind
    data: bytes


def scan(path: Path) -> Iterator[Piece]:
    try:
        note_file(path)
        with path.open("rb") as file:
            yield from _scan(iter(lambda: file.read(PIECE), b""))
    except OSError as error:
        raise unreadable(path, error) from None


def _scan(pieces: Iterator[bytes]) -> Iterator[Piece]:
    held, at, line, more = b"", 0, 1, True
    while at < len(held) or more:
        found = _first(held, at, more)
        if found is None:
            piece = next(pieces, b"")
            held, at, more = held[at:] + piece, 0, bool(piece)
            continue
        kind, start, end = found
        between = held[at:start]
        if not _PLAIN.fullmatch(between):
            blank = between[: len(between) - len(between.lstrip())]
            yield Piece(line + blank.count(b"\n"), "text", between.strip())
        line += between.count(b"\n")
        if end > start:
            yield Piece(line, kind, held[start:end])
        line += held.count(b"\n", start, end)
        at = end


def _first(held: bytes, at: int, more: bool) -> tuple[Kind, int, int] | None:
    """Kind, start and end of what comes first; None where more of the file is needed to tell."""
    opened = _OPEN.search(held, at)
    if opened is None:
        return None if more else ("text", len(held), len(held))
    start = opened.start()
    if opened[0] == b"<!--":
        end = held.find(b"-->", start)
        return ("comment", start, end + 3) if end >= 0 else None if more else ("cut", start, len(held))
    end = held.find(b"</Rob>", start)
    again = _AGAIN.search(held, start + 4, len(held) if end < 0 else end)
    if again is not None:
        return "cut", start, again.start()
    if end >= 0:
        return "telegram", start, end + len(b"</Rob>")
    if more and len(held) - start <= LARGEST:
        return None
    return "cut", start, len(held)
