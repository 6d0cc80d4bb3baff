"""What a result says and how it shows itself: findings; short texts, notebooks, data frames, plain data, JSON.

A finding is a statement about a result: for programs by its code and data, for people by its text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import field, fields, is_dataclass
from html import escape
from importlib import import_module
from json.encoder import encode_basestring_ascii
from math import isfinite
from typing import Any, Literal

from elastocal.values import dataclass


@dataclass(frozen=True)
class Finding:
    """``code`` and ``data`` (SI) for programs, ``text`` for people."""

    code: str
    severity: Literal["note", "warning"]
    text: str
    data: Mapping[str, Any] = field(default_factory=dict)


def note(code: str, text: str, **data: Any) -> Finding:
    """Something worth knowing."""
    return Finding(code, "note", text, data)


def warning(code: str, text: str, **data: Any) -> Finding:
    """Something that whoever uses the result must know."""
    return Finding(code, "warning", text, data)


def as_sentence(text: str) -> str:
    """With its end, and a capital unless its first word is plainly a name, with a dot, a digit or a line in it."""
    first = text.split(" ", 1)[0].rstrip(",;")
    begins = f"{text[:1].upper()}{text[1:]}" if first.replace("-", "").isalpha() else text
    return begins if begins.endswith(("?", "!")) or not begins else f"{begins.removesuffix('.')}."


LONGEST = 1900
"""Characters of a ``repr``; what is longer is cut."""


def shortened(lines: Sequence[str]) -> str:
    """Lines as one text, cut where a reader stops reading."""
    text = "\n".join(lines)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 40].rstrip()} ... ({len(lines)} lines)"


def as_html(result: object) -> str:
    """Its ``repr`` for a notebook."""
    return f"<pre>{escape(repr(result))}</pre>"


def as_frame(rows: Sequence[dict[str, Any]]) -> Any:
    """A pandas DataFrame, or the list of records itself where pandas is not installed."""
    try:
        return import_module("pandas").DataFrame(rows)
    except ImportError:
        return [{k: v.item() if hasattr(v, "item") else v for k, v in row.items()} for row in rows]


def plain(value: Any) -> Any:
    """Frozen values and arrays as mappings and lists."""
    if isinstance(value, float | str | int | None):
        return value
    if is_dataclass(value):
        return {f.name: plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    return value.tolist() if hasattr(value, "tolist") else value


def finite(value: Any) -> Any:
    """Plain data of frozen values and arrays; a number that is not finite is None, JSON has no word for it."""
    if isinstance(value, float):
        return float(value) if isfinite(value) else None
    if isinstance(value, dict):
        return {k: finite(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [finite(v) for v in value]
    if value is None or isinstance(value, str | int):
        return value
    made = plain(value)
    if made is value:
        raise TypeError(f"{type(value).__name__} is no kind of data: {value!r}")
    return finite(made)


def as_json(data: Any) -> str:
    """JSON text of data, frozen values and arrays: a line for every key, and for every row of numbers or words."""
    return _json(data, "\n")


def _json(value: Any, line: str) -> str:
    """``line`` begins a new one as far in as the value stands."""
    if type(value) is str:
        return encode_basestring_ascii(value)
    if type(value) is float and isfinite(value):
        return repr(value)
    if not isinstance(value, dict | list | tuple):
        made = plain(value)
        return _json(made, line) if isinstance(made, dict | list) else json.dumps(finite(value), allow_nan=False)
    if isinstance(value, dict):
        parts, ends = [f"{encode_basestring_ascii(str(k))}: {_json(v, line + ' ')}" for k, v in value.items()], "{}"
    elif all(issubclass(kind, float | int | str | None) for kind in set(map(type, value))):
        return _row(value)
    else:
        parts, ends = [_json(v, line + " ") for v in value], "[]"
    return f"{ends[0]}{line} {f',{line} '.join(parts)}{line}{ends[1]}" if parts else ends


def _row(values: Sequence[Any]) -> str:
    try:
        return json.dumps(values, allow_nan=False)
    except ValueError:  # one is not finite
        return json.dumps(finite(values))
