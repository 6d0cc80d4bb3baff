"""Yaskawa INFORM jobs (.jbi): positions C00000 in //POS, moves that name them in //INST.

In relative jobs (///RECTAN) positions are mm and deg, Rx Ry Rz about the fixed axes x, y, z of the base (///POSTYPE
BASE or ROBOT), or of a user frame (///USER, ///POSTYPE USER).  In others (///PULSE) they are encoder pulses of the
motors: those are read with the pulses per degree of the robot file, and left alone without.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import numpy as np

from elastocal.compensation.branches import Branch
from elastocal.compensation.posts.collect import Collector
from elastocal.compensation.posts.post import START, Post, ToolPath, plain_lines, program_name, windows_lines
from elastocal.compensation.posts.text import NUMBER, Text, opened
from elastocal.compensation.posts.written import Written, new_digits, program_of
from elastocal.compensation.program import Changes, Given, Motion, Program, Target
from elastocal.design.method import Stop
from elastocal.errors import InputError
from elastocal.model.robot import Robot
from elastocal.model.transmission import Drives
from elastocal.spatial.entries import Array
from elastocal.spatial.pose import Pose
from elastocal.untrusted import finite_number

HOW = Written(reverse=True)
MOTIONS: dict[str, Motion] = {"MOVJ": "joint", "MOVL": "linear", "MOVC": "arc", "MOVS": "spline"}
BASE = "base"
SPEED, SLOW = 20.0, 5.0
LONGEST = 32
NO_PULSES = (
    "its position is in pulses, and the robot file states no pulses per degree; add controller: structure and "
    "counts_per_turn, or save the job as a relative one (///RECTAN)"
)
_STILL = re.compile(r"(?:NOP|END|'|TIMER|DOUT|AOUT|SET|PAUSE|MSG|\*|SPEED|SETTOOL|COMM|$)", re.A)
_POSITION = re.compile(r"[ \t]*(B?E?C\d+)[ \t]*=([^\r\n]*)", re.A)
_MOVE = re.compile(r"[ \t]*(MOV\w+|IMOV)\b(?:[ \t]+([A-Z]+\d+|\w+\[[^\]]*\]))?([^\r\n]*)", re.A)
_ROBOT = re.compile(r"C\d+", re.A)
_WORD = re.compile(r"[ \t]*///?(\w+)[ \t]*([^\r\n]*)", re.A)
_FEED = re.compile(rf"(?<!\w)V=({NUMBER})", re.A)


class Position(NamedTuple):
    """A position of //POS; ``why`` says why it cannot be used."""

    line: int
    joints: bool
    numbers: tuple[float, ...]
    spans: tuple[tuple[int, int], ...]
    base: str
    tool: str
    configuration: str
    why: str


