"""Goes through the lines of URScript files: which moves use which literals, and which tool is active there.

Functions that are called are followed for the tool that they set; branches and loops are not.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from elastocal.compensation.posts.collect import Collector, Missing
from elastocal.compensation.posts.routines import Active, Branches, Routines, Unknown
from elastocal.compensation.posts.text import NUMBER, Repeats, Text, blanked
from elastocal.compensation.posts.written import Written
from elastocal.compensation.program import Kind, Motion, Target
from elastocal.spatial.pose import Pose

HOW = Written(length="m", form="rotvec", angle="rad", axes="rad")
BASE, NO_TOOL = "base", "flange"
MOTIONS: dict[str, Motion] = {"movel": "linear", "movep": "linear", "movej": "joint", "movec": "arc"}
OTHERS = ("servoj", "servoc", "servol", "speedj", "speedl", "force_mode", "path_offset_set",
          "track_conveyor_linear", "track_conveyor_circular", "freedrive_mode")  # fmt: skip
_ROW = r"\[\s*" + r"\s*,\s*".join([f"({NUMBER})"] * 6) + r"\s*\]"
_LITERAL = re.compile(rf"\s*(p?){_ROW}", re.A)
_NAME = re.compile(r"\s*([A-Za-z_]\w*)\s*(?=[,)])", re.A)
_INVERSE = re.compile(r"\s*get_inverse_kin\s*\(", re.A)
_NEAR = re.compile(rf"\s*,\s*(?:qnear\s*=\s*)?(?:{_ROW}|([A-Za-z_]\w*))\s*", re.A)
_COMMENTS = re.compile(r'"[^"\r\n]*"|#[^\r\n]*', re.A)
_ASSIGNED = re.compile(
    r"^[ \t]*(?:global[ \t]+|local[ \t]+)?([A-Za-z_]\w*)(\[[^\]\r\n]*\])?[ \t]*=(?!=)([^\r\n]*)", re.M | re.A
)
_CALL = re.compile(r"(?<![\w.])([A-Za-z_]\w*+)\s*\(", re.A)
_MOVES = re.compile("mov[a-z]+|" + "|".join(OTHERS), re.A)
_FLOW = re.compile(r"[ \t]*(if|elif|else|end|while|for|def|thread|sec|return|break|goto|run|join)\b", re.A)
_ROUTINE = re.compile(r"^[ \t]*(def|thread|sec)[ \t]+(\w++)[ \t]*\(([^)\n]*)", re.A | re.M)
_FUNCTIONS = ("def", "thread", "sec")
_DEPTH = {"end": -1, **dict.fromkeys(("if", "while", "for", *_FUNCTIONS), 1)}
WHOLE = "the file"
_FEED = re.compile(rf"\bv\s*=\s*({NUMBER})", re.A)
_PLAIN = re.compile(r"\s*,\s*(?:[avr]\s*=\s*[^,()=]+|mode\s*=\s*0(?![.\d]))", re.A)
_TIMED = re.compile(r"\bt\s*=", re.A)


class Datum(NamedTuple):
    """Six numbers of a pose or of axes, and where they stand."""

    line: int
    joints: bool
    numbers: tuple[float, ...]
    spans: tuple[tuple[int, int], ...]
    end: int


@dataclass
class Walk:
    """The reading of one file."""

    text: Text
    into: Collector
    tools: dict[str, Pose]
    active: Active = field(default_factory=lambda: {"tool": NO_TOOL, "thread": ""})
    """The tool, and the thread that sets it while the lines run."""
    data: dict[str, Datum] = field(default_factory=dict)
    computed: dict[str, int] = field(default_factory=dict)
    blocks: list[str] = field(default_factory=list)
    """The words that opened the blocks around a line, ``def`` for every kind of function."""
    outer: list[Active] = field(default_factory=list)
    """What is active around functions that are open."""
    branches: Branches = field(default_factory=Branches)
    ends: list[Active] | None = None
    """What is active where a function or loop ends, which is gone through for that alone."""
    inside: bool = False
    """Whether it is a function or loop, and not the whole file, that is gone through so."""
    behind: dict[tuple[str, int], int] = field(default_factory=dict)
    """Where the auxiliary point of an arc ends, by its line."""

    @cached_property
    def code(self) -> str:
        return blanked(self.text.text, _COMMENTS).replace("\r", "\n")

    @cached_property
    def repeats(self) -> Repeats:
        return Repeats.of(self.text)

    @cached_property
    def functions(self) -> list[re.Match[str]]:
        return list(_ROUTINE.finditer(self.code))

    @cached_property
    def routines(self) -> Routines:
        """Functions and threads; the lines outside of them are one too, which begins before the first."""
        places = {name: line for line, name in self.names.items()}
        return Routines({**places, WHOLE: 0}, (WHOLE,), self._follow, _begin, self._otherwise(places))

    @cached_property
    def names(self) -> dict[int, str]:
        """Functions by the lines of their heads; only the last of a name has it alone."""
        last = {m[2]: m.start() for m in self.functions}
        lines = {self.text.line(m.start(1)): m for m in self.functions}
        return {i: m[2] if last[m[2]] == m.start() else f"{m[2]} of line {i}" for i, m in lines.items()}

    def _otherwise(self, names: Collection[str]) -> dict[str, str]:
        """Functions that run within other statements."""
        twice = {name.partition(" ")[0] for name in names if " " in name}
        found = {n: f"{n.partition(' ')[0]} is defined twice" for n in names if n.partition(" ")[0] in twice}
        line = 0
        while line < len(self.text.starts):
            line += 1
            start, end = self.text.span(line)
            calls = list(_CALL.finditer(self.code, start, end))
            for call in calls:
                name, before = call[1], self.code[start : call.start()].split()
                if name in names and name not in self.threads and before and before[0] not in _FUNCTIONS:
                    found.setdefault(name, f"line {line} runs {name} within another statement")
            if len(calls) == 1 and calls[0][1] in MOTIONS:
                line = self.repeats.last[line - 1] + 1
        return found

    @cached_property
    def threads(self) -> set[str]:
        return {m[2] for m in self.functions if m[1] == "thread"}

    @cached_property
    def uncalled(self) -> set[str]:
        """Functions that no line calls, as the program itself: they run where they stand, if not in another one."""
        return {m[2] for m in self.functions if m[1] != "thread" and not self._calls(m[2])}

    def _calls(self, name: str) -> bool:
        """Whether it is called beside its head; a pattern that begins with the name is found ten times faster."""
        uses = re.finditer(rf"{name}\s*\(", self.code)
        return sum(1 for m in uses if not re.match(r"[\w.]", self.code[m.start() - 1 : m.start()])) > 1

    def whole(self) -> None:
        self._variables()
        self.into.last = None
        self.run(0)

    def _follow(self, line: int, name: str, flat: bool) -> list[Active]:
        walk = replace(
            self, into=Collector(), active={"tool": name, "thread": name}, blocks=[], outer=[], branches=Branches(),
            ends=[], inside=line > 0,
        )  # fmt: skip
        for shared in ("code", "repeats", "functions", "names", "routines", "threads", "uncalled"):
            setattr(walk, shared, getattr(self, shared))
        walk.run(line)
        return [*(walk.ends or ()), walk.active]

    def run(self, number: int) -> None:
        """The lines behind one; where it is for the ends alone, up to the end of the block that they stand in."""
        while number < len(self.text.starts):
            number += 1
            start, end = self.text.span(number)
            flow = _FLOW.match(self.code, start, end)
            if flow:
                self.into.last = None
                if self.inside and flow[1] == "end" and not self.blocks:
                    return
                number = self._flow(flow[1], number)
                if flow[1] in _FUNCTIONS:
                    continue
            line = number
            for call in _CALL.finditer(self.code, start, end):
                number = max(number, self._call(call, line, end))

    def _flow(self, word: str, line: int) -> int:
        """The line that is read last: a function is not, where the ends alone count."""
        if word in _FUNCTIONS:
            return self._function(line)
        if word in ("if", "while", "for"):
            if word != "if":
                self.active = self.routines.looped(line, line, self.active)
            self.blocks.append(word)
            self.branches.opened(self.active)
        elif word in ("elif", "else") and self.branches:
            self.active = self.branches.again(self.active)
        elif word == "return" and self.ends is not None:
            self.ends.append(self.active)
        elif word == "end" and self.blocks:
            if self.blocks.pop() == "def":
                self.active = self.outer.pop()
            else:
                before, self.active = self.active["tool"], self.branches.closed(self.active, line)
                tool = self.active["tool"]
                if tool.startswith("set in") and tool != before:
                    self.routines.computed(tool, self._around(line))
        return line

    def _function(self, line: int) -> int:
        name = self.names.get(line, "")
        runs = name in self.uncalled and not self.blocks and not self.inside
        after = self.routines.called(name, self.active) if runs else self.active
        if self.ends is not None:
            self.active = after
            return self._last(line)
        self.blocks.append("def")
        self.outer.append(after)
        if name:
            self.active = self.routines.entry(name)
        return line

    def _last(self, line: int) -> int:
        """The line that ends the block which begins in a line."""
        depth = 1
        while depth and line < len(self.text.starts):
            line += 1
            flow = _FLOW.match(self.code, *self.text.span(line))
            if flow:
                depth += _DEPTH.get(flow[1], 0)
            else:
                line = self.repeats.last[line - 1] + 1
        return line

    def _variables(self) -> None:
        for head in self.functions:  # a parameter hides a variable of its name
            for name in re.findall(r"(?:\A|,)\s*(\w+)", head[3]):
                self.computed.setdefault(name, self.text.line(head.start(2)))
        for assigned in _ASSIGNED.finditer(self.code):
            name, start = assigned[1], assigned.start(3)
            line = self.text.line(assigned.start(1))
            value = None if assigned[2] else self._literal(start, assigned.end(3))
            again = name in self.data or name in self.computed
            if again or value is None or self.code[value.end : assigned.end(3)].strip():
                self.data.pop(name, None)
                self.computed.setdefault(name, line)
            else:
                self.data[name] = value

    def _call(self, call: re.Match[str], line: int, end: int) -> int:
        """The line that is read last."""
        word = call[1]
        try:
            if word == "set_tcp":
                self._set_tool(call.end(), end, line)
            elif word in self.routines.places:
                self._run(word)
            elif _MOVES.fullmatch(word):
                return self.repeats.last[line - 1] + 1 if self.ends is not None else self._move(word, call, line, end)
        except Missing as reason:
            self.into.skip(self.text, call.start(), self._close(call.end(), end), str(reason))
        return line

    def _run(self, name: str) -> None:
        """A call of a function, or the start of a thread, which runs beside the lines that follow."""
        self.into.last = None
        if name in self.threads:
            beside: Active = dict.fromkeys(self.active, Unknown(f"thread {name} runs beside other lines"))
            if self.routines.called(name, beside) != beside:
                self.active = {**self.active, "thread": f"thread {name} sets it"}
        else:
            self.active = self.routines.called(name, self.active)

    def _close(self, at: int, end: int) -> int:
        depth = 1
        for i in range(at, end):
            depth += {"(": 1, ")": -1}.get(self.code[i], 0)
            if not depth:
                return i + 1
        return end

    def _set_tool(self, at: int, end: int, line: int) -> None:
        tool = f"line {line}"
        self.active = {**self.active, "tool": tool}
        try:
            value, _, _ = self._argument(at, end)
        except Missing:
            self.routines.computed(tool, self._around(line))
            raise
        if not value.joints:
            self.tools[tool] = HOW.pose(np.array(value.numbers))

    def _around(self, line: int) -> str:
        """The function that a line stands in."""
        heads = reversed(self.names.items())
        return next((name for head, name in heads if head <= line <= self._last(head)), WHOLE)

    def _move(self, word: str, call: re.Match[str], line: int, end: int) -> int:
        if word not in MOTIONS:
            raise Missing(f"{word} is not supported")
        if self.active["thread"]:
            raise Missing(f"its tool is not known: {self.active['thread']}")
        self.routines.check({"tool": self.active["tool"]})
        close = self._close(call.end(), end)
        if self.code[close - 1 : close] != ")":
            raise Missing("it goes on in the next line")
        via, at = None, call.end()
        if word == "movec":
            middle, name, at = self._argument(at, close)
            if middle.joints:
                raise Missing("its point is given by axes")
            via = self._target(middle, name, "")
            self.behind[self.text.name, line] = at
            at = self.code.find(",", at, close) + 1
            if not at:
                raise Missing("an arc without a second point")
        value, name, at, near = self._aim(at, close)
        if value.joints and word != "movej":
            raise Missing("its point is given by axes")
        target = self._target(value, name, near)
        rest = self.code[at:close]
        feed = _FEED.search(rest)
        start = self.text.line_start(call.start())
        whole = not self.code[start : call.start()].strip() and not self.code[close : self.text.span(line)[1]].strip()
        fixed = "its point has a name" if name else ""
        fixed = fixed if whole else "other code stands on its line"
        fixed = "its duration is stated for the whole of it" if _TIMED.search(rest) else fixed
        if word == "movec" and _PLAIN.sub("", rest) != ")":
            fixed = fixed or "its words are written in another way, or its tool keeps its angle to the path (mode)"
        speed = float(feed[1]) if feed and word != "movej" else np.nan
        self.into.move((self.text.name, line), MOTIONS[word], target, via, speed, fixed)
        if via is None and not name and whole and not near:
            block = self.repeats.like(line, value.spans)
            if block is not None:
                return line + len(self.into.repeat(block))
        return line

    def _aim(self, at: int, end: int) -> tuple[Datum, str, int, str]:
        """A point, its name, where it ends, and what qnear says."""
        inverse = _INVERSE.match(self.code, at, end)
        if not inverse:
            return (*self._argument(at, end), "")
        value, name, at = self._argument(inverse.end(), end)
        near = _NEAR.match(self.code, at, end)
        message = ""
        if near:
            *numbers, named = near.groups()
            known = self.data.get(named) if named is not None else None
            if named is None:
                message = _said([float(v) for v in numbers])
            elif known is not None and known.joints:
                message = _said(known.numbers)
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
        kind: Kind = "joints" if value.joints else "pose"
        target = Target(self.text.name, value.line, name, kind, BASE, self.active["tool"], near)
        return self.into.target(target, value.spans, value.numbers, shared=bool(name))


def _begin(name: str) -> Active:
    """The tool in functions that no line calls."""
    return {"tool": NO_TOOL if name == WHOLE else Unknown(f"no line calls {name}"), "thread": ""}


def _said(numbers: Sequence[float]) -> str:
    return "qnear " + " ".join(f"{v:.17g}" for v in numbers)
