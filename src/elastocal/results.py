"""How results show themselves: short texts, notebooks, data frames, plain data, JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from html import escape
from importlib import import_module
from math import isfinite
from typing import Any

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
    if not isinstance(value, dict | list | tuple):
        made = plain(value)
        return _json(made, line) if isinstance(made, dict | list) else json.dumps(finite(value), allow_nan=False)
    if isinstance(value, dict):
        parts, ends = [f"{json.dumps(str(k))}: {_json(v, line + ' ')}" for k, v in value.items()], "{}"
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
