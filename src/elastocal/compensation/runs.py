"""Runs of lines that stand for themselves, cut into programs of their own.

CAM systems write runs of many lines with one whole target each (``Post.alone``), and between them outputs, waits,
comments and speeds (``Post.passed``, ``Post.settings``).  Such a run is cut behind whole targets.  Each piece becomes a
program of its own, with all that stands before and behind the run and does not move, which says what is active there,
the last settings and the line before the piece, where its first move starts, and the lines up to the next target.
Marks (comments) tell which part of the corrected text is the piece's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Self

import numpy as np

from elastocal.compensation.posts.post import LONG, PIECE, SHOWN, parsed
from elastocal.compensation.streamed import Long, Piece
from elastocal.spatial.entries import Bools, Ints
from elastocal.values import dataclass

if TYPE_CHECKING:
    from elastocal.compensation.posts.post import Post
    from elastocal.compensation.program import Given, Program

HEAD = 5_000
"""Lines before the run that every piece may carry."""


class Run(Long):
    """A run of lines of a file with those before and behind it."""

    @classmethod
    def of(
        cls, post: Post, files: Mapping[str, bytes], least: int = LONG, size: int = PIECE, most: int = SHOWN
    ) -> Self | None:
        """The longest run of a program's first file; None where it is not long, or the language has none."""
        file, data = next(iter(files.items()))
        if not post.alone or data.count(b"\n") < least:
            return None
        whole = rb"(?:%s)\r?\n" % post.alone
        between = b"|".join((*post.settings, post.passed or rb"\Z"))
        run = rb"^%s(?:(?:(?!%s)(?:%s)\r?\n)*+%s)*+" % (whole, whole, between, whole)
        matches = re.finditer(run, data, re.M | re.I)
        first, last = max((m.span() for m in matches), key=lambda s: s[1] - s[0], default=(0, 0))
        ends = np.flatnonzero(np.frombuffer(data, dtype=np.uint8)[first:last] == ord("\n"))
        if len(ends) < least or post.mark in data:
            return None
        beside = {name: text for name, text in files.items() if name != file}
        out = cls(post, file, data, beside, first + np.concatenate([[0], ends + 1]), size, most)
        return out if np.diff(out.whole, append=len(out)).max() <= size and out.carried <= HEAD else None

    def _like(self, pattern: bytes) -> Ints:
        """Lines of a pattern, by their place in the run."""
        matches = re.compile(rb"^(?:%s)\r?\n" % pattern, re.M | re.I).finditer(
            self.data, *self.starts[[0, -1]].tolist()
        )
        return np.searchsorted(self.starts, np.fromiter((m.start() for m in matches), dtype=np.int64))

    @cached_property
    def whole(self) -> Ints:
        """Lines with a whole target, of which the lines since the one before say nothing."""
        lines, once = self._like(self.post.alone), self._like(self.post.once)
        return np.delete(lines, np.unique(np.searchsorted(lines, once)))

    @cached_property
    def _settings(self) -> tuple[Ints, ...]:
        return tuple(map(self._like, self.post.settings))

    def held(self, line: int) -> list[int]:
        """The settings that hold before a line."""
        last = ((lines, int(np.searchsorted(lines, line))) for lines in self._settings)
        return sorted(int(lines[number - 1]) for lines, number in last if number)

    @property
    def carried(self) -> int:
        """Lines that every piece has before the run."""
        return self.head.count(b"\n")

    @property
    def head(self) -> bytes:
        return self.data[: self.starts[0]]

    @cached_property
    def still(self) -> bytes:
        """The head without its motions, line for line."""
        return re.sub(rb"^%s" % self.post.motion, b"", self.head, flags=re.M | re.I)

    @property
    def tail(self) -> bytes:
        return self.data[self.starts[-1] :]

    @cached_property
    def behind(self) -> bytes:
        """The tail without its motions: what it declares holds for the run too."""
        return re.sub(rb"^%s(?:\r?\n|\Z)" % self.post.motion, b"", self.tail, flags=re.M | re.I)

    def until(self, line: int) -> int:
        """Behind the first whole target from a line on."""
        place = int(np.searchsorted(self.whole, line))
        return int(self.whole[place]) + 1 if place < len(self.whole) else len(self)

    def pieces(self) -> Iterator[RunPiece]:
        first = 0
        while first < len(self):
            last = self.until(first + self.size - 1)
            yield self.piece(first, last)
            first = last

    def piece(self, first: int, last: int) -> RunPiece:
        return RunPiece(self, first, last)

    def shown(self, given: Given, origin: str) -> Program:
        return parsed({self.file: self.some, **self.beside}, given, self.post.kind, origin)

    @cached_property
    def some(self) -> bytes:
        """The file with the first whole target of every k lines and its settings; the others are empty lines."""
        picked = self.whole[np.unique(self.whole // self.step, return_index=True)[1]].tolist()
        kept = sorted({line for target in picked for line in (*self.held(target), target)})
        ends = [*kept[1:], len(self)]
        some = (self.lines(i, i + 1) + b"\n" * (end - i - 1) for i, end in zip(kept, ends, strict=True))
        return b"".join([self.head, *some, self.tail])


@dataclass(frozen=True, eq=False)
class RunPiece(Piece):
    """Lines ``first`` to before ``last`` of a run."""

    run: Run
    first: int
    last: int

    @property
    def ends(self) -> bool:
        return self.last == len(self.run)

    @cached_property
    def _held(self) -> list[int]:
        """Lines of the run before the piece that it is told."""
        return [*self.run.held(self.first - 1), self.first - 1] if self.first else []

    @cached_property
    def before(self) -> int:
        """Lines of the piece's text before its own: none of the first piece, whose own the head is."""
        return self.run.head.count(b"\n") + len(self._held) + 1 if self.first else 0

    @property
    def start(self) -> int:
        return self.before - 1

    @cached_property
    def last_line(self) -> int:
        """Of the run in the piece's text."""
        return (self.before or self.run.head.count(b"\n")) + self.last - self.first

    @property
    def until(self) -> int:
        return self.last_line

    @property
    def files(self) -> dict[str, bytes]:
        run, mark = self.run, self.run.post.mark
        start = [run.still, *(run.lines(i, i + 1) for i in self._held), mark] if self.first else [run.head]
        end = [run.tail] if self.ends else [mark, run.lines(self.last, run.until(self.last)), run.behind]
        return {run.file: b"".join([*start, run.lines(self.first, self.last), *end]), **run.beside}

    def own(self, text: bytes) -> bytes:
        """The piece's part of its corrected text, with head and tail where it is the first or last."""
        return text.split(self.run.post.mark)[1 if self.first else 0]

    def line(self, own: int) -> int:
        """Of the whole program, for a line of the piece's text."""
        return own if not self.first else own - self.before + self.run.head.count(b"\n") + self.first

    def mine(self, lines: Ints) -> Bools:
        """Which lines of the piece's text are its own."""
        return np.asarray((lines > self.before) & (self.ends | (lines <= self.last_line)))
