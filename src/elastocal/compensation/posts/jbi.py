"""Yaskawa INFORM jobs (.jbi): positions C00000 in //POS, moves that name them in //INST.

In relative jobs (///RECTAN) positions are mm and deg, Rx Ry Rz about the fixed axes x, y, z of the base (///POSTYPE
BASE or ROBOT), or of a user frame (///USER, ///POSTYPE USER).  In others (///PULSE) they are encoder pulses of the
motors: those are read with the pulses per degree of the robot file, and left alone without.
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
from elastocal.compensation.posts.post import LONG as LINES
from elastocal.compensation.posts.post import (
    PIECE,
    SHOWN,
    START,
    ToolPath,
    base_pose,
    plain_lines,
    program_name,
    speed_of,
    stop_lines,
    windows_lines,
)
from elastocal.compensation.posts.text import NUMBER, Text, cells
from elastocal.compensation.posts.written import Convert
from elastocal.compensation.program import Motion, Move, Target
from elastocal.errors import MissingError
from elastocal.model.robot import Robot
from elastocal.model.transmission import Drives
from elastocal.spatial.entries import Array
from elastocal.untrusted import finite_number

if TYPE_CHECKING:
    from elastocal.compensation.streamed import Long
    from elastocal.design.method import Stop

MOTIONS: dict[str, Motion] = {"MOVJ": "joint", "MOVL": "linear", "MOVC": "arc", "MOVS": "spline"}
BASE = "base"
LONGEST = 32
NO_PULSES = (
    "its position is in pulses, and the robot file states no pulses per degree; add controller: pulses_per_degree, or "
    "structure and counts_per_turn, or save the job as a relative one (///RECTAN)"
)
_STILL = re.compile(r"(?:NOP|END|'|TIMER|DOUT|AOUT|SET|PAUSE|MSG|\*|SPEED|SETTOOL|COMM|$)", re.A)
_POSITION = re.compile(r"[ \t]*(B?E?C\d+)[ \t]*=([^\r\n]*)", re.A)
_MOVE = re.compile(r"[ \t]*(MOV\w+|IMOV)\b(?:[ \t]+([A-Z]+\d+|\w+\[[^\]]*\]))?([^\r\n]*)", re.A)
_ROBOT = re.compile(r"C\d+", re.A)
_WORD = re.compile(r"[ \t]*///?(\w+)[ \t]*([^\r\n]*)", re.A)
_LEVEL = re.compile(rf"[ \t]+(?:PL|CR)=(?:{NUMBER})", re.A)
SHORT, LONG = 8, 24
"""Numbers of ///RCONF, at most on an NX100, and on a DX100 and its followers."""
_COUNT = re.compile(r"(?<![^\r\n])///NPOS[ \t]+(\d{1,9})", re.A)
PULSE = "PULSE"
UNITS = (PULSE, "RECTAN")
DIGITS = 9
_FEED = re.compile(rf"(?<!\w)V=({NUMBER})", re.A)


