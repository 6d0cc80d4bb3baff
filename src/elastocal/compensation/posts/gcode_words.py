"""Words of G-code, ``X10.`` or ``A3=0.5``, what the control remembers from line to line, and the motion in force.

Chords leave G1 in force where the program had G2 or G3 (G0 to G3 and their kin are group 1 of controls).  A line that
stays as it is must run under what it had: it is told the motion again where it relies on it, and never where it states
its own or has another use for its words.  Drilling cycles are a group of their own on most controls: the motion before
them holds again after G80.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from enum import Enum, auto
from typing import NamedTuple

import numpy as np

from elastocal.compensation.posts.text import Text
from elastocal.values import dataclass

_WORD = re.compile(
    r"[ \t]*(?:([A-Z]{1,2}\d?)[ \t]*=[ \t]*|([A-Z])[ \t]*)([-+]?(?:\d++(?:\.\d*+)?|\.\d++))", re.A | re.I
)
_COMMENT = re.compile(r"\([^()\r\n]*\)|;[^\r\n]*")
_DELETE = re.compile(r"[ \t]*(?:N\d+[ \t]*)?/\d?", re.A | re.I)
_MOVED = r"[ \t](?:CR|[XYZGIJK]|[ABC]3?)[ \t]*[-+.=\d]"
_SET = re.compile(
    rf"[ \t]*(?:N\d+[ \t]*)?(?:#[^=\r\n]*=|R\d+[ \t]*=(?![^;\r\n]*{_MOVED})|DEF[ \t]|MSG\b|%|:\d|O\d+[ \t]*$)",
    re.A | re.I,
)
"""Lines that set and do not move."""
_QUIET = {
    "TRAORI", "TRAFOOF", "ORIWKS", "ORIMKS", "ORIAXES", "ORIVECT", "SOFT", "BRISK", "FFWON", "FFWOF", "COMPCAD",
    "COMPOF", "COMPCURV", "COMPON", "UPATH", "STOPRE", "MSG", "FNORM", "CFTCP", "FIFOCTRL", "MM", "INCH",
}  # fmt: skip
"""Words of Siemens controls that neither move nor change what later words mean."""


PLACES = ("X", "Y", "Z")
ROTARY = ("A", "B", "C")
VECTOR = ("A3", "B3", "C3")
COLUMNS = (*PLACES, *ROTARY, *VECTOR)
"""Words that say where to go, in the order in which values are kept."""
_COLUMN = {address: i for i, address in enumerate(COLUMNS)}


LONGEST = 300
"""Characters of the rest of a line that is looked at."""
LONG = 9
"""Characters that a number of an axis can have without being too large."""
FARTHEST = 1e9
"""In mm, inches or degrees: beyond it an increment would lose its digits."""


class Word(NamedTuple):
    address: str
    value: float
    start: int
    value_start: int
    end: int


class Line(NamedTuple):
    """One line: words of COLUMNS by their place there, G codes, other words, and what could not be read.

    ``first`` is where a word can be put in front, behind N; ``place`` is where the last word that was read ends;
    ``deleted`` lines can be switched off by the operator.
    """

    number: int
    start: int
    end: int
    columns: dict[int, Word]
    codes: tuple[Word, ...]
    others: tuple[Word, ...]
    first: int
    place: int
    unread: str
    deleted: bool


def line_of(text: Text, number: int) -> Line | None:
    """A line (counted from 1); None where it has no code."""
    code = text.text
    start, end = text.content(number)
    plain = code[start:end].rstrip("\r\n \t")
    end = start + len(plain)
    if "(" in plain or ";" in plain:
        plain = _COMMENT.sub(lambda m: " " * len(m[0]), plain).rstrip(" \t")
    return _line(number, start, end, plain) if plain and not _SET.match(plain) else None


def _line(number: int, start: int, end: int, plain: str) -> Line:
    delete = _DELETE.match(plain) if "/" in plain else None
    at = delete.end() if delete else 0
    columns: dict[int, Word] = {}
    codes: list[Word] = []
    others: list[Word] = []
    first = -1
    while match := _WORD.match(plain, at):
        named, letter, value = match.groups()
        address = (letter or named).upper()
        if len(value) > LONG and abs(float(value)) > (FARTHEST if address in _COLUMN else 1e300):
            break
        at = match.end()
        word = Word(address, float(value), start + match.start(2 if letter else 1), start + match.start(3), start + at)
        column = _COLUMN.get(address)
        if column is not None:
            columns[column] = word
        elif address == "G":
            codes.append(word)
        else:
            others.append(word)
        if first < 0 and address != "N":
            first = word.start
    if first < 0:
        first = start + len(plain) - len(plain[at:].lstrip(" \t"))
    unread = _unread(plain[at:])
    return Line(
        number, start, end, columns, tuple(codes), tuple(others), first, start + at, unread, delete is not None
    )  # fmt: skip


def _unread(rest: str) -> str:
    """What is left of a line, without words that change nothing."""
    rest = rest.strip(" \t")
    if (
        rest
        and len(rest) < LONGEST
        and set(re.findall(r"[A-Z_]\w*", rest.upper(), re.A)) <= _QUIET
        and not re.search(r"[=#\[]", rest)
    ):
        return ""
    return rest


def without_expressions(text: str) -> str:
    """Without what stands in brackets, and without named variables."""
    text = re.sub(r"#<[^<>]*>", "#", text)
    while (plain := re.sub(r"\[[^\[\]]*\]", "#", text)) != text:
        text = plain
    return text


def unread_codes(unread: str) -> tuple[float, ...]:
    """G codes in what could not be read of a line; nan for one that a variable gives."""
    if not unread:
        return ()
    plain = without_expressions(unread)
    known = re.findall(r"(?<![A-Z_])G[ \t]*(\d{1,4}(?:\.\d)?)(?!\d)", plain, re.A | re.I)
    given = re.search(r"(?<![A-Z_])G[ \t]*=?[ \t]*[#R]", plain, re.A | re.I)
    return (*map(float, known), *((np.nan,) if given else ()))


PLANES = {17.0: 2, 18.0: 1, 19.0: 0}
"""The axis that arcs turn about."""
METRES = {20.0: 0.0254, 70.0: 0.0254, 700.0: 0.0254, 21.0: 1e-3, 71.0: 1e-3, 710.0: 1e-3}
SYSTEMS = {*range(54, 60), 59.1, 59.2, 59.3, 500, *range(505, 600)}
QUIET = {
    5.1, 9, 15, 40, 41, 42, 43, 43.4, 43.5, 44, 49, 50, 60, 61, 61.1, 64, 96, 97, 98, 99,
    601, 602, 641, 642, 643, 644, 645,
}  # fmt: skip
SHIFTS = {16, 50.1, 51, 51.1, 52, 68, 68.2, 69, 92, 92.1, 92.2, 92.3}
CYCLES = {73, 74, 76, *range(81, 90)}
ELSEWHERE = {27: "", 28: "reference point", 29: "", 30: "reference point", 31: "probing", 53: "machine coordinates"}
CALLS = {65: "macro call", 66: "macro call", 67: "macro call"}


@dataclass(frozen=True)
class Modal:
    """``unit`` in m, and whether a word says it; ``feed`` in m/s."""

    motion: int | None = None
    axis: int = 2
    unit: float = 1e-3
    has_unit: bool = False
    absolute: bool = True
    centres_absolute: bool = False
    base: str = "G54"
    tool: str = "T0"
    picked: str = "T0"
    per_minute: bool = True
    timed: bool = False
    """F is the inverse of the time of its line (G93)."""
    feed: float = np.nan
    cycle: bool = False


def with_code(modal: Modal, code: float, line: int) -> tuple[Modal, str]:
    """The state after a G word, and why the line cannot be followed ("": it can)."""
    if code != code:
        return replace(modal, motion=None), "a variable gives its G code"
    if code in (0, 1, 2, 3):
        same = code == modal.motion and not modal.cycle  # as it stands in every line of some programs
        return modal if same else replace(modal, motion=int(code), cycle=False), ""
    if code in PLANES:
        return replace(modal, axis=PLANES[code]), ""
    if code in METRES:
        return replace(modal, unit=METRES[code], has_unit=True), ""
    if code in (90, 91):
        return replace(modal, absolute=code == 90), ""
    if code in (90.1, 91.1):
        return replace(modal, centres_absolute=code == 90.1), ""
    if code in SYSTEMS:
        return replace(modal, base=f"G{code:g}"), ""
    if code in (93, 94, 95):
        return replace(modal, per_minute=code == 94, timed=code == 93, feed=np.nan), ""
    if code == 80:
        return replace(modal, cycle=False), ""
    if code in CYCLES:
        return replace(modal, cycle=True), ""
    if code in SHIFTS:
        return replace(modal, base=f"{modal.base.split()[0]} as changed by G{code:g} in line {line}"), "shift"
    if code in QUIET:
        return modal, ""
    named = ELSEWHERE.get(int(code)) or CALLS.get(int(code)) if code == int(code) else None
    return modal, f"G{code:g} ({named})" if named else f"G{code:g} is not followed"


def with_codes(modal: Modal, codes: Iterable[float], line: int) -> tuple[Modal, str]:
    reason = ""
    for code in codes:
        modal, problem = with_code(modal, code, line)
        reason = reason or problem
    return modal, reason


ARC_WORDS = frozenset({"I", "J", "K", "R", "CR"})
CALLED = frozenset({97, 98, 198})
"""M words that call another program."""
_RETURNED = frozenset({17, 99})
"""M words that go back to the program that called."""
_ENDED = frozenset({2, 30})
"""M words after which the control starts anew."""
_STATED = frozenset(
    {0, 1, 2, 3, 2.2, 3.2, 2.3, 3.3, 2.4, 3.4, 5.2, 5.3, 6.2, 32, 33, 33.1, 34, 35, 36, 38.2, 38.3, 38.4, 38.5}
)
"""Group 1: arcs of other kinds, splines, threads, probing."""
_POLAR = 16
_ONE_SHOT = frozenset({4, 10, *ELSEWHERE, *SHIFTS}) - {_POLAR}
"""Codes whose coordinates are not those of a move: dwell, reference points, shifts of the origin."""
_FOLLOWED = frozenset(
    {*_ONE_SHOT, *CYCLES, *PLANES, *METRES, *QUIET, *SYSTEMS, _POLAR, 80, 90, 91, 90.1, 91.1, 93, 94, 95}
)
_VALUES = frozenset({"CR", "AC", "IC", "DC", "ACP", "ACN", "AP", "RP"})
"""Names that are addresses, or ways to give a value, of Siemens controls."""


class Use(Enum):
    """Of the motion in force by a line."""

    RELIES = auto()
    """It moves by it."""
    STATES = auto()
    """It puts its own in force."""
    PASSES = auto()
    """It neither uses nor changes it."""
    HANDS_ON = auto()
    """What it calls, where it jumps to, or a code that is not known may do either."""


def motion_use(line: Line, cycle: bool) -> Use:
    """``cycle``: whether a drilling cycle is in force on the line."""
    codes = {w.value for w in line.codes} | set(unread_codes(line.unread))
    letters, functions = {w.address for w in line.others}, {w.value for w in line.others if w.address == "M"}
    if (
        codes & _STATED
        or functions & _ENDED
        or (line.columns and (5 in codes or (5.1 in codes and letters & ARC_WORDS)))
    ):
        return Use.STATES
    if codes & {5, 5.1}:
        return Use.PASSES
    names = set(re.findall(r"[A-Z_]+", without_expressions(line.unread).upper(), re.A))
    if "O" in letters or line.unread.upper().startswith("O<"):  # NGC's calls and loops, which takes no G2 by itself
        return Use.PASSES
    if functions & (CALLED | _RETURNED) or codes & CALLS.keys() or any(len(n) > 1 and n not in _VALUES for n in names):
        return Use.HANDS_ON
    if cycle or codes & (_ONE_SHOT | CYCLES):
        return Use.PASSES
    if "L" in letters or any(code not in _FOLLOWED for code in codes):
        return Use.HANDS_ON
    moves = line.columns or letters & ARC_WORDS or names & {*"XYZABCUVWIJKR", *_VALUES}
    return Use.RELIES if moves else Use.PASSES
