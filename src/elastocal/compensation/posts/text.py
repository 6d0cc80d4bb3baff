"""Text of a program file that can be put back byte by byte, and what is exchanged in it.

Bytes are taken as Latin-1, one character per byte: digits and keywords are ASCII in UTF-8, with or without a byte
order mark, and in cp1252 alike, so whatever stands in comments survives.  Only what is shown to people is decoded.
Edits are gathered in any order and made at once.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from functools import cached_property
from itertools import starmap

import numpy as np

from elastocal.errors import FormatError
from elastocal.values import dataclass

NUMBER = r"[-+]?(?:\d++(?:\.\d*+)?|\.\d++)(?:[Ee][-+]?\d++)?"
"""Possessive: a word of many digits is read once."""
WIDEST = 100
"""Characters of a line that are shown to people."""
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
        match = re.search(r"\r\n|\r|\n", self.text)
        return match[0] if match else "\n"


def opened(name: str, data: bytes) -> Text:
    if b"\0" in data:
        raise FormatError(
            f"{name}: is not plain text (it has zero bytes, as UTF-16 has); save it as UTF-8 or ANSI", value=name
        )
    return Text(name, data.decode("latin-1"))


def shown(text: str) -> str:
    """For people: decoded, on one line, not longer than is read."""
    data = text[: 2 * WIDEST].encode("latin-1")
    try:
        plain = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        plain = data.decode("cp1252", "replace")
    plain = " ".join(plain.split())
    return plain if len(plain) <= WIDEST else f"{plain[:WIDEST]} ..."


def blanked(text: str, pattern: re.Pattern[str]) -> str:
    """The text with every match replaced by blanks of the same length, line ends kept."""
    return pattern.sub(lambda m: re.sub(r"[^\r\n]", " ", m[0]), text)


def cells(text: str, at: int) -> list[tuple[str, tuple[int, int]]]:
    """Words between commas, without the blanks around them, and where they stand if ``text`` stands at ``at``."""
    starts = ((m[0], at + m.end() - len(m[0].lstrip())) for m in re.finditer(r"[^,]+", text))
    return [(word.strip(), (start, start + len(word.strip()))) for word, start in starts]


Edit = tuple[int, int, str]
"""Start and end of what is replaced, and the new text."""


class Edits:
    """Three lists instead of a list of edits: a long program has a million of them."""

    def __init__(self, edits: Iterable[Edit] = ()) -> None:
        self.starts: list[int] = []
        self.ends: list[int] = []
        self.texts: list[str] = []
        for edit in edits:
            self.add(*edit)

    def add(self, start: int, end: int, text: str) -> None:
        self.starts.append(start)
        self.ends.append(end)
        self.texts.append(text)

    def extend(self, starts: list[int], ends: list[int], texts: list[str]) -> None:
        self.starts += starts
        self.ends += ends
        self.texts += texts

    def applied(self, text: str) -> str:
        """The text with all edits made; edits at one place keep their order."""
        start, end = np.array(self.starts, dtype=np.int64), np.array(self.ends, dtype=np.int64)
        texts = self.texts
        if (np.diff(start) < 0).any() or (np.diff(end) < 0).any():
            order = np.lexsort((end, start))
            start, end, texts = start[order], end[order], [texts[i] for i in order.tolist()]
        if (start[1:] < end[:-1]).any():
            raise AssertionError(f"edits overlap at {start[1:][start[1:] < end[:-1]][0]}")
        pieces = [""] * (2 * len(texts) + 1)
        pieces[1::2] = texts
        cuts = zip(np.append(0, end).tolist(), np.append(start, len(text)).tolist(), strict=True)
        pieces[::2] = map(text.__getitem__, starmap(slice, cuts))
        return "".join(pieces)
