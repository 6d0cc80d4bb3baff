"""Goes through the statements of RAPID modules: which moves use which literals, tools and work objects.

Where a module displaces positions (PDispSet and its kin), calls, branches and loops are followed for that.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from elastocal.compensation.posts.collect import Collector, Missing
from elastocal.compensation.posts.poses import Derived, constant
from elastocal.compensation.posts.rapid_data import BLANK, LONG, ROBTARGET, SHORT, WORDS, Data, Datum, Statements, datum
from elastocal.compensation.posts.routines import Active, Branches, Routines
from elastocal.compensation.posts.text import Text, cells
from elastocal.compensation.program import Motion, Target
from elastocal.spatial.rotation import Rotation

MOTIONS: dict[str, Motion] = {"movel": "linear", "movej": "joint", "movec": "arc", "moveabsj": "joint"}
STILL = {
    "accset", "velset", "confl", "confj", "singarea", "waittime", "waitdi", "waituntil", "set", "reset", "setdo",
    "setao", "setgo", "pulsedo", "tpwrite", "tperase", "clkstart", "clkstop", "clkreset", "gripload", "stop", "incr",
}  # fmt: skip
"""Instructions that move nothing."""

_IF = re.compile(r"(?<!\w)IF\b(?!.*(?<!\w)THEN\b)", re.A | re.I | re.S)
_DISPLACES = re.compile(r"(?<!\w)(?:PDisp|EOffs)(?:On|Set)\b", re.A | re.I)
_ROUTINE = re.compile(r"(?<!\w)(?:PROC|FUNC\s+\w+|(TRAP))\s+(\w+)", re.A | re.I)
_GOTO = re.compile(r"(?<!\w)GOTO\b", re.A | re.I)
_JUMP = re.compile(r"(?<!\w)GOTO\b|(?<![^\s;])[A-Za-z]\w*+\s*+:(?!=)", re.A | re.I)
_BEGINS = re.compile(r"(?:\A|[):]|\b(?:THEN|ELSE|DO|ERROR|UNDO|BACKWARD|END\w+))\s*\Z", re.A | re.I)
_WORD = re.compile(r"(?<![\w.])[A-Za-z]\w*+", re.A)
_LITERAL_MOVE = re.compile(r"\s*Move[LJ]\s*\[[^(;]*;\s*\Z", re.A | re.I)
_LABEL = re.compile(r"\s*:(?!=)")
_HANDLERS = ("error", "undo", "backward")
_HANDLER = re.compile(rf"(?<!\w)(?:{'|'.join(_HANDLERS)})\b", re.A | re.I)
_RETRIED = re.compile(
    r"(?:(?!\b(?:END)?(?:PROC|FUNC|TRAP)\b|\bERROR\b).)*+\bERROR\b((?:(?!\b(?:END)?(?:PROC|FUNC|TRAP)\b).)*?)\b(?:RETRY|TRYNEXT)\b",
    re.A | re.I | re.S,
)
_SHIFTS = re.compile(r"(?<!\w)(?:PDisp|EOffs)(?:On|Set|Off)\b", re.A | re.I)
_LATE = re.compile(r"(?<!%)%(?!%)|(?<!\w)CallByVar\b", re.A | re.I)
_MOVES = re.compile(r"Move(?:[LJC]|AbsJ)|\AEGMRun", re.A)
_CLOSES = ("endif", "endfor", "endwhile", "endtest")
_ENDS = ("endproc", "endfunc", "endtrap")
_SWITCHES = re.compile(r"\s*(?:\\\w+\s*,\s*)*", re.A)
_NAME = re.compile(r"([A-Za-z]\w*)\s*(?=[,\\])", re.A)
_TO_COMMA = re.compile(r"\s*(?:\\[^,\[\]()]*)?,", re.A)
_ARGUMENT = re.compile(r"(?:[^,\[\]()]|\([^()]*\)|\[(?:[^\[\]]|\[[^\[\]]*\])*\])+")
_SHIFT = re.compile(
    r"\s*(Offs|RelTool)\s*\(\s*([A-Za-z]\w*)\s*((?:,[^,()\[\]\\]*(?:\([^()]*\)[^,()\[\]\\]*)*){3})\)", re.A | re.I
)
_MODE = re.compile(r"(?<!\w)CirPathMode\b", re.A | re.I)
_TOOL = re.compile(r"\s*(\w+)\s*(?:\\.*)?\Z", re.A | re.S)
_SPEED = re.compile(r"\s*(?:v(\d{1,6})\b|\[\s*(\d{1,6}(?:\.\d{0,9})?)\s*,)", re.A | re.I)
_OBJECT = re.compile(r"\\\s*WObj\s*:=\s*(\w+)", re.A | re.I)


class Rest(NamedTuple):
    """What follows the points of a move."""

    tool: str
    base: str
    feed: float
    fixed: str


@dataclass
class Walk:
    """The reading of one module; ``tails`` keeps where the points of each move end."""

    module: Statements
    data: Data
    into: Collector
    tails: dict[tuple[str, int], tuple[int, int, int, int]]
    shifted: str = ""
    """What displaces all positions."""
    branches: Branches = field(default_factory=Branches)
    ends: list[Active] | None = None
    """What displaces positions where a routine or loop ends, which is gone through for that alone."""
    flat: bool = False
    """Up to the end of a routine, branches and loops left aside."""
    _rests: dict[str, Rest] = field(default_factory=dict)

    @property
    def text(self) -> Text:
        return self.module.text

    @cached_property
    def routines(self) -> Routines | None:
        """None: nothing in the module displaces positions."""
        if not _DISPLACES.search(self.module.code):
            return None
        code, heads = self.module.code, list(self._heads.values())
        places = {m[2].lower(): m.start() for m in heads}
        begins = sorted(places.values())
        handled = (
            bisect_right(begins, m.start()) for m in _HANDLER.finditer(code)
        )  # an error leads there from anywhere
        labels = _JUMP.finditer(code) if _GOTO.search(code) else ()
        jumps = sorted([m.start() for m in labels] + [begins[i - 1] + 1 for i in handled if i])
        return Routines(places, (), self._follow, lambda name: {"displacement": ""}, self._otherwise(places), jumps)

    def _otherwise(self, names: Collection[str]) -> dict[str, str]:
        """Routines that run within other statements, under IF of one line, as traps, or by a name that is computed."""
        code = self.module.code
        found = {m[2].lower(): f"{m[2]} is a trap" for m in self._heads.values() if m[1]}
        for head in self._heads.values():
            handler = _RETRIED.match(code, head.end())
            if handler and _SHIFTS.search(handler[1]):
                found.setdefault(head[2].lower(), f"the error handler of {head[2]} changes it")
        if late := _LATE.search(code):
            where = f"line {self.text.line(late.start())} calls a routine by a name that is computed"
            return {name: found.get(name, where) for name in names}
        line = 0
        while line < len(self.text.starts):
            line += 1
            start, end = self.text.span(line)
            for use in _WORD.finditer(code, start, end):
                name = use[0].lower()
                if name in names and use.start() not in self._heads and not self._alone(use.start()):
                    found.setdefault(name, f"line {line} runs {use[0]} within another statement")
            if _LITERAL_MOVE.match(code, start, end):
                line = self.module.repeats.last[line - 1] + 1
        return found

    def _alone(self, place: int) -> bool:
        """Whether a statement begins here, and on no condition of one line."""
        code = self.module.code
        before = code[self.text.line_start(place) : place].strip(BLANK)
        since = code[code.rfind(";", 0, place) + 1 : place]
        return before[-1:] in ("", ";") and bool(_BEGINS.search(since)) and not self._under_if(place)

    @cached_property
    def _heads(self) -> dict[int, re.Match[str]]:
        """Heads of routines, by where their names stand."""
        return {m.start(2): m for m in _ROUTINE.finditer(self.module.code)}

    def _follow(self, place: int, name: str, flat: bool) -> list[Active]:
        walk = Walk(self.module.since(place), self.data, Collector(), {}, name, ends=[], flat=flat)
        walk.routines, walk._heads = self.routines, self._heads
        for statement in walk.module:
            if statement.start() <= place:
                continue
            word = (statement["flow"] or statement["other"] or "").lower()
            if word in (*_ENDS, "proc", "func", "trap") or (word in _CLOSES and not walk.branches and not flat):
                break
            walk._displaced(statement)
            if statement["word"] and (line := walk.module.alone(statement)):
                walk.module.pass_over(1 + walk.module.repeats.last[line - 1])
        return [*(walk.ends or ()), {"displacement": walk.shifted}]

    def run(self) -> None:
        code = self.module.code
        self.into.last = None
        for statement in self.module:
            word = statement["word"]
            self._displaced(statement)
            if word:
                try:
                    self._move(code, statement, word.lower())
                except Missing as reason:
                    self.into.skip(self.text, *statement.span(), str(reason))
            elif statement["set"]:
                self._computed(statement)
            elif statement["flow"] or (statement["other"] and statement["other"].lower() not in STILL):
                self.into.last = None
                if statement["other"]:
                    self._unknown(statement)

    def _displaced(self, statement: re.Match[str]) -> None:
        """What displaces positions behind a statement."""
        if self.routines is None:
            return
        line, word = self.text.line(statement.start()), (statement["flow"] or statement["other"] or "").lower()
        active = {"displacement": self.shifted}
        if statement["shift"]:
            off = statement["shift"].lower().endswith("off")
            if not (off and self._under_if(statement.start())):
                active["displacement"] = "" if off else f"{statement['shift']} in line {line}"
        elif word in ("proc", "func", "trap"):
            head = _ROUTINE.match(self.module.code, statement.start())
            active, self.branches = self.routines.entry(head[2].lower()) if head else active, Branches()
        elif statement["other"] and statement.start() not in self._heads and word in self.routines.places:
            active = self.routines.called(word, active)
        elif self.flat:
            pass
        elif word in ("for", "while", "test") or (word == "then" and self._under_if(statement.start())):
            if word in ("for", "while"):
                active = self.routines.looped(statement.start(), line, active)
            self.branches.opened(active)
        elif word in ("else", "elseif", "case", "default") and self.branches:
            active = self.branches.again(active)
        elif word in _CLOSES and self.branches:
            active = self.branches.closed(active, line)
        elif word == "return" and self.ends is not None:
            self.ends.append(active)
        elif word in _HANDLERS or (statement["other"] and _LABEL.match(self.module.code, statement.end())):
            if word in _HANDLERS and self.ends is not None:
                self.ends.append(active)
            active = self.routines.labelled(statement.start(), active)
        self.shifted = active["displacement"]

    def _under_if(self, place: int) -> bool:
        """Whether IF stands before what begins here, without THEN."""
        code = self.module.code
        return bool(_IF.search(code, code.rfind(";", 0, place) + 1, place))

    def _unknown(self, statement: re.Match[str]) -> None:
        """An instruction or procedure that is called as a move, or is given a target, may be a move."""
        word, call = statement["other"], self.module.call(statement)
        if call is None or re.fullmatch(WORDS, word, re.IGNORECASE):
            return
        names = (w.lower() for w in re.findall(r"[A-Za-z]\w*", call[0], re.A))
        if _MOVES.search(word) or ROBTARGET.search(call[0]) or any(n in self.data.targets for n in names):
            self.into.skip(self.text, statement.start(), call.end(), f"{word} is not supported")

    def _computed(self, statement: re.Match[str]) -> None:
        used = sorted({w for w in re.findall(r"[A-Za-z]\w*", statement["sum"], re.A) if w.lower() in self.data.targets})
        if used:
            where = f"{self.text.name}, line {self.text.line(statement.start())}"
            self.into.note(f"{where}: {statement['set']} is computed from {', '.join(used)}, which may be corrected")

    def _move(self, code: str, statement: re.Match[str], word: str) -> None:
        if word not in MOTIONS:
            raise Missing(f"{statement['word']} is not supported")
        if self.routines:
            self.routines.check({"displacement": self.shifted})
        if self.shifted:
            what = f"what is {self.shifted}" if self.shifted.startswith("set ") else self.shifted
            raise Missing(f"all positions are displaced by {what}")
        start, end = statement.span("args")
        at = _SWITCHES.match(code, start, end).end()  # type: ignore[union-attr]
        via, via_name, behind = None, "", -1
        if word == "movec":
            via, via_name, behind = self._point(code, at, end, False)
            at = behind + 1
        shift = _SHIFT.match(code, at, end) if word in ("movel", "movej") else None
        derived: Derived | None = None
        if shift:
            point, name, at, derived = self._shifted(code, shift, end)
        else:
            point, name, at = self._point(code, at, end, word == "moveabsj")
        rest = self._rest(code[at:end])
        line = self.text.line(statement.start("word"))
        middle = self._target(via, via_name, rest) if via else None
        target = self._target(point, name, rest, shared=shift is None)
        if derived is not None:
            self.into.derived[target] = derived
        place = self.text.starts[line - 1]
        alone = not code[place : statement.start("word")].strip(BLANK)
        fixed = rest.fixed if alone else "other code stands on its line"
        fixed = fixed or (self.turned_otherwise if via else "")
        self.into.move((self.text.name, line), MOTIONS[word], target, middle, rest.feed, fixed)
        if not alone:  # it may depend on a condition
            self.into.last = None
        self.tails.setdefault((self.text.name, line), (statement.start("word"), at, end, behind))
        if via is None and not name and self.module.alone(statement):
            self._repeat(line, point)

    @cached_property
    def turned_otherwise(self) -> str:
        """Why arcs cannot become several."""
        mode = _MODE.search(self.module.code)
        return f"the module has {mode[0]}, which turns the tool in another way" if mode else ""

    def _repeat(self, line: int, point: Datum) -> None:
        """Lines that are like this one but for the numbers of the point."""
        width = 6 if point.joints else 7
        block = self.module.repeats.like(line, point.spans[:width])
        if block is not None and not point.joints:
            size = (block.values[:, 3:] ** 2).sum(axis=1)
            block = block.before((size <= SHORT) | (size >= LONG))
        if block is None or not len(block.values):
            return
        new = self.into.repeat(block, [np.nan] * (7 - width))
        self.module.pass_over(line + len(new))

    def _point(self, code: str, at: int, end: int, joints: bool) -> tuple[Datum, str, int]:
        """Literal, name ("": written in place), and where the comma after it stands."""
        value, name = datum(self.text, code, at, end, joints), ""
        if value is not None:
            at = value.end
        else:
            match = _NAME.match(code, re.compile(r"\s*").match(code, at).end(), end)  # type: ignore[union-attr]
            if not match:
                raise Missing("its point is an expression")
            name, at = match[1], match.end()
            value = self._declared(name, joints)
        comma = _TO_COMMA.match(code, at, end)
        if not comma:
            raise Missing("its point is an expression")
        return value, name, comma.end() - 1

    def _shifted(self, code: str, shift: re.Match[str], end: int) -> tuple[Datum, str, int, Derived]:
        """The shift of Offs or RelTool as a datum: three numbers, and the orientation of the point that is shifted."""
        parent = self._declared(shift[2], False)
        words = cells(shift[3], shift.start(3))
        values = [constant(word, self.data.constants) for word, _ in words]
        if None in values or len(values) != 3:
            raise Missing(f"the shift of {shift[1]} is not known when the file is read")
        comma = _TO_COMMA.match(code, shift.end(), end)
        if not comma:
            raise Missing("its point is an expression")
        line = self.text.line(shift.start(1))
        numbers = (*(float(v or 0.0) for v in values), *parent.numbers[3:])
        spans = (*(span for _, span in words), *[(-1, -1)] * 4)
        made = parent._replace(file=self.text.name, line=line, numbers=numbers, spans=spans)
        turn = Rotation.from_quat(np.array(parent.numbers[3:]), scalar_first=True).as_matrix()
        in_tool, key = shift[1].lower() == "reltool", (parent.file, shift[2])
        derived = Derived(np.array(parent.numbers[:3]) / 1e3, turn, in_tool, key=key)
        return made, f"{shift[1]}({shift[2]})", comma.end() - 1, derived

    def _declared(self, name: str, joints: bool) -> Datum:
        key = name.lower()
        if key in self.data.computed:
            raise Missing(f"{name} is computed or declared again in {self.data.computed[key]}")
        if key in self.data.refused:
            raise Missing(f"{name} {self.data.refused[key]}")
        if key not in self.data.targets:
            raise Missing(f"{name} has no value in the files given")
        if self.data.targets[key].joints != joints:
            raise Missing(f"{name} is of the other kind of target")
        return self.data.targets[key]

    def _rest(self, text: str) -> Rest:
        """Speed, zone, tool and work object; the same words come on thousands of lines."""
        if text not in self._rests:
            arguments = [m[0] for m in _ARGUMENT.finditer(text)]
            tool = _TOOL.match(arguments[-1]) if len(arguments) >= 3 else None
            if not tool:
                raise Missing("speed, zone and tool are not plain")
            match = _OBJECT.search(arguments[-1])
            base = match[1] if match else "wobj0"
            for name in (tool[1], base):
                if name.lower() in self.data.refused:
                    raise Missing(f"{name} {self.data.refused[name.lower()]}")
            if tool[1].lower() in self.data.masses:
                mass, where = self.data.masses[tool[1].lower()]
                self.into.carried(where, tool[1], mass)
            speed = _SPEED.match(arguments[0])
            timed = re.search(r"\\\s*(T|V)\s*:=", text, re.A | re.I)
            self._rests[text] = Rest(
                self._spelled(tool[1]), self._spelled(base), float(speed[1] or speed[2]) / 1e3 if speed else np.nan,
                "its duration or speed is stated for the whole of it" if timed else "",
            )  # fmt: skip
        return self._rests[text]

    def _spelled(self, name: str) -> str:
        """A tool or work object as it is first written; case does not matter."""
        return self.data.spelled.setdefault(name.lower(), name)

    def _target(self, value: Datum, name: str, rest: Rest, shared: bool = True) -> int:
        return self.into.target(
            Target(
                value.file, value.line, name, "joints" if value.joints else "pose", rest.base, rest.tool,
                f"{value.configuration},{value.external}", value.external_values,
            ),
            value.spans, value.numbers, shared and bool(name),
        )  # fmt: skip
