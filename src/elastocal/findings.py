"""A statement about a result: for programs by its code and data, for people by its text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal


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
    """With its full stop, and a capital unless it begins with a name: of a file, a joint, a parameter."""
    first = text.split(" ", 1)[0].rstrip(",;")
    begins = f"{text[:1].upper()}{text[1:]}" if first.isalpha() else text
    return f"{begins.removesuffix('.')}."
