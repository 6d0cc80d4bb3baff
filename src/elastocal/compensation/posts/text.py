"""Text of a program file that can be put back byte by byte, what is exchanged in it, and lines that repeat each other.

Bytes are taken as Latin-1, one character per byte: digits and keywords are ASCII in UTF-8, with or without a byte
order mark, and in cp1252 alike, so whatever stands in comments survives.  Only what is shown to people is decoded.
Edits are gathered in any order and made at once.

CAM systems write hundreds of thousands of lines that repeat the line before but for their numbers.  They are found for
a whole file at once: a reader understands the first, and takes the numbers of the others from ``Repeats``:

    LIN {X 12.500,Y 3.000,Z -5.000,A 0,B 0,C 180} C_DIS
    LIN {X 12.750,Y 3.004,Z -5.000,A 0,B 0,C 180} C_DIS     the same *shape*: equal where no number stands

A number is made of digits, a sign in front and a point; with anything else (exponents, expressions) the lines do
not match, and are read one by one.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import starmap
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from elastocal.errors import ConflictError, FormatError
from elastocal.spatial.entries import Array, Bools, Ints
from elastocal.values import dataclass

NUMBER = r"[-+]?(?:\d++(?:\.\d*+)?|\.\d++)(?:[Ee][-+]?\d++)?"
"""Possessive: a word of many digits is read once."""
Signs = NDArray[np.uint8]
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
    def signs(self) -> Signs:
        return np.frombuffer(self.text.encode("latin-1"), dtype=np.uint8)

    @cached_property
    def starts(self) -> list[int]:
        """Where the lines start: behind every line feed, and every carriage return without one."""
        signs = self.signs
        ends = signs == _FEED
        ends[:-1] |= (signs[:-1] == _RETURN) & ~ends[1:]
        return [0, *(np.flatnonzero(ends[:-1]) + 1).tolist()]

    def line(self, place: int) -> int:
        """Number of the line that holds a place, from 1."""
        return bisect_right(self.starts, place)

    def span(self, line: int) -> tuple[int, int]:
        """Where a line starts and the next one does."""
        return self.starts[line - 1], self.starts[line] if line < len(self.starts) else len(self.text)

    def content(self, line: int) -> tuple[int, int]:
        """The same, behind a byte order mark."""
        start, end = self.span(line)
        return start + len(BOM) * self.text.startswith(BOM, start), end

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


def one_file(files: Mapping[str, bytes]) -> Text:
    """Of a toolpath."""
    if len(files) != 1:
        raise ConflictError(f"a toolpath is one file, not {len(files)}; give them one by one")
    return opened(*next(iter(files.items())))


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


FEWEST = 8
"""Lines of one shape that are worth it."""


class Block(NamedTuple):
    """Lines from ``first`` (counted from 1) on: spans (n, k, 2) and values (n, k) of the numbers asked for."""

    first: int
    spans: Ints
    values: Array

    @property
    def lines(self) -> range:
        return range(self.first, self.first + len(self.values))

    def before(self, bad: Bools) -> Block:
        """The lines before the first bad one (n,)."""
        stop = int(np.argmax(bad)) if bad.any() else len(bad)
        return Block(self.first, self.spans[:stop], self.values[:stop])


@dataclass(frozen=True, eq=False)
class Repeats:
    """Where the numbers of a file ``start`` and ``end`` (M,), and the first of each line, ``of_line`` (L + 1,).

    ``last`` (L,) is the last line of the same shape without a break, by index from 0.
    """

    signs: Signs
    start: Ints
    end: Ints
    of_line: Ints
    last: Sequence[int]
    comma: bool

    @classmethod
    def of(cls, text: Text, comma: bool = False) -> Repeats:
        """With ``comma`` decimal commas stand for points."""
        data, numbers = text.text.encode("latin-1"), b"0123456789.+-" + b"," * comma
        signs = np.frombuffer(data, dtype=np.uint8)
        shape = np.frombuffer(data.translate(bytes.maketrans(numbers, bytes(len(numbers)))), dtype=np.uint8)
        inside = np.zeros(len(signs) + 2, dtype=bool)
        np.equal(shape, 0, out=inside[1:-1])
        edge = np.flatnonzero(inside[1:] != inside[:-1])
        start, end = edge[::2].copy(), edge[1::2].copy()
        lines = np.array([*text.starts, len(signs)], dtype=np.int64)
        of_line = np.searchsorted(start, lines)
        return cls(signs, start, end, of_line, _last(shape, (start, end), lines, of_line), comma)

    def like(self, line: int, spans: Sequence[tuple[int, int]], loose: bytes | None = b"") -> Block | None:
        """The lines after ``line`` that differ from it in the numbers at ``spans`` only; None where there are none.

        Numbers behind a letter of ``loose`` may differ too, with None all.
        """
        row = line - 1
        more = self.last[row] - row
        if not more:
            return None
        first, width = int(self.of_line[row]), int(self.of_line[row + 1] - self.of_line[row])
        at = {(s, e): c for c, (s, e) in enumerate(zip(*self._row(first, width), strict=True))}
        if any(s not in at for s in spans):
            return None
        columns = [at[s] for s in spans]
        bound = [c for c in range(width) if c not in columns and not self._loose(first + c, loose)]
        bad = self._other(first, width, 1, min(more, FEWEST), bound)
        if not bad.any() and more > FEWEST:
            bad = self._other(first, width, 1, more, bound)
        count = int(np.argmax(bad)) if bad.any() else len(bad)
        part = slice(first + width, first + width * (count + 1))
        both = np.stack([self.start[part], self.end[part]], axis=-1).reshape(count, width, 2)[:, columns]
        values = _values(self.signs, both.reshape(-1, 2), self.comma).reshape(count, len(columns))
        block = Block(line + 1, both, values).before(np.asarray(np.isnan(values).any(axis=1)))
        return block if len(block.values) else None

    def _row(self, first: int, width: int) -> tuple[list[int], list[int]]:
        return self.start[first : first + width].tolist(), self.end[first : first + width].tolist()

    def _loose(self, number: int, letters: bytes | None) -> bool:
        return letters is None or (self.start[number] > 0 and int(self.signs[self.start[number] - 1]) in letters)

    def _other(self, first: int, width: int, begin: int, count: int, bound: list[int]) -> Bools:
        """True (count,) for rows whose bound numbers are written otherwise than in the first row."""
        part = slice(first + width * begin, first + width * (begin + count))
        out = np.zeros(count, dtype=bool)
        for c in bound:
            start, end = self.start[part][c::width], self.end[part][c::width]
            one, length = int(self.start[first + c]), int(self.end[first + c] - self.start[first + c])
            out |= end - start != length
            for i in range(length):
                out |= self.signs[np.minimum(start + i, len(self.signs) - 1)] != self.signs[one + i]
        return out


def one_of(characters: bytes) -> Bools:
    """True (256,) for some characters."""
    out = np.zeros(256, dtype=bool)
    out[list(characters)] = True
    return out


def _values(signs: Signs, spans: Ints, comma: bool) -> Array:
    """Numbers (M,) as ``float`` reads them; nan where signs or points stand in the wrong place."""
    if not len(spans):
        return np.empty(0)
    sorted_ = bool((np.diff(spans[:, 0]) > 0).all())
    order = slice(None) if sorted_ else np.argsort(spans[:, 0])
    start, end = np.ascontiguousarray(spans[order].T)
    low, high = int(start[0]), int(end[-1])
    mark = np.zeros(high - low + 1, dtype=np.int8)
    mark[start - low] += 1
    mark[end - low] -= 1
    plain = np.where(np.cumsum(mark[:-1], dtype=np.int8), signs[low:high], np.uint8(ord(" ")))
    if comma:
        plain[plain == ord(",")] = ord(".")
    sign = np.flatnonzero((plain == ord("+")) | (plain == ord("-"))) + low
    point = np.flatnonzero(plain == ord(".")) + low
    of_sign, of_point = (np.searchsorted(start, p, side="right") - 1 for p in (sign, point))
    bad = np.zeros(len(start), dtype=bool)
    bad[of_sign[sign != start[of_sign]]] = True
    bad[of_point[1:][np.diff(of_point) == 0]] = True
    bad |= np.bincount(np.append(of_sign, of_point), minlength=len(start)) >= end - start
    for number in np.flatnonzero(bad):
        plain[start[number] - low : end[number] - low] = ord("0")
    value = np.fromstring(plain.tobytes().decode("ascii"), sep=" ")
    value[bad | ~np.isfinite(value)] = np.nan
    out = np.empty(len(value))
    out[order] = value
    return out


def _last(signs: Signs, spans: tuple[Ints, Ints], lines: Ints, of_line: Ints) -> Sequence[int]:
    """Index (L,) of the last line of the same shape without a break; ``signs`` of numbers are zero."""
    start, end = spans
    keep = signs != 0
    keep[start] = True
    shape = signs[keep]
    left_out = np.append(0, np.cumsum(end - start - 1))
    first = lines - left_out[of_line]
    length = np.diff(first)
    out = np.arange(len(length))
    cuts = np.append(np.flatnonzero(np.diff(length, prepend=-1)), len(length))
    long = np.flatnonzero(np.diff(cuts) >= FEWEST)
    for a, b in zip(cuts[long].tolist(), cuts[long + 1].tolist(), strict=True):
        rows = shape[first[a] : first[b]].reshape(b - a, -1)
        heads = np.append(a + np.append(0, 1 + np.flatnonzero((rows[1:] != rows[:-1]).any(axis=1))), b)
        out[a:b] = np.repeat(heads[1:] - 1, np.diff(heads))
    return list(out.tolist())
