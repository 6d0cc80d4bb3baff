"""Languages whose positions stand in a list of their own under a number, and whose moves name them.

A reader fills ``positions`` by name and calls ``use`` for every move.  Points that are put into a line get the next
free numbers: their positions go to the end of the list, the moves before the line that they belong to.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from elastocal.compensation.posts.collect import Collector, Missing
from elastocal.compensation.posts.digits import numbers_text
from elastocal.compensation.posts.post import ToolPath, six_revolute
from elastocal.compensation.posts.text import Edit, Text, opened
from elastocal.compensation.posts.written import Added, Convert, RowPost, Written, layout_of, program_of, put_in
from elastocal.compensation.program import Changes, Given, Move, Program, Target
from elastocal.errors import RangeError
from elastocal.model.robot import Robot
from elastocal.model.transmission import Drives
from elastocal.spatial.entries import Array
from elastocal.spatial.pose import Pose

if TYPE_CHECKING:
    from elastocal.design.method import Stop

HOW = Written(reverse=True)
"""mm and deg; angles about x, y, z, of which the last is turned first."""


class Position(NamedTuple):
    """A position of the list; ``why`` says why it cannot be used, ``block`` is where it stands.

    ``words`` are lines before it that hold until others come.
    """

    line: int
    joints: bool
    numbers: tuple[float, ...]
    spans: tuple[tuple[int, int], ...]
    base: str
    tool: str
    configuration: str
    external: tuple[float, ...]
    why: str
    block: tuple[int, int]
    words: tuple[str, ...] = ()


@dataclass
class NumberedWalk:
    """The reading of one file; ``end`` is the place behind the last position, where the words ``held`` hold.

    ``top`` is the highest number in use.
    """

    text: Text
    into: Collector
    drives: Drives | None = None
    positions: dict[str, Position] = field(default_factory=dict)
    end: int = -1
    top: int = -1
    held: tuple[str, ...] = ()

    @abstractmethod
    def run(self) -> None: ...

    def add(self, name: str, number: int, position: Position) -> None:
        """A name that comes twice says nothing."""
        twice = "is written twice in the list of positions"
        self.positions[name] = position._replace(why=twice) if name in self.positions else position
        self.end, self.top, self.held = position.block[1], max(self.top, number), position.words

    def use(self, name: str, base: str = "", tool: str = "") -> int:
        """The target of a position, in the frames that it names, else in these."""
        if name not in self.positions:
            raise Missing(f"{name} has no value in the list of positions")
        p = self.positions[name]
        if p.why:
            raise Missing(p.why if p.why.startswith("its ") else f"{name} {p.why}")
        target = Target(
            self.text.name, p.line, name, "joints" if p.joints else "pose", p.base or base, p.tool or tool,
            p.configuration, p.external,
        )  # fmt: skip
        return self.into.target(target, p.spans, p.numbers, shared=True)


class NumberedPost(RowPost):
    """What such languages share; one of them says how its files are read and how a point is put in."""

    maker: ClassVar[str]
    known: ClassVar[Mapping[str, Pose]] = {}
    """Tools that need not be stated."""
    last: ClassVar[int]
    """The highest number that a position may have."""

    def left_open(self, model: Robot, path: ToolPath) -> dict[str, str | list[str]]:
        return {"tool": [f"1={model.tool}"]}

    @abstractmethod
    def walk(self, text: Text, into: Collector, drives: Drives | None) -> NumberedWalk:
        """The reading of one file."""

    @abstractmethod
    def listed(self, text: Text, like: Position, number: int, numbers: Sequence[str]) -> tuple[str, str]:
        """The name and the lines of a new position that is written like another one."""

    @abstractmethod
    def passing(self, text: Text, move: Move, name: str) -> str:
        """The line of a linear move to a position that is passed without a stop, like that of ``move``."""

    def pieces(self, text: Text, move: Move, names: Sequence[str], before: int) -> Iterator[Edit]:
        """An arc that becomes several, through positions of these names."""
        raise NotImplementedError

    def statements(self, move: Move, points: int) -> int:
        """What is counted of so many points that are put into a move."""
        return points

    @abstractmethod
    def counted(self, text: Text) -> re.Match[str] | None:
        """Where the file says how many lines or positions it has."""

    def to_axes(self, drives: Drives | None) -> tuple[Convert | None, Convert | None, int | None]:
        """Axis numbers to rad and back, where they are no degrees, and how many decimals they have."""
        return None, None, None

    def read(self, files: Mapping[str, bytes], given: Given | None = None) -> Program:
        given = given or Given()
        into = Collector()
        walks = {name: self.walk(opened(name, data), into, given.drives) for name, data in files.items()}
        for walk in walks.values():
            walk.run()
        into.settle()
        convert = self.to_axes(given.drives)[0]
        return program_of(self.kind, files, into, HOW, given, {"tool": self.known}, walks, convert)

    def of_axes(self, program: Program) -> tuple[Convert | None, int | None]:
        return self.to_axes(program.given.drives)[1:]

    def added(self, texts: Mapping[str, Text], program: Program, changes: Changes, values: Array) -> Added:
        for name, walk in layout_of(program).own.items():
            for edit in self._points(walk, program, changes):
                yield name, edit

    def _points(self, walk: NumberedWalk, program: Program, changes: Changes) -> Iterator[Edit]:
        """New positions at the end of the list, and moves to them."""
        text, number, held = walk.text, walk.top, walk.held
        lines: list[str] = []
        new = 0
        for move, points in put_in(program, changes):
            if move.file != text.name:
                continue
            like = walk.positions[program.targets[move.end].name]
            lines += like.words if like.words != held else ()
            held = like.words
            names = []
            for numbers in HOW.rows(points, np.array(like.numbers)):
                number += 1
                name, block = self.listed(text, like, number, numbers_text(numbers, HOW.decimals))
                lines.append(block)
                names.append(name)
            new += self.statements(move, len(names))
            if move.motion == "linear":
                at = text.starts[move.line - 1]
                yield at, at, "".join(f"{self.passing(text, move, name)}{text.newline}" for name in names)
            else:
                yield from self.pieces(text, move, names, points.before)
        if number > self.last:
            raise RangeError(
                f"{text.name}: the further points would need position {number}, and {self.last} is the highest; "
                "densify with a larger tolerance, or divide the program"
            )
        if lines:
            lines += walk.held if walk.held != held else ()
            yield walk.end, walk.end, "".join(f"{text.newline}{line}" for line in lines)
            count = self.counted(text)
            if count is not None:
                yield *count.span(1), str(int(count[1]) + new)

    def hindrance(self, model: Robot, stops: Sequence[Stop] = ()) -> str:
        return "" if six_revolute(model) else f"for {self.maker} they are written for six revolute axes only"
