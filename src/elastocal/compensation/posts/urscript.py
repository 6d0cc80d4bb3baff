"""Universal Robots URScript (.script): poses p[x, y, z, rx, ry, rz] in m and as rotation vector, axes in rad.

Poses stand in movel, movep, movec and movej, in place or in a variable that is set once.  The base is the robot's own;
set_tcp(p[...]) states the tool.  movej(get_inverse_kin(pose, qnear=[...])) says with qnear how the arm gets there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from elastocal.compensation.branches import Branch
from elastocal.compensation.posts.collect import Collector, Missing
from elastocal.compensation.posts.digits import numbers_text
from elastocal.compensation.posts.post import (
    START,
    ToolPath,
    base_pose,
    plain_lines,
    program_name,
    six_revolute,
    speed_of,
    stop_lines,
)
from elastocal.compensation.posts.repeats import Repeats
from elastocal.compensation.posts.text import NUMBER, Edit, Text, blanked, opened
from elastocal.compensation.posts.written import Added, Layout, RowPost, Written, program_of, put_in
from elastocal.compensation.program import Changes, Given, Inserted, Motion, Move, Program, Target
from elastocal.model.robot import Robot
from elastocal.spatial.entries import Array
from elastocal.spatial.pose import Pose

if TYPE_CHECKING:
    from elastocal.design.method import Stop

HOW = Written(length="m", form="rotvec", angle="rad", axes="rad")
BASE, NO_TOOL = "base", "flange"
MOTIONS: dict[str, Motion] = {"movel": "linear", "movep": "linear", "movej": "joint", "movec": "arc"}
OTHERS = ("servoj", "servoc", "servol", "speedj", "speedl", "force_mode", "path_offset_set",
          "track_conveyor_linear", "track_conveyor_circular", "freedrive_mode")  # fmt: skip
FULL = 2.0
"""rad/s of 100 per cent."""

_ROW = r"\[\s*" + r"\s*,\s*".join([f"({NUMBER})"] * 6) + r"\s*\]"
_LITERAL = re.compile(rf"\s*(p?){_ROW}", re.A)
_NAME = re.compile(r"\s*([A-Za-z_]\w*)\s*(?=[,)])", re.A)
_INVERSE = re.compile(r"\s*get_inverse_kin\s*\(", re.A)
_NEAR = re.compile(rf"\s*,\s*(?:qnear\s*=\s*)?(?:{_ROW}|([A-Za-z_]\w*))\s*", re.A)
_COMMENTS = re.compile(r'"[^"\r\n]*"|#[^\r\n]*', re.A)
_ASSIGNED = re.compile(
    r"^[ \t]*(?:global[ \t]+|local[ \t]+)?([A-Za-z_]\w*)(\[[^\]\r\n]*\])?[ \t]*=(?!=)([^\r\n]*)", re.M | re.A
)
_CALL = re.compile(r"(?<![\w.])(mov[a-z]+|set_tcp|" + "|".join(OTHERS) + r")\s*\(", re.A)
_FLOW = re.compile(r"^[ \t]*(?:if|elif|else|end|while|for|def|thread|sec|return|break|goto|run|join)\b", re.A)
_FEED = re.compile(rf"\bv\s*=\s*({NUMBER})", re.A)
_TIMED = re.compile(r"\bt\s*=", re.A)


class Datum(NamedTuple):
    """Six numbers of a pose or of axes, and where they stand."""

    line: int
    joints: bool
    numbers: tuple[float, ...]
    spans: tuple[tuple[int, int], ...]
    end: int


class UrScript(RowPost):
    kind: ClassVar[str] = "urscript"
    title: ClassVar[str] = "URScript"
    suffixes: ClassVar[tuple[str, ...]] = (".script",)
    own_base: ClassVar[str] = BASE
    base_at_root: ClassVar[bool] = True

    def read(self, files: Mapping[str, bytes], given: Given | None = None) -> Program:
        given = given or Given()
        into = Collector()
        tools: dict[str, Pose] = {NO_TOOL: Pose()}
        for name, data in files.items():
            Walk(opened(name, data), into, tools).run()
        into.settle()
        return program_of(self.kind, files, into, HOW, given, {"tool": tools})

    def added(self, texts: Mapping[str, Text], program: Program, changes: Changes, values: Array) -> Added:
        for move, points in put_in(program, changes):
            yield move.file, _points(texts[move.file], program, move, points)

    def branch(self, target: Target) -> Branch | None:
        values = [float(v) for v in re.findall(NUMBER, target.configuration.removeprefix("qnear"))]
        return Branch(near=np.array(values)) if len(values) == 6 else None

    def hindrance(self, model: Robot, stops: Sequence[Stop] = ()) -> str:
        return "" if six_revolute(model) else "in URScript they are written for six revolute axes only"

    def measuring_program(
        self, name: str, model: Robot, stops: Sequence[Stop], notes: Sequence[str] = (), wait: float = 2.0
    ) -> dict[str, str]:
        """One movej to axis values per stop, a popup that blocks where somebody reads or changes the load."""
        module = program_name(name)

        def move(number: int, stop: Stop) -> list[str]:
            return [f"  movej({_axes(model, stop.q)}, a=0.5, v={FULL * speed_of(stop, number) / 100:g})"]

        lines = [f"def {module}():", *(line for note in notes for line in _remarks(note)), *_popup(START)]
        lines += stop_lines(stops, _remarks, _popup, move, [f"  sleep({wait:g})"])
        return {f"{module}.script": "\n".join([*lines, "end", ""])}

    def example(self, model: Robot, path: ToolPath) -> dict[str, str]:
        base = base_pose(model)
        poses = [base.inverse() @ pose for pose in path.poses]
        lines = [
            f"def {path.name}():", f"  # {path.comment}", f"  set_tcp({_posed(path.tool)})",
            f"  movej({_axes(model, path.q)}, a=0.5, v=0.2)",
            *(f"  movel({_posed(p)}, a=0.3, v=0.05)" for p in poses), "end", "",
        ]  # fmt: skip
        return {f"{path.name}.script": "\n".join(lines)}


def _remarks(text: str) -> list[str]:
    return [f"  # {line}" for line in plain_lines(text)]


def _popup(text: str) -> list[str]:
    return [f'  popup("{" ".join(plain_lines(text))}", title="Elastocal", blocking=True)']


def _axes(model: Robot, q: Array) -> str:
    return "[" + ", ".join(f"{v + 0.0:.7f}" for v in model.controller.to_controller(q[None])[0]) + "]"


def _posed(pose: Pose) -> str:
    return "p[" + ", ".join(numbers_text(HOW.of_pose(pose), HOW.decimals)) + "]"


def _points(text: Text, program: Program, move: Move, points: Inserted) -> Edit:
    """Moves that are passed with a radius of 0.1 mm, before the line of ``move``."""
    layout = program.layout
    assert isinstance(layout, Layout)
    at, end = text.span(move.line)
    line = text.text[at:end].rstrip("\r\n")
    spans = layout.slots.spans[move.end] - at
    first = line.rindex("p", 0, int(spans[0, 0]))
    last = line.index("]", int(spans[-1, 1])) + 1
    tail = re.sub(rf",\s*r\s*=\s*{NUMBER}", "", line[last:])
    tail = tail.replace(")", ", r=0.0001)", 1)
    new = [_posed(Pose(r, p)) for p, r in zip(points.positions, points.rotations, strict=True)]
    return (at, at, "".join(f"{line[:first]}{pose}{tail}{text.newline}" for pose in new))


@dataclass
class Walk:
    """The reading of one file."""

    text: Text
    into: Collector
    tools: dict[str, Pose]
    tool: str = NO_TOOL
    data: dict[str, Datum] = field(default_factory=dict)
    computed: dict[str, int] = field(default_factory=dict)

    def run(self) -> None:
        self.code = blanked(self.text.text, _COMMENTS).replace("\r", "\n")
        self.repeats = Repeats.of(self.text)
        self._variables()
        self.into.last = None
        number = 0
        while number < len(self.text.starts):
            number += 1
            start, end = self.text.span(number)
            line = self.code[start:end]
            if _FLOW.match(line):
                self.into.last = None
                if line.lstrip().startswith("def "):
                    continue
            for call in _CALL.finditer(self.code, start, end):
                number += self._call(call, number, end)

    def _variables(self) -> None:
        for assigned in _ASSIGNED.finditer(self.code):
            name, start = assigned[1], assigned.start(3)
            line = self.text.line(assigned.start(1))
            value = None if assigned[2] else self._literal(start, assigned.end(3))
            if name in self.data or name in self.computed or value is None:
                self.data.pop(name, None)
                self.computed.setdefault(name, line)
            elif not self.code[value.end : assigned.end(3)].strip():
                self.data[name] = value
            else:
                self.computed.setdefault(name, line)

    def _call(self, call: re.Match[str], line: int, end: int) -> int:
        """How many lines are read on behind this one."""
        word = call[1]
        try:
            if word == "set_tcp":
                self._set_tool(call.end(), end, line)
                return 0
            return self._move(word, call, line, end)
        except Missing as reason:
            self.into.skip(self.text, call.start(), self._close(call.end(), end), str(reason))
        return 0

    def _close(self, at: int, end: int) -> int:
        depth = 1
        for i in range(at, end):
            depth += {"(": 1, ")": -1}.get(self.code[i], 0)
            if not depth:
                return i + 1
        return end

    def _set_tool(self, at: int, end: int, line: int) -> None:
        value, _, _ = self._argument(at, end)
        self.tool = f"line {line}"
        if not value.joints:
            self.tools[self.tool] = HOW.pose(np.array(value.numbers))

    def _move(self, word: str, call: re.Match[str], line: int, end: int) -> int:
        if word not in MOTIONS:
            raise Missing(f"{word} is not supported")
        close = self._close(call.end(), end)
        if self.code[close - 1 : close] != ")":
            raise Missing("it goes on in the next line")
        via, at = None, call.end()
        if word == "movec":
            middle, name, at = self._argument(at, close)
            if middle.joints:
                raise Missing("its point is given by axes")
            via = self._target(middle, name, "")
            at = self.code.index(",", at, close) + 1
        value, name, at, near = self._aim(at, close)
        if value.joints and word != "movej":
            raise Missing("its point is given by axes")
        target = self._target(value, name, near)
        rest = self.code[at:close]
        feed = _FEED.search(rest)
        timed = "its duration is stated for the whole of it" if _TIMED.search(rest) else ""
        start = self.text.line_start(call.start())
        whole = not self.code[start : call.start()].strip() and not self.code[close : self.text.span(line)[1]].strip()
        fixed = (
            timed or ("" if whole else "other code stands on its line") or ("" if not name else "its point has a name")
        )
        speed = float(feed[1]) if feed and word != "movej" else np.nan
        self.into.move((self.text.name, line), MOTIONS[word], target, via, speed, fixed)
        if via is None and not name and whole and not near:
            block = self.repeats.like(line, value.spans)
            if block is not None:
                return len(self.into.repeat(block))
        return 0

    def _aim(self, at: int, end: int) -> tuple[Datum, str, int, str]:
        """A point, its name, where it ends, and what qnear says."""
        inverse = _INVERSE.match(self.code, at, end)
        if not inverse:
            return (*self._argument(at, end), "")
        value, name, at = self._argument(inverse.end(), end)
        near = _NEAR.match(self.code, at, end)
        message = ""
        if near:
            words = near.groups()
            if words[6] is not None:
                known = self.data.get(words[6])
                message = "" if known is None or not known.joints else _said(known.numbers)
            else:
                message = _said([float(v) for v in words[:6]])
            at = near.end()
        close = self.code.find(")", at, end)
        if value.joints or close < 0 or self.code[at:close].strip():
            raise Missing("its point is an expression")
        return value, name, close + 1, message

    def _argument(self, at: int, end: int) -> tuple[Datum, str, int]:
        value = self._literal(at, end)
        if value is not None:
            return value, "", value.end
        named = _NAME.match(self.code, at, end)
        if not named:
            raise Missing("its point is an expression")
        name = named[1]
        if name in self.computed:
            raise Missing(f"{name} is computed or set again in line {self.computed[name]}")
        if name not in self.data:
            raise Missing(f"{name} has no value in the file")
        return self.data[name], name, named.end(1)

    def _literal(self, at: int, end: int) -> Datum | None:
        match = _LITERAL.match(self.code, at, end)
        if not match:
            return None
        numbers = tuple(float(v) for v in match.groups()[1:])
        if not np.isfinite(numbers).all():
            return None
        return Datum(self.text.line(match.start(2)), not match[1], numbers, match.regs[2:8], match.end())

    def _target(self, value: Datum, name: str, near: str) -> int:
        target = Target(
            self.text.name, value.line, name, "joints" if value.joints else "pose", BASE, self.tool, near
        )  # fmt: skip
        return self.into.target(target, value.spans, value.numbers, shared=bool(name))


def _said(numbers: Sequence[float]) -> str:
    return "qnear " + " ".join(f"{v:.17g}" for v in numbers)
