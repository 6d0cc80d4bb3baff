"""Frozen values from JSON documents by the types of their fields, and the schema of such documents.

They are written by ``results.as_json`` or ``results.finite``: null stands for a number that is not known.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from inspect import getdoc
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin, get_type_hints

if TYPE_CHECKING:
    from elastocal.spatial.entries import Array

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
