"""Text of a program file that can be put back byte by byte.

Bytes are taken as Latin-1, one character per byte: digits and keywords are ASCII in UTF-8, with or without a byte
order mark, and in cp1252 alike, so whatever stands in comments survives.  Only what is shown to people is decoded.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from elastocal.errors import InputError

NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[Ee][-+]?\d+)?"
LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)?")
_FEED, _RETURN = b"\n\r"
BOM = "\xef\xbb\xbf"


@dataclass(frozen=True)
class Text:
    """One file."""

    name: str
    text: str

    @cached_property
    def starts(self) -> list[int]:
        """Where the lines start: behind every line feed, and every carriage return without one."""
        signs = np.frombuffer(self.text.encode("latin-1"), dtype=np.uint8)
        ends = signs == _FEED
        ends[:-1] |= (signs[:-1] == _RETURN) & ~ends[1:]
        return [0, *(np.flatnonzero(ends[:-1]) + 1).tolist()]

    def line(self, place: int) -> int:
        """Number of the line that holds a place, from 1."""
        return bisect_right(self.starts, place)

    def span(self, line: int) -> tuple[int, int]:
        """Where a line starts and the next one does."""
        return self.starts[line - 1], self.starts[line] if line < len(self.starts) else len(self.text)

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
