"""Goes through the lines of a .src file: which frames are active, and which moves use which literals.

Frames: $BASE, $TOOL, BAS(#BASE,i), FDAT of inline forms, WITH of spline motions.  Calls of routines of the file are
followed for the frames that they set, those of other files by ``krl_elsewhere``.  Branches and loops are not: after one
the place of the robot is not known, and a frame that was set inside it is not known either.
"""

from __future__ import annotations

import re
from dataclasses import field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from elastocal.compensation.posts.collect import Collector, Missing
from elastocal.compensation.posts.krl_data import (
    EXTERNAL,
    NOWHERE,
    SHARED,
    Literal,
    Lookup,
    argument,
    code_end,
    heads,
    places,
    stem,
)
from elastocal.compensation.posts.krl_frames import State, by_assignment, by_bas, by_mode, by_with, velocity, with_frame
from elastocal.compensation.posts.poses import Derived
from elastocal.compensation.posts.routines import Active, Branches, Routines, start
from elastocal.compensation.posts.text import BOM, NUMBER, Repeats, Text
from elastocal.compensation.program import Kind, Motion, Target
from elastocal.spatial.pose import Pose
from elastocal.values import dataclass

if TYPE_CHECKING:
    from elastocal.compensation.posts.krl_elsewhere import Elsewhere

_MASS = re.compile(rf"(?:[ \t]*=[ \t]*\{{[ \t]*M[ \t]+|\.M[ \t]*=[ \t]*)({NUMBER})", re.A | re.I)

MOTIONS: dict[str, Motion] = {
    "PTP": "joint", "SPTP": "joint", "LIN": "linear", "SLIN": "linear", "CIRC": "arc", "SCIRC": "arc", "SPL": "spline",
}  # fmt: skip
RELATIVE = {f"{m}_REL" for m in MOTIONS}
LOOPS = {"LOOP", "FOR", "WHILE", "REPEAT"}
OPENS = {"IF", "SWITCH", *LOOPS}
AGAIN = {"ELSE", "CASE", "DEFAULT"}
CLOSES = {"ENDIF", "ENDSWITCH", "ENDLOOP", "ENDFOR", "ENDWHILE", "UNTIL"}
QUIET = {"WAIT", "TRIGGER", "INTERRUPT", "RETURN"}
TYPES = {"POS", "E3POS", "E6POS", "AXIS", "E3AXIS", "E6AXIS", "FRAME"}

_WORD = re.compile(r"[ \t]*([$A-Za-z_][\w$]*)[ \t]*", re.A)
_TAIL = re.compile(r"(?:[ \t,]*C_\w++)*+[ \t]*(?:\bWITH\b([^\r\n]*))?\Z", re.A | re.I)
_PLACE = re.compile(r"([A-Za-z_]\w*+)(?:[ \t,]*C_\w++)*+[ \t]*\Z", re.A | re.I)
_JUMP = re.compile(r"(?<![^\r\n])[ \t]*(?:GOTO\b|[A-Za-z_]\w*+[ \t]*:)", re.A | re.I)
_USED = re.compile(r"(?<![\w$])(\w+)[ \t]*\Z", re.A)
_TURNED = re.compile(
    r"\$?(?:CIRC_TYPE?[ \t]*=?[ \t]*#PATH|ORI_TYPE?[ \t]*=?[ \t]*#(?:CONSTANT|JOINT)|CIRC_MODE)\b", re.A | re.I
)
_AT_START = re.compile(r"WHEN[ \t]+DISTANCE[ \t]*=[ \t]*0(?![\d.])", re.A | re.I)
_EMPTY = re.compile(r"[\r\n]+")
_SHIFT_TAIL = re.compile(r"[ \t]*(#BASE|#TOOL)?(?:[ \t,]*C_\w++)*+[ \t]*\Z", re.A | re.I)


