"""Lines that repeat the line before but for their numbers, found for a whole file at once.

CAM systems write hundreds of thousands of them.  A reader understands the first, and takes the numbers of the others
from here:

    LIN {X 12.500,Y 3.000,Z -5.000,A 0,B 0,C 180} C_DIS
    LIN {X 12.750,Y 3.004,Z -5.000,A 0,B 0,C 180} C_DIS     the same *shape*: equal where no number stands

A number here is made of digits, a sign in front and a point; with anything else (exponents, expressions) the lines do
not match, and are read one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from elastocal.compensation.posts.text import Text
from elastocal.spatial.entries import Array, Bools, Ints
from elastocal.values import dataclass

FEWEST = 8
"""Lines of one shape that are worth it."""

Signs = NDArray[np.uint8]


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
