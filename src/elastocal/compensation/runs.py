"""Runs of lines that stand for themselves, cut into programs of their own.

CAM systems write runs of many lines with one whole target each (``Post.alone``).  Such a run is cut into pieces; each
becomes a program of its own, with all that stands before and behind the run and does not move, which says what is
active there, the line before the piece, where its first move starts, and the line behind it.  Marks (comments) tell
which part of the corrected text is the piece's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

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


@dataclass(frozen=True, eq=False)
class Run(Long):
    """A run of lines ``starts`` (k + 1,) of a file with those before and behind it, and the files beside it."""

    post: Post
    file: str
    data: bytes
    beside: Mapping[str, bytes]
    starts: Ints
    size: int
    most: int

    @classmethod
    def of(
        cls, post: Post, files: Mapping[str, bytes], least: int = LONG, size: int = PIECE, most: int = SHOWN
    ) -> Run | None:
        """The longest run of a program's first file; None where it is not long, or the language has none."""
        file, data = next(iter(files.items()))
        if not post.alone or data.count(b"\n") < least:
            return None
        matches = re.finditer(rb"^(?:%s\r?\n)++" % post.alone, data, re.M | re.I)
        first, last = max((m.span() for m in matches), key=lambda s: s[1] - s[0], default=(0, 0))
        ends = np.flatnonzero(np.frombuffer(data, dtype=np.uint8)[first:last] == ord("\n"))
        if len(ends) < least or data.count(b"\n", 0, first) > HEAD or post.mark in data:
            return None
        beside = {name: text for name, text in files.items() if name != file}
        return cls(post, file, data, beside, first + np.concatenate([[0], ends + 1]), size, most)

    def __len__(self) -> int:
        return len(self.starts) - 1

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

    def lines(self, first: int, last: int) -> bytes:
        return self.data[self.starts[first] : self.starts[last]]

    def pieces(self) -> Iterator[RunPiece]:
        for first in range(0, len(self), self.size):
            yield RunPiece(self, first, min(first + self.size, len(self)))

    def shown(self, given: Given, origin: str) -> Program:
        """With every k-th line of the run alone; the others are empty, so that each keeps its place."""
        step = self.step
        some = [self.lines(i, i + 1) + b"\n" * (min(i + step, len(self)) - i - 1) for i in range(0, len(self), step)]
        files = {self.file: b"".join([self.head, *some, self.tail]), **self.beside}
        return parsed(files, given, self.post.kind, origin)


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
    def before(self) -> int:
        """Lines of the piece's text before its own: none of the first piece, whose own the head is."""
        return self.run.head.count(b"\n") + 2 if self.first else 0

    @property
    def start(self) -> int:
        return self.before - 1

    @cached_property
    def until(self) -> int:
        """The last line of the run in the piece's text."""
        return (self.before or self.run.head.count(b"\n")) + self.last - self.first

    @property
    def files(self) -> dict[str, bytes]:
        run, mark = self.run, self.run.post.mark
        start = run.still + run.lines(self.first - 1, self.first) + mark if self.first else run.head
        end = run.tail if self.ends else mark + run.lines(self.last, self.last + 1) + run.behind
        return {run.file: b"".join([start, run.lines(self.first, self.last), end]), **run.beside}

    def own(self, text: bytes) -> bytes:
        """The piece's part of its corrected text, with head and tail where it is the first or last."""
        return text.split(self.run.post.mark)[1 if self.first else 0]

    def line(self, own: int) -> int:
        """Of the whole program, for a line of the piece's text."""
        return own if not self.first else own - 2 + self.first

    def mine(self, lines: Ints) -> Bools:
        """Which lines of the piece's text are its own."""
        return np.asarray((lines > self.before) & (self.ends | (lines <= self.until)))