class Jbi(NumberedPost):
    kind: ClassVar[str] = "jbi"
    title: ClassVar[str] = "Yaskawa INFORM"
    suffixes: ClassVar[tuple[str, ...]] = (".jbi",)
    own_base: ClassVar[str] = BASE
    pulses: ClassVar[bool] = True
    maker: ClassVar[str] = "Yaskawa"
    last: ClassVar[int] = 99999
    alone: ClassVar[bytes] = rb"[ \t]*+MOV[JL][ \t]++C\d++(?:[ \t]++(?:V|VJ|VR|VE|PL|CR|ACC|DEC)=[-+]?[\d.]++)*+[ \t]*+"
    passed: ClassVar[bytes] = rb"(?![ \t]*+/)[^\r\n]*+"
    motion: ClassVar[bytes] = rb"[ \t]*+I?MOV[^\r\n]*+"
    mark: ClassVar[bytes] = b"'elastocal: the next piece\n"

    def long(self, files: Mapping[str, bytes], least: int = LINES, size: int = PIECE, most: int = SHOWN) -> Long | None:
        from elastocal.compensation.posts.jbi_pieces import ListedRun

        return ListedRun.of(self, files, least, size, most)

    def walk(self, text: Text, into: Collector, drives: Drives | None) -> NumberedWalk:
        return Walk(text, into, drives)

    def to_axes(self, drives: Drives | None) -> tuple[Convert | None, Convert | None, int | None]:
        return (None, None, 0) if drives is None else (drives.from_counts, drives.counts, 0)

    def listed(self, text: Text, like: Position, number: int, numbers: Sequence[str]) -> tuple[str, str]:
        width = text.text.index("=", like.block[0]) - like.block[0] - 1
        name = f"C{number:0{width}d}"
        return name, f"{name}={','.join(numbers)}"

    def passing(self, text: Text, move: Move, name: str) -> str:
        """PL=1 passes the point within the first position level."""
        match = _MOVE.match(text.text, text.starts[move.line - 1])
        assert match is not None
        return f"MOVL {name}{_LEVEL.sub('', match[3]).rstrip()} PL=1"

    def counted(self, text: Text) -> re.Match[str] | None:
        return _COUNT.search(text.text)

    def branch(self, target: Target) -> Branch | None:
        """///RCONF: 0 flip 1 no flip, 0 elbow up 1 down, 0 front 1 rear, and whether R, T and S are beyond 180 deg.

        So say the manuals of NX100 (HW0481924, 4.1.3), with six numbers, and of DX100 (HW0482494, 4.1.3), with 24.
        Flip is a matter of R on the NX100: within a quarter turn of zero (RE-CSO-A031, 3.9, manipulator types).  Public
        jobs with 24 numbers have no flip where the hand hangs down and R is near zero, so that there B decides; those
        with eight have flip there, as the NX100 says.
        """
        words = re.findall(r"-?\d+", target.configuration)
        if len(words) < 6:
            return None
        flags = [int(w) != 0 for w in words[:6]]
        up, behind = not flags[1], flags[2]
        within = {axis: (-180.0, 180.0) for axis, beyond in zip((3, 5, 0), flags[3:], strict=True) if not beyond}
        long = len(words) > SHORT
        return Branch(behind=behind, ahead=up != behind, ranges=within, fifth_negative=flags[0] if long else None,
                      fourth_back=None if long else flags[0])  # fmt: skip

    def hindrance(self, model: Robot, stops: Sequence[Stop] = ()) -> str:
        why = super().hindrance(model, stops)
        if not why and stops and not _has_pulses(model):
            why = "for Yaskawa they need pulses per degree: state structure and counts_per_turn in the robot file"
        return why

    def measuring_program(
        self, name: str, model: Robot, stops: Sequence[Stop], notes: Sequence[str] = (), wait: float = 2.0
    ) -> dict[str, str]:
        """One MOVJ per stop, PAUSE where somebody reads or changes the load."""
        self.check(name, model, stops)

        def move(number: int, stop: Stop) -> list[str]:
            return [f"MOVJ C{number - 1:05d} VJ={speed_of(stop, number):.2f} PL=0"]

        body = [*(c for n in notes for c in _comments(n)), *_ask(START)]
        body += stop_lines(stops, _comments, _ask, move, [f"TIMER T={wait:.2f}"])
        points = [_pulses(model, i, s.q) for i, s in enumerate(stops)]
        head = ["///TOOL 0", "///POSTYPE PULSE", "///PULSE"]
        return _job(program_name(name).upper(), len(points), [*head, *points], body)

    def example(self, model: Robot, path: ToolPath) -> dict[str, str]:
        """From axis values where pulses are known, else from the first corner in the configuration of the start."""
        self.check(path.name, model)
        base, pulses = base_pose(model), _has_pulses(model)
        points = ["///TOOL 1"]
        points += ["///POSTYPE PULSE", "///PULSE", _pulses(model, 0, path.q)] if pulses else []
        points += ["///POSTYPE BASE", "///RECTAN", f"///RCONF {_rconf(model, path.q)}"]
        for i, corner in enumerate(path.poses, int(pulses)):
            values = HOW.of_pose(base.inverse() @ corner)
            points.append(f"C{i:05d}=" + ",".join(f"{v + 0.0:.4f}" for v in values))
        count = len(path.positions) + pulses
        tool = " ".join(f"{v + 0.0:.3f}" for v in HOW.of_pose(path.tool))
        body = [*_comments(path.comment), *_comments(f"tool 1 is {tool}"), "MOVJ C00000 VJ=10.00"]
        body += [f"MOVL C{i:05d} V=50.0 PL=0" for i in range(1, count)]
        return _job(program_name(path.name).upper(), count, points, body)


def _comments(text: str) -> list[str]:
    return [f"'{line}" for part in plain_lines(text.replace("'", "")) for line in textwrap.wrap(part, LONGEST - 1)]


def _ask(text: str) -> list[str]:
    return [*_comments(text), "PAUSE"]


def _has_pulses(model: Robot) -> bool:
    drives = model.controller.drives
    return drives is not None and bool(np.isfinite(drives.counts_per_turn).all())


def _pulses(model: Robot, number: int, q: Array) -> str:
    assert model.controller.drives is not None
    counts = model.controller.drives.counts(model.controller.to_controller(q[None]))[0]
    return f"C{number:05d}=" + ",".join(f"{round(v)}" for v in counts)


def _rconf(model: Robot, q: Array) -> str:
    """As a DX100 and its followers have it."""
    flip, elbow, side, *_ = configuration_words(model, q).replace(",", " ").split()
    turns = np.abs(np.degrees(model.controller.to_controller(q[None])[0])) >= 180
    flags = (flip == "N", elbow == "D", side == "B", turns[3], turns[5], turns[0])
    return ",".join(str(int(f)) for f in (*flags, *[0] * (LONG - len(flags))))


