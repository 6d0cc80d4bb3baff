"""A statement about a result: for programs by its code and data, for people by its text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
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
