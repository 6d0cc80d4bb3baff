"""FANUC TP programs as ASCII (.ls): positions in /POS, moves that name them in /MN.

mm, deg; W P R about x, y, z of the user frame UF, which the file names by its number only, as it does the tool UT.
User frame 0 is the controller's world frame.  A position in axes has J1 to J6.  CONFIG 'N U T, 0, 0, 0' says flip,
elbow, side of axis 1 and whole turns of J1, J4 and J6; it is kept.  A controller refuses to go to a position in other
frames than the active ones (UFRAME_NUM, UTOOL_NUM): such a move is left as it is.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from elastocal.compensation.branches import Branch, configuration_words
from elastocal.compensation.posts.collect import Collector, Missing
from elastocal.compensation.posts.numbered import HOW, NumberedPost, NumberedWalk, Position
from elastocal.compensation.posts.post import (
    START,
    ArcTurn,
    ToolPath,
    base_pose,
    plain_lines,
    program_name,
    speed_of,
    stop_lines,
    windows_lines,
)
from elastocal.compensation.posts.text import NUMBER, Edit, Text, blanked
from elastocal.compensation.posts.written import arc_edits
from elastocal.compensation.program import Motion, Move, Target
from elastocal.errors import MissingError
from elastocal.model.robot import Robot
from elastocal.model.transmission import Drives
from elastocal.spatial.entries import Array
from elastocal.spatial.pose import Pose

if TYPE_CHECKING:
    from elastocal.design.method import Stop

CARTESIAN = ("X", "Y", "Z", "W", "P", "R")
AXES = ("J1", "J2", "J3", "J4", "J5", "J6")
MOTIONS: dict[str, Motion] = {"L": "linear", "J": "joint", "C": "arc"}
REMARK, MESSAGE = 32, 24
"""Characters of a remark and of a message."""
STILL = re.compile(
    r"!|//|--|WAIT\b|MESSAGE\b|DO\[|RO\[|GO\[|AO\[|R\[|F\[|UFRAME_NUM|UTOOL_NUM|PAUSE\b|OVERRIDE|PAYLOAD|TIMER|UALM|"
    r"RSR|CONFIG|\Z", re.A
)  # fmt: skip
"""How lines begin that move nothing and are always passed."""

_SECTION = re.compile(r"^[ \t]*/(\w+)", re.M | re.A)
_POSITION = re.compile(r"(?<!\w)P\[[ \t]*(\d+)[ \t]*(?::[^\]\r\n]*)?\]\s*\{([^{}]*)\}\s*;", re.A)
_GROUP = re.compile(r"GP(\d+)[ \t]*:", re.A)
_PAIR = re.compile(rf"(?<![\w'])([A-Z]\d?)[ \t]*=[ \t]*({NUMBER})[ \t]*(mm|deg)\b", re.A)
_FRAME = re.compile(r"(?<!\w)(UF|UT)[ \t]*:[ \t]*(\d+|F)", re.A)
_CONFIG = re.compile(r"CONFIG[ \t]*:[ \t]*'([^'\r\n]*)'", re.A)
_STATEMENT = re.compile(r"^[ \t]*+(\d*+)[ \t]*+:([^;]*+);", re.A | re.M)
_MOVE = re.compile(r"\s*([JLCAS])[ \t]+(P|PR)\[([^\]]*)\]", re.A)
_SECOND = re.compile(r"[ \t\r\n]*:?[ \t]*(P|PR)\[([^\]]*)\]", re.A)
_NUMBER_OF = re.compile(r"[ \t]*(\d+)[ \t]*(?::.*)?", re.A | re.S)
_ACTIVE = re.compile(r"\s*(UFRAME_NUM|UTOOL_NUM)[ \t]*(?:\[[^\]]*\])?[ \t]*=[ \t]*(\d+)?", re.A)
_ACTIVATES = re.compile(r"(UFRAME_NUM|UTOOL_NUM)[ \t]*(?:\[[^\]]*\])?[ \t]*=[ \t]*(\d*)", re.A)
_JOINS = re.compile(r"\s*(?:LBL\b|ELSE\b|ENDIF\b|FOR\b|ENDFOR\b)", re.A)
"""Lines that are come to from elsewhere too."""
_CALLS = re.compile(r"(?<!\w)CALL[ \t]+(\w+)", re.A)
_DISPLACED = re.compile(r"(?<!\w)(INC|Offset|Tool_Offset|VOFFSET|VOFFS|Skip|COORD|RTCP|BREAK)\b", re.A | re.I)
_SET = re.compile(r"\s*P\[[ \t]*(\d+)[^\]]*\][^=;]*=", re.A)
_SPEED = re.compile(rf"[ \t]*({NUMBER})[ \t]*(mm/sec|cm/min|inch/min|m/sec)", re.A)
_PER_SECOND = {"mm/sec": 1e-3, "cm/min": 1e-2 / 60, "inch/min": 0.0254 / 60, "m/sec": 1.0}
_PASSED = re.compile(
    r"[ \t]*+\d*+[ \t]*+:[ \t]*+L[ \t]++P\[[^\]\r\n]*+\][ \t]*+"
    r"((?:[\d.]++|R\[\d++[^\]\r\n]*+\])[ \t]*+(?:mm/sec|cm/min|inch/min|m/sec)\b)",
    re.A,
)
"""A linear move by its speed, on one line: another one to a further point can stand before it."""
_ARC = re.compile(
    r"[ \t]*+\d*+[ \t]*+:[ \t]*+C[ \t]++P\[[^\]\r\n]*+\]()[ \t]*+(?:\r?+\n[ \t]*+:?+[ \t]*+)?+P\[[^\]\r\n]*+\][ \t]*+"
    r"((?:[\d.]++|R\[\d++[^\]\r\n]*+\])[ \t]*+(?:mm/sec|cm/min|inch/min|m/sec)\b)",
    re.A,
)
"""An arc by its speed, on one line or two; between the points and the speed stands nothing."""
_LINES = re.compile(r"(?<![^\r\n])LINE_COUNT[ \t]*=[ \t]*(\d{1,9})[ \t]*;", re.A)
DIGITS = 9
_STRINGS = re.compile(r"'[^'\r\n]*'")


class Fanuc(NumberedPost):
    kind: ClassVar[str] = "fanuc"
    title: ClassVar[str] = "FANUC TP"
    suffixes: ClassVar[tuple[str, ...]] = (".ls",)
    judged: ClassVar[tuple[Motion, ...]] = ("joint", "linear", "arc")
    own_base: ClassVar[str] = "0"
    maker: ClassVar[str] = "FANUC"
    known: ClassVar[Mapping[str, Pose]] = {"0": Pose()}
    last: ClassVar[int] = 32766
    arc_turn: ClassVar[ArcTurn | None] = ArcTurn("via")

    def walk(self, text: Text, into: Collector, drives: Drives | None) -> NumberedWalk:
        return Walk(text, into)

    def listed(self, text: Text, like: Position, number: int, numbers: Sequence[str]) -> tuple[str, str]:
        at = text.text.index("{", like.block[0])
        lines = ""
        for (start, end), new in sorted(zip(like.spans, numbers, strict=True)):
            lines, at = f"{lines}{text.text[at:start]}{new}", end
        return f"P[{number}]", f"P[{number}]{lines}{text.text[at : like.block[1]]}"

    def passing(self, text: Text, move: Move, name: str) -> str:
        """Without a number of its line, which the controller gives; CNT100 passes the point."""
        match = _PASSED.match(text.text, text.starts[move.line - 1])
        assert match is not None
        return f"    :L {name} {match[1]} CNT100 ;"

    def pieces(self, text: Text, move: Move, names: Sequence[str], before: int) -> Iterator[Edit]:
        match = _ARC.match(text.text, text.starts[move.line - 1])
        assert match is not None

        def form(aux: str, end: str) -> str:
            to = f"{text.newline}    :  {end} {match[2]} CNT100 ;{text.newline}" if end else ""
            return (f"    :C {aux}" if aux else "") + to

        yield from arc_edits(match.start(), match.start(1), names, before, form)

    def statements(self, move: Move, points: int) -> int:
        return points if move.motion == "linear" else points // 2

    def counted(self, text: Text) -> re.Match[str] | None:
        return _LINES.search(text.text)

    def branch(self, target: Target) -> Branch | None:
        """N: J5 below zero, as with the hand hanging down; U: elbow above the line to the wrist; T: before axis 1."""
        match = re.fullmatch(r"\s*([NF])\s+(?:[LR]\s+)?([UD])\s+([TB])\s*,\s*(-?\d+)\s*,\s*(-?\d+)\s*,\s*(-?\d+)\s*",
                             target.configuration)  # fmt: skip
        if not match:
            return None
        counts = (360.0 * int(n) for n in match.groups()[3:])
        turns = {axis: (c - 180, c + 180) for axis, c in zip((0, 3, 5), counts, strict=True)}
        up, behind = match[2] == "U", match[3] == "B"
        return Branch(behind=behind, ahead=up != behind, fifth_negative=match[1] == "N", ranges=turns)

    def measuring_program(
        self, name: str, model: Robot, stops: Sequence[Stop], notes: Sequence[str] = (), wait: float = 2.0
    ) -> dict[str, str]:
        """One joint move per stop, PAUSE where somebody reads or changes the load."""

        def move(number: int, stop: Stop) -> list[str]:
            return [f"J P[{number}] {speed_of(stop, number):g}% FINE"]

        def ask(sentence: str) -> list[str]:
            return [*_remarks(sentence), f"MESSAGE[{plain_lines(_unended(sentence))[0][:MESSAGE]}]", "PAUSE"]

        lines = [*(r for n in notes for r in _remarks(n)), *_remarks(START), "PAUSE"]
        lines += stop_lines(stops, _remarks, ask, move, [f"WAIT {wait:7.2f}(sec)"])
        axes = np.degrees(model.controller.to_controller(np.array([s.q for s in stops]).reshape(-1, model.n)))
        points = [_axes_position(i, row) for i, row in enumerate(axes, 1)]
        return _file(program_name(name).upper(), lines, points)

    def example(self, model: Robot, path: ToolPath) -> dict[str, str]:
        start = np.degrees(model.controller.to_controller(path.q[None])[0])
        points = [_axes_position(1, start)]
        lines = [*_remarks(path.comment), *_remarks("UFRAME 0 is the world frame"), *_remarks(_tool_remark(path.tool)),
                 "UFRAME_NUM=0", "UTOOL_NUM=1", "J P[1] 10% FINE"]  # fmt: skip
        world, words = base_pose(model), configuration_words(model, path.q)
        for i, corner in enumerate(path.poses, 2):
            points.append(_posed_position(i, HOW.of_pose(world.inverse() @ corner), words))
            lines.append(f"L P[{i}] 50mm/sec FINE")
        return _file(program_name(path.name).upper(), lines, points)


def _tool_remark(tool: Pose) -> str:
    numbers = " ".join(f"{k} {v + 0.0:.3f}" for k, v in zip(CARTESIAN, HOW.of_pose(tool), strict=True))
    return f"set UTOOL 1 to {numbers}"


def _remarks(text: str) -> list[str]:
    return [f"!{line}" for part in plain_lines(_unended(text)) for line in textwrap.wrap(part, REMARK - 1) or [""]]


def _unended(text: str) -> str:
    """Without semicolons, which end a line, and brackets, which end a message."""
    return text.translate(str.maketrans(";[]", ",()"))


def _axes_position(number: int, axes: Array) -> str:
    words = [f"J{i}= {v + 0.0:.5f} deg" for i, v in enumerate(axes.tolist(), 1)]
    return _listed(number, "UF : 0, UT : 1", words)


def _posed_position(number: int, values: Array, words: str) -> str:
    units = ("mm",) * 3 + ("deg",) * 3
    notes = [f"{k} = {v + 0.0:.4f} {u}" for k, v, u in zip(CARTESIAN, values, units, strict=True)]
    return _listed(number, f"UF : 0, UT : 1, CONFIG : '{words}'", notes)


def _listed(number: int, frames: str, six: Sequence[str]) -> str:
    body = f"{frames},\r\n\t{', '.join(six[:3])},\r\n\t{', '.join(six[3:])}"
    return f"P[{number}]{{\r\n   GP1:\r\n\t{body}\r\n}};"


def _file(name: str, lines: Sequence[str], points: Sequence[str]) -> dict[str, str]:
    numbered = [f"{i:4d}:  {line} ;" if line[:1] in "!" else f"{i:4d}:{line} ;" for i, line in enumerate(lines, 1)]
    head = [f"/PROG  {name}", "/ATTR", "OWNER = MNEDITOR;", f"LINE_COUNT = {len(lines)};",
            "DEFAULT_GROUP = 1,*,*,*,*;", "/MN"]  # fmt: skip
    return {f"{name}.LS": windows_lines([*head, *numbered, "/POS", *points, "/END"])}


@dataclass
class Walk(NumberedWalk):
    """The reading of one file."""

    uframe: str = ""
    utool: str = ""
    """Numbers of the frames that are active; "" where they are not known."""
    stated: dict[str, set[str]] = field(default_factory=dict)
    """All numbers that UFRAME_NUM and UTOOL_NUM get in the file."""
    changer: str = ""
    """A program that was called since, and may have changed them."""
    set: dict[int, int] = field(default_factory=dict)

    def run(self) -> None:
        code = self.text.text.replace("\r", "\n")
        marks = [(m[1].upper(), m.start(), m.end()) for m in _SECTION.finditer(code)]
        spans = {
            word: (end, marks[i + 1][1] if i + 1 < len(marks) else len(code)) for i, (word, _, end) in enumerate(marks)
        }
        if "MN" not in spans or "POS" not in spans:
            raise MissingError(
                f"{self.text.name}: has no /MN and /POS as an ASCII program has; a .tp file is binary: make the .ls "
                "of it (ASCII save on the controller, or PrintTP)",
                code="not-ascii",
            )
        self._positions(code, *spans["POS"])
        start, end = spans["MN"]
        self.into.last = None
        statements = list(_STATEMENT.finditer(code, start, end))
        for statement in statements:
            assigned = _SET.match(statement[2])
            if assigned and len(assigned[1]) <= DIGITS:
                self.set.setdefault(int(assigned[1]), self.text.line(statement.start(2)))
            for word, number in _ACTIVATES.findall(statement[2]):
                self.stated.setdefault(word, set()).add(number)
        for statement in statements:
            self._statement(statement)

    def _statement(self, statement: re.Match[str]) -> None:
        body = statement[2]
        self._activate(body)
        move = _MOVE.match(body)
        if not move:
            if not STILL.match(body.strip()):
                self.into.last = None
            return
        try:
            self._move(statement, move)
        except Missing as reason:
            self.into.skip(self.text, statement.start(2) + move.start(1), statement.end(2), str(reason))

    def _activate(self, body: str) -> None:
        """Frames that a statement makes the active ones, or that a jump may have."""
        active = _ACTIVE.match(body)
        for word, slot in (("UFRAME_NUM", "uframe"), ("UTOOL_NUM", "utool")):
            if active and active[1] == word:
                setattr(self, slot, active[2] or "")
                self.changer = ""
            elif _JOINS.match(body) or (not active and word in body):
                numbers = self.stated.get(word, set())
                setattr(self, slot, getattr(self, slot) if len(numbers) == 1 else "")
        if call := _CALLS.search(body):
            self.changer = call[1]
            self.into.note(f"{self.text.name}: the call of {call[1]} is taken not to change user frame and tool")

    def _check_frames(self, name: str) -> None:
        """Refuse a position whose frames are not the active ones."""
        p = self.positions.get(name)
        for word, own, active in () if p is None or p.joints else (
            ("user frame", p.base, self.uframe), ("tool", p.tool, self.utool)
        ):  # fmt: skip
            if own and active and own != active:
                unless = f", unless {self.changer} changes it" if self.changer else ""
                raise Missing(f"{name} is stated for {word} {own}, and {word} {active} is active there{unless}")

    def _move(self, statement: re.Match[str], move: re.Match[str]) -> None:
        body, word = statement[2], move[1]
        line = self.text.line(statement.start(2) + move.start(1))
        names, at = [(move[2], move[3])], move.end()
        if word not in MOTIONS:
            raise Missing(f"motion {word} is not supported")
        if word == "C":
            second = _SECOND.match(body, at)
            if not second:
                raise Missing("its second point is missing")
            names.append((second[1], second[2]))
            at = second.end()
        displaced = _DISPLACED.search(blanked(body[at:], _STRINGS))
        if displaced:
            raise Missing(f"it is displaced or depends on {displaced[1]}")
        speed = _SPEED.match(body, at)
        feed = float(speed[1]) * _PER_SECOND[speed[2]] if speed else np.nan
        named = [self._name(register, number) for register, number in names]
        for name in named:
            self._check_frames(name)
        used = [self.use(name, self.uframe or "F", self.utool or "F") for name in named]
        start = self.text.line_start(statement.start(2) + move.start(1))
        whole = (_ARC if word == "C" else _PASSED).match(self.text.text, start)
        fixed = "" if whole else "its line or its speed is written in another way"
        self.into.move((self.text.name, line), MOTIONS[word], used[-1], used[0] if word == "C" else None, feed, fixed)

    def _name(self, register: str, word: str) -> str:
        number = _NUMBER_OF.fullmatch(word)
        if register == "PR" or not number or len(number[1]) > DIGITS:
            raise Missing(f"{register}[{word}] is not known when the file is read")
        n = int(number[1])
        if n in self.set:
            raise Missing(f"P[{n}] is computed in line {self.set[n]}")
        return f"P[{n}]"

    def _positions(self, code: str, start: int, end: int) -> None:
        self.end = start
        for positions in _POSITION.finditer(code, start, end):
            if len(positions[1]) <= DIGITS:
                position = self._read(code, *positions.span(2), self.text.line(positions.start()))
                self.add(f"P[{int(positions[1])}]", int(positions[1]), position._replace(block=positions.span()))

    def _read(self, code: str, start: int, end: int, line: int) -> Position:
        groups = [(m[1], m.start(), m.end()) for m in _GROUP.finditer(code, start, end)]
        inside = (start, end)
        others: list[tuple[int, int]] = []
        for i, (number, _, after) in enumerate(groups):
            span = (after, groups[i + 1][1] if i + 1 < len(groups) else end)
            if number == "1":
                inside = span
            else:
                others.append(span)
        pairs = {m[1]: m for m in _PAIR.finditer(code, *inside)}
        frames = {m[1]: m[2] for m in _FRAME.finditer(code, *inside)}
        config = _CONFIG.search(code, *inside)
        joints = "J1" in pairs
        keys = AXES if joints else CARTESIAN
        external = [float(m[2]) for k, m in pairs.items() if k[0] == "E"]
        external += [float(m[2]) for span in others for m in _PAIR.finditer(code, *span)]
        why = ""
        lacking = [k for k in keys if k not in pairs]
        if lacking:
            why = f"has no number for {lacking[0]} in line {line}"
        elif not np.isfinite([*(float(pairs[k][2]) for k in keys), *external]).all():
            why = f"has a number too large in line {line}"
        elif joints and "J7" in pairs:
            why = "has more than six axes"
        elif any(pairs[k][3] != ("deg" if joints or k in "WPR" else "mm") for k in keys):
            why = f"has other units than mm and deg in line {line}"
        external = external if np.isfinite(external).all() else []
        numbers = () if why else tuple(float(pairs[k][2]) for k in keys)
        spans = () if why else tuple(pairs[k].span(2) for k in keys)
        words = config[1] if config else ""
        base, tool = (frames.get(k, "F").replace("F", "") for k in ("UF", "UT"))
        return Position(line, joints, numbers, spans, base, tool, words, tuple(external), why, (start, end))
