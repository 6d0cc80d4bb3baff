"""From YAML mappings to frozen values: units by key, types by pydantic, errors by place.

A dataclass field made with ``quantity(dimension)`` may be written as ``name_unit`` with any unit of its
dimension, or as ``name`` where the file declares the dimension's unit.  Fields without a dimension are
written as they are.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from elastocal.errors import (
    DuplicateError,
    FormatError,
    InputError,
    MissingError,
    NumberError,
    RangeError,
    ShapeError,
    WrongTypeError,
)
from elastocal.files.located import Located, Path_
from elastocal.files.typed import MOST, made, too_many
from elastocal.files.units import DIMENSIONS, Fields, Keys, either, spellings
from elastocal.model.compliant.beam import SECTIONS, Beam
from elastocal.model.elements import Element
from elastocal.untrusted import LARGEST, finite_number

if TYPE_CHECKING:
    from pydantic import TypeAdapter, ValidationError

T = TypeVar("T")
Units = Mapping[str, str]


@cache
def dimensions_of(cls: type) -> dict[str, str | None]:
    out: dict[str, str | None] = {f.name: f.metadata.get("dimension") for f in dataclasses.fields(cls)}
    out.update(getattr(cls, "shorthand", {}))
    return out


@cache
def _spelled(cls: type) -> dict[str, tuple[str, str]]:
    """Field and unit of every key that says both, or needs no unit."""
    known = dimensions_of(cls)
    out = {
        f"{name}_{unit}": (name, unit)
        for name in sorted(known, key=len)  # of two readings the longer name holds
        for unit in DIMENSIONS.get(known[name] or "", ())
    }
    bare = {name: (name, "") for name, dimension in known.items() if not DIMENSIONS.get(dimension or "")}
    return {key: way for key, way in out.items() if key not in known} | bare


def read_fields(cls: type, located: Located, path: Path_, data: Any, units: Units, joint: str | None = None) -> Fields:
    """Every key of a mapping matched to a field and converted to SI; ``joint`` is revolute or prismatic, if known."""
    if not isinstance(data, dict):
        raise located.error(path, f"{data!r} should be a mapping of keys to values", WrongTypeError)
    known, spelled = dimensions_of(cls), _spelled(cls)
    values: dict[str, Any] = {}
    keys: dict[str, str] = {}
    written: dict[str, str] = {}
    raw: dict[str, Any] = {}
    for word, value in data.items():
        key = str(word)
        name, unit = spelled.get(key) or Keys(located, path, known, units, joint).match(key, value)
        if name in values:
            raise located.error((*path, key), f"says the same as {keys[name]!r}; keep one", DuplicateError)
        keys[name], written[name], raw[name] = key, unit, value
        dimension = known[name]
        values[name] = value if dimension is None else _convert(dimension, unit, located, (*path, key), value, units)
    return Fields(values, keys, written, raw, known, joint)


def _convert(dimension: str, unit: str, located: Located, path: Path_, value: Any, units: Units) -> Any:
    if dimension == "beam":
        return _beam(located, path, value, units)
    return in_si(value, DIMENSIONS[dimension].get(unit, 1.0), located, path)


def in_si(value: Any, factor: float, located: Located, path: Path_) -> Any:
    most = LARGEST / factor if factor > 1.0 else LARGEST
    if type(value) in (float, int) and abs(value) <= most:
        return float(value) * factor
    if isinstance(value, list):
        if all(type(v) in (float, int) and abs(v) <= most for v in value):
            return tuple([float(v) * factor for v in value])
        return tuple(in_si(v, factor, located, (*path, i)) for i, v in enumerate(value))
    if isinstance(value, dict):
        return {k: in_si(v, factor, located, (*path, k)) for k, v in value.items()}
    if value is None:
        return None
    try:
        number = float(value)  # YAML 1.1 reads 1e-6 (no dot) as text
        if isinstance(value, str) and finite_number(value) is None and math.isfinite(number):
            raise ValueError
    except (TypeError, ValueError, OverflowError):
        if re.fullmatch(r"[+-]?\d+,\d+([eE][+-]?\d+)?", str(value).strip()):
            point = str(value).strip().replace(",", ".")
            raise located.error(
                path, f"{value!r} has a decimal comma; use a decimal point: {point}", NumberError
            ) from None
        raise located.error(path, f"{value!r} is not a number; write one like 0.25 or 1.0e-3", NumberError) from None
    if isinstance(value, bool) or not math.isfinite(number):
        raise located.error(path, f"{value!r} is not a finite number", NumberError)
    if not abs(number) <= most:
        raise located.error(
            path, f"{value!r} is larger than anything that is measured; check it and its unit", RangeError
        )
    return number * factor


def _beam(located: Located, path: Path_, data: Any, units: Units) -> Beam:
    section = data.get("section") if isinstance(data, dict) else None
    if not isinstance(section, dict) or "shape" not in section:
        raise located.error(path, "needs length, section: {shape: ...}, E and nu", MissingError)
    shape = section["shape"]
    if not isinstance(shape, str) or shape not in SECTIONS:
        raise located.error((*path, "section", "shape"), f"{shape!r} is not one of {', '.join(SECTIONS)}", RangeError)
    sizes = _positive(SECTIONS[shape], located, (*path, "section"), section, "shape", units)
    made = validated(SECTIONS[shape], located, (*path, "section"), sizes)
    fields = _positive(Beam, located, path, data, "section", units)
    return validated(Beam, located, path, fields.with_values({**fields.values, "section": made}))


def _positive(cls: type, located: Located, path: Path_, data: Mapping[str, Any], but: str, units: Units) -> Fields:
    """Fields of a mapping without the key ``but``; everything with a unit must be above zero."""
    fields = read_fields(cls, located, path, {k: v for k, v in data.items() if k != but}, units)
    for name, unit in fields.units.items():
        value = fields.values[name]
        if unit and isinstance(value, float) and not value > 0:
            raise located.error((*path, fields.keys[name]), f"{fields.raw[name]} must be positive", RangeError)
    return fields


@cache
def _adapter(cls: type) -> TypeAdapter[Any]:
    from pydantic import TypeAdapter

    return TypeAdapter(cls)


def construct(cls: type[T], located: Located, path: Path_, data: Any, units: Units) -> T:
    return validated(cls, located, path, read_fields(cls, located, path, data, units))


def validated(cls: type[T], located: Located, path: Path_, fields: Fields) -> T:
    """The dataclass instance, its types checked; failures name key, value and what is allowed."""
    for name, value in fields.values.items():
        if name in MOST and (complaint := too_many(name, value)):
            raise located.error((*path, fields.keys[name]), complaint, RangeError)
    try:
        known = made(cls, fields.values)
        return _converted(cls, located, path, fields) if known is None else known
    except InputError as error:
        if str(error).startswith(located.file):
            raise
        raise located.error(path, str(error), error) from None


def _converted(cls: type[T], located: Located, path: Path_, fields: Fields) -> T:
    """By pydantic, which takes time to load."""
    from pydantic import ValidationError

    try:
        value: T = _adapter(cls).validate_python(fields.values)  # type: ignore[arg-type]
        return value
    except ValidationError as error:
        raise _refusal(cls, located, path, fields, error) from None


def _refusal(cls: type, located: Located, path: Path_, fields: Fields, error: ValidationError) -> InputError:
    first = error.errors()[0]
    loc = [k for k in first["loc"] if isinstance(k, int) or k in fields.keys or k in fields.values]
    if loc and loc[0] not in fields.keys:
        loc[:1] = _shorthand(cls, fields)  # another way to write the field
    place = (*path, *(fields.keys.get(k, k) if isinstance(k, str) else k for k in loc))
    written = _as_written(fields, loc, first["input"])
    if first["type"] == "float_type" and any("tuple" in str(k) for e in error.errors() for k in e["loc"]):
        return located.error(
            (*path, place[len(path)]), f"{written!r} does not fit; write one number or a list of three", WrongTypeError
        )
    if first["type"] == "missing" and len(loc) > 1:
        return located.error(
            place[:-1], f"{_as_written(fields, loc[:-1], ())} has too few values; add the others", ShapeError
        )
    if first["type"] in ("missing", "missing_keyword_only_argument"):
        name = str(first["loc"][-1])
        wanted = either(repr(k) for k in spellings(name, dimensions_of(cls).get(name), fields.joint))
        return located.error(path, f"{wanted} is missing; add it", MissingError, value=name)
    if first["type"] == "too_long":
        most = first["ctx"]["max_length"]
        return located.error(
            place,
            f"{written} has more than {most} values; keep {most}, and write decimals with a point, not a comma",
            ShapeError,
        )
    if written is None:
        return located.error(place, "has no value; write one, or leave the key out", MissingError)
    allowed = _ALLOWED.get(first["type"]) or first["msg"].replace("Input should be", "write")
    if first["type"] == "literal_error":
        words = re.findall(r"'([^']*)'", first["ctx"]["expected"])
        return located.error(place, f"{written!r} does not fit; {allowed}", RangeError, allowed=words)
    return located.error(place, f"{written!r} does not fit; {allowed}", WrongTypeError)


_ALLOWED = {
    "tuple_type": "write a list, such as [0, 0, 1]",
    "dict_type": "write a mapping, such as {name: value}",
    "string_type": "write text, in quotes where it looks like a number",
}


def _shorthand(cls: type, fields: Fields) -> list[str]:
    return [name for name in getattr(cls, "shorthand", {}) if name in fields.keys][:1]


def expanded(cls: type[Element], located: Located, path: Path_, fields: Fields) -> Fields:
    """The fields with shorthand replaced by what it stands for."""
    try:
        return fields.with_values(cls.expand(dict(fields.values)))
    except (TypeError, ValueError, AttributeError):
        (name,) = _shorthand(cls, fields) or [""]
        key = fields.keys.get(name, "kind")
        raise located.error(
            (*path, key), f"{fields.raw.get(name)!r} has the wrong form; see docs/robots.md", FormatError
        ) from None


def _as_written(fields: Fields, loc: Sequence[str | int], otherwise: Any) -> Any:
    value: Any = fields.raw
    for key in loc:
        try:
            value = value[key]
        except (KeyError, IndexError, TypeError):
            return otherwise
    return value


def chosen(
    located: Located, path: Path_, what: str, entry: Any, kinds: Mapping[str, type[T]]
) -> tuple[type[T], dict[str, Any]]:
    """The class that an entry names and the entry without that word; ``what`` is such as "an obstacle"."""
    if not isinstance(entry, dict) or "kind" not in entry:
        raise located.error(path, f"{what} needs a kind: {', '.join(kinds)}", MissingError, allowed=kinds)
    kind = str(entry["kind"])
    if kind not in kinds:
        raise located.unknown((*path, "kind"), f"kind of {what.partition(' ')[2]}", kind, kinds)
    return kinds[kind], {k: v for k, v in entry.items() if k != "kind"}
