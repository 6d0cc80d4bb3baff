"""Text of a program file that can be put back byte by byte.

Bytes are taken as Latin-1, one character per byte: digits and keywords are ASCII in UTF-8, with or without a byte
order mark, and in cp1252 alike, so whatever stands in comments survives.  Only what is shown to people is decoded.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter

from elastocal.errors import InputError

NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[Ee][-+]?\d+)?"
LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)?")
BOM = "\xef\xbb\xbf"

Edit = tuple[int, int, str]
"""Start and end of what is replaced, and the new text."""


@dataclass(frozen=True)
class Text:
    """One file."""

    name: str
    text: str

    @cached_property
    def starts(self) -> list[int]:
        """Where the lines start."""
        return [m.start() for m in LINE.finditer(self.text) if m.end() > m.start()] or [0]

    def line(self, place: int) -> int:
        """Number of the line that holds a place, from 1."""
        return bisect_right(self.starts, place)

    def line_start(self, place: int) -> int:
        return self.starts[self.line(place) - 1]

    def shown(self, start: int, end: int) -> str:
        return shown(self.text[start:end])

    @cached_property
    def newline(self) -> str:
        """The first line end of the file."""
        found = re.search(r"\r\n|\r|\n", self.text)
        return found[0] if found else "\n"


def opened(name: str, data: bytes) -> Text:
    if b"\0" in data:
        raise InputError(f"{name}: is not plain text (it has zero bytes, as UTF-16 has); save it as UTF-8 or ANSI")
    return Text(name, data.decode("latin-1"))


def shown(text: str) -> str:
    """For people: decoded, on one line."""
    data = text.encode("latin-1")
    try:
        plain = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        plain = data.decode("cp1252", "replace")
    return " ".join(plain.split())


def blanked(text: str, pattern: re.Pattern[str]) -> str:
    """The text with every match replaced by blanks of the same length, line ends kept."""
    return pattern.sub(lambda m: re.sub(r"[^\r\n]", " ", m[0]), text)


def applied(text: str, edits: Iterable[Edit]) -> str:
    """The text with edits made; edits at one place keep their order."""
    pieces: list[str] = []
    done = 0
    for start, end, new in sorted(edits, key=itemgetter(0, 1)):
        if start < done:
            raise AssertionError(f"edits overlap at {start}")
        pieces += (text[done:start], new)
        done = end
    pieces.append(text[done:])
    return "".join(pieces)
