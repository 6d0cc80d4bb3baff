"""What a line of G-code has to do with the motion in force (G0 to G3 and their kin, group 1 of controls).

Chords leave G1 in force where the program had G2 or G3.  A line that stays as it is must run under what it had: it is
told the motion again where it relies on it, and never where it states its own or has another use for its words.
Drilling cycles are a group of their own on most controls: the motion before them holds again after G80.
"""

from __future__ import annotations

import re
from enum import Enum, auto

from elastocal.compensation.posts.gcode_words import (
    CALLS,
    CYCLES,
    ELSEWHERE,
    METRES,
    PLANES,
    QUIET,
    SHIFTS,
    SYSTEMS,
    Line,
    unread_codes,
    without_expressions,
)

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
