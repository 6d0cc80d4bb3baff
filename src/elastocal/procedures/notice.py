"""What a result warns of: a code to act on, a sentence to read, and the data behind it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Notice:
    code: str
    text: str
    data: Mapping[str, str | float | int] = field(default_factory=dict)
