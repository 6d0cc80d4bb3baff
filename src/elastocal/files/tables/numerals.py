"""How a table writes its numbers: the sign before decimals, the one between thousands, and units behind.

2.548,76   2'548.76   2 548,76   2,548.76      are told by themselves
2.548                                          is 2548 where the table's decimals stand behind commas, else 2.548
2,548                                          is 2548 where its decimals stand behind points, else 2.548
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from elastocal.untrusted import finite_number

_MINUS = str.maketrans({"\u2212": "-", "\u2013": "-"})
_BLANK = re.compile(r"(?<=\d)[ \u00a0\u2009\u202f'\u2019](?=\d{3}(?!\d))")
_WHOLE = {s: re.compile(rf"[+-]?[1-9]\d{{0,2}}(?:\{s}\d{{3}})+") for s in ".,"}
_BOTH = {
    s: re.compile(rf"[+-]?[1-9]\d{{0,2}}(?:\{s}\d{{3}})+\{other}\d*(?:[eE][+-]?\d+)?")
    for s, other in ((".", ","), (",", "."))
}
_QUOTED = re.compile(r'"([^"\n]*,[^"\n]*)"')


@dataclass(frozen=True)
class Numerals:
    """Whether lone ``dots`` and ``commas`` with three digits behind part thousands; else they come before decimals."""

    dots: bool = False
    commas: bool = False

    def plain(self, text: str) -> str:
        """The text as Python writes numbers, where it is one."""
        if text.isascii() and "," not in text and not self.dots and "'" not in text and " " not in text:
            return text
        text = _BLANK.sub("", text.translate(_MINUS))
        dots, commas = text.count("."), text.count(",")
        if dots and commas:
            last = max(".,", key=text.rindex)
            parted = "," if last == "." else "."
            return text.replace(parted, "").replace(",", ".") if _BOTH[parted].fullmatch(text) else text
        if dots > 1 or (dots and self.dots):
            return text.replace(".", "") if _WHOLE["."].fullmatch(text) else text
        if commas > 1 or (commas and self.commas):
            return text.replace(",", "") if _WHOLE[","].fullmatch(text) else text.replace(",", ".", commas == 1)
        return text.replace(",", ".")

    def cell(self, text: str) -> str:
        """The same where it is a number, other texts as they are."""
        plain = self.plain(text.strip())
        return plain if finite_number(plain) is not None else text


def numerals_of(text: str, separator: str, part_of: slice = slice(None)) -> tuple[Numerals, str, str]:
    """What the cells of (a part of) a text show, an example of what is taken for thousands on that ground, and one of
    what is not although decimals stand behind points here and behind commas there."""
    start, end, _ = part_of.indices(len(text))
    part = between = re.escape(separator)
    inside, first, last = text, start, end
    if separator == ",":  # a comma inside of a number stands in quotes
        inside, between = ";".join(_QUOTED.findall(text, start, end)), ";"
        first, last = 0, len(inside)
    decimal_comma = _decimals(",", between).search(inside, first, last) is not None
    decimal_dot = _decimals(".", part).search(text, start, end) is not None
    dots = _parted(".", between).search(inside, first, last) is not None or (decimal_comma and not decimal_dot)
    commas = _parted(",", between).search(inside, first, last) is not None or (decimal_dot and not decimal_comma)
    both = separator != "," and decimal_comma and decimal_dot and not (dots or commas)

    def example(dot: bool, comma: bool) -> str:
        match = _lone(".", part).search(text, start, end) if dot else None
        match = match or (_lone(",", between).search(inside, first, last) if comma else None)
        return match[1] if match else ""

    return Numerals(dots, commas), example(dots, commas), example(both, both)


def _cell(number: str, part: str) -> re.Pattern[str]:
    """A cell that is a number, with its unit perhaps: times of day and remarks tell nothing of how numbers are."""
    blank, unit = r'[ \t"]*', r"(?:[^\W\d]\S{0,3}|\u00b0)?"
    return re.compile(rf"(?:^|{part}){blank}([+\-\u2212\u2013]?{number})(?={blank}{unit}{blank}(?:$|{part}))", re.M)


def _decimals(sign: str, part: str) -> re.Pattern[str]:
    """Numbers in which a sign is clearly that before decimals."""
    s = re.escape(sign)
    groups = r"(?:\d{1,3}[ \u00a0\u2009\u202f'\u2019])*"
    return _cell(rf"{groups}(?:\d+{s}(?:\d{{1,2}}|\d{{4,}})|\d{{4,}}{s}\d+|0\d*{s}\d+)", part)


def _parted(sign: str, part: str) -> re.Pattern[str]:
    """Numbers in which a sign is clearly that between thousands."""
    s, other = re.escape(sign), re.escape("." if sign == "," else ",")
    return _cell(rf"[1-9]\d{{0,2}}(?:{s}\d{{3}})+(?:{other}\d+|{s}\d{{3}})", part)


def _lone(sign: str, part: str) -> re.Pattern[str]:
    return _cell(rf"[1-9]\d{{0,2}}{re.escape(sign)}\d{{3}}(?![eE][+-]?\d)", part)
