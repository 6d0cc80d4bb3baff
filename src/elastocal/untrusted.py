"""Text that others wrote, made harmless for terminals, shells, pages, spreadsheets and sentences."""

from __future__ import annotations

import os
import re
from math import nan

LONGEST = 120
"""Characters of one quoted text: a line at most."""
MOST = 1500
"""Characters of a whole sentence."""
_QUOTED = re.compile(rf"(?<![\w'])'[^'\n]*'(?!\w)|\"[^\"\n]*\"|[^\s/\\]{{{2 * LONGEST},}}")
_HARMFUL = re.compile(
    "[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u061c\\u200e\\u200f\\u2028\\u2029\\u202a-\\u202e\\u2066-\\u2069\\ud800-\\udfff]"
)


def shown_plainly(text: str) -> str:
    """Text of somebody else for a terminal or a page: what would steer it is spelled out (``\\x1b``)."""
    return _HARMFUL.sub(lambda match: ascii(match[0])[1:-1], text)


def in_brief(sentence: str) -> str:
    """A sentence that quotes at most a line of whatever it complains about."""
    plain = shown_plainly(" ".join(sentence.split("\n")) if "\n" in sentence else sentence)
    if len(plain) <= LONGEST:
        return plain
    plain = _QUOTED.sub(_shortened, plain)
    return plain if len(plain) <= MOST else f"{plain[: MOST * 2 // 3]} ... {plain[-MOST // 3 :]}"


def _shortened(quoted: re.Match[str]) -> str:
    text = quoted[0]
    return text if len(text) <= LONGEST else f"{text[:60]} ... {text[-20:]}"


_NUMBER = re.compile(r"\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*", re.ASCII)
LARGEST = 1e30
"""Of a number in a file, in any unit: squares and cubes of it are still finite."""


def finite_number(text: str) -> float | None:
    """The number that a text is; None for anything else, such as inf, nan, 1_0, 0x10 and 400 digits."""
    value = float(text) if len(text) < 1000 and _NUMBER.fullmatch(text) else nan
    return value if abs(value) <= LARGEST else None


def why_no_number(text: str) -> str:
    """What is wrong with a text that ``finite_number`` refuses: ``is not finite``, ``is too large`` or no number."""
    if text.strip("+-").lower() in ("inf", "nan", "infinity"):
        return "is not finite"
    return "is too large" if _NUMBER.fullmatch(text) else "is not a number"


_FORMULA = re.compile(r"[=+\-@\t\r]")
_MARKED = re.compile(r"'[=+\-@\t\r]")


def spreadsheet_cell(text: str) -> str:
    """Text for a cell of a table: what a spreadsheet would run as a formula is marked as text, numbers stay."""
    if not (_FORMULA.match(text) or _MARKED.match(text)):
        return text
    try:
        float(text)
    except ValueError:
        return f"'{text}"
    return text


def from_spreadsheet(cell: str) -> str:
    """A cell without the mark of ``spreadsheet_cell``."""
    return cell[1:] if cell.startswith("'") and (_FORMULA.match(cell, 1) or _MARKED.match(cell, 1)) else cell


_PLAIN_WORD = re.compile(r"[\w.,:=/@+-]+", re.ASCII)
_CHANGED = re.compile(r'["$`!%\\]')
"""What a shell changes between double quotes."""


def shell_word(word: str) -> str:
    """A word as it is typed in the shell of this system.

    Double quotes are understood on every system; single ones only serve where a shell of Unix would change what stands
    within.  On Windows a backslash is part of a path, and one in front of a double quote keeps it.
    """
    if _PLAIN_WORD.fullmatch(word):
        return word
    if os.name == "nt":
        return word if _PLAIN_WORD.fullmatch(word.replace("\\", "/")) else '"' + word.replace('"', '\\"') + '"'
    import shlex

    return shlex.quote(word) if _CHANGED.search(word) else f'"{word}"'


def shell_line(*words: object) -> str:
    """``elastocal`` with these words, to be typed as it stands."""
    return " ".join(("elastocal", *(shell_word(str(word)) for word in words)))
