"""Programs too long to be held at once: corrected piece by piece, in memory that grows with their text alone.

A language cuts its long programs (``Post.long``): where lines stand for themselves, into programs of their own
(``runs``); where they rest on those before, into stretches of lines with what the control holds before them
(``posts.gcode_pieces``).  Each piece begins near the joint values at which the one before it ended, and must find them
there again; where it does not, or where two pieces change a file beside it, the program is corrected as a whole.

What is shown (tables, figures, CSV) is the correction of a program in which every k-th line is left, at its own place;
what holds for all targets is said in words.  Whether the tool is turned about its axis is decided by what is shown.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field, replace
from typing import ClassVar

import numpy as np

from elastocal.compensation.along import Along
from elastocal.compensation.correction import Correction
from elastocal.compensation.directions import came_along
from elastocal.compensation.posts.post import Post, parsed
from elastocal.compensation.program import Given, Program, Skipped
from elastocal.compensation.targets import TargetStatus
from elastocal.errors import InputError
from elastocal.results import Finding
from elastocal.spatial.entries import Array, Bools, Ints
from elastocal.values import dataclass

SAME = 1e-7
"""rad and m by which the joint values at the end of a piece may differ from those at the start of the next."""
NAMED = 20
"""Lines that are named where they are not corrected."""

Correct = Callable[[Program, Array | None], Correction]
"""A program, and controller values (n,) before it starts, to its correction."""
Progress = Callable[[int, int, str], None]


class Piece(ABC):
    """Lines of a long program, as a program of their own."""

    first: int
    """Lines of what is cut before it."""

    @property
    @abstractmethod
    def files(self) -> dict[str, bytes]: ...

    @property
    @abstractmethod
    def start(self) -> int:
        """The line of its text at which the piece before it ended."""

    @property
    @abstractmethod
    def until(self) -> int:
        """The line of its text at which it ends."""

    @abstractmethod
    def own(self, text: bytes) -> bytes:
        """The piece's part of its corrected text."""

    @abstractmethod
    def line(self, own: int) -> int:
        """Of the whole program, for a line of the piece's text."""

    @abstractmethod
    def mine(self, lines: Ints) -> Bools:
        """Which lines of the piece's text are its own."""

    def given(self, given: Given, end: object) -> Given:
        """What is stated for it, where the control holds ``end`` after what is written of the piece before."""
        return given


@dataclass(frozen=True, eq=False)
class Long(ABC):
    """A long program that can be cut: the ``data`` of its ``file``, and the files ``beside`` it.

    ``starts`` (L + 1,) are where the lines that are cut begin, and where the last one ends; ``size`` are the lines of a
    piece, ``most`` those that are shown.
    """

    post: Post
    file: str
    data: bytes
    beside: Mapping[str, bytes]
    starts: Ints
    size: int
    most: int

    takes_points: ClassVar[bool] = True
    """Whether points can be put into moves of its pieces."""

    def __len__(self) -> int:
        """Lines that are cut."""
        return len(self.starts) - 1

    def lines(self, first: int, last: int) -> bytes:
        return self.data[self.starts[first] : self.starts[last]]

    @abstractmethod
    def pieces(self) -> Iterator[Piece]: ...

    def joined(self, parts: list[bytes]) -> bytes:
        """The corrected file of what is its pieces' own."""
        return b"".join(parts)

    @abstractmethod
    def shown(self, given: Given, origin: str) -> Program | None:
        """With some of the lines that are cut alone, each at its own place; None where these cannot stand alone."""

    @property
    def step(self) -> int:
        """Every which line is shown."""
        return -(-len(self) // self.most)


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

    def finding(self, run: Long) -> Finding:
        good, total = self.status[TargetStatus.CORRECTED], sum(self.status.values())
        message = (
            f"{run.file}: {good} of {total} targets are corrected, piece by piece; the new digits state them to "
            f"{1e6 * self.worst:.3g} um, and {self.inserted} points are put in. Everything else that is said and shown "
            f"is of one in {run.step} lines."
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
    run: Long, given: Given, origin: str, correct: Correct, show: Correct, progress: Progress | None = None
) -> Correction | None:  # fmt: skip
    """The correction of what is ``shown``, with the files of the whole program; None where pieces do not fit together.

    Pieces are corrected by ``correct``, what is shown by ``show``, which comes first: what is wrong shows at once.
    """
    some = run.shown(given, origin)
    if some is None or some.wrenches is not None:  # which decide together what is taken for compliant
        return None
    out = show(some, None)
    given = replace(given, orientation=out.program.given.orientation)
    parts: list[bytes] = []
    totals, beside, near, end, heading = Totals(), dict[str, bytes](), None, None, None
    for piece in run.pieces():
        if progress is not None:
            progress(piece.first, len(run), f"line {piece.first + 1} on")
        stated = replace(piece.given(given, end), heading=heading)
        try:
            done = correct(parsed(piece.files, stated, run.post.kind, origin), near)
        except InputError as error:
            raise _in_whole(error, run.file, piece) from None
        changed = {k: done.files[k] for k, data in run.beside.items() if done.files[k] != data}
        if (
            not _follows(piece, done, near)
            or changed.keys() & beside.keys()
            or (done.inserted and not run.takes_points)
        ):
            return None
        beside |= changed
        totals.add(piece, done)
        parts.append(piece.own(done.files[run.file]))
        near, end, heading = _last(piece, done), done.end, _heading(piece, done)
    files = {run.file: run.joined(parts), **run.beside, **beside}
    return replace(
        out, files=files, along=totals.along, left=tuple(totals.left),
        warnings=(totals.finding(run), *out.warnings),
    )  # fmt: skip


def _in_whole(error: InputError, file: str, piece: Piece) -> InputError:
    """An error in a piece with its place in the whole program."""
    places = re.compile(rf"({re.escape(file)}, line )(\d+)")
    text = places.sub(lambda at: f"{at[1]}{piece.line(int(at[2]))}", str(error))
    return error.reworded(text, line=piece.line(error.line) if error.file == file and error.line else error.line)


def _follows(piece: Piece, done: Correction, near: Array | None) -> bool:
    """Whether the line before the piece is reached as the piece before it reached it."""
    if near is None:
        return not piece.first
    values = _values(piece.start, done)
    return values is not None and bool(np.all(np.abs(values - near) < SAME))


def _last(piece: Piece, done: Correction) -> Array | None:
    """Controller values (n,) of the program as it was at the last line of a piece."""
    values = _values(piece.until, done)
    return values if values is not None and np.isfinite(values).all() else None


def _heading(piece: Piece, done: Correction) -> Array | None:
    """Along which the tool comes to the last line of a piece."""
    placed = done.job.placed
    still = not np.ptp(placed.position, axis=0).any() and placed.stations.program.given.heading is None
    at = np.flatnonzero(placed.stations.lines == piece.until)
    return None if still or len(at) != 1 else came_along(placed)[at[0]]


def _values(line: int, done: Correction) -> Array | None:
    """Controller values (n,) without correction at the one station of a line."""
    at = np.flatnonzero(done.job.placed.stations.lines == line)
    return done.model.controller.to_controller(done.commands.nominal[at])[0] if len(at) == 1 else None
