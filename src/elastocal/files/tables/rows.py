"""Rows of a table as they stand in its text.

A table of a million lines is some hundred megabytes of text and gigabytes of cells.  So its numbers are made column by
column, and cells of those lines alone that are asked for: to join tables, to read names, to say what is wrong.
"""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import overload

import numpy as np

from elastocal.errors import FormatError, InputError, ShapeError
from elastocal.files.located import read_text
from elastocal.files.tables.spelling import FAULTS, Numerals
from elastocal.spatial.entries import Array, Ints
from elastocal.untrusted import LARGEST, finite_number, from_spreadsheet
from elastocal.values import dataclass

Line = tuple[int, tuple[str, ...]]
"""A row: its line in the file, and its cells."""
WINDOWS = "cp1252"
SHORT = 1 << 20
"""Characters of a text that is kept; a longer one is read again where it is asked for once more."""
ROWS = 4096
"""Rows whose cells are held at once."""
LONGEST = 1000
"""Characters of a number."""
BREAKS = 20
"""Lines that a quoted cell may take."""
_OPEN = re.compile(r'(?:^|[,;\t])\s*"(?:[^"]|"")*$')
_PLAIN = b"0123456789+-.eE \t;"


@dataclass(frozen=True, eq=False)
class Text:
    """The text of a file; ``kept`` is None where it is read again."""

    path: Path
    encoding: str | None
    kept: str | None
    mark: int
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, path: Path, encoding: str | None = None) -> Text:
        """What is not UTF-8 is what Windows writes in Western Europe, with a note."""
        notes: tuple[str, ...] = ()
        try:
            text = read_text(path, encoding)
        except InputError as error:
            if error.code != "encoding" or encoding is not None:
                raise
            encoding = WINDOWS
            text = read_text(path, encoding)
            notes = (f"{path.name}: is not UTF-8; its letters are read as {WINDOWS}, unless encoding says otherwise.",)
        return cls(path, encoding, text, hash(text), notes)

    def whole(self) -> str:
        if self.kept is not None:
            return self.kept
        text = read_text(self.path, self.encoding)
        if hash(text) != self.mark:
            raise InputError(
                f"{self.path}: was changed while it was read; read it again", code="changed", file=str(self.path)
            )
        return text

    def released(self) -> Text:
        """The same without a long text, where its file can be read again."""
        long = self.kept is not None and len(self.kept) > SHORT and os.path.isfile(self.path)
        return replace(self, kept=None) if long else self


@dataclass(frozen=True)
class Cut:
    """How lines of a file become cells: ``separator`` between the columns of ``header``."""

    path: Path
    header: tuple[str, ...]
    separator: str

    def plainly(self, lines: Sequence[str]) -> list[str] | None:
        """The cells of lines one after another; None where one is not just as many words with a separator between."""
        text = self.separator.join(lines)
        if '"' in text or "'" in text:
            return None
        if self.separator == " ":
            flat = None if "\t" in text else text.split()
        else:
            flat = text.split(self.separator)
        return flat if flat is not None and len(flat) == len(lines) * len(self.header) else None

    def cells(self, number: int, line: str) -> tuple[str, ...]:
        cells = split_line(self.path, (number, line), self.separator)
        while len(cells) > len(self.header) and not cells[-1].strip():
            cells = cells[:-1]
        if len(cells) != len(self.header):
            message = f"{len(cells)} cells for {len(self.header)} columns; {self._ragged(cells)}"
            raise ShapeError(f"{self.path}, line {number}: {message}")
        return cells

    def _ragged(self, cells: Sequence[str]) -> str:
        header = self.header
        if len(header) < 2:
            return "the titles seem to stand further down; 'elastocal columns ROBOT TABLE' finds them"
        if len(cells) < len(header):
            return f"the cell for {header[len(cells)].strip()} is missing; complete the line or leave it out"
        if self.separator == ",":
            return f"remove extra cell {cells[len(header)].strip()!r} (decimal commas need ; between the cells)"
        return f"remove extra cell {cells[len(header)].strip()!r}, or give its column a title"


def split_line(path: Path, line: tuple[int, str], separator: str) -> tuple[str, ...]:
    blanks = separator == " "
    text = line[1].strip() if blanks else line[1]
    try:
        cells = next(csv.reader([text], delimiter=separator, strict=True, skipinitialspace=blanks))
        return tuple(from_spreadsheet(" ".join(c.splitlines()) if "\n" in c or "\r" in c else c) for c in cells)
    except csv.Error as error:
        raise FormatError(
            f"{path}, line {line[0]}: not readable as CSV ({error}); check the quotes: a cell that begins with one "
            f"must end with one, within {BREAKS} lines",
            code="quotes", file=str(path), line=line[0],
        ) from None  # fmt: skip


@dataclass(frozen=True, eq=False)
class Lines:
    """Where lines stand in a text: their numbers in the file, where each begins and ends."""

    numbers: Ints
    starts: Ints
    ends: Ints

    def __len__(self) -> int:
        return len(self.numbers)

    def some(self, chosen: slice | Ints) -> Lines:
        return Lines(self.numbers[chosen], self.starts[chosen], self.ends[chosen])

    def texts(self, text: str) -> list[str]:
        return [text[a:b] for a, b in zip(self.starts.tolist(), self.ends.tolist(), strict=True)]

    def numbered(self, text: str) -> list[tuple[int, str]]:
        return list(zip(self.numbers.tolist(), self.texts(text), strict=True))

    def parts(self) -> Iterator[Lines]:
        return (self.some(slice(at, at + ROWS)) for at in range(0, len(self), ROWS))


