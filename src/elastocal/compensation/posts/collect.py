"""Gathers what a reader finds in the order of the lines, and makes a program of it.

A long program has a million numbers: rows that repeat each other stay one array.
"""

from __future__ import annotations

import gc
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elastocal.compensation.posts.poses import Derived, kuka_angles
from elastocal.compensation.posts.text import Block, Text
from elastocal.compensation.program import Given, Motion, Move, Program, ProgramFrame, Skipped, Target
from elastocal.errors import MissingError
from elastocal.spatial.pose import Pose

FASTEST = 1e3
"""Of a tool, m/s; a number beyond it is no speed."""
PLACEHOLDER = 1.0
"""kg that a program states for a tool where nobody has weighed it."""


class Rows:
    """Grows like a list; thousands of rows stay one array."""

    def __init__(self) -> None:
        self._parts: list[Sequence[Any] | NDArray[Any]] = []
        self._first: list[int] = []
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, number: int) -> Any:
        part = bisect_right(self._first, number) - 1
        return self._parts[part][number - self._first[part]]

    def append(self, row: Any) -> None:
        if not self._parts or not isinstance(self._parts[-1], list):
            self._add([])
        self._parts[-1].append(row)  # type: ignore[union-attr]
        self._count += 1

    def extend(self, rows: NDArray[Any]) -> None:
        self._add(rows)
        self._count += len(rows)

    def array(self, kind: type, *shape: int) -> NDArray[Any]:
        """All rows (N, *shape)."""
        parts: list[NDArray[Any]] = [np.array(p, dtype=kind).reshape(len(p), *shape) for p in self._parts]
        return np.concatenate([np.empty((0, *shape), dtype=kind), *parts])

    def keep(self, numbers: Sequence[int]) -> None:
        """Only some rows, in a new order."""
        self._parts, self._first = [[self[i] for i in numbers]], [0]
        self._count = len(numbers)

    def _add(self, part: Sequence[Any] | NDArray[Any]) -> None:
        self._parts.append(part)
        self._first.append(self._count)


@contextmanager
def unsearched() -> Iterator[None]:
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


MOVING = "external axes move along it"
LONGEST = 300
"""Characters of a reason."""
SAME = 1e-6
"""Frames that differ by less (m, rad) are the same."""


class Missing(Exception):
    """Why a move cannot be corrected."""