def _job(name: str, count: int, points: Sequence[str], body: Sequence[str]) -> dict[str, str]:
    head = ["/JOB", f"//NAME {name}", "//POS", f"///NPOS {count},0,0,0,0,0"]
    instructions = ["//INST", "///DATE 2000/01/01 00:00", "///ATTR SC,RW", "///GROUP1 RB1", "NOP", *body, "END"]
    return {f"{name}.JBI": windows_lines([*head, *points, *instructions])}


@dataclass
class Walk(NumberedWalk):
    """The reading of one file; ``state`` are the words that hold for the positions that follow."""

    state: dict[str, str] = field(default_factory=dict)

    def run(self) -> None:
        part, seen = "", False
        self.into.last = None
        for number in range(1, len(self.text.starts) + 1):
            start, end = self.text.span(number)
            line = self.text.text[start:end].rstrip("\r\n")
            word = _WORD.match(line) if line.lstrip().startswith("//") else None
            if word:
                key = word[1].upper()
                part = key if key in ("POS", "INST") else part
                seen = seen or part == "POS"
                self._state(key, word[2].strip())
            elif part == "POS":
                self._position(number, start, line)
            elif part == "INST":
                self._instruction(number, start, line)
        if not seen:
            raise MissingError(
                f"{self.text.name}: has no //POS as a job (.jbi) has; check the file", code="no-positions"
            )

    def _state(self, key: str, value: str) -> None:
        if key in UNITS:
            self.state["kind"] = key
        elif key in ("TOOL", "USER", "POSTYPE", "RCONF", "FRAME"):
            self.state[key] = value

    def _position(self, number: int, start: int, line: str) -> None:
        match = _POSITION.match(line)
        if not match or not _ROBOT.fullmatch(match[1]) or len(match[1]) > DIGITS:
            return
        words = cells(match[2], start + match.start(2))
        values = [finite_number(word) for word, _ in words]
        pulses = self.state.get("kind", PULSE) == PULSE
        frame = self.state.get("FRAME") or self.state.get("POSTYPE", "")
        why = ""
        if len(values) != 6 or None in values:
            why = f"has not six numbers in line {number}"
        elif pulses and (self.drives is None or not np.isfinite(self.drives.counts_per_turn).all()):
            why = NO_PULSES
        elif not pulses and frame.upper() not in ("BASE", "ROBOT", "USER"):
            why = f"is in the frame {frame or 'of nothing'} in line {number}"
        user = self.state.get("USER", "").split(",")[0].strip()
        base = f"user {user}" if frame.upper() == "USER" else BASE
        tool = self.state.get("TOOL", "0").split(",")[0].strip() or "0"
        numbers = () if why else tuple(float(v or 0.0) for v in values)
        configuration = "" if pulses else self.state.get("RCONF", "")
        block = (start + match.start(1), start + len(line))
        held = tuple(f"///{k} {v}".rstrip() for k, v in self._held())
        position = Position(
            number, pulses, numbers, tuple(span for _, span in words), base, tool, configuration, (), why, block, held
        )
        self.add(match[1], int(match[1][1:]), position)

    def _held(self) -> Iterator[tuple[str, str]]:
        """Words that a position is read with, in the order of files."""
        for key in ("USER", "TOOL", "POSTYPE"):
            if key in self.state:
                yield key, self.state[key]
        yield self.state.get("kind", PULSE), ""
        if "RCONF" in self.state and self.state.get("kind") != PULSE:
            yield "RCONF", self.state["RCONF"]

    def _instruction(self, number: int, start: int, line: str) -> None:
        match = _MOVE.match(line)
        if not match:
            if not _STILL.match(line.strip()):
                self.into.last = None
            return
        try:
            if match[1] not in MOTIONS:
                raise Missing(f"{match[1]} is not supported")
            end = self.use(self._name(match[2] or "", match[3]))
            speed = _FEED.search(match[3])
            feed = float(speed[1]) * 1e-3 if speed else np.nan
            fixed = "" if speed else "its speed is stated in another way"
            self.into.move((self.text.name, number), MOTIONS[match[1]], end, None, feed, fixed)
        except Missing as reason:
            self.into.skip(self.text, start, start + len(line), str(reason))

    def _name(self, name: str, rest: str) -> str:
        if not _ROBOT.fullmatch(name):
            raise Missing(f"{name or 'its position'} is not known when the file is read")
        if re.search(r"(?<!\w)(?:BP|EX|UNTIL|SRCH)\b|(?<!\w)(?:B?E?C|BP|EX)\d|(?<!\w)\+MOV", rest):
            raise Missing("it moves another group too, or ends on a signal")
        return name
