"""From YAML mappings to frozen values: units by key, types by pydantic, errors by place.

A dataclass field made with ``quantity(dimension)`` may be written as ``name_unit`` with any unit of its
dimension, or as ``name`` where the file declares the dimension's unit.  Fields without a dimension are
written as they are.
"""

from __future__ import annotations

import dataclasses
import difflib
import math
from collections.abc import Mapping
from functools import cache
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from elastocal.errors import InputError
from elastocal.files.located import Located, Path_
from elastocal.files.units import DIMENSIONS
from elastocal.model.compliant.beam import SECTIONS, Beam

T = TypeVar("T")
Units = Mapping[str, str]


@dataclasses.dataclass(frozen=True)
class Fields:
    """Converted values by field name, with the key and unit each was written with."""

    values: dict[str, Any]
    keys: dict[str, str]
    units: dict[str, str]


def dimensions_of(cls: type) -> dict[str, str | None]:
    out: dict[str, str | None] = {f.name: f.metadata.get("dimension") for f in dataclasses.fields(cls)}
    out.update(getattr(cls, "shorthand", {}))
    return out


def read_fields(cls: type, located: Located, path: Path_, data: Any, units: Units) -> Fields:
    """Every key of a mapping matched to a field and converted to SI."""
    if not isinstance(data, dict):
        raise located.error(path, f"{data!r} should be a mapping of keys to values")
    known = dimensions_of(cls)
    out = Fields({}, {}, {})
    for key, value in data.items():
        name, unit = _match(str(key), known, located, path, units)
        if name in out.values:
            raise located.error((*path, key), f"says the same as {out.keys[name]!r}; keep one")
        out.keys[name], out.units[name] = str(key), unit
        out.values[name] = _convert(known[name], unit, located, (*path, key), value, units)
    return out


def _match(key: str, known: dict[str, str | None], located: Located, path: Path_, units: Units) -> tuple[str, str]:
    for name, dimension in known.items():
        suffixes = DIMENSIONS.get(dimension or "", {})
        if key == name:
            if not suffixes:
                return name, ""
            declared = units.get(dimension or "")
            if declared in suffixes:
                return name, str(declared)
            example = ", ".join(f"{name}_{s}" for s in list(suffixes)[:4])
            raise located.error((*path, key), f"has no unit; write {example}, or declare units.{dimension}")
        if key.startswith(name + "_") and key[len(name) + 1 :] in suffixes:
            return name, key[len(name) + 1 :]
    valid = [n if not DIMENSIONS.get(d or "") else f"{n}_{next(iter(DIMENSIONS[d or '']))}" for n, d in known.items()]
    near = difflib.get_close_matches(key, valid, 1, 0.6)
    hint = f"did you mean {near[0]!r}? " if near else ""
    raise located.error((*path, key), f"is not a key here; {hint}valid: {', '.join(valid)} (and other units)")


def _convert(dimension: str | None, unit: str, located: Located, path: Path_, value: Any, units: Units) -> Any:
    if dimension is None:
        return value
    if dimension == "beam":
        return _beam(located, path, value, units)
    return scaled(value, DIMENSIONS[dimension].get(unit, 1.0), located, path)


def scaled(value: Any, factor: float, located: Located, path: Path_) -> Any:
    if isinstance(value, list):
        return tuple(scaled(v, factor, located, (*path, i)) for i, v in enumerate(value))
    if isinstance(value, dict):
        return {k: scaled(v, factor, located, (*path, k)) for k, v in value.items()}
    if value is None:
        return None
    try:
        number = float(value)  # YAML 1.1 reads 1e-6 (no dot) as text
    except (TypeError, ValueError):
        raise located.error(path, f"{value!r} is not a number") from None
    if isinstance(value, bool) or not math.isfinite(number):
        raise located.error(path, f"{value!r} is not a finite number")
    return number * factor


def _beam(located: Located, path: Path_, data: Any, units: Units) -> Beam:
    if not isinstance(data, dict) or "section" not in data or "shape" not in (data["section"] or {}):
        raise located.error(path, "needs length, section: {shape: ...}, E and nu")
    shape = data["section"]["shape"]
    if shape not in SECTIONS:
        raise located.error((*path, "section", "shape"), f"{shape!r} is not one of {', '.join(SECTIONS)}")
    rest = {k: v for k, v in data["section"].items() if k != "shape"}
    section = construct(SECTIONS[shape], located, (*path, "section"), rest, units)
    fields = read_fields(Beam, located, path, {k: v for k, v in data.items() if k != "section"}, units)
    return validated(Beam, located, path, Fields({**fields.values, "section": section}, fields.keys, fields.units))


@cache
def _adapter(cls: type) -> TypeAdapter[Any]:
    return TypeAdapter(cls)


def construct(cls: type[T], located: Located, path: Path_, data: Any, units: Units) -> T:
    return validated(cls, located, path, read_fields(cls, located, path, data, units))


def validated(cls: type[T], located: Located, path: Path_, fields: Fields) -> T:
    """The dataclass instance, its types checked by pydantic; failures name key, value and what is allowed."""
    try:
        found: T = _adapter(cls).validate_python(fields.values)  # type: ignore[arg-type]
        return found
    except ValidationError as error:
        first = error.errors()[0]
        loc = [k for k in first["loc"] if isinstance(k, int) or k in fields.keys or k in fields.values]
        if first["type"] == "missing" and len(loc) > 1:
            name = str(loc[0])
            raise located.error(
                (*path, fields.keys.get(name, name)), f"{fields.values[name]!r} has too few values"
            ) from None
        place = [fields.keys.get(k, k) if isinstance(k, str) else k for k in loc]
        if first["type"] in ("missing", "missing_keyword_only_argument"):
            name = str(first["loc"][-1])
            suffixes = list(DIMENSIONS.get(dimensions_of(cls).get(name) or "", {}))
            wanted = f"{name}_{suffixes[0]}" if suffixes else name
            raise located.error(path, f"{wanted!r} is missing") from None
        problem = first["msg"][0].lower() + first["msg"][1:]
        raise located.error((*path, *place), f"{first['input']!r}: {problem}") from None
    except InputError as error:
        raise located.error(path, str(error)) from None
