"""A stop of a measuring program, and text that controllers take."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from elastocal.spatial.entries import Array


@dataclass(frozen=True, eq=False)
class Stop:
    """One stop of the program (n,) in joint values, and what is to be done there, one halt for each sentence.

    ``speed`` is that of the move to it in per cent, None: as usual; ``note`` is a comment.
    """

    q: Array
    sentences: tuple[str, ...] = ()
    speed: float | None = None
    note: str = ""


def plain(text: str) -> str:
    """ASCII without quotes and backslashes, at most 80 characters."""
    return re.sub(r"[^ -!#-\[\]-~]", "", text)[:80]


def windows_lines(lines: Sequence[str]) -> str:
    """With the line ends of the controllers' systems."""
    return "\r\n".join(lines) + "\r\n"