def lines_of(text: str, comment: str | tuple[str, ...]) -> Lines:
    """Lines that are neither empty nor comments; a fault of a spreadsheet, such as #N/A, begins none."""
    blocks, number, at = [np.zeros((0, 3), dtype=np.int64)], 0, 0
    while at < len(text):
        stop = text.find("\n", at + SHORT) + 1 or len(text)
        block, mine = text[at:stop], []
        for whole, line in zip(block.splitlines(keepends=True), block.splitlines(), strict=True):
            number += 1
            bare = line.lstrip()
            if bare and (not bare.startswith(comment) or bare.startswith(FAULTS)):
                mine.append((number, at, at + len(line)))
            at += len(whole)
        blocks.append(np.array(mine, dtype=np.int64).reshape(-1, 3))
    return _with_breaks(Lines(*np.concatenate(blocks).T.copy()), text)


def _with_breaks(lines: Lines, text: str) -> Lines:
    """A quoted cell may hold line breaks: such lines count as one, at the first of them."""
    if '"' not in text:
        return lines
    kept, ends, end = [], lines.ends.copy(), -1
    for i, (start, stop) in enumerate(zip(lines.starts.tolist(), lines.ends.tolist(), strict=True)):
        if start < end:
            continue
        kept.append(i)
        if text.count('"', start, stop) % 2 and _OPEN.search(text[start:stop]):
            after = lines.ends[i + 1 : i + BREAKS].tolist()
            end = next((e for e in after if text.count('"', start, e) % 2 == 0), stop)
            ends[i] = end
    return Lines(lines.numbers, lines.starts, ends).some(np.array(kept, dtype=np.int64))


@dataclass(frozen=True, eq=False)
class TextRows(Sequence[Line]):
    """Rows that stand in a text; ``places`` are the columns that are taken, None for all."""

    text: Text
    lines: Lines
    cut: Cut
    numerals: Numerals
    places: tuple[int, ...] | None = None

    def __len__(self) -> int:
        return len(self.lines)

    @overload
    def __getitem__(self, row: int) -> Line: ...

    @overload
    def __getitem__(self, row: slice) -> TextRows: ...

    def __getitem__(self, row: int | slice) -> Line | TextRows:
        if isinstance(row, slice):
            return replace(self, lines=self.lines.some(row))
        (number, line), *_ = self.lines.some(np.array([row])).numbered(self.text.whole())
        return number, self._taken(self.cut.cells(number, line))

    def __iter__(self) -> Iterator[Line]:
        text = self.text.whole()
        for part in self.lines.parts():
            for number, line in part.numbered(text):
                yield number, self._taken(self.cut.cells(number, line))

    def _taken(self, cells: tuple[str, ...]) -> tuple[str, ...]:
        return cells if self.places is None else tuple(cells[p] for p in self.places)

    def picked(self, places: Sequence[int]) -> TextRows:
        """The same with some of its columns."""
        own = range(len(self.cut.header)) if self.places is None else self.places
        return replace(self, places=tuple(own[p] for p in places))

    def released(self) -> TextRows:
        """The same without its text, where that is long and can be read again."""
        return replace(self, text=self.text.released())

    def texts(self, place: int) -> list[str]:
        """The words of a column."""
        at = place if self.places is None else self.places[place]
        known: dict[str, str] = {}
        return [
            known.setdefault(word, word)
            for cells in self._flat()
            for word in map(str.strip, cells[at :: len(self.cut.header)])
        ]

    @cached_property
    def numbers(self) -> Array:
        """Columns (N, width), nan where a cell is more than a number."""
        width, at = len(self.cut.header), 0
        out = np.empty((len(self), width if self.places is None else len(self.places)))
        for cells in self._flat():
            made = floats_at_once(cells, self.numerals)
            if made is None:
                made = np.stack([floats(cells[j::width], self.numerals) for j in range(width)], axis=1)
            block = made.reshape(-1, width)
            out[at : at + len(block)] = block if self.places is None else block[:, self.places]
            at += len(block)
        return out

    def _flat(self) -> Iterator[Sequence[str]]:
        """Cells of some rows one after another."""
        text = self.text.whole()
        for part in self.lines.parts():
            flat = self.cut.plainly(part.texts(text))
            yield [c for n, s in part.numbered(text) for c in self.cut.cells(n, s)] if flat is None else flat


def floats(cells: Sequence[str], numerals: Numerals) -> Array:
    """Numbers of cells, nan where one is something else."""
    made = floats_at_once(cells, numerals)
    if made is not None:
        return made
    numbers = (finite_number(numerals.plain(c.strip())) for c in cells)
    return np.array([np.nan if v is None else v for v in numbers], dtype=np.float64)


def floats_at_once(cells: Sequence[str], numerals: Numerals) -> Array | None:
    """The same where all are numbers that need no thought."""
    text = ";".join(cells)
    if "," in text:
        if "." in text or numerals.commas:
            return None
        cells = [c.replace(",", ".") for c in cells]
        text = ";".join(cells)
    elif numerals.dots and "." in text:
        return None
    if text.encode().translate(None, _PLAIN) or max(map(len, cells), default=0) >= LONGEST:
        return None
    try:
        values = np.fromiter(map(float, cells), np.float64, len(cells))
    except ValueError:
        return None
    return values if np.abs(values).max(initial=0.0) <= LARGEST else None
