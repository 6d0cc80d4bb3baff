"""Data of RAPID: robtarget, jointtarget, wobjdata and tooldata literals, and the statements that matter for moves.

confdata [cf1, cf4, cf6, cfx] is checked against the axis values that a target is reached with: cf1, cf4 and cf6 are the
quarter turns of axes 1, 4 and 6: floor(angle / 90 deg), negative below zero.  The last bit of cfx is 1 where axis 5
stands below zero; its other two bits (in front of or behind axis 1 and the lower arm) are not judged.  The way that a
target is reached is taken from confdata at joint moves and at the first target; lines stay on the way that the arm is
on, so that a difference there has two possible reasons.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import cache
from math import isfinite
from typing import NamedTuple

import numpy as np

from elastocal.compensation.branches import EITHER, some_places
from elastocal.compensation.posts.poses import constant
from elastocal.compensation.posts.text import NUMBER, Repeats, Text, blanked
from elastocal.compensation.program import Target
from elastocal.spatial.entries import Array, Bools
from elastocal.spatial.pose import Pose
from elastocal.spatial.rotation import Rotation

SHORT, LONG = 0.5, 2.0
"""Squared length of what can be meant as a quaternion."""
BLANK = " \t\r\n\xef\xbb\xbf"
WORDS = (
    "alias|and|backward|case|connect|const|default|div|do|else|elseif|endfor|endfunc|endif|endmodule|endproc|endrecord|"
    "endtest|endtrap|endwhile|error|exit|false|for|from|func|goto|if|inout|local|mod|module|nostepin|not|noview|or|pers|"
    "proc|raise|readonly|record|retry|return|step|sysmodule|task|test|then|to|trap|true|trynext|undo|var|viewonly|while|"
    "with|xor"
)
"""Words of the language, which nothing else can be called."""
STRINGS_AND_COMMENTS = re.compile(r'"[^"\r\n]*"|![^\r\n]*')


def _row(count: int) -> str:
    return r"\[\s*" + r"\s*,\s*".join([f"({NUMBER})"] * count) + r"\s*\]"


_LIST = r"(\[[^\[\]]*\])"
_POSE = rf"\[\s*{_row(3)}\s*,\s*{_row(4)}\s*\]"
ROBTARGET = re.compile(rf"\s*\[\s*{_row(3)}\s*,\s*{_row(4)}\s*,\s*{_LIST}\s*,\s*{_LIST}\s*\]", re.A)
JOINTTARGET = re.compile(rf"\s*\[\s*{_row(6)}\s*,\s*{_LIST}\s*\]", re.A)
_WOBJ = re.compile(rf"\s*\[\s*(TRUE|FALSE)\s*,\s*(TRUE|FALSE)\s*,(\s*),\s*{_POSE}\s*,\s*{_POSE}\s*\]\s*\Z", re.A | re.I)
_TOOL = re.compile(rf"\s*\[\s*(TRUE|FALSE)\s*,\s*{_POSE}", re.A | re.I)
_MASS = re.compile(rf"\s*,\s*\[\s*({NUMBER})", re.A)

STATEMENT = re.compile(
    r"""(?<![\w.])(?:
      (?:CONST|PERS|VAR)\s+(?P<type>[A-Za-z]\w*+)\s++(?P<name>[A-Za-z]\w*+)\s*+(?P<array>\{[^{};]*+\})?\s*+(?::=(?P<value>[^;]*+))?;
    | (?P<word>Move[A-Z]\w*+|Trigg(?:[LJC]|AbsJ)\w*+|Search[LC]\w*+|(?:Arc|Paint|Spot|Laser|Cap|Disp)[LJC]\w*+)
      (?P<args>[^;]*+);
    | (?P<shift>PDisp(?:On|Set|Off)|EOffs(?:On|Set|Off))\b[^;]*;
    | (?P<flow>PROC|FUNC|TRAP|IF|THEN|ELSE|ELSEIF|ENDIF|FOR|ENDFOR|WHILE|ENDWHILE|TEST|CASE|DEFAULT|ENDTEST|GOTO)\b
    | (?P<set>[A-Za-z]\w*+)(?P<part>\s*+\{[^{};]*+\}|\.[\w.]++)?\s*+:=(?P<sum>[^;]*+);
    | (?P<other>(?!(?:LOCAL|TASK|CONST|PERS|VAR)\b)[A-Za-z]\w*+)
    )""",
    re.A | re.I | re.X,
)


_PARAMETERS = re.compile(r"(?<!\w)(?:PROC|FUNC\s+\w+)\s+\w+\s*\(([^()]*)\)", re.A | re.I)
_REST = re.compile(r"[^;\r\n]*+;?")
_MOVE = re.compile(
    r"\b(?:Move[A-Z]|Trigg(?:[LJC]|AbsJ)|Search[LC]|(?:Arc|Paint|Spot|Laser|Cap|Disp)[LJC]|THEN\b|"
    r"(?:PDisp|EOffs)(?:On|Set|Off)\b)", re.I
)  # fmt: skip
_CALLED = re.compile(r"(?:[ \t]*\\|[ \t]+[A-Za-z\[])[^;]{0,1000}+;", re.A)
"""Of bounded length: a file of words without an end is read once."""


class Datum(NamedTuple):
    """A robtarget or jointtarget literal: numbers, spans, configuration and external axes as text."""

    file: str
    line: int
    start: int
    end: int
    joints: bool
    numbers: tuple[float, ...]
    spans: tuple[tuple[int, int], ...]
    configuration: str
    external: str

    @property
    def external_values(self) -> tuple[float, ...]:
        """Without the axes that are not there (9E9)."""
        values = [float(v) for v in re.findall(NUMBER, self.external)]
        return tuple(v for v in values if isfinite(v) and v < 8.9e9)


def datum(text: Text, code: str, start: int, end: int, joints: bool) -> Datum | None:
    """The literal that stands at ``start``; None where it is no literal."""
    match = (JOINTTARGET if joints else ROBTARGET).match(code, start, end)
    if not match:
        return None
    count = 6 if joints else 7
    groups = match.groups()
    numbers = tuple(map(float, groups[:count]))
    if not all(map(isfinite, numbers)):
        return None
    first = match.regs[1][0]
    spans = match.regs[1 : count + 1]
    if joints:
        numbers, spans = (*numbers, np.nan), (*spans, (-1, -1))
    elif not SHORT < sum(q * q for q in numbers[3:]) < LONG:
        return None
    configuration = "" if joints else groups[7]
    return Datum(text.name, text.line(first), first, match.end(), joints, numbers, spans, configuration, groups[-1])


@dataclass
class Data:
    """What modules declare, by name in lower case; ``computed`` says where a name is given another value."""

    targets: dict[str, Datum] = field(default_factory=dict)
    bases: dict[str, Pose] = field(default_factory=lambda: {"wobj0": Pose()})
    tools: dict[str, Pose] = field(default_factory=lambda: {"tool0": Pose()})
    computed: dict[str, str] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    """What cannot be used, with the reason."""
    spelled: dict[str, str] = field(default_factory=dict)
    masses: dict[str, tuple[float, str]] = field(default_factory=dict)
    """Of tools, in kg, with the place that states them."""
    constants: dict[str, float] = field(default_factory=dict)
    """Numbers declared CONST."""


class Statements:
    """The statements of a module, strings and comments blanked; what repeats a line can be passed over."""

    def __init__(self, text: Text) -> None:
        self.text, self.repeats = text, Repeats.of(text)
        self.code = blanked(text.text, STRINGS_AND_COMMENTS)
        self._at = self._begin = 0

    def since(self, place: int) -> Statements:
        """Those that begin in a place or behind it."""
        some = copy(self)
        some._begin = place
        return some

    def __iter__(self) -> Iterator[re.Match[str]]:
        self._at, last = self._begin, self.code.rfind(";") + 1
        while match := STATEMENT.search(self.code, self._at, last):
            self._at = match.end()
            if match["other"]:  # up to its end, or to what depends on it: IF done MoveL ...;
                end = _REST.match(self.code, self._at, last).end()  # type: ignore[union-attr]
                move = _MOVE.search(self.code, self._at, end)
                self._at = move.start() if move else end
            yield match

    def alone(self, statement: re.Match[str]) -> int:
        """The line of a statement that has it for itself; 0 where it shares or breaks it."""
        line = self.text.line(statement.start())
        start, end = self.text.span(line)
        around = self.code[start : statement.start()] + self.code[statement.end() : end]
        return 0 if statement.end() > end or around.strip(BLANK) else line

    def call(self, statement: re.Match[str]) -> re.Match[str] | None:
        """Arguments of an instruction or a procedure that begins its line or follows another; None: it is no call."""
        start = statement.start()
        before = self.code[self.text.line_start(start) : start].strip(BLANK)
        return None if before and before[-1] != ";" else _CALLED.match(self.code, statement.end())

    def pass_over(self, line: int) -> None:
        """Go on behind a line."""
        self._at = self.text.span(line)[1]


def declared(modules: Iterable[Statements]) -> Data:
    data = Data()
    for module in modules:
        text, code = module.text, module.code
        for head in _PARAMETERS.finditer(code):  # a parameter hides data of its name
            for name in re.findall(r"(\w+)\s*(?:\{[^}]*\})?\s*(?=[,|\\]|\Z)", head[1], re.A):
                data.computed.setdefault(name.lower(), f"{text.name}, line {text.line(head.start())}")
        for statement in module:
            if statement["word"]:
                line = module.alone(statement)
                if line:
                    module.pass_over(1 + module.repeats.last[line - 1])
                continue
            name = (statement["name"] or statement["set"] or "").lower()
            where = f"{text.name}, line {text.line(statement.start())}"
            if statement["type"]:
                _declare(data, text, code, statement, name, where)
            elif statement["set"]:
                data.computed.setdefault(name, where)
                data.constants.pop(name, None)
    return data


def _declare(data: Data, text: Text, code: str, statement: re.Match[str], name: str, where: str) -> None:
    kind = statement["type"].lower()
    if kind == "num" and statement[0][:5].lower() == "const" and not statement["array"]:
        known = constant(statement["value"] or "", data.constants)
        if known is not None:
            data.constants[name] = known
    if kind not in ("robtarget", "jointtarget", "wobjdata", "tooldata"):
        return
    if name in data.targets or name in data.refused:
        data.computed.setdefault(name, where)
    if statement["array"] or statement["value"] is None:
        data.refused[name] = "is an array" if statement["array"] else f"has no value in {where}"
        return
    start, end = statement.span("value")
    if kind in ("robtarget", "jointtarget"):
        value = datum(text, code, start, end, kind == "jointtarget")
        if value is None or code[value.end : end].strip():
            data.refused[name] = f"is no plain literal with a unit quaternion in {where}"
        else:
            data.targets[name] = value
    elif kind == "wobjdata":
        _work_object(data, text, code, name, (start, end), where)
    else:
        _tool(data, code, name, (start, end), where)


def _work_object(data: Data, text: Text, code: str, name: str, span: tuple[int, int], where: str) -> None:
    match = _WOBJ.match(code, *span)
    if not match:
        data.computed.setdefault(name, where)
    elif match[1].upper() == "TRUE":
        data.refused[name] = f"is held by the robot ({where})"
    elif match[2].upper() == "FALSE" or text.text[slice(*match.span(3))].strip(' \t"'):
        data.refused[name] = f"moves with a mechanical unit ({where})"
    else:
        numbers = [float(v) for v in match.groups()[3:]]
        frame, inner = _pose(numbers[:7]), _pose(numbers[7:])
        if frame is None or inner is None:
            data.refused[name] = f"{_NO_POSE} ({where})"
        else:
            data.bases[name] = frame @ inner


def _tool(data: Data, code: str, name: str, span: tuple[int, int], where: str) -> None:
    match = _TOOL.match(code, *span)
    if not match:
        data.computed.setdefault(name, where)
    elif match[1].upper() == "FALSE":
        data.refused[name] = f"stands outside the robot ({where})"
    elif (pose := _pose([float(v) for v in match.groups()[1:]])) is None:
        data.refused[name] = f"{_NO_POSE} ({where})"
    else:
        data.tools[name] = pose
        if mass := _MASS.match(code, match.end(), span[1]):
            data.masses[name] = float(mass[1]), where


def _pose(numbers: list[float]) -> Pose | None:
    q = np.array(numbers[3:])
    size = float(np.linalg.norm(q / (np.abs(q).max() or 1.0)))
    if not (all(map(isfinite, numbers)) and size > 0):
        return None
    return Pose(Rotation.from_quat(q / np.abs(q).max(), scalar_first=True).as_matrix(), np.array(numbers[:3]) / 1e3)


_NO_POSE = "has a quaternion of length zero or a number that is not finite"
QUARTERS = (0, 3, 5)
_NAMES = ("cf1", "cf4", "cf6")
FIFTH = 4
EDGE = 1e-6
"""rad within which an axis stands on the edge of two quarter turns, and either is right."""
_NONE = (np.nan,) * 4


def quarter_turns(axes: Array) -> Array:
    """Of axes 1, 4 and 6 of controller values (N, 6)."""
    return np.floor(axes[:, QUARTERS] / (np.pi / 2)) + 0.0


def confdata_notes(targets: Sequence[Target], names: Sequence[str], old: Array, new: Array, use: Bools) -> list[str]:
    """What does not fit with axis values (N, 6) before and, where ``use``, after: a sentence for each distinct case."""
    stated = _stated(targets)
    high, there = quarter_turns(old + EDGE), quarter_turns(new)
    fits, kept = _fits(stated, old), _fits(stated, new)
    known = np.isfinite(stated[:, :1]) & np.isfinite(old).all(axis=1, keepdims=True)
    cases: dict[str, list[str]] = {}
    for n, i in np.argwhere(known & ~fits).tolist():
        message = f"{_NAMES[i]} is {stated[n, i]:.0f}, but {names[QUARTERS[i]]} stands in quarter turn {high[n, i]:.0f}"
        cases.setdefault(f"confdata does not fit: {message}", []).append(targets[n].where)
    fifth, cfx = old[:, FIFTH], stated[:, 3]
    judged = known[:, 0] & (cfx >= 0) & (cfx <= 7) & (np.abs(fifth) > EDGE)
    for n in np.flatnonzero(judged & ((cfx % 2 == 1) != (fifth < 0))).tolist():
        message = f"cfx is {cfx[n]:.0f}, but {names[FIFTH]} stands {'below' if fifth[n] < 0 else 'above'} zero"
        cases.setdefault(f"confdata does not fit: {message}", []).append(targets[n].where)
    out = [f"{message} at {some_places(where)}; {EITHER}." for message, where in cases.items()]
    cases = {}
    for n, i in np.argwhere(known & use[:, None] & ~kept & (fits | (there != high))).tolist():
        message = f"{names[QUARTERS[i]]} ends in quarter turn {there[n, i]:.0f}, so that {_NAMES[i]}"
        cases.setdefault(f"{message} should be {there[n, i]:.0f}", []).append(targets[n].where)
    return out + [
        f"{message} at {some_places(where)}: confdata is kept, check the moves." for message, where in cases.items()
    ]


def confdata_at(end: str, axes: Array | None, count: int) -> list[str]:
    """Configuration and external axes of points on the way to an ``end``: quarter turns of their own where they stand
    in others by their controller values (N, 6)."""
    others = end.partition("]")[2]
    stated = np.array([four(end)] * count).reshape(-1, 4)
    if axes is None or axes.shape[1:] != (6,) or np.isnan(stated).any():
        return [end] * count
    own = np.where(_fits(stated, axes), stated[:, :3], quarter_turns(axes))
    return [f"[{','.join(f'{v + 0.0:.0f}' for v in (*row, stated[0, 3]))}]{others}" for row in own]


def _fits(stated: Array, axes: Array) -> Bools:
    """Whether cf1, cf4 and cf6 are quarter turns of axis values (N, 6), either one on an edge: (N, 3)."""
    turns = stated[:, :3]
    return np.asarray((turns == quarter_turns(axes - EDGE)) | (turns == quarter_turns(axes + EDGE)))


def _stated(targets: Sequence[Target]) -> Array:
    """cf1, cf4, cf6 and cfx (N, 4); nan where a target is no pose or these are no four whole numbers."""
    return np.array([four(t.configuration) if t.kind == "pose" else _NONE for t in targets]).reshape(-1, 4)


@cache
def four(text: str) -> tuple[float, ...]:
    values = tuple(float(v) for v in re.findall(NUMBER, text.partition("]")[0]))
    return values if len(values) == 4 and all(v.is_integer() for v in values) else _NONE
