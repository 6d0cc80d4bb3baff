"""How a table writes its numbers: the sign before decimals, the one between thousands, and units behind.

2.548,76   2'548.76   2 548,76   2,548.76      are told by themselves
2.548                                          is 2548 where the table's decimals stand behind commas, else 2.548
2,548                                          is 2548 where its decimals stand behind points, else 2.548
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from elastocal.untrusted import finite_number
from elastocal.values import dataclass

_MINUS = str.maketrans({"\u2212": "-", "\u2013": "-"})
_BLANK = re.compile(r"(?<=\d)[ \u00a0\u2009\u202f'\u2019](?=\d{3}(?!\d))")
_WHOLE = {s: re.compile(rf"[+-]?[1-9]\d{{0,2}}(?:\{s}\d{{3}})+") for s in ".,"}
_BOTH = {
    s: re.compile(rf"[+-]?[1-9]\d{{0,2}}(?:\{s}\d{{3}})+\{other}\d*(?:[eE][+-]?\d+)?")
    for s, other in ((".", ","), (",", "."))
}
_HINTS = {
    (kind, s): re.compile(rf"\{s}{behind}")
    for s in ".,"
    for kind, behind in (("decimals", r"\d"), ("parted", r"\d{3}[.,]\d"), ("lone", r"\d{3}(?!\d)"))
}
"""What numbers of a kind have in them, looked for first: from sign to sign a long text is searched in no time."""
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


def numerals_of(texts: Iterable[str], separator: str) -> tuple[Numerals, str, str]:
    """What the cells of lines (texts of some of them each) show, an example of what is taken for thousands on that
    ground, and one of what is not although decimals stand behind points here and behind commas there."""
    part = between = re.escape(separator)
    if separator == ",":  # a comma inside of a number stands in quotes
        between = ";"
    told = {
        ("decimals", ","): _decimals(",", between), ("decimals", "."): _decimals(".", part),
        ("parted", "."): _parted(".", between), ("parted", ","): _parted(",", between),
        ("lone", "."): _lone(".", part), ("lone", ","): _lone(",", between),
    }  # fmt: skip
    seen: dict[tuple[str, str], str] = {}
    for text in texts:
        inside = ";".join(_QUOTED.findall(text)) if separator == "," else text
        for kind in told.keys() - seen.keys():
            quoted = kind[1] == "," or kind[0] == "parted"
            lines = inside if quoted else text
            match = _HINTS[kind].search(lines) and told[kind].search(lines)
            if match:
                seen[kind] = match[1]
    decimal_comma, decimal_dot = ("decimals", ",") in seen, ("decimals", ".") in seen
    dots = ("parted", ".") in seen or (decimal_comma and not decimal_dot)
    commas = ("parted", ",") in seen or (decimal_dot and not decimal_comma)
    both = separator != "," and decimal_comma and decimal_dot and not (dots or commas)

    def example(dot: bool, comma: bool) -> str:
        return (seen.get(("lone", "."), "") if dot else "") or (seen.get(("lone", ","), "") if comma else "")

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
