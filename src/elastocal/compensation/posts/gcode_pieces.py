"""Long G-code, cut where the control stands at a target: stretches of lines, with what it holds before them.

A stretch ends with a target of a line or a rapid move.  There the motion in force is the same in the old and the new
program, so that all that goes on to the next stretch is what ``Control`` says, of either program.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property

import numpy as np

from elastocal.compensation.posts.collect import Collector, unsearched
from elastocal.compensation.posts.gcode import Gcode, changes_tools
from elastocal.compensation.posts.gcode_read import Control, Walk
from elastocal.compensation.posts.gcode_words import COLUMNS
from elastocal.compensation.posts.post import LONG, PIECE, SHOWN, parsed
from elastocal.compensation.posts.text import opened
from elastocal.compensation.program import Given, Move, Program, Target
from elastocal.compensation.streamed import Long, Piece
from elastocal.spatial.entries import Bools, Ints
from elastocal.values import dataclass

FURTHER = tuple(f"G{i}" for i in range(505, 600))
"""Words of frames, to stand for shifted ones."""
MORE = 1_000
"""Lines in which a stretch looks for its end, twice as many where it finds none."""


class Stretches(Long):
    """A file of which all lines are cut."""

    @classmethod
    def of(
        cls, post: Gcode, files: Mapping[str, bytes], least: int = LONG, size: int = PIECE, most: int = SHOWN
    ) -> Stretches | None:
        """None where the program is not long, or not one file with one kind of line ends."""
        file, data = next(iter(files.items()))
        count, returns, both = (data.count(end) for end in (b"\n", b"\r", b"\r\n"))
        if len(files) > 1 or count < least or returns != both or both not in (0, count):
            return None
        starts = np.append(0, np.flatnonzero(np.frombuffer(data, dtype=np.uint8) == ord("\n")) + 1)
        starts = starts if starts[-1] == len(data) else np.append(starts, len(data))
        return cls(post, file, data, {}, starts, size, most)

    def pieces(self) -> Iterator[Stretch]:
        return iter(self._read[0])

    def shown(self, given: Given, origin: str) -> Program | None:
        """Every k-th target in a line of its own, which states all of it; what is noted is of the whole program."""
        _, rows, notes, end = self._read
        bases = dict.fromkeys(target.base for target, _, _ in rows.values())
        shifted = [base for base in bases if " " in base]
        words = dict(zip(shifted, (w for w in FURTHER if w not in bases), strict=False))
        if len(words) < len(shifted):
            return None
        lines = (_stated(*rows[i], words) if i in rows else "" for i in range(2, max(rows, default=0) + 1))
        called = {word: base for base, word in words.items()}
        after = replace(Control(), bases=end.bases, changes_tools=True, called=called)
        data = {self.file: "\n".join(["", *lines]).encode("latin-1")}
        some = parsed(data, replace(given, after=after, held=after), self.post.kind, origin)
        return replace(some, notes=tuple(dict.fromkeys((*notes, *some.notes))))

    @cached_property
    def _read(self) -> tuple[tuple[Stretch, ...], dict[int, _Row], tuple[str, ...], Control]:
        """The stretches, some targets by their line, what is noted, and what holds at the end."""
        stretches, rows, notes = list[Stretch](), dict[int, _Row](), dict[str, None]()
        after, first, more = Control(changes_tools=changes_tools(self.data)), 0, MORE
        while first < len(self):
            last = min(first + self.size + more, len(self))
            walk = Walk(opened(self.file, self.lines(first, last)), Collector(), "", False, {}, after=after)
            with unsearched():
                stop = first + walk.run(self.size)
            if not walk.plain and last < len(self):
                more *= 2
                continue
            stretches.append(Stretch(self, first, stop, after))
            rows |= self._some(walk, first, max(rows, default=-1) // self.step)
            notes |= walk.into.notes
            after, first, more = replace(walk.end, lines=stop), stop, MORE
        return tuple(stretches), rows, tuple(notes), after

    def _some(self, walk: Walk, first: int, last: int) -> dict[int, _Row]:
        """The first target of every k lines behind the ``last`` ones; in line 1 the control is told what holds."""
        into = walk.into
        lines = np.array([m.line for m in into.moves], dtype=np.int64) + first
        own = np.flatnonzero((lines > max(first, 1)) & (lines // self.step > last))
        picked = own[np.unique(lines[own] // self.step, return_index=True)[1]].tolist()
        return {
            int(lines[i]): (into.targets[into.moves[i].end], into.moves[i], into.values[into.moves[i].end])
            for i in picked
        }


_Row = tuple[Target, Move, tuple[float, ...]]


@dataclass(frozen=True, eq=False)
class Stretch(Piece):
    """Lines ``first`` to before ``last``; ``after`` is what the control holds before them."""

    run: Stretches
    first: int
    last: int
    after: Control

    @property
    def files(self) -> dict[str, bytes]:
        return {self.run.file: self.run.lines(self.first, self.last)}

    @property
    def start(self) -> int:
        return 0

    @property
    def until(self) -> int:
        return self.last - self.first

    def own(self, text: bytes) -> bytes:
        return text

    def line(self, own: int) -> int:
        return self.first + own

    def mine(self, lines: Ints) -> Bools:
        return np.asarray(lines > 0)

    def given(self, given: Given, end: object) -> Given:
        return replace(given, after=self.after, held=end or self.after)


def _stated(target: Target, move: Move, values: tuple[float, ...], bases: Mapping[str, str]) -> str:
    """A line that states all of a target, in mm and deg; words stand for ``bases`` that are shifted."""
    scaled = zip(COLUMNS, values, (1e3, 1e3, 1e3, *[1.0] * 6), ("", "", "", "", "", "", "=", "=", "="), strict=True)
    words = [f"{name}{sign}{scale * v:.9f}" for name, v, scale, sign in scaled if v == v]
    motion = "G0" if move.motion == "joint" else "G1"
    feed = [f"F{6e4 * move.feed:.9f}"] if move.feed == move.feed else []
    return " ".join(["G21 G90 G94", bases.get(target.base, target.base), f"{target.tool} M6", motion, *words, *feed])
