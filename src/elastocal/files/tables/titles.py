"""Titles of columns: units by their many names, in brackets or behind a line, as one spelling."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

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
_GREEK = {"alpha": "e1", "beta": "e2", "gamma": "e3", "\u03b1": "e1", "\u03b2": "e2", "\u03b3": "e3"}


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
        return _GREEK.get(title.strip().lower(), title)
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


def unit_cells(cells: Sequence[str]) -> tuple[str, ...] | None:
    """The units in a row of units, "" where a cell is empty; None where it is none."""
    words = [c.strip().strip("[]()").strip() for c in cells]
    units = [unit_word(w) or "" for w in words]
    return tuple(units) if any(units) and all(f or w in ("", "-") for f, w in zip(units, words, strict=True)) else None
