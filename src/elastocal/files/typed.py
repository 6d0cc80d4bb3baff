"""Frozen values by the types of their fields: of files that people write, of JSON documents; the schema of documents.

Of files: numbers, words, lists and mappings are taken here, since making pydantic ready takes longer than reading;
everything else, and whatever does not fit, is left to it: to be converted, or to say what is wrong.  Counts are bounded
far above any use, below what would take days or all memory.

Documents are written by ``results.as_json`` or ``results.finite``: null stands for a number that is not known.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from inspect import getdoc
from pathlib import Path
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from elastocal.errors import InputError

if TYPE_CHECKING:
    from elastocal.spatial.entries import Array


T = TypeVar("T")
Taken = Callable[[Any], Any]
"""From a value of a file to that of a field, or Misfit."""
PLAIN = (float, int, str, bool, NoneType)


class Misfit(Exception):
    """A value that is not of its type as it stands."""


def made(cls: type[T], values: dict[str, Any]) -> T | None:
    """The instance of a dataclass; None where pydantic is to decide."""
    ways, needed = _ways(cls)  # type: ignore[arg-type]
    if not (values.keys() <= ways.keys() and needed <= values.keys()):
        return None
    try:
        return cls(**{name: ways[name](value) for name, value in values.items()})
    except (Misfit, OverflowError):  # a whole number beyond every float
        return None


def of_type(hint: Any, value: Any) -> Any:
    """The value as one of a type; Misfit where pydantic is to decide."""
    return _way(hint)(value)


@cache
def _ways(cls: type) -> tuple[dict[str, Taken], frozenset[str]]:
    """How each field is taken, and those without a default."""
    hints = get_type_hints(cls, include_extras=True)
    given = [f for f in fields(cls) if f.init]
    needed = frozenset(f.name for f in given if f.default is MISSING and f.default_factory is MISSING)
    return {f.name: _way(hints[f.name]) for f in given}, needed


def _way(hint: Any) -> Taken:
    origin, args = get_origin(hint), get_args(hint)
    if hint is Any:
        return lambda value: value
    if hint is float:
        return lambda value: value if type(value) is float else float(value) if type(value) is int else _refuse()
    if hint in PLAIN:
        return lambda value: value if type(value) is hint else _refuse()
    if hint is Path:
        return lambda value: Path(value) if type(value) is str else _refuse()
    if isinstance(hint, type) and is_dataclass(hint):
        return lambda value: value if isinstance(value, hint) else _refuse()
    if origin is Literal:
        return lambda value: value if type(value) is str and value in args else _refuse()
    if origin in (Union, UnionType):
        return _either(args)
    if origin is tuple and len(args) == 2 and args[1] is ...:
        each = _way(args[0])
        return lambda value: tuple(map(each, value)) if type(value) in (list, tuple) else _refuse()
    if origin is tuple:
        ways, floats = [_way(a) for a in args], [float] * len(args) if set(args) == {float} else None
        return lambda value: value if type(value) is tuple and [*map(type, value)] == floats else _row(value, ways)
    if origin is list:
        each = _way(args[0])
        return lambda value: [each(v) for v in value] if type(value) is list else _refuse()
    if origin is dict:
        key, each = map(_way, args)
        return lambda value: {key(k): each(v) for k, v in value.items()} if type(value) is dict else _refuse()
    return _refuse


def _refuse(value: Any = None) -> Any:
    raise Misfit


def _row(value: Any, ways: list[Taken]) -> tuple[Any, ...]:
    if type(value) not in (list, tuple) or len(value) != len(ways):
        raise Misfit
    return tuple(way(v) for way, v in zip(ways, value, strict=True))


def _either(hints: tuple[Any, ...]) -> Taken:
    """A value whose own type is among them stays what it is."""
    plain, ways = [h for h in hints if h in PLAIN], [_way(h) for h in hints]

    def taken(value: Any) -> Any:
        if type(value) in plain:
            return value
        for way in ways:
            try:
                return way(value)
            except Misfit:
                continue
        raise Misfit

    return taken


MOST: dict[str, tuple[int, str]] = {
    "repeats": (1_000, "a drift of the set-up then outweighs what repeats gain"),
    "poses": (2_000, "an instrument takes a day for 500"),
    "most": (2_000, "an instrument takes a day for 500"),
    "candidates": (200_000, "more cost hours and improve no plan"),
    "restarts": (1_000, "more improve no plan"),
    "samples": (1_000, "torques are smooth along a sweep"),
    "count": (100_000, "accuracy is shown to two digits"),
    "outliers": (10_000, "a campaign has fewer readings"),
    "workers": (256, "a machine has fewer processors"),
    "emcee": (100_000, "a chain of that length takes a day"),
    "plan": (2_000, "an instrument takes a day for 500"),
}
"""By the name of a key or parameter: the largest number, and why."""


def too_many(name: str, value: object) -> str:
    """What is wrong with a count, as the end of a sentence; nothing where it is right or no count."""
    if name not in MOST or not isinstance(value, int) or isinstance(value, bool):
        return ""
    most, why = MOST[name]
    return f"{value} are too many, at most {most}: {why}" if value > most else ""


def check_count(name: str, value: object) -> None:
    """For an option; its name is added by the command line."""
    if complaint := too_many(name, value):
        raise InputError(f"{name}: {complaint}", code="too-many", value=value, parameter=name)


NAN = float("nan")
WORDS = {float: "number", int: "integer", str: "string", bool: "boolean", NoneType: "null"}
"""Types of JSON."""


def value_of(hint: Any, data: Any) -> Any:
    """What was written of a value of this type; KeyError, TypeError or ValueError where it is damaged."""
    return _reader(hint)(data)


def packed(values: Array) -> dict[str, Any]:
    """Numbers that no person reads, however many they are: their bytes (float64, the lowest first) in base 64."""
    return {"shape": list(values.shape), "float64": b64encode(values.astype("<f8").tobytes()).decode()}


@cache
def _reader(hint: Any) -> Callable[[Any], Any]:
    origin, args = get_origin(hint), get_args(hint)
    if hint is float:
        return lambda v: NAN if v is None else float(v)
    if isinstance(hint, type) and is_dataclass(hint):
        ways = {name: _reader(part) for name, part in get_type_hints(hint).items()}
        return lambda v: hint(**{name: ways[name](part) for name, part in dict(v).items()})
    if origin in (Union, UnionType):
        (one,) = (_reader(a) for a in args if a is not NoneType)
        return lambda v: None if v is None else one(v)
    if origin is tuple:
        each = _reader(args[0])  # those of one tuple are alike
        return lambda v: tuple(map(each, v))
    if origin in (dict, Mapping):
        part = _reader(args[1])
        return lambda v: {key: part(value) for key, value in dict(v).items()}
    return _array if "ndarray" in repr(origin) else lambda v: v


def _array(rows: Any) -> Any:
    """Lists with null where nothing was read, or what ``packed`` has made."""
    import numpy as np

    if isinstance(rows, dict):
        return np.frombuffer(b64decode(rows["float64"], validate=True), "<f8").reshape(rows["shape"])
    made = np.array(rows)
    return made if made.dtype.kind in "biuf" else np.array(rows, dtype=np.float64)


def schema_text(kind: type, word: str, known: bool = False, **parts: Any) -> str:
    """JSON schema (draft 2020-12) of documents of a ``kind``, which bear the format ``word`` and lack no key.

    ``known``: a float is null only where its type says None too; ``parts`` are types of keys that are less general.
    """
    top = schema_of(kind, known)
    top["properties"] |= {"format": {"const": word}} | {k: schema_of(part, known) for k, part in parts.items()}
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": word}
    return json.dumps({**head, **top, "required": list(top["properties"])}, indent=2) + "\n"


def schema_of(hint: Any, known: bool) -> dict[str, Any]:
    origin, args = get_origin(hint), get_args(hint)
    if hint is float and not known:
        return {"type": ["number", "null"]}
    if hint in WORDS:
        return {"type": WORDS[hint]}
    if origin is Literal:
        return {"enum": list(args)}
    if isinstance(hint, type) and is_dataclass(hint):
        own, hints = [f for f in fields(hint) if f.init], get_type_hints(hint)
        needed = [f.name for f in own if f.default is MISSING and f.default_factory is MISSING]
        parts = {f.name: schema_of(hints[f.name], known) for f in own}
        made = (getdoc(hint) or "").startswith(f"{hint.__name__}(")  # by Python, of the names that follow
        says = {} if made else {"description": getdoc(hint)}
        return {"type": "object", **says, "properties": parts, "required": needed}
    if origin in (Union, UnionType):
        return {"anyOf": [schema_of(a, known) for a in args]}
    if origin in (tuple, list):
        return {"type": "array", "items": schema_of(args[0], known)}
    if origin in (dict, Mapping):
        return {"type": "object", "additionalProperties": schema_of(args[1], known)}
    return {"type": ["array", "object"]} if "ndarray" in repr(origin) else {}
