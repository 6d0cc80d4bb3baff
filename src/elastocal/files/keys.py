"""Keys with units, as they stand in a mapping of a file: which field each means, and what is wrong with the others."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from elastocal.errors import InputError, RangeError, UnitError
from elastocal.files.located import Located, Path_
from elastocal.files.units import (
    DIMENSIONS,
    PRISMATIC,
    REVOLUTE,
    compliance_unit,
    either,
    fitting,
    spellings,
    unit_is_of,
    with_article,
)
from elastocal.values import dataclass


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
