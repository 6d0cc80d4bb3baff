"""Units in files: a number's unit stands in its key (``xyz_mm``) or is declared once for its dimension.

``Keys`` tells which field a key of a mapping means, and what is wrong with the others.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import pi
from typing import Any

from elastocal.errors import InputError, RangeError, UnitError, WrongTypeError
from elastocal.files.located import Located, Path_
from elastocal.values import dataclass

DEGREE = pi / 180

LENGTH = {"m": 1.0, "mm": 1e-3, "um": 1e-6, "in": 0.0254}
ANGLE = {"rad": 1.0, "deg": DEGREE, "mrad": 1e-3, "urad": 1e-6}
FORCE = {"N": 1.0, "kN": 1e3}
MOMENT = {"Nm": 1.0, "kNm": 1e3}
ANGULAR_COMPLIANCE = {"rad_per_Nm": 1.0, "urad_per_Nm": 1e-6, "mrad_per_Nm": 1e-3, "deg_per_Nm": DEGREE}
LINEAR_COMPLIANCE = {"m_per_N": 1.0, "mm_per_N": 1e-3, "um_per_N": 1e-6}

DIMENSIONS: dict[str, dict[str, float]] = {
    "length": LENGTH,
    "angle": ANGLE,
    "joint value": {**LENGTH, **ANGLE},
    "force": FORCE,
    "moment": MOMENT,
    "joint force": {**FORCE, **MOMENT},
    "mass": {"kg": 1.0, "g": 1e-3},
    "mass moment": {"kg_m": 1.0, "kg_mm": 1e-3},
    "joint compliance": {**ANGULAR_COMPLIANCE, **LINEAR_COMPLIANCE},
    "linear compliance": LINEAR_COMPLIANCE,
    "acceleration": {"m_s2": 1.0},
    "pressure": {"Pa": 1.0, "MPa": 1e6, "GPa": 1e9},
    "slope": {"m_per_m": 1.0, "mm_per_m": 1e-3, "um_per_m": 1e-6},
    "share": {"share": 1.0, "percent": 1e-2},
    "joint speed": {"rad_s": 1.0, "deg_s": DEGREE, "m_s": 1.0, "mm_s": 1e-3},
    "expansion": {"per_K": 1.0, "um_per_m_K": 1e-6},
    "time": {"s": 1.0, "min": 60.0},
    "SI": {"SI": 1.0},
    "number": {},
}
"""Suffix and factor to SI, by dimension; ``number`` takes no unit."""

REVOLUTE = {*ANGLE, *ANGULAR_COMPLIANCE, *MOMENT}
PRISMATIC = {*LENGTH, *LINEAR_COMPLIANCE, *FORCE}

USUAL = (
    *("mm", "deg", "rad_per_Nm", "m_per_N", "N", "Nm", "kg", "kg_m", "m_s2", "GPa", "um_per_m", "um_per_m_K"),
    *("percent", "SI"),
)
"""What an engineer would write first."""

_OF_JOINTS = {
    "joint value": {"revolute": "angle", "prismatic": "length"},
    "joint force": {"revolute": "moment", "prismatic": "force"},
    "joint compliance": {"revolute": "angular compliance", "prismatic": "linear compliance"},
}


def fitting(dimension: str | None, joint: str | None = None) -> tuple[str, ...]:
    """Suffixes of a dimension; ``joint`` (revolute or prismatic) leaves out what cannot fit it."""
    wrong: set[str] = set()
    if joint in ("revolute", "prismatic") and dimension in _OF_JOINTS:
        wrong = PRISMATIC if joint == "revolute" else REVOLUTE
    return tuple(u for u in DIMENSIONS.get(dimension or "", {}) if u not in wrong)


def spellings(name: str, dimension: str | None, joint: str | None = None) -> tuple[str, ...]:
    """The keys that a list of valid ones shows for a field: its usual units only."""
    return tuple(f"{name}_{u}" for u in fitting(dimension, joint) if u in USUAL) or (name,)


def with_article(dimension: str, joint: str | None = None) -> str:
    """``a length``, ``an angle``"""
    kinds = _OF_JOINTS.get(dimension)
    words = [dimension] if kinds is None else [kinds[joint]] if joint in kinds else list(kinds.values())
    return either(f"{'an' if word[0] in 'aeiou' else 'a'} {word}" for word in words)


def unit_is_of(unit: str) -> str | None:
    """The dimension that a suffix belongs to."""
    if unit in ANGULAR_COMPLIANCE:
        return "angular compliance"
    return next((d for d, units in DIMENSIONS.items() if unit in units and d not in _OF_JOINTS), None)


def compliance_unit(suffix: str) -> tuple[str, float] | None:
    """For a stiffness suffix such as ``Nm_per_rad``: the SI suffix of its inverse, and its own factor to SI."""
    over, _, under = suffix.replace("/", "_per_").partition("_per_")
    for loads, motions, inverse in ((MOMENT, ANGLE, "rad_per_Nm"), (FORCE, LENGTH, "m_per_N")):
        if over in loads and under in motions:
            return inverse, loads[over] / motions[under]
    return None


def either(words: Iterable[str]) -> str:
    """``a, b or c``"""
    *first, last = words
    return f"{', '.join(first)} or {last}" if first else last


def declared_units(located: Located) -> dict[str, str]:
    """The unit of each dimension that the file declares under ``units``."""
    declared = located.data.get("units") or {}
    if not isinstance(declared, dict):
        raise located.error(
            ("units",), f"{declared!r} should be a mapping such as {{length: mm, angle: deg}}", WrongTypeError
        )
    for dimension, unit in declared.items():
        where: Path_ = ("units", str(dimension))
        if not DIMENSIONS.get(dimension):
            valid = [d for d, units in DIMENSIONS.items() if units]
            raise located.unknown(where, "dimension", str(dimension), valid)
        if not isinstance(unit, str) or unit not in DIMENSIONS[dimension]:
            raise located.error(where, f"{unit!r} is not a unit of it; use {either(DIMENSIONS[dimension])}", UnitError)
    return {str(dimension): str(unit) for dimension, unit in declared.items()}


@dataclass(frozen=True)
class Keys:
    """The keys that one mapping of a file may have: fields with their dimension, each with a unit of it."""

    located: Located
    path: Path_
    known: Mapping[str, str | None]
    declared: Mapping[str, str]
    joint: str | None = None

    def match(self, key: str, value: object) -> tuple[str, str]:
        """Field and unit of a key."""
        if key in self.known:
            return key, self._declared(key)
        for name, unit in self._splits(key):
            if unit in DIMENSIONS[self.known[name] or ""]:
                return name, unit
        if unit_problem := self._stiffness(key, value) or self._foreign_unit(key):
            raise self.located.error((*self.path, key), unit_problem, UnitError)
        raise self._unknown(key)

    def _splits(self, key: str) -> Iterator[tuple[str, str]]:
        """Field and rest for every field with a unit that the key starts with, the longest first."""
        for name in sorted(self.known, key=len, reverse=True):
            if key.startswith(f"{name}_") and DIMENSIONS.get(self.known[name] or ""):
                yield name, key[len(name) + 1 :]

    def _declared(self, name: str) -> str:
        dimension = self.known[name] or ""
        units = fitting(dimension, self.joint)
        unit = self.declared.get(dimension, "")
        if unit in DIMENSIONS.get(dimension, {}) or not units:
            return unit if units else ""
        use = either(f"{name}_{u}" for u in units)
        raise self.located.error(
            (*self.path, name), f"has no unit; write {use}, or declare {dimension!r} under units", UnitError
        )

    def _stiffness(self, key: str, value: object) -> str | None:
        fields = [n for n, d in self.known.items() if (d or "").endswith("compliance")]
        match = re.fullmatch(r"(\w+?)_(k?Nm?(?:_per_|/)\w+)", key)
        unit = compliance_unit(match[2]) if match else None
        if not fields or match is None or unit is None:
            return None
        name = match[1] if match[1] in fields else fields[0]
        inverse = _inverse(value, unit[1])
        write = f"write {name}_{unit[0]}: {inverse}" if inverse else f"write its inverse as {name}_{unit[0]}"
        return f"{match[2]} is the unit of a stiffness, and {name} is a compliance, the inverse of it; {write}"

    def _foreign_unit(self, key: str) -> str | None:
        for name, unit in self._splits(key):
            dimension = self.known[name] or ""
            units = fitting(dimension, self.joint)
            use = f"use {either(f'{name}_{u}' for u in units)}"
            if other := unit_is_of(unit):
                return f"{name} is {with_article(dimension, self.joint)}, but {unit} is a unit of {other}; {use}"
            near = difflib.get_close_matches(unit.lower(), [u.lower() for u in units if len(u) > 3], 1, 0.8)
            meant = next((f"{name}_{u}" for u in units if near and u.lower() == near[0]), None)
            return f"unit {unit} is not known for {name}; {f'did you mean {meant!r}? ' if meant else ''}{use}"
        return None

    def _unknown(self, key: str) -> InputError:
        valid = [s for n, d in self.known.items() for s in spellings(n, d, self.joint)]
        near = difflib.get_close_matches(key, valid, 1, 0.6)
        hint = f"did you mean {near[0]!r}? " if near else ""
        units = " (and other units)" if any(len(fitting(d)) > 1 for d in self.known.values()) else ""
        problem = f"is not a key here; {hint}valid: {', '.join(valid)}{units}"
        return self.located.error((*self.path, key), problem, code="unknown-key", value=key, allowed=valid)


def _inverse(stiffness: object, factor: float) -> str:
    if isinstance(stiffness, list):
        each = [_inverse(s, factor) for s in stiffness]
        return f"[{', '.join(each)}]" if all(each) else ""
    try:
        return f"{1 / (float(str(stiffness)) * factor):.5g}"
    except (ValueError, ZeroDivisionError):
        return ""


@dataclass(frozen=True)
class Fields:
    """Converted values by field name, with the key, the unit and the value each was written with."""

    values: dict[str, Any]
    keys: dict[str, str]
    units: dict[str, str]
    raw: dict[str, Any]
    dimensions: Mapping[str, str | None]
    joint: str | None = None

    def with_values(self, values: dict[str, Any]) -> Fields:
        return Fields(values, self.keys, self.units, self.raw, self.dimensions, self.joint)


def check_unit(located: Located, path: Path_, fields: Fields, name: str, kind: str) -> None:
    """A revolute joint takes angles, a prismatic one lengths."""
    unit = fields.units.get(name)
    if unit in (PRISMATIC if kind == "revolute" else REVOLUTE):
        use = either(f"{name}_{u}" for u in fitting(fields.dimensions[name], kind))
        raise located.error(
            (*path, fields.keys[name]), f"unit {unit} does not fit a {kind} joint; use {use}", UnitError
        )


def refuse(located: Located, path: Path_, fields: Fields, names: Sequence[str], problem: str) -> None:
    for name in names:
        if name in fields.values:
            raise located.error((*path, fields.keys[name]), problem)


def check_limits(located: Located, path: Path_, fields: Fields) -> None:
    """The lower limit stands first."""
    limits = fields.values.get("limits")
    if limits is not None and not limits[0] < limits[1]:
        low, high = fields.raw["limits"]
        raise located.error(
            (*path, fields.keys["limits"]),
            f"lower limit {low} is not below {high}; write the lower one first",
            RangeError,
        )
