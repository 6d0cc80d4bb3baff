"""Long Yaskawa jobs, cut in both of their parts: lines that move, and the positions that these name.

The instructions are cut as a run of lines (``runs``).  A piece carries the positions that its lines name, and what
holds for them (``///TOOL`` and its kin); what is its own are the corrected lines of these positions, as no instruction
changes.  Points that are put into moves get numbers over the whole job, and a position that is named twice is
corrected where it is first used: such jobs are corrected as a whole.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from elastocal.compensation.posts.post import LONG, PIECE, SHOWN
from elastocal.compensation.runs import Run, RunPiece
from elastocal.spatial.entries import Bools, Ints
from elastocal.values import dataclass

if TYPE_CHECKING:
    from elastocal.compensation.posts.post import Post

_LIST = re.compile(rb"^[ \t]*+//POS\b[^\n]*+\n((?:(?![ \t]*+//INST\b)[^\n]*+\n)++)[ \t]*+//INST\b", re.M)
_PART = re.compile(rb"^[ \t]*+//(?:POS|INST)\b", re.M | re.I)
_NAME = re.compile(rb"[ \t]*+(C\d++)[ \t]*+=")
_NAMED = re.compile(rb"^[ \t]*+I?MOV\w*+[ \t]++(C\d++)", re.M)
_WORD = re.compile(rb"[ \t]*+/")


class ListedRun(Run):
    """A run of instructions, with the list of positions in its head."""

    takes_points: ClassVar[bool] = False

    @classmethod
    def of(
        cls, post: Post, files: Mapping[str, bytes], least: int = LONG, size: int = PIECE, most: int = SHOWN
    ) -> Self | None:
        data = next(iter(files.values()))
        named = _NAMED.findall(data) if data.count(b"\n") >= least else []
        plain = data.count(b"\r") in (0, data.count(b"\n")) and len(_PART.findall(data)) == 2 and _LIST.search(data)
        return (
            super().of(post, files, least // 2, size // 2, most)
            if plain and len(set(named)) == len(named) > 0
            else None
        )

    @cached_property
    def span(self) -> tuple[int, int]:
        """Where the list stands in the file."""
        match = _LIST.search(self.data)
        assert match is not None
        return match.span(1)

    @cached_property
    def positions(self) -> list[bytes]:
        """The lines of the list."""
        return self.data[slice(*self.span)].split(b"\n")[:-1]

    @cached_property
    def top(self) -> int:
        """Lines before the list."""
        return self.data.count(b"\n", 0, self.span[0])

    @cached_property
    def by_name(self) -> dict[bytes, list[int]]:
        """Lines of the list by the position that they state."""
        out: dict[bytes, list[int]] = {}
        for number, line in enumerate(self.positions):
            if match := _NAME.match(line):
                out.setdefault(match[1], []).append(number)
        return out

    @cached_property
    def words(self) -> list[int]:
        """Lines of the list that hold for positions behind them."""
        return [number for number, line in enumerate(self.positions) if _WORD.match(line)]

    @property
    def carried(self) -> int:
        return self.head.count(b"\n") - len(self.positions) + len(self.words)

    def stated(self, text: bytes) -> list[int]:
        """Lines of the list with positions that instructions name."""
        return [number for name in _NAMED.findall(text) for number in self.by_name.get(name, ())]

    def piece(self, first: int, last: int) -> ListedPiece:
        return ListedPiece(self, first, last)

    @cached_property
    def some(self) -> bytes:
        """Positions that are not shown are empty lines."""
        text = super().some
        kept = {*self.words, *self.stated(text)}
        lines = (line if number in kept else b"" for number, line in enumerate(self.positions))
        return text[: self.span[0]] + b"".join(line + b"\n" for line in lines) + text[self.span[1] :]

    def joined(self, parts: list[bytes]) -> bytes:
        """The file with its positions as the pieces have them."""
        lines, (start, end) = list(self.positions), self.span
        for piece, part in zip(self.pieces(), parts, strict=True):
            assert isinstance(piece, ListedPiece)
            for number, line in zip(piece.mined, part.split(b"\n"), strict=False):
                lines[number] = line
        return self.data[:start] + b"".join(line + b"\n" for line in lines) + self.data[end:]


@dataclass(frozen=True, eq=False)
class ListedPiece(RunPiece):
    """Instructions ``first`` to before ``last``, with their positions."""

    run: ListedRun

    @cached_property
    def mined(self) -> list[int]:
        """Lines of the list that are the piece's own."""
        run = self.run
        parts = (b"" if self.first else run.head, run.lines(self.first, self.last), run.tail if self.ends else b"")
        return sorted(run.stated(b"\n".join(parts)))

    @cached_property
    def kept(self) -> Ints:
        """Lines of the list that it has."""
        text = super().files[self.run.file]
        return np.array(sorted({*self.run.words, *self.run.stated(text)}), dtype=np.int64)

    @property
    def files(self) -> dict[str, bytes]:
        files, (start, end) = super().files, self.run.span
        text, lines = files[self.run.file], self.run.positions
        kept = b"".join(lines[i] + b"\n" for i in self.kept.tolist())
        return {**files, self.run.file: text[:start] + kept + text[end:]}

    @cached_property
    def _fewer(self) -> int:
        return len(self.run.positions) - len(self.kept)

    @property
    def start(self) -> int:
        return super().start - self._fewer

    @property
    def until(self) -> int:
        return super().until - self._fewer

    def own(self, text: bytes) -> bytes:
        """The corrected lines of its positions."""
        top, kept = self.run.top, self.kept.tolist()
        lines = dict(zip(kept, text.split(b"\n", top + len(kept))[top:-1], strict=True))
        return b"\n".join(lines[number] for number in self.mined)

    def _in_list(self, line: int) -> int:
        """Which of its positions stands in a line, from 0; -1: none."""
        place = line - 1 - self.run.top
        return place if 0 <= place < len(self.kept) else -1

    def line(self, own: int) -> int:
        place = self._in_list(own)
        if place >= 0:
            return self.run.top + 1 + int(self.kept[place])
        return super().line(own if own <= self.run.top else own + self._fewer)

    def mine(self, lines: Ints) -> Bools:
        """Which lines of its text are its own, those of its positions among them."""
        place = lines - 1 - self.run.top
        listed = (place >= 0) & (place < len(self.kept))
        own = np.isin(self.kept, self.mined)
        moved = super().mine(np.where(place >= 0, lines + self._fewer, lines))
        return np.where(listed, own[np.where(listed, place, 0)] if len(own) else False, moved)