class Jbi(Post):
    kind: ClassVar[str] = "jbi"
    suffixes: ClassVar[tuple[str, ...]] = (".jbi",)
    example_tool: ClassVar[str] = "1"
    own_base: ClassVar[str] = BASE
    pulses: ClassVar[bool] = True

    def read(self, files: Mapping[str, bytes], given: Given | None = None) -> Program:
        given = given or Given()
        into = Collector()
        for name, data in files.items():
            Walk(opened(name, data), into, given.drives).run()
        into.settle()
        drives = given.drives
        to_axes = None if drives is None else drives.from_counts
        return program_of(self.kind, files, into, HOW, given, {"tool": {}}, to_axes=to_axes)

    def write(self, program: Program, changes: Changes) -> dict[str, bytes]:
        if changes.inserted:
            raise InputError(f"{next(iter(program.files))}: no points can be put in; its positions are numbered")
        texts = {name: opened(name, data) for name, data in program.files.items()}
        drives = program.given.drives
        edits = new_digits(texts, program, changes, HOW, None if drives is None else drives.counts, axis_decimals=0)
        return {name: edits[name].applied(t.text).encode("latin-1") for name, t in texts.items()}

    def branch(self, target: Target) -> Branch | None:
        """///RCONF: 0 flip 1 no flip, 0 elbow up 1 down, 0 front 1 rear, and whether R, T and S are beyond 180 deg."""
        words = re.findall(r"-?\d+", target.configuration)
        if len(words) < 6:
            return None
        flags = [int(w) != 0 for w in words[:6]]
        up, behind = not flags[1], flags[2]
        within = {axis: (-180.0, 180.0) for axis, beyond in zip((3, 5, 0), flags[3:], strict=True) if not beyond}
        return Branch(behind=behind, ahead=up != behind, fifth_negative=flags[0], ranges=within)

    def hindrance(self, model: Robot, stops: Sequence[Stop] = ()) -> str:
        if model.n != 6 or any(m.kind != "revolute" for m in model.motions):
            return "for Yaskawa they are written for six revolute axes only"
        drives = model.controller.drives
        if drives is None or not np.isfinite(drives.counts_per_turn).all():
            return "for Yaskawa they need pulses per degree: state structure and counts_per_turn in the robot file"
        return ""

    def measuring_program(
        self, name: str, model: Robot, stops: Sequence[Stop], notes: Sequence[str] = (), wait: float = 2.0
    ) -> dict[str, str]:
        """One MOVJ per stop, PAUSE where somebody reads or changes the load."""
        self._check(name, model, stops)
        body = [*(c for n in notes for c in _comments(n)), *_comments(START), "PAUSE"]
        for number, stop in enumerate(stops, 1):
            speed = SLOW if (stop.slow or number == 1) and stop.speed is None else stop.speed or SPEED
            body += [*_comments(f"stop {number} of {len(stops)}"), *(_comments(stop.note) if stop.note else ())]
            body += [f"MOVJ C{number - 1:05d} VJ={speed:.2f} PL=0", f"TIMER T={wait:.2f}"]
            for sentence in stop.sentences:
                body += [*_comments(sentence), "PAUSE"]
        points = [_pulses(model, i, s.q) for i, s in enumerate(stops)]
        head = ["///TOOL 0", "///POSTYPE PULSE", "///PULSE"]
        return _job(program_name(name).upper(), len(points), [*head, *points], body)

    def example(self, model: Robot, path: ToolPath) -> dict[str, str]:
        from elastocal.compensation.placed import own_base

        self._check(path.name, model, ())
        base = own_base(model) or Pose()
        points = ["///TOOL 1", "///POSTYPE PULSE", "///PULSE", _pulses(model, 0, path.q), "///POSTYPE BASE",
                  "///RECTAN", f"///RCONF {_rconf(model, path.q)}"]  # fmt: skip
        for i, corner in enumerate(path.positions, 1):
            values = HOW.of_pose(base.inverse() @ Pose(path.rotation, corner))
            points.append(f"C{i:05d}=" + ",".join(f"{v + 0.0:.4f}" for v in values))
        tool = " ".join(f"{v + 0.0:.3f}" for v in HOW.of_pose(path.tool))
        body = [*_comments(path.comment), *_comments(f"tool 1 is {tool}"), "MOVJ C00000 VJ=10.00"]
        body += [f"MOVL C{i:05d} V=50.0 PL=0" for i in range(1, len(path.positions) + 1)]
        return _job(program_name(path.name).upper(), 1 + len(path.positions), points, body)

    def _check(self, name: str, model: Robot, stops: Sequence[Stop]) -> None:
        why = self.hindrance(model, stops)
        if why:
            raise InputError(f"{name}: {why}")


def _comments(text: str) -> list[str]:
    import textwrap

    return [f"'{line}" for part in plain_lines(text.replace("'", "")) for line in textwrap.wrap(part, LONGEST - 1)]


def _pulses(model: Robot, number: int, q: Array) -> str:
    assert model.controller.drives is not None
    counts = model.controller.drives.counts(model.controller.to_controller(q[None]))[0]
    return f"C{number:05d}=" + ",".join(f"{round(v)}" for v in counts)


def _rconf(model: Robot, q: Array) -> str:
    from elastocal.compensation.branches import configuration_words

    flip, elbow, side, *_ = configuration_words(model, q).replace(",", " ").split()
    turns = np.abs(np.degrees(model.controller.to_controller(q[None])[0])) >= 180
    flags = (flip == "N", elbow == "D", side == "B", turns[3], turns[5], turns[0])
    return ",".join([*(str(int(f)) for f in flags), "0", "0"])