@dataclass
class Walk:
    """The reading of one .src file; frames found on the way, keys left out and spans of T go to the given records."""

    text: Text
    texts: dict[str, Text]
    names: Lookup
    into: Collector
    frames: dict[str, dict[str, Pose]]
    omitted: dict[int, int]
    turns: dict[int, tuple[int, int]]
    state: State = State("at the start", "at the start")
    pending: Literal | None = None
    branches: Branches = field(default_factory=Branches)
    before: list[State] = field(default_factory=list)
    """What was active before each of them."""
    line: int = 0
    """The last line that was read."""
    block: State | None = None
    """What is active in the spline block around the line, where there is one."""
    lost: str = ""
    """Why the frames of that block are not known."""
    ends: list[Active] | None = None
    """What is active where a routine or loop ends, which is gone through for that alone."""
    done: bool = False
    flat: bool = False
    """Up to the end of a routine, branches and loops left aside."""
    elsewhere: Elsewhere | None = None
    """Routines of other files."""
    behind: dict[tuple[str, int], int] = field(default_factory=dict)
    """Where the auxiliary point of an arc ends, by its line."""
    triggered: bool = False
    """Whether a trigger counts from the end of the next motion."""

    @cached_property
    def heads(self) -> list[re.Match[str]]:
        return heads(self.text)

    @cached_property
    def spelled(self) -> dict[str, str]:
        """Routines of the file, as they are written at their heads."""
        return {m[2].upper(): m[2] for m in self.heads}

    @cached_property
    def routines(self) -> Routines:
        begins = {m[2]: self.text.line(m.start(2)) for m in self.heads}
        public = {m[2] for i, m in enumerate(self.heads) if not i or m[1]}
        jumps = (
            [self.text.line(m.end()) for m in _JUMP.finditer(self.text.text)] if any(places(self.text, b"GOTO")) else []
        )
        return Routines(
            begins, public, self._follow, lambda name: State(start(name), start(name)).active, self._otherwise(), jumps
        )

    def _otherwise(self) -> dict[str, str]:
        """Routines that run within other statements: as functions, by an interrupt or by a trigger."""
        text, at_heads = self.text.text, {m.end() - 1 for m in self.heads}
        found: dict[str, str] = {}
        for line in (self.text.line(at) for at in places(self.text, b"RESUME")):
            if text[slice(*self.text.span(line))].partition(";")[0].strip().upper() == "RESUME":
                found |= {m[2]: f"RESUME in line {line} leaves {m[2]} early" for m in self.heads[1:]}
        for place in (m.start() for m in re.finditer(r"\(", text)):
            line = self.text.line(place)
            begin, end = self.text.span(line)
            used = _USED.search(text, max(begin, place - 100), place)
            name = self.spelled.get(used[1].upper()) if used and place not in at_heads else None
            if used and name and text[begin : used.start()].strip(" \t" + BOM) and place < code_end(text, begin, end):
                found.setdefault(name, f"line {line} runs {name} within another statement")
        return found

    def _follow(self, line: int, name: str, flat: bool) -> list[Active]:
        state = State(name, name, name)
        walk = Walk(self.text, self.texts, self.names, Collector(), self.frames, {}, {}, state, line=line, flat=flat)
        walk.elsewhere = self.elsewhere
        walk.ends, walk.heads, walk.spelled = [], self.heads, self.spelled
        walk.routines, walk.repeats = self.routines, self.repeats
        walk.run()
        return [*walk.ends, walk.state.active]

    def run(self) -> None:
        text = self.text.text
        self.into.last = None
        while self.line < len(self.text.starts) and not self.done:
            start, end = self.text.content(self.line + 1)
            if empty := _EMPTY.match(text, start):  # most lines of a long program may be left so
                self.line = self.text.line(empty.end()) - (empty.end() < len(text))
                continue
            self.line += 1
            word = _WORD.match(text, start, end)
            if word:
                self._statement(word[1].upper(), self.line, word.start(1), word.end(), code_end(text, start, end))

    @cached_property
    def repeats(self) -> Repeats:
        return Repeats.of(self.text)

    @cached_property
    def turned_otherwise(self) -> str:
        """Why arcs cannot become several, where the files turn tools in another way than from start to end."""
        words = (_TURNED.search(text.text) for text in self.texts.values())
        word = next((m[0] for m in words if m), "")
        return f"the program sets {' '.join(word.split())}, which turns the tool in another way" if word else ""

    def _statement(self, word: str, line: int, at: int, rest: int, end: int) -> None:
        code = self.text.text
        if self.ends is not None and (word in MOTIONS or word in RELATIVE):
            self.line = max(self.line, self.repeats.last[line - 1] + 1)
            return
        if word in MOTIONS:
            try:
                self._motion(word, line, rest, end)
            except Missing as reason:
                self.into.skip(self.text, at, end, str(reason))
            self.triggered = False
        elif word in RELATIVE:
            try:
                self._relative(word.removesuffix("_REL"), line, rest, end)
            except Missing as reason:
                self.into.skip(self.text, at, end, f"relative to where the robot stands, {reason}")
            self.triggered = False
        elif word == "TRIGGER" and self.ends is None:
            self.triggered = not _AT_START.match(code, rest, end)
        elif word in ("$BASE", "$TOOL"):
            before = self.state
            self.state, pose = by_assignment(before, word, self.text, (rest, end), self.names)
            which = word[1:].lower()
            if pose is None:
                self._computed(before, line)
            else:
                self.frames[which][getattr(self.state, which)] = pose
                variable = self.names.get(getattr(self.state, which))
                if variable:
                    key = (variable.file, getattr(self.state, which))
                    self.into.frame_names[key] = f"{self.text.name}, line {line}"
        elif word == "$LOAD":
            if mass := _MASS.match(code, rest, end):
                self.into.carried(f"{self.text.name}, line {line}", word, float(mass[1]))
        elif word in ("SPLINE", "PTP_SPLINE", "ENDSPLINE"):
            self._spline(word, code[rest:end])
        elif word == "BAS":
            before, self.state = self.state, by_bas(self.state, code[rest:end], self.pending)
            self._computed(before, line)
        elif word == "FDAT_ACT":
            self.pending = self.names.get(code[rest:end].lstrip("= \t"))
        elif word == "$IPO_MODE":
            self.state = with_frame(self.state, "outside", by_mode(code[rest:end]))
        elif word == "$VEL":
            value = re.match(r"\.CP[ \t]*=[ \t]*", code[rest:end], re.I)
            self.state = replace(self.state, feed=velocity(code[rest + value.end() : end] if value else ""))
        elif self._moves(word, code[rest:end]):
            self.into.skip(self.text, at, end, f"{word} is not supported")
        else:
            self._flow(word, line, code[rest:end])

    def _moves(self, word: str, rest: str) -> bool:
        """Whether a word that is not known is used as a move is: with a place behind it."""
        if word == "ASYPTP" or rest.startswith("{"):
            return True
        name = None if word in TYPES or word in QUIET else _PLACE.match(rest)
        place = self.names.get(name[1]) if name else None
        return place is not None and (place.axes or place.pose() is not None)

    def _spline(self, word: str, clause: str) -> None:
        """What WITH says at the head of a spline block holds for its segments."""
        self.block, self.lost = None, ""
        if word != "ENDSPLINE":
            try:
                self.block = by_with(self.state, clause, self.names)
            except Missing as reason:
                self.block, self.lost = self.state, str(reason)

    def _flow(self, word: str, line: int, rest: str) -> None:
        """Routines, branches, loops, jumps and calls: the place of the robot is lost."""
        begins = word in ("DEF", "DEFFCT") or (word == "GLOBAL" and rest.upper().startswith("DEF"))
        if self.ends is not None and (begins or word in ("END", "ENDFCT")):
            self.done = True
        elif self.flat and (word in OPENS or word in AGAIN or word in CLOSES or word == "RETURN"):
            return
        elif self.ends is not None and word in CLOSES and not self.branches:
            self.done = True
        elif begins:
            called = re.search(r"\b(\w++)[ \t]*\(", rest, re.A)
            self._begin(called[1] if called else self.text.name)
        elif word in OPENS:
            if word in LOOPS:
                self.state = self.state.given(self.routines.looped(line, line, self.state.active))
            self.branches.opened(self.state.active)
            self.before.append(self.state)
        elif word in AGAIN and self.branches:
            self.state = self.before[-1].given(self.branches.again(self.state.active))
        elif word in CLOSES and self.branches:
            before = self.before.pop()
            self.state = before.given(self.branches.closed(self.state.active, line))
            self._computed(before, line)
        elif word == "RETURN" and self.ends is not None:
            self.ends.append(self.state.active)
        elif word in QUIET:
            return
        elif rest.startswith("("):
            self._call(word)
        elif rest.startswith(":"):
            if not self.flat:
                self.state = self.state.given(self.routines.labelled(line, self.state.active))
        elif word != "GOTO":
            return
        self.into.last = None

    def _computed(self, before: State, line: int) -> None:
        """New names of frames without a number tell their line, and one name may stand for many frames."""
        for frame in {self.state.base, self.state.tool} - {before.base, before.tool}:
            within = [] if frame.isdigit() else [m[2] for m in self.heads if self.text.line(m.start(2)) <= line]
            if within:
                self.routines.computed(frame, within[-1])

    def _begin(self, name: str) -> None:
        """At the head of a routine."""
        known, state = self.spelled.get(name.upper()), State(start(name), start(name))
        self.state, self.pending = state.given(self.routines.entry(known)) if known else state, None
        self.branches, self.before = Branches(), []

    def _call(self, word: str) -> None:
        known = self.spelled.get(word)
        if known:
            self.state = self.state.given(self.routines.called(known, self.state.active))
            return
        active = self.elsewhere.called(word, self.state.active) if self.elsewhere else None
        if active is not None:
            self.state = self.state.given(active)
            self.into.note(f"{self.text.name}: {word} is read in its own file for the base and tool that it leaves")
        else:
            self.into.unread[word] = None
            self.into.note(f"{self.text.name}: the call of {word} is taken not to change base and tool")

    def _motion(self, word: str, line: int, at: int, end: int) -> None:
        text = self.text.text
        value, name, at = argument(self.text, self.names, at, end)
        via: tuple[Literal, str] | None = None
        if MOTIONS[word] == "arc":
            if text[at : at + 1] != ",":
                raise Missing("an arc without a second point")
            via = (value, name)
            self.behind[self.text.name, line] = at
            value, name, at = argument(self.text, self.names, at + 1, end)
            if re.match(r"[ \t]*,[ \t]*CA\b", text[at:end], re.I):
                raise Missing("the arc ends at an angle (CA), not at its point")
        tail = _TAIL.match(text, at, end)
        if not tail:
            raise Missing(f"expression {self.text.shown(at, end)!r} is not known when the file is read")
        if self.lost:
            raise Missing(f"in its spline block {self.lost}")
        state = self.block or self.state
        state = by_with(state, tail[1], self.names) if tail[1] else state
        self.routines.check({k: v for k, v in state.active.items() if k != "base" or not value.axes})
        if state.outside:
            may = "stands" if state.outside == "#TCP" else "may stand"
            raise Missing(f"the tool {may} outside the robot ($IPO_MODE #TCP)")
        numbers = self._numbers(value, name, state)
        middle = self._target(*via, self._numbers(*via, state), line, state) if via else None
        target = self._target(value, name, numbers, line, state)
        fixed = self.turned_otherwise if via else ""
        fixed = "a TRIGGER before it counts from its end" if self.triggered else fixed
        fixed = "it is a segment of a spline block" if self.block else fixed
        self.into.move((self.text.name, line), MOTIONS[word], target, middle, state.feed, fixed)
        if via is None and not name and value.complete and not self.triggered:
            self._repeat(line, value)

    def _relative(self, word: str, line: int, at: int, end: int) -> None:
        """A shift from the target before, in axes of the base or, with #TOOL, of the tool."""
        state, last = self.state, self.into.last
        before = None if last is None else self.into.targets[last]
        if last is None or before is None or before.kind == "joints" or MOTIONS[word] not in ("linear", "joint"):
            raise Missing("and so it follows the target before it")
        if (before.base, before.tool) != (state.base, state.tool) or state.outside or self.block or self.lost:
            raise Missing("in other frames than the target before it")
        value, name, at = argument(self.text, self.names, at, end)
        tail = _SHIFT_TAIL.match(self.text.text, at, end)
        if name or value.axes or not tail or value.others or any(v == v for v in value.numbers[3:]):
            raise Missing("by more than a shift X, Y, Z; it follows the target before it")
        numbers = tuple(0.0 if v != v else v for v in value.numbers)
        target = self._target(value, "", numbers, line, state)
        self.omitted[target] = value.tail
        self.into.derived[target] = Derived(np.zeros(3), np.eye(3), (tail[1] or "").upper() == "#TOOL", parent=last)
        self.into.move(
            (self.text.name, line), MOTIONS[word], target, None, state.feed, "it is relative to the point before it"
        )

    def _repeat(self, line: int, value: Literal) -> None:
        """Lines that are like this one but for the six numbers."""
        last = max(end for _, end in value.spans)
        if value.turn and value.turn[0] < last:
            return
        block = self.repeats.like(line, value.spans)
        if block is None:
            return
        new = self.into.repeat(block)
        self.line += len(new)
        if value.turn:
            begin, end = (v - last for v in value.turn)
            after = block.spans[:, :, 1].max(axis=1).tolist()
            self.turns.update((number, (e + begin, e + end)) for number, e in zip(new, after, strict=True))

    def _numbers(self, value: Literal, name: str, state: State) -> tuple[float, ...]:
        """All six; keys left out are as in the target before, where that is known."""
        if value.complete:
            return value.numbers
        lacking = value.keys[value.spans.index(NOWHERE)]
        before = None if self.into.last is None else self.into.targets[self.into.last]
        if self.into.last in self.into.derived:
            raise Missing(f"{lacking} is left out, and the place before is relative")
        if name or before is None or (before.kind == "joints") != value.axes:
            raise Missing(f"{lacking} is left out, and the place before is not known")
        if not value.axes and (before.base, before.tool) != (state.base, state.tool):
            raise Missing(f"{lacking} is left out, and the place before is in another base or tool")
        filled = self.into.values[self.into.last or 0]
        return tuple(w if v != v else v for v, w in zip(value.numbers, filled, strict=True))

    def _target(self, value: Literal, name: str, numbers: tuple[float, ...], line: int, state: State) -> int:
        kind: Kind = "joints" if value.axes else "pose"
        status, turn = value.integer("S"), value.integer("T")
        configuration = "" if status is None else f"S {status}"
        external = (
            tuple(v for k in EXTERNAL if isinstance(v := value.others.get(k), float)) if "E1" in value.others else ()
        )
        place = self.texts[value.file].line(value.start) if name else line
        named = (value.file, place, name.upper().replace(" ", ""), kind, state.base, state.tool)
        number = self.into.target(
            Target(*named, configuration, external, turn, stem(value.file) == SHARED), value.spans, numbers, bool(name)
        )
        if not value.complete:
            self.omitted[number] = value.tail
        if value.turn:
            self.turns[number] = value.turn
        return number
