"""How results show themselves: short texts, notebooks, data frames, plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from html import escape
from importlib import import_module
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
        return list(rows)


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
