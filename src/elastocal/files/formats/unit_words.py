"""Units as people and programs write them in titles and remarks."""

from __future__ import annotations

import re

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
    """What stands in brackets at the end of a title: ``X [mm]``, ``Joint 1 (deg)``."""
    found = _BRACKETS.search(title)
    return found[1] if found else None
