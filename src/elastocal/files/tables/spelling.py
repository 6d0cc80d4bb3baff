"""How people write tables: titles with units by their many names, in brackets or behind a line, and numbers.

Of numbers it is the sign before decimals, the one between thousands, and units behind:

2.548,76   2'548.76   2 548,76   2,548.76      are told by themselves
2.548                                          is 2548 where the table's decimals stand behind commas, else 2.548
2,548                                          is 2548 where its decimals stand behind points, else 2.548
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from elastocal.untrusted import finite_number
from elastocal.values import dataclass

_WORDS = {
    "mm": ("mm", "millimeter", "millimeters", "millimetre", "millimetres"),
    "m": ("m", "meter", "meters", "metre", "metres"),
    "um": ("um", "µm", "μm", "micron", "microns", "micrometer", "micrometers"),
    "in": ("in", "inch", "inches"),
    "deg": ("deg", "°", "degree", "degrees", "grad", "º"),
    "rad": ("rad", "radian", "radians"),
    "mrad": ("mrad",),
    "urad": ("urad", "µrad", "μrad"),
    "N": ("n", "newton"),
    "kN": ("kn",),
    "Nm": ("nm", "n m", "n*m", "n·m"),
    "kNm": ("knm", "kn m", "kn*m", "kn·m"),
    "degC": ("°c", "degc", "deg c", "celsius"),
}
"""By the suffix that files use; nm is a moment here, since nobody reads nanometres of a robot, and Grad is a degree."""
_BY_WORD = {word: unit for unit, words in _WORDS.items() for word in words}
_BRACKETS = re.compile(r"[\[(]\s*([^\[\]()]+?)\s*[\])]\s*$")
_BEHIND = re.compile(r"(?:\s*/\s*|\s*,\s*|\s+(?:in\s+)?)([^\s/,]+)$")
OF_NAMES = re.compile(
    r"(?:punkt|pkt|point|target|pose|measurement|messung|id|label|bezeichnung)(?:[ _.-]*(?:name|id|nr|no)\.?)?", re.I
)
"""Titles of columns that hold names."""
_MEASURED = (
    r"(?:ist|istwert|ist-wert|actual|act|measured|meas|gemessen|mess|messwert|wert|value|coord|coordinate|koordinate|"
    r"pos|position)"
)
_READ = re.compile(rf"(?:{_MEASURED}[ _.-]+([xyz])|([xyz])[ _.-]*{_MEASURED})\.?", re.IGNORECASE)
_TARGET = r"(?:smr|tbr|ccr|rrr|reflector|reflektor|marker|prism|prisma|nest)[ _.-]*"
_NUMBER = r"([1-9]\d{0,5}|[a-h])"
_OF_TARGET = re.compile(
    rf"{_TARGET}{_NUMBER}[ _.-]+([xyz])|([xyz])[ _.-]+{_TARGET}{_NUMBER}|([xyz])[ _.-]*([1-9]\d{{0,5}})", re.IGNORECASE
)
_TURN = re.compile(
    r"(?:[\w.]*\.)?(?:(quat|quaternion|q)|(rotvec|rot vec|rotation vector|rv)|(orientation|ori)|"
    r"phi|rot|rotation|ang|angle|winkel|drehung|drehwinkel)[ _.-]*([xyzw])[ _]?([1-9]\d?)?",
    re.IGNORECASE,
)
_OTHERWISE = {
    **{"alpha": "e1", "beta": "e2", "gamma": "e3", "\u03b1": "e1", "\u03b2": "e2", "\u03b3": "e3"},
    "temperatur": "temperature",
}


def unit_word(text: str) -> str | None:
    """The suffix of a unit, None where it is none that is known."""
    return _BY_WORD.get(text.strip().lower())


def split_title(title: str) -> tuple[str, str]:
    """What stands before the unit, and the unit as written: ``X [mm]``, ``Joint 1 (deg)``, ``X/mm``, ``X in mm``."""
    match = _BRACKETS.search(title)
    if match is None and (match := _BEHIND.search(title)) is not None and not unit_word(match[1]):
        match = None
    if match is None or not title[: match.start()].strip():
        return title, ""
    return title[: match.start()].strip(), match[1]


def title_unit(title: str) -> str | None:
    """What stands at the end of a title as its unit."""
    return split_title(title)[1] or None


def is_bare(title: str) -> bool:
    """Whether a title states no unit, neither ``X [mm]`` nor ``x_mm``."""
    return unit_word(title_unit(title) or "") is None and unit_word(title.rpartition("_")[2]) is None


def as_read(title: str, scalar: bool = False) -> str:
    """``X Ist`` as ``x``, ``SMR 2 X`` and ``X 2`` as ``x2``, ``rot_x`` as ``phix``, ``quat.w`` as ``qw``.

    Other titles stay as they are.  Targets by letters are counted: ``SMR B X`` is ``x2``.

    An orientation's ``x`` is of a quaternion where its ``scalar`` is in the table, else an angle.
    """
    match = _READ.fullmatch(title.strip())
    if match:
        return (match[1] or match[2]).lower()
    target = _OF_TARGET.fullmatch(title.strip())
    if target:
        before, x, y, behind, z, plain = (g.lower() if g else "" for g in target.groups())
        number = before or behind or plain
        return f"{x or y or z}{number if number.isdigit() else ord(number) - ord('a') + 1}"
    turn = _TURN.fullmatch(title.strip())
    if turn is None:
        return _OTHERWISE.get(title.strip().lower(), title)
    quaternion, vector, either, letter, number = turn.groups()
    group = "q" if quaternion or (either and scalar) else "r" if vector else "phi"
    return f"{group}{letter}{number or ''}".lower() if letter in "xyzXYZ" or group == "q" else title


def target_in(name: str) -> str:
    """``smr_B`` of ``day 1 SMR b``: the target that the name of a file tells, in one spelling; "" where none."""
    match = re.search(rf"(?<![a-z])({_TARGET}){_NUMBER}(?![a-z0-9])", name, re.IGNORECASE)
    return f"{match[1].strip(' _.-').lower()}_{match[2].upper()}" if match else ""


def plain_title(title: str, names: Iterable[str]) -> str:
    """``A [mm]`` as ``a_mm`` where ``a`` is one of the names; other titles as they are."""
    known = {name.lower(): name for name in names}
    before, stated = split_title(title)
    unit = unit_word(stated) if stated else None
    bare, own = (before, unit) if unit else title.rpartition("_")[::2]
    if bare.lower() not in known:
        return known.get(title.lower(), title)
    return f"{known[bare.lower()]}_{own}"


_DASHES = str.maketrans(dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "-"))
FAULTS = ("#N/A", "#NV", "#VALUE!", "#WERT!", "#DIV/0!", "#REF!", "#BEZUG!", "#NAME?", "#NUM!", "#ZAHL!")
"""What spreadsheets write where a formula failed."""
_NOT_READ = {"", "nan", "-", "--", "---", "/", "na", "n/a", "n.a.", "k.a.", "none", "null", *map(str.lower, FAULTS)}


def not_read(text: str) -> bool:
    """Whether a cell says that nothing was read."""
    return text.strip().translate(_DASHES).lower() in _NOT_READ


_WORDS_OF_ENDS = re.compile(
    r"(?:mittel|mittelwert|durchschnitt|mean|average|avg|ø|summe|sum|total|gesamt|min|minimum|max|maximum|spannweite|"
    r"range|std|stdev|std\.? ?dev|stabw|standardabweichung|standard deviation|sigma|rms|median|anzahl|count)"
    r"\b[\s.:]*(?:\(.*\))?",
    re.IGNORECASE,
)


def ends_table(cells: Sequence[str], width: int) -> bool:
    """Whether a row below the readings is none: a mean, a sum, a remark."""
    full = [c.strip() for c in cells if c.strip()]
    if not full or _WORDS_OF_ENDS.fullmatch(full[0]):
        return True
    return len(full) == 1 and width > 2 and not any(ch.isdigit() for ch in full[0])


def is_remark(cells: Sequence[str], width: int) -> bool:
    """Whether a row between two series of readings is none: words alone, in fewer cells than there are columns.

    A name that all the numbers are missing of is none: it has no blank, and a digit or cells beside it."""
    full = [c.strip() for c in cells if c.strip()]
    if width < 3 or not full or len(full) == width:
        return False
    if not all(any(ch.isalpha() for ch in c) and not not_read(c) for c in full):
        return False
    return any(" " in c for c in full) or (len(full) == 1 and not any(ch.isdigit() for ch in full[0]))


def unit_cells(cells: Sequence[str]) -> tuple[str, ...] | None:
    """The units in a row that is mostly units, "" where a cell is none that is known; None where it is no such row."""
    words = [c.strip().strip("[]()").strip() for c in cells]
    units = [unit_word(w) or "" for w in words]
    return tuple(units) if 2 * sum(map(bool, units)) > sum(w not in ("", "-") for w in words) else None


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
