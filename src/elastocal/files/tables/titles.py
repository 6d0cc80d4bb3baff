"""Titles of columns: units by their many names, in brackets or behind a line, as one spelling."""

from __future__ import annotations

import re
from collections.abc import Iterable

_WORDS = {
    "mm": ("mm", "millimeter", "millimeters", "millimetre", "millimetres"),
    "m": ("m", "meter", "meters", "metre", "metres"),
    "um": ("um", "µm", "μm", "micron", "microns", "micrometer", "micrometers"),
    "in": ("in", "inch", "inches"),
    "deg": ("deg", "°", "degree", "degrees"),
    "rad": ("rad", "radian", "radians"),
    "mrad": ("mrad",),
    "urad": ("urad", "µrad", "μrad"),
    "N": ("n", "newton"),
    "kN": ("kn",),
    "Nm": ("nm", "n m", "n*m", "n·m"),
    "kNm": ("knm", "kn m", "kn*m", "kn·m"),
}
"""By the suffix that files use; nm is a moment here, since nobody reads nanometres of a robot."""
_BY_WORD = {word: unit for unit, words in _WORDS.items() for word in words}
_BRACKETS = re.compile(r"[\[(]\s*([^\[\]()]+?)\s*[\])]\s*$")


def unit_word(text: str) -> str | None:
    """The suffix of a unit, None where it is none that is known."""
    return _BY_WORD.get(text.strip().lower())


def title_unit(title: str) -> str | None:
    """What stands at the end of a title as its unit: ``X [mm]``, ``Joint 1 (deg)``, ``X/mm``."""
    found = _BRACKETS.search(title)
    if found:
        return found[1]
    before, slash, unit = title.rpartition("/")
    return unit if slash and before and unit_word(unit) else None


def plain_title(title: str, names: Iterable[str]) -> str:
    """``A [mm]`` as ``a_mm`` where ``a`` is one of the names; other titles as they are."""
    known = {name.lower(): name for name in names}
    stated = title_unit(title)
    unit = unit_word(stated) if stated else None
    bare, _, own = (title[: title.rindex(stated) - 1].strip(), "", unit) if stated and unit else title.rpartition("_")
    if bare.lower() not in known:
        return known.get(title.lower(), title)
    return f"{known[bare.lower()]}_{own}"
