"""Structures and variables of KRL: ``{E6POS: X 1620.5,Y 0,Z 812,A 90,B 0,C 180,S 'B010',T 35}``, and motion arguments.

An argument is a literal written in place, or a variable with one value.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from math import isfinite
from pathlib import PurePath
from typing import NamedTuple

import numpy as np

from elastocal.compensation.posts.collect import Missing
from elastocal.compensation.posts.text import NUMBER, Text, shown
from elastocal.spatial.pose import Pose
from elastocal.spatial.rotation import Rotation
from elastocal.untrusted import finite_number
from elastocal.values import dataclass

CARTESIAN = ("X", "Y", "Z", "A", "B", "C")
AXES = ("A1", "A2", "A3", "A4", "A5", "A6")
NOWHERE = (-1, -1)
SHARED = "$CONFIG"
"""Stem of the file whose variables all programs of a controller use."""
LONGEST = 32
"""Digits of a bit pattern."""
EXTERNAL = ("E1", "E2", "E3", "E4", "E5", "E6")

_PAIR = re.compile(
    rf"""[ \t]*([A-Za-z]\w*)(?:\[[ \t]*\])?[ \t]+({NUMBER}|'[BHbh][0-9A-Fa-f]+'|"[^"]*"|\#?\w+)[ \t]*(?:,|\Z)""", re.A
)
_USUAL = re.compile(
    r"\{(?:\w+:)?[ \t]*" + r"[ \t]*,[ \t]*".join(rf"{k}[ \t]+({NUMBER})" for k in "XYZABC")
    + r"(?:[ \t]*,[ \t]*S[ \t]+(\d+)[ \t]*,[ \t]*T[ \t]+(\d+))?[ \t]*\}", re.A
)  # fmt: skip
WHOLE = re.sub(r"\((?=[-\[\\])", "(?:", _USUAL.pattern).encode()
"""Of a literal with all six keys, without groups."""
_TYPE = re.compile(r"[ \t]*\w+[ \t]*:", re.A)
_ASSIGNED = re.compile(
    r"(?:\xef\xbb\xbf)?[ \t]*(?:(?:GLOBAL|DECL|CONST)[ \t]+)*(?:(\w+)[ \t]+)?"
    r"([$\w]+(?:\[[ \t]*\d+[ \t]*\])?)([.\[][^\r\n=;{]*)?"
    r"[ \t]*=(?!=)[ \t]*(\{[^{}\r\n]*\})?([^\r\n;]*)",
    re.M | re.I | re.A,
)


class Literal(NamedTuple):
    """Six numbers (X Y Z A B C, or A1 to A6 where ``axes``; nan: left out) with their spans, and all other keys."""

    file: str
    start: int
    end: int
    axes: bool
    numbers: tuple[float, ...]
    spans: tuple[tuple[int, int], ...]
    others: dict[str, float | str]
    turn: tuple[int, int] | None
    tail: int
    """Where the last value ends."""
    computed: str = ""
    """The first value that is not a number though it should be, as ``X XHOME``."""

    @property
    def keys(self) -> tuple[str, ...]:
        return AXES if self.axes else CARTESIAN

    @property
    def complete(self) -> bool:
        return NOWHERE not in self.spans

    def integer(self, key: str) -> int | None:
        value = self.others.get(key)
        return int(value) if isinstance(value, float) and value == int(value) else None

    def pose(self) -> Pose | None:
        """The frame with all six values."""
        if self.axes or self.computed or not self.complete:
            return None
        return Pose(
            Rotation.from_euler("ZYX", self.numbers[3:], degrees=True).as_matrix(), np.array(self.numbers[:3]) / 1e3
        )


def literal(name: str, text: str, start: int, end: int) -> Literal | None:
    """The structure from the brace at ``start`` to before ``end``; None where it is not made of keys and values."""
    usual = _USUAL.match(text, start, end)
    if usual and usual.end() == end:  # what CAM systems write, read in one step
        x, y, z, a, b, c, s, t = usual.groups()
        spans = usual.regs
        status = {} if s is None else {"S": float(s), "T": float(t)}
        numbers = (float(x), float(y), float(z), float(a), float(b), float(c))
        if not isfinite(sum(map(abs, (*numbers, *status.values())))):
            return None
        turn, tail = (None, spans[6][1]) if s is None else (spans[8], spans[8][1])
        return Literal(name, start, end, False, numbers, spans[1:7], dict(status), turn, tail)
    tag = _TYPE.match(text, start + 1, end - 1)
    at, stop = tag.end() if tag else start + 1, end - 1
    values: dict[str, float | str] = {}
    places: dict[str, tuple[int, int]] = {}
    while pair := _PAIR.match(text, at, stop):
        key = pair[1].upper()
        if key in values:
            return None
        at, values[key], places[key] = pair.end(), _value(pair[2]), pair.span(2)
    if not values or text[at:stop].strip(" \t") or text[at - 1] == ",":
        return None
    return _sorted(Literal(name, start, end, False, (), (), values, None, 0), places)


def _sorted(raw: Literal, places: dict[str, tuple[int, int]]) -> Literal:
    """The six numbers apart from the other keys."""
    values = raw.others
    axes = not places.keys().isdisjoint(AXES)
    keys = AXES if axes else CARTESIAN
    needed = (*keys, *EXTERNAL, "S", "T")
    computed = next((shown(f"{k} {v}") for k, v in values.items() if k in needed and isinstance(v, str)), "")
    ordered = (values.get(k) for k in keys)
    return raw._replace(
        axes=axes,
        numbers=tuple(v if isinstance(v, float) else np.nan for v in ordered),
        spans=tuple(places.get(k, NOWHERE) for k in keys),
        others={k: v for k, v in values.items() if k not in keys},
        turn=places.get("T"),
        tail=max(end for _, end in places.values()),
        computed=computed,
    )


