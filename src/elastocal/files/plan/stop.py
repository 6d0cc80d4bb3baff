"""A stop of a measuring program, and text that controllers take."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from elastocal.spatial.entries import Array

LONGEST = 24
"""Characters of a program's name, as KRL takes them."""
WIDEST = 80
"""Characters of a message."""
DEVICES = r"con|prn|aux|nul|(com|lpt)\d"
"""Names that no file can have on Windows, whatever its ending; controllers run on it."""


@dataclass(frozen=True, eq=False)
class Stop:
    """One stop of the program (n,) in joint values, and what is to be done there, one halt for each sentence.

    ``speed`` is that of the move to it in per cent, None: as usual; ``note`` is a comment.
    """

    q: Array
    sentences: tuple[str, ...] = ()
    speed: float | None = None
    note: str = ""


def program_name(name: str) -> str:
    """A name that controllers take, for a program and for its files."""
    word = re.sub(r"\W", "_", name, flags=re.ASCII)[:LONGEST]
    fits = re.match(r"[A-Za-z]", word) and not re.fullmatch(DEVICES, word, re.IGNORECASE)
    return word if fits else f"P_{word}"[:LONGEST]


def plain_lines(text: str) -> list[str]:
    """ASCII without quotes and backslashes, in lines that a controller shows whole."""
    return textwrap.wrap(re.sub(r"[^ -!#-\[\]-~]", "", text), WIDEST, break_on_hyphens=False) or [""]


def windows_lines(lines: Sequence[str]) -> str:
    """With the line ends of the controllers' systems."""
    return "\r\n".join(lines) + "\r\n"
