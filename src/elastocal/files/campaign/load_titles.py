"""Titles that speak of a load: a payload in kg, which is taken, and others that would be lost without a word.

    payload_kg   a mass that hangs at the frame of the load: a force m g along gravity

A column such as ``Kraft_N`` or ``mass`` says that the arm was loaded, and not where or which way: it is not used, and
a warning says so, since what the load bends then passes for geometry.
"""

from __future__ import annotations

import re

import numpy as np

from elastocal.files.tables.raw import RawTable
from elastocal.files.tables.titles import split_title
from elastocal.findings import Finding, warning

_PAYLOAD = re.compile(r"(?:payload|load|nutzlast|last|zuladung)(?:_kg|\s*[\[(]\s*kg\s*[\])]|\s*[/,]\s*kg|\s+kg)", re.I)
_UNIT = re.compile(r"(?:kg|lbs?|k?n|k?n\s?[*·]?\s?m)", re.I)
_WORDS = {"payload", "load", "nutzlast", "zuladung", "mass", "masse", "weight", "gewicht", "force", "kraft", "wrench"}
_WHOLE = {"last"}
"""A load in German, and an English word among others."""
_DRIVES = re.compile(r"torque|drehmoment|current", re.I)


def is_payload(title: str) -> bool:
    """Whether a column holds masses in kg that the robot carries."""
    return _PAYLOAD.fullmatch(title.strip()) is not None


def speaks_of_load(title: str) -> bool:
    before, stated = split_title(title)
    stem, _, suffix = title.rpartition("_")
    if not stated and stem and _UNIT.fullmatch(suffix):
        before, stated = stem, suffix
    if _DRIVES.search(title):
        return False
    words = {w.casefold() for w in re.findall(r"[^\W\d_]+", before)}
    return bool(_UNIT.fullmatch(stated)) or bool(words & _WORDS) or words == _WHOLE


def lost_loads(raw: RawTable, unused: list[str]) -> tuple[Finding, ...]:
    """A warning of columns that are not used, speak of a load and are not zero throughout."""
    titles = [t for t in unused if speaks_of_load(t) and not _nothing(raw, raw.header.index(t))]
    if not titles:
        return ()
    name, many = raw.file.rpartition("/")[2], len(titles) > 1
    text = (
        f"the load in column{'s' if many else ''} {', '.join(titles)} of {name} is not used: what it bends passes for "
        "geometry or noise; give masses that hang at the tool as payload_kg, forces on the robot in base axes as fx_N, "
        "fy_N, fz_N, moments as mx_Nm, my_Nm, mz_Nm"
    )
    return (warning("load-not-used", text, file=raw.file, columns=tuple(titles)),)


def _nothing(raw: RawTable, place: int) -> bool:
    """Whether a column is zero or empty in every row."""
    texts = raw.texts(place)
    return all(not t for t in texts) or bool(np.all(raw.numbers(place) == 0))