def _value(text: str) -> float | str:
    if text[0] == "'":
        base = 2 if text[1] in "Bb" else 16
        digits = text[2:-1]
        wrong = len(digits) > LONGEST or (base == 2 and set(digits) - {"0", "1"})
        return text if wrong else float(int(digits, base))
    value = finite_number(text)
    return text if value is None else value


def integer_text(old: str, value: int) -> str:
    """``value`` written like ``old``: plain, 'B0101' or 'H1F'."""
    if old[0] != "'":
        return str(value)
    form = "b" if old[1] in "Bb" else "X"
    return f"'{old[1]}{value:0{len(old) - 3}{form}}'"


@dataclass(frozen=True)
class Variables:
    """Literals that variables of one module have, and those that the program computes."""

    literals: dict[str, Literal] = field(default_factory=dict)
    computed: dict[str, str] = field(default_factory=dict)
    """Where a variable is computed or assigned again."""


_ROUTINE = re.compile(r"(?:\xef\xbb\xbf)?[ \t]*(GLOBAL[ \t]+)?DEF(?:FCT)?\b[^\r\n(;]{0,60}?(\w++)[ \t]*\(", re.A | re.I)


@dataclass(frozen=True)
class Lookup:
    """What names mean in one module: its own variables, then those of $config.dat.

    ``file`` is its file where it is not of the program: its names are not those of the program.
    """

    modules: Mapping[str, Variables]
    module: str
    file: str = ""

    def value(self, name: str) -> Literal:
        key = re.sub(r"[ \t]", "", name).upper()
        for module in (self.module, SHARED):
            known = self.modules.get(module)
            if known and key in known.computed:
                raise Missing(f"{name} is computed or set again in {known.computed[key]}")
            if known and key in known.literals:
                return known.literals[key]
        raise Missing(f"{name} has no value in the files given")

    def get(self, name: str) -> Literal | None:
        try:
            return self.value(name)
        except Missing:
            return None


def variables(texts: Iterable[Text]) -> dict[str, Variables]:
    """By module (stem of the file, upper case)."""
    out: dict[str, Variables] = {}
    for text in texts:
        module = out.setdefault(stem(text.name), Variables())
        for head in heads(text):  # a parameter hides a variable of its name
            for name in re.findall(r"(\w+)[ \t]*:", text.text[head.end() : text.span(text.line(head.end()))[1]], re.A):
                module.computed.setdefault(name.upper(), f"{text.name}, line {text.line(head.end())}")
        for assigned in _assignments(text):
            name = re.sub(r"[ \t]", "", assigned[2]).upper()
            where = f"{text.name}, line {text.line(assigned.start(2))}"
            whole = assigned[4] and not assigned[3] and not assigned[5].strip()
            value = literal(text.name, text.text, *assigned.span(4)) if whole else None
            if value is None or name in module.literals:
                module.computed.setdefault(name, where)
            else:
                module.literals[name] = value
    return out


def heads(text: Text) -> list[re.Match[str]]:
    """Of routines: GLOBAL or not, and the name; words are found faster than patterns."""
    lines = {text.line_start(at): None for at in places(text, b"DEF")}
    return [head for start in lines if (head := _ROUTINE.match(text.text, start))]


def places(text: Text, word: bytes) -> Iterator[int]:
    """Where a word stands, whatever its case."""
    return (m.start() for m in re.finditer(word, text.text.encode("latin-1").upper()))


def _assignments(text: Text) -> Iterator[re.Match[str]]:
    """Lines that set something; few of many."""
    at = text.text.find("=")
    while at >= 0:
        line = text.line(at)
        match = _ASSIGNED.match(text.text, *text.span(line))
        if match:
            yield match
        at = text.text.find("=", text.span(line)[1])


def stem(file: str) -> str:
    return PurePath(file).stem.upper()


_NAME = re.compile(r"([A-Za-z_]\w*(?:\[[ \t]*\d+[ \t]*\])?)(?![\w.$\[(])", re.A)


def argument(file: Text, names: Lookup, at: int, end: int) -> tuple[Literal, str, int]:
    """Literal, name ("": written in place) and where the argument ends."""
    text = file.text
    while at < end and text[at] in " \t":
        at += 1
    if text[at : at + 1] == "{":
        close = text.find("}", at, end) + 1
        value = literal(file.name, text, at, close) if close else None
        if value is None:
            raise Missing("the structure has other things than keys and numbers")
        name, at = "", close
    else:
        match = _NAME.match(text, at, end)
        if not match:
            raise Missing(f"expression {file.shown(at, end)!r} is not known when the file is read")
        value, name, at = names.value(match[1]), match[1], match.end()
    if value.computed:
        raise Missing(f"{value.computed} is not known when the file is read")
    while at < end and text[at] in " \t":
        at += 1
    if text[at : at + 1] == ":":
        raise Missing(f"geometric sum {file.shown(at, end)!r}")
    return value, name, at


def code_end(text: str, start: int, end: int) -> int:
    """Where the comment or the line end begins, blanks before it left out."""
    mark = text.find(";", start, end)
    if mark >= 0 and '"' in text[start:mark]:
        mark = next((m.start() + start for m in re.finditer(r'"[^"\r\n]*"|;', text[start:end]) if m[0] == ";"), -1)
    end = end if mark < 0 else mark
    while end > start and text[end - 1] in " \t\r\n":
        end -= 1
    return end
