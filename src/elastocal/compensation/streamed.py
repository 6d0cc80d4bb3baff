"""Programs too long to be held at once: corrected piece by piece, in memory that grows with their text alone.

CAM systems write runs of many lines with one whole target each, which stand for themselves (``Post.alone``).  Such a
run is cut into pieces; each becomes a program of its own, with all that stands before and behind the run and does not
move, which says what is active there, the line before the piece, where its first move starts, and the line behind it.
Marks (comments) tell which part of the corrected text is the piece's own.  A piece begins near the joint values at
which the one before it ended, and must find them there again; where it does not, or where two pieces change a file
beside it, the program is corrected as a whole.

What is shown (tables, figures, CSV) is the correction of a program in which every k-th line of the run is left, at its
own place; what holds for all targets is said in words.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field, replace
from functools import cached_property

import numpy as np

from elastocal.compensation.along import Along
from elastocal.compensation.correction import Correction
from elastocal.compensation.posts.post import Post, parsed
from elastocal.compensation.program import Given, Program, Skipped
from elastocal.compensation.targets import TargetStatus
from elastocal.results import Finding
from elastocal.spatial.entries import Array, Bools, Ints
from elastocal.values import dataclass

LONG = 50_000
"""Lines of a run from which a program is corrected in pieces."""
PIECE = 20_000
SHOWN = 5_000
"""Lines of a run that are shown."""
HEAD = 5_000
"""Lines before the run that every piece may carry."""
SAME = 1e-7
"""rad and m by which the joint values at the end of a piece may differ from those at the start of the next."""
NAMED = 20
"""Lines that are named where they are not corrected."""

Correct = Callable[[Program, Array | None], Correction]
"""A program, and controller values (n,) before it starts, to its correction."""
Progress = Callable[[int, int, str], None]


@dataclass(frozen=True, eq=False)
class Run:
    """A run of lines ``starts`` (k + 1,) of a file with those before and behind it, and the files beside it."""

    post: Post
    file: str
    data: bytes
    beside: Mapping[str, bytes]
    starts: Ints

    @classmethod
    def of(cls, post: Post, files: Mapping[str, bytes], least: int = LONG) -> Run | None:
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
        return cls(post, file, data, beside, first + np.concatenate([[0], ends + 1]))

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

    def pieces(self, size: int) -> Iterator[Piece]:
        for first in range(0, len(self), size):
            yield Piece(self, first, min(first + size, len(self)))

    def shown(self, most: int = SHOWN) -> dict[str, bytes]:
        """The files with every k-th line of the run alone; the others are empty, so that each keeps its place."""
        step = -(-len(self) // most)
        some = [self.lines(i, i + 1) + b"\n" * (min(i + step, len(self)) - i - 1) for i in range(0, len(self), step)]
        return {self.file: b"".join([self.head, *some, self.tail]), **self.beside}


@dataclass(frozen=True, eq=False)
class Piece:
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


@dataclass(eq=False)
class Totals:
    """Of all targets: the largest residual by the model in m, and what was not corrected."""

    worst: float = 0.0
    status: Counter[int] = field(default_factory=Counter)
    warnings: Counter[str] = field(default_factory=Counter)
    left: list[Skipped] = field(default_factory=list)
    inserted: int = 0
    along: Along = field(default_factory=lambda: Along((), np.empty(0)))

    def add(self, piece: Piece, done: Correction) -> None:
        stations = done.job.placed.stations
        rows = np.flatnonzero(piece.mine(stations.lines))
        good = rows[done.corrected[rows]]
        self.worst = max(self.worst, float(np.linalg.norm(done.after.position[good], axis=1).max(initial=0.0)))
        self.status.update(done.commands.status[rows].tolist())
        self.warnings.update(
            f.code for f in done.warnings if "line" in f.data and piece.mine(np.array([f.data["line"]]))[0]
        )
        own = [s for s in done.left if piece.mine(np.array([s.line]))[0]]
        self.left += [s._replace(line=piece.line(s.line)) for s in own]
        moves = done.program.moves
        points = ((moves[i].line, p) for i, p in done.changes.inserted.items())
        self.along = self.along.joined(done.along.of(piece.mine, piece.line))
        self.inserted += sum(len(p.positions) for line, p in points if piece.mine(np.array([line]))[0])

    def finding(self, run: Run, shown: int) -> Finding:
        good, total = self.status[TargetStatus.CORRECTED], sum(self.status.values())
        message = (
            f"{run.file}: {good} of {total} targets are corrected, piece by piece; the new digits state them to "
            f"{1e6 * self.worst:.3g} um, and {self.inserted} points are put in. Everything else that is said and shown "
            f"is of one in {-(-len(run) // shown)} lines of the longest run."
        )
        others = [f"{n} {TargetStatus(s).name.lower()}" for s, n in self.status.items() if s != TargetStatus.CORRECTED]
        others += [f"{n} {code}" for code, n in self.warnings.items()]
        message += f" Findings at all targets: {', '.join(others)}." if others else ""
        lines = [s.line for s in self.left[:NAMED]]
        message += (
            f" Left as they are: {len(self.left)} lines, the first {', '.join(map(str, lines))}." if lines else ""
        )
        return Finding("in-pieces", "note", message, {"targets": total, "corrected": good, "left": len(self.left)})


def streamed(
    run: Run, given: Given, origin: str, correct: Correct, show: Correct, progress: Progress | None = None,
    size: int = PIECE, shown: int = SHOWN,
) -> Correction | None:  # fmt: skip
    """The correction of what is ``shown``, with the files of the whole program; None where pieces do not fit together.

    Pieces are corrected by ``correct``, what is shown by ``show``, which comes first: what is wrong shows at once.
    """
    some = parsed(run.shown(shown), given, run.post.kind, origin)
    if some.wrenches is not None:  # which decide together what is taken for compliant
        return None
    out = show(some, None)
    parts: list[bytes] = []
    totals, beside, near = Totals(), dict[str, bytes](), None
    for piece in run.pieces(size):
        if progress is not None:
            progress(piece.first, len(run), f"line {piece.line(piece.before + 1)} on")
        done = correct(parsed(piece.files, given, run.post.kind, origin), near)
        changed = {k: done.files[k] for k, data in run.beside.items() if done.files[k] != data}
        if not _follows(piece, done, near) or changed.keys() & beside.keys():
            return None
        beside |= changed
        totals.add(piece, done)
        parts.append(piece.own(done.files[run.file]))
        near = _last(piece, done)
    files = {run.file: b"".join(parts), **run.beside, **beside}
    return replace(
        out, files=files, along=totals.along, left=tuple(totals.left),
        warnings=(totals.finding(run, shown), *out.warnings),
    )  # fmt: skip


def _follows(piece: Piece, done: Correction, near: Array | None) -> bool:
    """Whether the line before the piece is reached as the piece before it reached it."""
    if near is None:
        return not piece.first
    at = np.flatnonzero(done.job.placed.stations.lines == piece.before - 1)
    values = done.model.controller.to_controller(done.commands.nominal[at])
    return len(at) == 1 and bool(np.all(np.abs(values - near) < SAME))


def _last(piece: Piece, done: Correction) -> Array | None:
    """Controller values (n,) of the program as it was at the last line of a piece."""
    at = np.flatnonzero(done.job.placed.stations.lines == piece.until)
    values = done.model.controller.to_controller(done.commands.nominal[at])
    return values[0] if len(at) == 1 and np.isfinite(values).all() else None
