"""APT cutter location (.apt .cl .cls .aptsource): GOTO/x,y,z[,i,j,k], with the tool axis from tip to spindle.

Without MULTAX or i, j, k the axis is that of TLAXIS, and z where that is not stated.  UNITS/MM holds unless INCHES is
said.  ``$`` at the end of a line goes on in the next, ``$$`` begins a comment.  The turn about the tool axis is free:
``orientation.aligned`` says which one is taken.  The frames are called ``base`` and ``tool``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from elastocal.compensation.posts.cam import CamPost
from elastocal.compensation.posts.collect import Collector
from elastocal.compensation.posts.digits import numbers_text
from elastocal.compensation.posts.post import plain_lines
from elastocal.compensation.posts.text import Edit, Repeats, Text, cells, one_file
from elastocal.compensation.posts.written import RowPost, Written, layout_of, program_of
from elastocal.compensation.program import Given, Inserted, Motion, Move, Program, Target
from elastocal.errors import UnitError
from elastocal.spatial.entries import Array
from elastocal.untrusted import finite_number

SHORT = 0.5
"""Length below which nothing can be meant as a direction."""
PRINTED = 66
"""Characters that a statement of text holds, columns 7 to 72 of a card."""
STILL = (
    "PPRINT|PARTNO|REMARK|FEDRAT|SPINDL|SPINDLE|COOLNT|LOADTL|TOOLNO|TLLOAD|CUTTER|MULTAX|TLAXIS|UNITS|RAPID|MACHIN|"
    "TOLER|INTOL|OUTTOL|LOAD|TPRINT|FINI|END|INSERT|OPSTOP|STOP|DELAY|AUXFUN|MODE|PREFUN|LEADER|TOOL PATH|DISPLY"
)
_LINE = re.compile(r"[ \t]*([A-Za-z][\w \t]*?)[ \t]*(?:/(.*))?\Z", re.A | re.S)
_STILL = re.compile(rf"(?:{STILL})\b", re.A | re.I)
_MOVES = re.compile(
    r"(?:GODLTA|GOHOME|CIRCLE|CYCLE|MOVARC|INDIR[VP]|GORGT|GOLFT|GOFWD|GOBACK|COPY|CALL|ROTATE|ORIGIN|TRANS)\b",
    re.A | re.I,
)

_STATED = rb"[ \t]*+(?:%s)[ \t]*+(?:/[^$\r\n]*+)?+(?:\$\$[^\r\n]*+)?+"
"""A statement on one line."""


class Apt(CamPost, RowPost):
    kind: ClassVar[str] = "apt"
    title: ClassVar[str] = "APT-CL"
    suffixes: ClassVar[tuple[str, ...]] = (".apt", ".cl", ".cls", ".aptsource", ".clf")
    frames: ClassVar[tuple[str, str]] = ("base", "tool")
    alone: ClassVar[bytes] = rb"[ \t]*+GOTO[ \t]*+/[-+.\deE, \t]++"
    passed: ClassVar[bytes] = rb"[ \t]*+(?:\$\$[^\r\n]*+)?+|" + _STATED % (
        b"RAPID|PPRINT|REMARK|SPINDLE?|COOLNT|CUTTER|TOLER|INTOL|OUTTOL|INSERT|OPSTOP|DELAY|AUXFUN|PREFUN|LEADER|DISPLY"
    )
    settings: ClassVar[tuple[bytes, ...]] = (_STATED % b"FEDRAT",)
    once: ClassVar[bytes] = _STATED % b"RAPID"
    motion: ClassVar[bytes] = rb"[ \t]*+(?:GOTO|FROM|RAPID)\b[^\r\n]*+"
    mark: ClassVar[bytes] = b"$$ elastocal: what follows is the next piece\n"
    stop: ClassVar[str] = "STOP"
    end: ClassVar[str] = "FINI"

    def read(self, files: Mapping[str, bytes], given: Given | None = None) -> Program:
        given = given or Given()
        walk = Walk(one_file(files), Collector())
        walk.run()
        if not walk.has_unit:
            walk.into.note(f"{walk.text.name}: no UNITS statement says the unit; MM ARE ASSUMED")
        return program_of(self.kind, files, walk.into, _how(walk.unit), given, {})

    def points(self, text: Text, program: Program, move: Move, points: Inserted) -> Edit:
        """GOTO lines like that of ``move``, before it."""
        layout = layout_of(program)
        at, end = text.content(move.line)
        line = text.text[at:end].rstrip("\r\n")
        spans = layout.slots.spans[move.end]
        count = 6 if spans[3, 0] >= 0 else 3
        head, tail = line[: int(spans[0, 0]) - at], line[int(spans[count - 1, 1]) - at :]
        rows = layout.how.rows(points, layout.slots.values[move.end])
        words = (", ".join(numbers_text(row, layout.how.decimals)[:count]) for row in rows)
        return (at, at, "".join(f"{head}{numbers}{tail}{text.newline}" for numbers in words))

    def opening(self, name: str) -> list[str]:
        return [f"PARTNO {name}", "UNITS/MM", "MULTAX/ON"]

    def remark(self, text: str) -> list[str]:
        """PPRINT, which is handed on; ``$$`` is not."""
        return [f"PPRINT/{line.replace('$', '')}" for line in plain_lines(text, PRINTED)]

    def speed(self, feed: float) -> list[str]:
        return [f"FEDRAT/{feed:g},MMPM"]

    def go(self, point: Array) -> list[str]:
        return ["GOTO/" + ",".join(numbers_text(point, _how("mm").decimals))]

    def dwell(self, seconds: float) -> list[str]:
        return [f"DELAY/{seconds:g}"]


def _how(unit: str) -> Written:
    return Written(length=unit, form="vector")


@dataclass
class Walk:
    """One pass through the statements."""

    text: Text
    into: Collector
    unit: str = "mm"
    has_unit: bool = False
    axis: Array = field(default_factory=lambda: np.array([0.0, 0.0, 1.0]))
    feed: float = np.nan
    rapid: bool = False
    cycle: bool = False
    """Whether every point is drilled."""

    def run(self) -> None:
        self.repeats = Repeats.of(self.text)
        number, total = 0, len(self.text.starts)
        while number < total:
            number += 1
            first = number
            start, end = self.text.content(number)
            pieces = [self._code(start, end)]
            while pieces[-1].rstrip().endswith("$") and number < total:
                number += 1
                pieces.append(self._code(*self.text.span(number)))
            number += self._statement(first, start, "".join(p.replace("$", " ") for p in pieces), len(pieces) == 1)

    def _code(self, start: int, end: int) -> str:
        """A line without its comment, blanks in its place."""
        line = self.text.text[start:end]
        mark = line.find("$$")
        return line if mark < 0 else line[:mark] + " " * (len(line) - mark)

    def _statement(self, number: int, start: int, code: str, alone: bool) -> int:
        """How many lines are read on behind it."""
        match = _LINE.match(code.rstrip())
        if not match:
            if code.strip() and not _STILL.match(code.strip()):  # PPRINT and its kin hold any text
                self.into.last = None
            return 0
        word = " ".join(match[1].upper().split())
        args = match[2] or ""
        where = (start, start + len(code.rstrip()))
        if word in ("GOTO", "FROM"):
            return self._goto(number, where, word, args, start + match.start(2) if match[2] else 0, alone)
        if word == "UNITS":
            self._units(number, args)
        elif word == "TLAXIS":
            self._axis(where, args)
        elif word == "FEDRAT":
            self._feedrate(args)
        elif word == "RAPID":
            self.rapid = True
        elif _MOVES.match(word):
            if word == "CYCLE":
                self.cycle = args.strip().upper() != "OFF"
            self.into.skip(self.text, *where, f"{word} is not followed")
        elif not _STILL.match(word):
            self.into.last = None
        return 0

    def _goto(self, number: int, where: tuple[int, int], word: str, args: str, at: int, alone: bool) -> int:
        words = cells(args, at)
        values = [finite_number(word) for word, _ in words]
        if len(values) not in (3, 6) or None in values:
            self.into.skip(self.text, *where, "its point is not three or six numbers")
            return 0
        numbers = [float(v or 0.0) for v in values]
        tilted = len(numbers) == 6
        axis = np.array(numbers[3:]) if tilted else self.axis
        if np.linalg.norm(axis) < SHORT:
            self.into.skip(self.text, *where, "its tool axis is not of unit length")
            return 0
        spans = [span for _, span in words]
        target = self.into.target(
            Target(self.text.name, number, "", "axis", "base", "tool"), spans + [(-1, -1)] * (6 - len(spans)),
            [*numbers[:3], *axis],
        )  # fmt: skip
        air = self.rapid or word == "FROM"
        motion: Motion = "joint" if air else "linear"
        fixed = "a cycle is in force, which would run at them too" if self.cycle else ""
        fixed = fixed if alone else "it goes on in the next line"
        self.into.move((self.text.name, number), motion, target, feed=np.nan if air else self.feed, fixed=fixed)
        rapid, self.rapid = self.rapid, False
        if not alone or rapid or word == "FROM":
            return 0
        block = self.repeats.like(number, spans)
        if block is not None and tilted:
            block = block.before(np.linalg.norm(block.values[:, 3:], axis=1) < SHORT)
        if block is None or not len(block.values):
            return 0
        return len(self.into.repeat(block, () if tilted else axis.tolist()))

    def _units(self, number: int, args: str) -> None:
        word = args.strip().upper()
        unit = {"MM": "mm", "INCHES": "in", "INCH": "in"}.get(word)
        if unit is None or (self.into.targets and unit != self.unit):
            raise UnitError(
                f"{self.text.name}, line {number}: UNITS/{word} is not MM or INCHES, or changes after a point; give "
                "one unit before the first point",
                line=number,
                value=word,
            )
        self.unit, self.has_unit = unit, True

    def _axis(self, where: tuple[int, int], args: str) -> None:
        values = [finite_number(c.strip()) for c in args.split(",")]
        if len(values) == 3 and None not in values:
            self.axis = np.array([float(v or 0.0) for v in values])
        else:
            self.into.skip(self.text, *where, "its tool axis is not three numbers")

    def _feedrate(self, args: str) -> None:
        words = [w.strip().upper() for w in args.split(",")]
        number = next((v for w in words if (v := finite_number(w)) is not None), None)
        unit = next((w for w in words if w.isalpha()), "MMPM" if self.unit == "mm" else "IPM")
        factor = {"MMPM": 1e-3 / 60, "PERMIN": 1e-3 / 60 if self.unit == "mm" else 0.0254 / 60, "IPM": 0.0254 / 60}
        self.feed = np.nan if number is None or unit not in factor else number * factor[unit]
