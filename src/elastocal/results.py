"""How results show themselves: short texts, notebooks, data frames."""

from __future__ import annotations

from collections.abc import Sequence
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