def _job(name: str, count: int, points: Sequence[str], body: Sequence[str]) -> dict[str, str]:
    head = ["/JOB", f"//NAME {name}", "//POS", f"///NPOS {count},0,0,0,0,0"]
    instructions = ["//INST", "///DATE 2000/01/01 00:00", "///ATTR SC,RW", "///GROUP1 RB1", "NOP", *body, "END"]
    return {f"{name}.JBI": windows_lines([*head, *points, *instructions])}


class Missing(Exception):
    """Why a move cannot be corrected."""


@dataclass
class Walk:
    """The reading of one file; ``state`` are the words that hold for the positions that follow."""

    text: Text
    into: Collector
    drives: Drives | None
    state: dict[str, str] = field(default_factory=dict)
    positions: dict[str, Position] = field(default_factory=dict)

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
            raise InputError(f"{self.text.name}: has no //POS as a job (.jbi) has; check the file")

    def _state(self, key: str, value: str) -> None:
        if key in ("PULSE", "RECTAN"):
            self.state["kind"] = key
        elif key in ("TOOL", "USER", "POSTYPE", "RCONF", "FRAME"):
            self.state[key] = value

    def _position(self, number: int, start: int, line: str) -> None:
        found = _POSITION.match(line)
        if not found or not _ROBOT.fullmatch(found[1]):
            return
        cells = [(m.start(), m[0]) for m in re.finditer(r"[^,]+", found[2])]
        at = start + found.start(2)
        values = [finite_number(c.strip()) for _, c in cells]
        pulses = self.state.get("kind", "PULSE") == "PULSE"
        frame = self.state.get("FRAME") or self.state.get("POSTYPE", "")
        why = ""
        if len(values) != 6 or None in values:
            why = f"has not six numbers in line {number}"
        elif pulses and (self.drives is None or not np.isfinite(self.drives.counts_per_turn).all()):
            why = NO_PULSES
        elif not pulses and frame.upper() not in ("BASE", "ROBOT", "USER"):
            why = f"is in the frame {frame or 'of nothing'} in line {number}"
        elif found[1] in self.positions:
            why = "is written twice in //POS"
        spans = tuple((at + a + _lead(c), at + a + _lead(c) + len(c.strip())) for a, c in cells)
        user = self.state.get("USER", "").split(",")[0].strip()
        base = f"user {user}" if frame.upper() == "USER" else BASE
        tool = self.state.get("TOOL", "0").split(",")[0].strip() or "0"
        numbers = () if why else tuple(float(v or 0.0) for v in values)
        words = "" if pulses else self.state.get("RCONF", "")
        self.positions[found[1]] = Position(number, pulses, numbers, spans, base, tool, words, why)

    def _instruction(self, number: int, start: int, line: str) -> None:
        found = _MOVE.match(line)
        if not found:
            if not _STILL.match(line.strip()):
                self.into.last = None
            return
        try:
            if found[1] not in MOTIONS:
                raise Missing(f"{found[1]} is not supported")
            position = self._named(found[2] or "", found[3])
            target = Target(
                self.text.name, position.line, found[2], "joints" if position.joints else "pose", position.base,
                position.tool, position.configuration,
            )  # fmt: skip
            speed = _FEED.search(found[3])
            feed = float(speed[1]) * 1e-3 if speed else np.nan
            end = self.into.target(target, position.spans, position.numbers, shared=True)
            self.into.move(
                (self.text.name, number), MOTIONS[found[1]], end, None, feed, "positions of a job are numbered"
            )
        except Missing as reason:
            self.into.skip(self.text, start, start + len(line), str(reason))

    def _named(self, name: str, rest: str) -> Position:
        if not _ROBOT.fullmatch(name):
            raise Missing(f"{name or 'its position'} is not known when the file is read")
        if name not in self.positions:
            raise Missing(f"{name} has no value in //POS")
        if re.search(r"(?<!\w)(?:BP|EX|UNTIL|SRCH)\b|(?<!\w)\+MOV", rest):
            raise Missing("it moves another group too, or ends on a signal")
        if self.positions[name].why:
            raise Missing(self.positions[name].why if self.positions[name].why is NO_PULSES
                          else f"{name} {self.positions[name].why}")  # fmt: skip
        return self.positions[name]


def _lead(cell: str) -> int:
    return len(cell) - len(cell.lstrip())
