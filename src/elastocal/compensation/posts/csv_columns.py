"""Columns of CSV toolpaths: ``x_mm,y_mm,z_mm,a_deg,b_deg,c_deg,fx_N,feed_mm_min``, each with its unit.

| columns | orientation |
|---|---|
| a b c (deg, rad) | KUKA: about z, y, x in turn |
| w p r | Fanuc, Motoman: r, p, w about z, y, x in turn |
| rx ry rz in deg | Staubli: about x, y, z in turn |
| rx ry rz in rad | Universal Robots: rotation vector |
| a e r | Comau: about z, y, z in turn |
| roll pitch yaw | URDF: about the fixed axes x, y, z |
| q1 q2 q3 q4, or qw qx qy qz | quaternion, scalar first |
| i j k | direction of the tool axis |
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from elastocal.compensation.posts.digits import METRES, RADIANS
from elastocal.errors import DuplicateError, MissingError, UnitError
from elastocal.values import dataclass

FORCE = {"n": 1.0, "kn": 1e3}
MOMENT = {"nm": 1.0, "knm": 1e3}
DEGREES = ("°", "â°", "grad", "degrees")
"""Texts are bytes here: of UTF-8 the sign of a degree has two."""
FEED = {"m_s": 1.0, "mm_s": 1e-3, "mm_min": 1e-3 / 60, "m_min": 1 / 60}
WRENCH = (("fx",), ("fy",), ("fz",), ("mx", "tx"), ("my", "ty"), ("mz", "tz"))
WORDS = ("name", "tool", "base", "motion")
_BRACKET = re.compile(r"([^\[(]+)[\[(]\s*([^\[\]()]+?)\s*[\])]")
AXIS = re.compile(r"[ajqe]\d+")


class Set(NamedTuple):
    """One way to write an orientation: columns in the order of the angles."""

    columns: tuple[str, ...]
    form: str
    unit: str = ""


SETS = (
    Set(("a", "b", "c"), "ZYX"),
    Set(("r", "p", "w"), "ZYX"),
    Set(("a", "e", "r"), "ZYZ"),
    Set(("yaw", "pitch", "roll"), "ZYX"),
    Set(("rx", "ry", "rz"), "XYZ", "deg"),
    Set(("rx", "ry", "rz"), "rotvec", "rad"),
    Set(("q1", "q2", "q3", "q4"), "quaternion", "none"),
    Set(("qw", "qx", "qy", "qz"), "quaternion", "none"),
    Set(("i", "j", "k"), "vector", "none"),
)


@dataclass(frozen=True)
class Columns:
    """Places of cells: numbers of the target with unit and factor to SI, the form of the orientation, and the rest."""

    places: tuple[int, ...]
    units: tuple[str, ...]
    factors: tuple[float, ...]
    form: str
    """``joints``, ``point``, or a form of SETS"""
    wrench: Mapping[int, tuple[int, float]]
    feed: tuple[int, float] | None
    words: Mapping[str, int]
    kept: tuple[str, ...]
    count: int


CAMROB = Columns(
    tuple(range(6)),
    ("mm",) * 3 + ("deg",) * 3,
    (1e-3,) * 3 + (RADIANS["deg"],) * 3,
    "ZYX",
    {},
    None,
    {"tool": 12},
    (),
    0,
)
"""KUKA.CAMRob: no header, semicolons; X Y Z A B C first, tool in column 13."""


def columns(header: list[str]) -> Columns:
    """What the header says; a column is understood once, and only with a unit where it needs one."""
    named: dict[str, tuple[int, str]] = {}
    for place, cell in enumerate(header):
        name, unit = _title(cell.strip(' \t"').lower())
        if name in named:
            raise DuplicateError(f"column {cell.strip()!r} gives {name} a second time; keep one", value=name)
        if name:
            named[name] = (place, unit)
    cartesian = [c for c in "xyz" if c in named]
    axes = [n for n, (_, unit) in named.items() if AXIS.fullmatch(n) and unit in {**METRES, **RADIANS}]
    if len(cartesian) == 3 and axes:
        raise DuplicateError(
            f"gives both positions and axis values ({axes[0]}); keep one, as both cannot be corrected",
            value=axes[0],
        )
    if len(cartesian) == 3:
        form, wanted = _orientation(named)
        wanted = ("x", "y", "z", *wanted)
    elif axes and not cartesian:
        form, wanted = "joints", tuple(axes)
    else:
        raise MissingError(
            "has no columns x, y, z with their unit; write for example x_mm,y_mm,z_mm",
            code="no-positions",
            value=tuple(header),
        )
    fields = [(named[n][0], *_unit(n, named[n][1], form)) for n in wanted]
    wrench = {i: _wrench(named, names) for i, names in enumerate(WRENCH) if any(n in named for n in names)}
    feed = (named["feed"][0], _factor("feed", named["feed"][1], FEED)) if "feed" in named else None
    words = {w: named[w][0] for w in WORDS if w in named}
    used = {*wanted, *WORDS, "feed", *(n for names in WRENCH for n in names)}
    kept = tuple(header[place].strip() for n, (place, _) in named.items() if n not in used)
    places, units, factors = zip(*fields, strict=True)
    return Columns(places, units, factors, form, wrench, feed, words, kept, len(header))


def _title(text: str) -> tuple[str, str]:
    """Name and unit of ``x_mm`` or ``X [mm]``, ``feed_mm_min`` or ``Feed (mm/min)``."""
    bracket = _BRACKET.fullmatch(text)
    if bracket is None:
        name, _, unit = text.partition("_")
        return name, unit
    unit = bracket[2].replace("/", "_").replace(" ", "")
    return bracket[1].strip(), "deg" if unit in DEGREES else unit


def _orientation(named: Mapping[str, tuple[int, str]]) -> tuple[str, tuple[str, ...]]:
    def fits(s: Set) -> bool:
        units = {named[c][1] for c in s.columns}
        return units == {""} if s.unit == "none" else units == {s.unit} if s.unit else True

    complete = [s for s in SETS if all(c in named for c in s.columns)]
    fitting = [s for s in complete if fits(s)]
    if len(fitting) > 1:
        ways = tuple(" ".join(s.columns) for s in fitting)
        raise DuplicateError(f"gives the orientation twice, by {' and by '.join(ways)}; keep one", value=ways)
    if complete and not fitting:
        together = " ".join(complete[0].columns)
        raise UnitError(f"the unit of {together} is not one of theirs; see the list of columns", value=together)
    return (fitting[0].form, fitting[0].columns) if fitting else ("point", ())


def _unit(name: str, unit: str, form: str) -> tuple[str, float]:
    if form in ("quaternion", "vector") and name not in "xyz":
        return form, 1.0
    allowed = {**METRES, **RADIANS} if form == "joints" else METRES if name in "xyz" else RADIANS
    return unit, _factor(name, unit, allowed)


def _factor(name: str, unit: str, allowed: Mapping[str, float]) -> float:
    if unit not in allowed:
        message = f"unit {unit!r} does not fit {name}" if unit else f"column {name!r} has no unit"
        titles = tuple(f"{name}_{u}" for u in allowed)
        raise UnitError(f"{message}; write {' or '.join(titles)}", value=unit, column=name, allowed=titles)
    return allowed[unit]


def _wrench(named: Mapping[str, tuple[int, str]], names: tuple[str, ...]) -> tuple[int, float]:
    name = next(n for n in names if n in named)
    return named[name][0], _factor(name, named[name][1], FORCE if name[0] == "f" else MOMENT)