class Collector:
    """Targets with their numbers, moves, skipped lines, frames and notes."""

    def __init__(self) -> None:
        self.targets: list[Target] = []
        self.spans = Rows()
        self.values = Rows()
        self.runs: list[range] = []
        """Targets of lines that repeat each other but for their numbers."""
        self.moves: list[Move] = []
        self.skipped: list[Skipped] = []
        self.notes: dict[str, None] = {}
        self.unread: dict[str, None] = {}
        """Routines whose files nobody has seen, and which may change base and tool."""
        self.last: int | None = None
        """The target where the robot stands, where that is known."""
        self.derived: dict[int, Derived] = {}
        """Targets that are written as a shift of another one."""
        self._shared: dict[tuple[str, str], int] = {}
        self._spoilt: dict[int, str] = {}
        self.changed_frames: dict[str, str] = {}
        """Where the program changes a base or tool, by its name in lower case."""
        self.frame_names: dict[tuple[str, str], str] = {}
        """Where a variable (file, name) serves as base or tool: as a target it cannot be corrected."""

    def target(
        self, target: Target, spans: Sequence[tuple[int, int]], values: Sequence[float], shared: bool = False
    ) -> int:
        """Number of a target; a ``shared`` one is added once, and spoilt where its uses need different frames."""
        key = (target.file, target.name)
        number = self._shared.get(key) if shared else None
        if number is None:
            number = len(self.targets)
            self.targets.append(target)
            self.spans.append(spans)
            self.values.append(values)
            if shared:
                self._shared[key] = number
            return number
        known = self.targets[number]
        words = (("tool", known.tool, target.tool), ("base", known.base, target.base))
        for word, one, two in words[: 1 if target.kind == "joints" else 2]:
            if one != two:
                both = f"{target.name} is used with {word} {one} and {word} {two}"
                self._spoilt[number] = f"{both}; one value cannot fit both"
        return number

    def move(
        self, used: tuple[str, int], motion: Motion, end: int, via: int | None = None, feed: float = np.nan,
        fixed: str = "",
    ) -> None:  # fmt: skip
        """A move from where the robot stands to ``end``, where it stands then."""
        if self.last is not None and self.targets[self.last].external != self.targets[end].external:
            fixed = fixed or MOVING
        known = feed if 0 <= feed <= FASTEST else np.nan  # what is no speed is not known
        self.moves.append(Move(*used, motion, self.last, end, via, known, fixed))
        self.last = end

    def repeat(
        self, block: Block, tail: Sequence[float] = (), names: Sequence[str] = (), feeds: Sequence[float] = ()
    ) -> range:
        """Targets and moves of lines that repeat the last move but for their numbers; which targets these are.

        ``tail`` are numbers of every target that do not stand in its line.
        """
        like, move, count = self.targets[-1], self.moves[-1], len(block.values)
        new = range(len(self.targets), len(self.targets) + count)
        self.spans.extend(np.concatenate([block.spans, np.full((count, len(tail), 2), -1)], axis=1))
        self.values.extend(np.hstack([block.values, np.tile(np.array(tail, dtype=float), (count, 1))]))
        fixed = "" if move.fixed == MOVING else move.fixed
        moves = zip(
            repeat(move.file), block.lines, repeat(move.motion), range(new[0] - 1, new[-1]), new, repeat(None),
            feeds or repeat(move.feed), repeat(fixed), repeat(None),
        )  # fmt: skip
        targets = zip(repeat(like.file), block.lines, names or repeat(like.name), *map(repeat, like[3:]))
        with unsearched():
            self.targets += map(tuple.__new__, repeat(Target), targets)
            self.moves += map(tuple.__new__, repeat(Move), moves)
        self.runs.append(range(new[0] - 1, new[-1] + 1))
        self.last = new[-1]
        return new

    def skip(self, text: Text, start: int, end: int, reason: str) -> None:
        """Leave a motion as it is: where the robot then stands is not known."""
        reason = reason if len(reason) <= LONGEST else f"{reason[:LONGEST]} ..."
        self.skipped.append(Skipped(text.name, text.line(start), text.shown(start, end), reason))
        self.last = None

    def carried(self, where: str, what: str, mass: float) -> None:
        """A mass that the program tells its controller; that of a placeholder is not worth a word."""
        if mass > PLACEHOLDER:
            message = (
                f"{what} states a mass of {mass:g} kg, which counts in the correction only if it is given as payload"
            )
            self.note(f"{where}: {message}")

    def note(self, sentence: str) -> None:
        self.notes[sentence] = None

    def frames(self, word: str, given: Mapping[str, Pose], known: Mapping[str, Pose]) -> dict[str, ProgramFrame]:
        """Frames in use; what the files and the user both state must agree."""
        out: dict[str, ProgramFrame] = {}
        stated_by = {name.lower(): pose for name, pose in given.items()}
        for target in self.targets:
            name = target.base if word == "base" else target.tool
            if name in out or (word == "base" and target.kind == "joints"):
                continue
            pose, stated = known.get(name), stated_by.get(name.lower())
            if pose is not None and stated is not None and not same(pose, stated):
                raise MissingError(
                    f"{target.where}: the files put {word} {name} at {spoken(pose)}, given is {spoken(stated)}; "
                    f"give the frame of this program, or none",
                    value=(word, name),
                )
            used = f"{target.file}, line {target.line}"
            out[name] = ProgramFrame(
                name, stated if pose is None else pose, used, self.changed_frames.get(name.lower(), "")
            )
        return out

    def program(
        self, language: str, files: Mapping[str, bytes], given: Given, known: Mapping[str, Mapping[str, Pose]],
        **rest: Any,
    ) -> Program:  # fmt: skip
        """``known`` are bases and tools that the files state; ``rest`` are the arrays and the layout."""
        bases = self.frames("base", given.bases, known.get("base", {}))
        tools = self.frames("tool", given.tools, known.get("tool", {}))
        return Program(
            language=language, files=dict(files), targets=tuple(self.targets), moves=tuple(self.moves),
            skipped=tuple(self.skipped), bases=bases, tools=tools, notes=tuple(self.notes),
            unread=tuple(self.unread), **rest,
        )  # fmt: skip

    def settle(self, *by_number: dict[int, Any]) -> None:
        """Drop spoilt targets with their moves, and say which skipped lines follow corrected ones.

        ``by_number`` are a language's own records by number of the target.
        """
        for key, where in self.frame_names.items():
            if key in self._shared:
                self._spoilt[self._shared[key]] = f"{key[1]} is also a base or tool ({where})"
        for number, d in self.derived.items():
            if d.key is not None and d.key in self._shared:
                self.derived[number] = d._replace(parent=self._shared[d.key])
        if self._spoilt:
            self._drop((*by_number, self.derived))
        names = {t.name.lower() for t in self.targets if t.name}
        for i, s in enumerate(self.skipped):
            used = sorted({w for w in re.findall(r"\w+(?:\[\d+\])?", s.text) if w.lower() in names})
            if used:
                self.skipped[i] = s._replace(reason=f"{s.reason}; it uses {', '.join(used)}, which may be corrected")

    def _drop(self, by_number: Iterable[dict[int, Any]]) -> None:
        """Leave out moves of spoilt targets, and targets that no other move uses; the order is that of first use."""
        moves = []
        for m in self.moves:
            bad = next((t for t in (m.end, m.via) if t in self._spoilt), None)
            if bad is None:
                moves.append(m)
            else:
                self.skipped.append(Skipped(m.file, m.line, self.targets[bad].name, self._spoilt[bad]))
        keep = list(dict.fromkeys(t for m in moves for t in (m.via, m.end) if t is not None))
        new: dict[int | None, int] = {old: i for i, old in enumerate(keep)}
        self.moves = [m._replace(start=new.get(m.start), end=new[m.end], via=new.get(m.via)) for m in moves]
        self.targets = [self.targets[i] for i in keep]
        self.runs.clear()
        for rows in (self.spans, self.values):
            rows.keep(keep)
        for number, d in self.derived.items():
            self.derived[number] = d._replace(parent=new.get(d.parent))
        for record in by_number:
            kept = {new[i]: value for i, value in record.items() if i in new}
            record.clear()
            record.update(kept)


def same(one: Pose, two: Pose) -> bool:
    return bool(
        np.abs(one.translation - two.translation).max() < SAME and np.abs(one.rotation - two.rotation).max() < SAME
    )


def spoken(pose: Pose) -> str:
    """``x 1700, y 0, z 800 mm, A 90, B 0, C 0 deg`` (angles z, y, x)"""
    (x, y, z), (a, b, c) = pose.translation * 1e3, kuka_angles(pose.rotation)
    return f"x {x:g}, y {y:g}, z {z:g} mm, A {a:g}, B {b:g}, C {c:g} deg"
