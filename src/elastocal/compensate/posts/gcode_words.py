"""Words of G-code: an address and a number, ``X10.`` or ``A3=0.5``, on lines with comments and block delete."""

from __future__ import annotations

import re
from typing import NamedTuple

from elastocal.compensate.posts.text import BOM, Text

_WORD = re.compile(r"[ \t]*(?:([A-Z]{1,2}\d?)[ \t]*=[ \t]*|([A-Z])[ \t]*)([-+]?(?:\d+\.?\d*|\.\d+))", re.A | re.I)
_COMMENT = re.compile(r"\([^()\r\n]*\)|;[^\r\n]*")
_DELETE = re.compile(r"[ \t]*(?:N\d+[ \t]*)?/\d?", re.A | re.I)
_SET = re.compile(r"[ \t]*(?:N\d+[ \t]*)?(?:#[^=\r\n]*=|R\d+[ \t]*=|DEF[ \t]|MSG\b|%|:\d|O\d+[ \t]*$)", re.A | re.I)
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


class Word(NamedTuple):
    address: str
    value: float
    start: int
    value_start: int
    end: int


class Line(NamedTuple):
    """One line: words of COLUMNS by their place there, G codes, other words, and what could not be read.

    ``first`` is where its first word but N starts, ``place`` where the last one ends; ``deleted`` lines can be switched
    off by the operator.
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
    start, end = text.span(number)
    if code.startswith(BOM, start):
        start += len(BOM)
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
    for found in _WORD.finditer(plain, at):
        if found.start() != at:
            break
        at = found.end()
        named, letter, value = found.groups()
        address = (letter or named).upper()
        word = Word(address, float(value), start + found.start(2 if letter else 1), start + found.start(3), start + at)
        column = _COLUMN.get(address)
        if column is not None:
            columns[column] = word
        elif address == "G":
            codes.append(word)
        else:
            others.append(word)
        if first < 0 and address != "N":
            first = word.start
    first = first if first >= 0 else start
    unread = _unread(plain[at:])
    return Line(
        number, start, end, columns, tuple(codes), tuple(others), first, start + at, unread, delete is not None
    )  # fmt: skip


def _unread(rest: str) -> str:
    """What is left of a line, without words that change nothing."""
    rest = rest.strip(" \t")
    if rest and set(re.findall(r"[A-Z_]\w*", rest.upper(), re.A)) <= _QUIET and not re.search(r"[=#\[]", rest):
        return ""
    return rest
